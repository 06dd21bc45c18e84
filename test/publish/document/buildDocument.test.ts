import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { WaitingGang } from "../../../exporter/join/queues/queueing.ts";
import { buildDocument } from "../../../exporter/publish/document/buildDocument.ts";
import { jsonChunks, jsonText } from "../../../exporter/publish/document/jsonText.ts";
import { documentSchema } from "../../../exporter/publish/document/schema.ts";
import { entriesOf } from "../../analysis/entriesOf.ts";
import { gangView } from "../../queues/queueView.ts";
import { at, device, hostileNames, pod, smallMoment, workload } from "../moment.ts";

async function textOf(document: Readonly<Record<string, unknown>>): Promise<string> {
  let text = "";
  for await (const chunk of jsonChunks(document)) text += chunk;
  return text;
}

describe("document", () => {
  test("is what its schema says, also after a round trip as JSON", () => {
    const document = buildDocument(smallMoment);
    expect(documentSchema.parse(JSON.parse(JSON.stringify(document)))).toEqual(document);
  });

  test("has a record for each pool, team, node, device and workload", () => {
    const { pools, teams, nodes, devices, workloads } = buildDocument(smallMoment);
    expect(pools.map((pool) => [pool.pool, pool.physicalGpus, pool.activity])).toEqual([
      ["H100", 2, 0.375],
      ["L4", 1, null],
    ]);
    expect(teams.map((team) => [team.team, team.allocated, team.activity])).toEqual([
      ["ads", 1, 0.75],
      ["search", 0, null],
      ["unassigned", 0.5, null],
    ]);
    expect(nodes.map((node) => [node.name, node.allocated, node.schedulable, node.capacityType])).toEqual([
      ["h100-01", 1, true, "on-demand"],
      ["l4-01", 0.5, false, null],
    ]);
    expect(devices.map((device) => [device.uuid, device.state, device.idleNow, device.powerWatts])).toEqual([
      ["GPU-a", "active", false, 512.5],
      ["GPU-b", "free", true, 70],
      [null, "unobserved", null, null],
    ]);
    expect(devices[2]?.holders).toEqual([
      { namespace: "lab", pod: "notebook", team: "unassigned", share: 0.5, source: "request", estimated: true },
    ]);
    expect(workloads.map((one) => [one.name, one.gpus, one.activity, one.gang, one.startedAt])).toEqual([
      ["train", 1, 0.75, null, "2026-11-21T03:00:00.000Z"],
      ["notebook", 0.5, null, null, null],
      ["big", 0, null, { min: 2, bound: 0 }, null],
    ]);
  });

  const waitingFor = (gang: Partial<WaitingGang>) => {
    const queueing = { ...smallMoment.snapshot.queueing, gangs: [gangView(gang)] };
    return buildDocument({ ...smallMoment, snapshot: { ...smallMoment.snapshot, queueing } }).pending;
  };

  test("a waiting gang without a known reason is one record with all its GPUs and its age", () => {
    const big = { kind: "PyTorchJob", namespace: "search", name: "big", team: "search", priorityClass: "normal" };
    expect(waitingFor({ ...big, since: at - 600, min: 2, pods: 2, gpus: 8 })).toEqual([
      {
        namespace: "search",
        kind: "PyTorchJob",
        name: "big",
        team: "search",
        queue: null,
        localQueue: null,
        position: null,
        positionInLocalQueue: null,
        priorityClass: "normal",
        domains: [],
        gpus: 8,
        pods: 2,
        mostGpus: null,
        mostPods: null,
        growth: null,
        bound: 0,
        min: 2,
        since: "2026-11-21T03:50:00.000Z",
        ageSeconds: 600,
        reservedAt: null,
        cause: "unknown",
        blockingLevel: null,
        late: null,
        reason: "",
        admissionChecks: [],
        awaitsNodes: false,
        isCopy: false,
        never: null,
      },
    ]);
  });

  test("the wait for an amount that cannot be converted is unknown, not 0", () => {
    expect(waitingFor({ gpus: null, pods: 2 }).map((one) => [one.gpus, one.pods])).toEqual([[null, 2]]);
  });

  test("times that cannot be are unknown", () => {
    const pods = [pod({ boundAt: 1e18 })];
    const moment = {
      ...smallMoment,
      accountingEntries: entriesOf([]),
      snapshot: { ...smallMoment.snapshot, devices: [], pods, workloads: [workload({})] },
    };
    expect(buildDocument(moment).workloads[0]?.startedAt).toBeNull();
  });

  test("hostile names stay what they are, and the document stays valid", async () => {
    const pods = hostileNames.map((name, index) => pod({ namespace: name, name, team: name, workload: index }));
    const devices = hostileNames.map((name, index) =>
      device({
        node: name,
        uuid: name,
        model: name,
        holders: [{ pod: index, share: 1, source: "dcgm", estimated: false, activity: 1, idleSince: null }],
      }),
    );
    const workloads = hostileNames.map((name, index) => workload({ namespace: name, name, team: name, pods: [index] }));
    const document = buildDocument({
      ...smallMoment,
      accountingEntries: entriesOf([]),
      snapshot: { ...smallMoment.snapshot, pods, devices, workloads },
    });
    const read = documentSchema.parse(JSON.parse(await textOf(document)));
    expect(read.devices.map((one) => one.holders[0]?.pod).sort()).toEqual([...hostileNames].sort());
  });
});

describe("JSON in pieces", () => {
  test("is the JSON of the whole", async () => {
    const values = fc.oneof(
      fc.jsonValue(),
      fc.array(fc.record({ a: fc.string(), b: fc.double({ noNaN: true, noDefaultInfinity: true }) })),
    );
    await fc.assert(
      fc.asyncProperty(fc.dictionary(fc.string(), values, { noNullPrototype: true }), async (object) => {
        expect(JSON.parse(await textOf(object))).toEqual(JSON.parse(jsonText(object)));
      }),
      { seed: 3, numRuns: 100 },
    );
    const long = { at, items: Array.from({ length: 1201 }, (_, index) => ({ index })) };
    expect(JSON.parse(await textOf(long))).toEqual(long);
  });
});
