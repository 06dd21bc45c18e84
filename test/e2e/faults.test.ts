import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { Fault } from "../../simulator/faults.ts";
import { faultCases } from "./faultCases.ts";
import { expectLog, expectRestartLines, expectStateLines } from "./faults/expectLog.ts";
import { expectPhase } from "./faults/expectPhase.ts";
import { faultsReference } from "./faults/faultsReference.ts";
import { type WatchedCluster, watchDemoCluster } from "./faults/watchedCluster.ts";

const groups = [
  { name: "the demo's cluster", shortLimits: false, cases: faultCases.filter(({ isSlow }) => isSlow !== true) },
  { name: "the demo's cluster, slow", shortLimits: true, cases: faultCases.filter(({ isSlow }) => isSlow === true) },
];

describe.each(groups)("$name", ({ shortLimits, cases }) => {
  let watched: WatchedCluster;
  beforeAll(async () => {
    watched = await watchDemoCluster({ shortLimits });
  });
  afterAll(() => watched.stop());

  let switchOff = (): void => {};
  const heal = async (): Promise<void> => {
    switchOff();
    await watched.recover();
  };
  // A case that fails must not fail those after it.
  afterEach(heal);

  it.each(cases)("when $name, names it, keeps what is known, and finds the truth after it", async (each) => {
    expect(watched.differences()).toEqual([]);
    expect(watched.cluster.stack.problems()).toEqual([]);
    const before = (await watched.get("/metrics")).text;
    const firstLine = watched.lines.length;
    switchOff = await watched.fault(each.faults);
    for (const phase of [each.early, each.late]) {
      for (let i = 0; i < phase.steps; i++) await watched.step();
      await expectPhase(watched, phase, before);
    }
    await heal();
    expect(watched.differences()).toEqual([]);
    expect(watched.cluster.stack.problems()).toEqual([]);
    expect((await watched.get("/")).text).toContain("None.");
    const after = (await watched.get("/metrics")).text;
    expectLog(each, watched.lines.slice(firstLine));
    expectStateLines(watched.lines.slice(firstLine));
    expectRestartLines(watched.lines.slice(firstLine), before, after);
  });
});

it("has met every fault that there is", () => {
  const kinds: Readonly<Record<Fault["kind"], true>> = {
    "exporter-slow": true,
    "exporter-error": true,
    "exporter-empty": true,
    "exporter-garbage": true,
    "exporter-hostile": true,
    "exporter-frozen": true,
    "exporter-reset": true,
    "profiling-stuck": true,
    "node-lost": true,
    "gpu-lost": true,
    "gpu-xid": true,
    "gpu-slowed": true,
    "gpu-capped": true,
    "stray-process": true,
    "api-watch-cut": true,
    "api-gone": true,
    "api-continue-expired": true,
    "api-forbidden": true,
    "api-slow": true,
    "api-list-error": true,
    "clock-jump": true,
  };
  const met = new Set<string>(faultCases.flatMap(({ faults }) => faults.map((fault) => fault.kind)));
  expect([...met].sort()).toEqual(Object.keys(kinds).sort());
});

it("docs/faults.md says the same (else: vitest run test/e2e/faults.test.ts -u)", async () => {
  await expect(faultsReference(faultCases)).toMatchFileSnapshot("../../docs/faults.md");
});
