import { describe, expect, it } from "vitest";
import { findFixScheduler } from "../../../exporter/advice/kinds/fixScheduler.ts";
import { foundBy, type KueueCase, kueueMoment } from "./kueueCluster.ts";

const never = { reclaimWithinCohort: "Never", withinClusterQueue: "Never", borrowWithinCohort: "Never" };
const names = Array.from({ length: 12 }, (_, i) => `q${String(i).padStart(2, "0")}`);

/** Ads holds all nodes; twelve queues that are sure of a node each wait for it, and what they take back is up to their policy. */
const crowdedBy = (preemption: typeof never): KueueCase => ({
  nodes: Object.fromEntries(names.map((name) => [`node-${name}`, 8])),
  queues: [{ name: "ads", nominal: 0 }, ...names.map((name) => ({ name, nominal: 8, parts: { preemption } }))],
  running: names.map((name) => ({
    name: `job-${name}`,
    queue: "ads",
    nodes: [`node-${name}`],
    gpusPerPod: 8,
    hours: 1,
  })),
  waiting: names.map((name) => ({ name: `wait-${name}`, queue: name, pods: 1, gpusPerPod: 8 })),
});
const crowded = crowdedBy(never);

describe("findings for which much waits", () => {
  it("are simulated five a cycle; of the others it is said that they were not", () => {
    const { candidates, withheld } = foundBy(findFixScheduler, kueueMoment(crowded));
    expect(candidates).toHaveLength(5);
    expect(withheld).toHaveLength(7);
    for (const { why, reason } of withheld) {
      expect(why).toBe("no-plan");
      expect(reason).toContain("only the 5 findings for which the most work waits are simulated");
    }
  });
});
