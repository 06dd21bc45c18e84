import { describe, expect, it } from "vitest";
import type { Remembered } from "../../exporter/accounts/ledger/ledger.ts";
import { createOutageAccount, type Outage } from "../../exporter/accounts/outageAccount.ts";
import type { Device, NodeView } from "../../exporter/join/snapshot.ts";
import type { UnavailableCause } from "../../exporter/model/gpuFaults.ts";
import { device, holding, moment, nodeView, podView } from "../analysis/momentBuilder.ts";
import { bareReading, now } from "../join/clusterBuilder.ts";
import { analysed } from "../join/outcomes.ts";

const begin = now;
const minute = 60;

const sick = (uuid: string, parts: Partial<Device> = {}): Device =>
  device({ uuid, unhealthy: true, reading: bareReading(uuid, { lastXid: 94 }), ...parts });
const well = (uuid: string): Device => device({ uuid, reading: bareReading(uuid, { lastXid: 94 }) });

function analysis(devices: readonly Device[], node: Partial<NodeView> = {}, areObjectsKnown = true) {
  const snapshot = moment({
    nodes: [nodeView({ physicalGpus: devices.length, devices: devices.map((_, i) => i), ...node })],
    devices,
    pods: [podView(), podView({ name: "other", team: "speech" })],
  });
  const found = analysed(snapshot);
  return areObjectsKnown
    ? found
    : { ...found, snapshot: { ...snapshot, coverage: { ...snapshot.coverage, objects: false } } };
}

/** Plays moments, each with its minute, and returns the last report of each outage. */
function played(moments: readonly (readonly [minutes: number, of: ReturnType<typeof analysis>])[]): readonly Outage[] {
  const account = createOutageAccount();
  const rows = new Map<string, Outage>();
  for (const [minutes, of] of moments) {
    account.see(of, begin + minutes * minute);
    for (const outage of account.takeChanges().outages)
      rows.set(`${outage.node} ${outage.gpu} ${outage.begins}`, outage);
  }
  return [...rows.values()];
}

const short = ({ gpu, cause, teams, gpus, begins, ends }: Outage) => [
  gpu,
  cause,
  teams,
  gpus,
  (begins - begin) / minute,
  ends === null ? null : (ends - begin) / minute,
];

describe("outages of GPUs", () => {
  it("begin with the first moment, are reported after five minutes, and end when the GPU can be used again", () => {
    const one = analysis([sick("GPU-1", { holders: [holding()] }), well("GPU-2")]);
    expect(
      played([
        [0, one],
        [4, one],
      ]),
    ).toEqual([]);
    expect(
      played([
        [0, one],
        [4, one],
        [5, one],
      ]).map(short),
    ).toEqual([["GPU-1", "ecc", "vision", 1, 0, null]]);
    const repaired = analysis([well("GPU-1"), well("GPU-2")]);
    expect(
      played([
        [0, one],
        [5, one],
        [50, one],
        [60, repaired],
      ]).map(short),
    ).toEqual([["GPU-1", "ecc", "vision", 1, 0, 60]]);
  });

  it("that were short are none, although the error stays on the page", () => {
    const one = analysis([sick("GPU-1")]);
    expect(
      played([
        [0, one],
        [4, analysis([well("GPU-1")])],
        [30, analysis([well("GPU-1")])],
      ]),
    ).toEqual([]);
  });

  it("are one for as long as they last: a sticky error counts once, and a second one after a repair anew", () => {
    const one = analysis([sick("GPU-1")]);
    const moments = Array.from({ length: 20 }, (_, i) => [i * 10, one] as const);
    expect(played(moments).map(short)).toEqual([["GPU-1", "ecc", "", 1, 0, null]]);
    const again = [...moments, [200, analysis([well("GPU-1")])] as const, [210, one] as const, [220, one] as const];
    expect(played(again).map(short)).toEqual([
      ["GPU-1", "ecc", "", 1, 0, 200],
      ["GPU-1", "ecc", "", 1, 210, null],
    ]);
  });

  it("keep the cause that said something, and everybody who was hit", () => {
    const of = (parts: Partial<Device>) => analysis([sick("GPU-1", parts)]);
    const moments = [
      [0, of({ reading: bareReading("GPU-1", {}) })],
      [10, of({ holders: [holding()] })],
      [20, of({ holders: [holding({ pod: 1 })], reading: bareReading("GPU-1", {}) })],
    ] as const;
    expect(played(moments).map(short)).toEqual([["GPU-1", "ecc", "speech,vision", 1, 0, null]]);
  });

  it("of a node that is not ready are one, of all its GPUs", () => {
    const lost = { ready: false, notReadySince: begin - 600 };
    const one = analysis([well("GPU-1"), { ...well("GPU-2"), holders: [holding()] }], lost);
    expect(
      played([
        [0, one],
        [10, one],
      ]).map(short),
    ).toEqual([["", "node", "vision", 2, 0, null]]);
  });

  it("neither begin nor end while the objects are unknown, and end with what was seen after an hour's silence", () => {
    const one = analysis([sick("GPU-1")]);
    const unknown = analysis([well("GPU-1")], {}, false);
    expect(
      played([
        [0, one],
        [10, one],
        [20, unknown],
        [30, one],
      ]).map(short),
    ).toEqual([["GPU-1", "ecc", "", 1, 0, null]]);
    expect(
      played([
        [0, one],
        [10, one],
        [100, one],
        [106, one],
      ]).map(short),
    ).toEqual([
      ["GPU-1", "ecc", "", 1, 0, 10],
      ["GPU-1", "ecc", "", 1, 100, null],
    ]);
  });

  it("go on after a restart, and what cannot be read is left out", () => {
    const first = createOutageAccount();
    first.see(analysis([sick("GPU-1")]), begin);
    const remembered: Remembered[] = first
      .takeChanges()
      .remembered.flatMap(({ kind, key, value }) => (value === null ? [] : [{ kind, key, value }]));
    const second = createOutageAccount([...remembered, { kind: "outage", key: "x", value: "{" }], begin);
    second.see(analysis([sick("GPU-1")]), begin + 600);
    expect(second.takeChanges().outages.map(short)).toEqual([["GPU-1", "ecc", "", 1, 0, null]]);
  });

  it("write nothing while nothing changes", () => {
    const account = createOutageAccount();
    const one = analysis([sick("GPU-1")]);
    for (const at of [0, 300, 330]) account.see(one, begin + at);
    account.takeChanges();
    account.see(one, begin + 360);
    expect(account.takeChanges()).toEqual({ outages: [], remembered: [] });
  });

  it("have a name of a team without its commas", () => {
    const cause: UnavailableCause = "ecc";
    const hostile = moment({
      nodes: [nodeView({ physicalGpus: 1, devices: [0] })],
      devices: [sick("GPU-1", { holders: [holding()] })],
      pods: [podView({ team: "a,b" })],
    });
    const account = createOutageAccount();
    for (const at of [0, 300]) account.see(analysed(hostile), begin + at);
    expect(account.takeChanges().outages).toMatchObject([{ teams: "a b", cause }]);
  });
});
