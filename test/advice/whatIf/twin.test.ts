import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createTrial } from "../../../exporter/advice/whatIf/trial.ts";
import type { Snapshot } from "../../../exporter/join/snapshot.ts";
import { now } from "../../join/clusterBuilder.ts";
import { analysisOf, anyKueueCluster, anyRule, planChoices, planFor } from "./generatedMoments.ts";
import { twinOf } from "./naiveTwin.ts";
import { numbersOf, wholeMeasures } from "./wholeAnalysis.ts";

/** What does not depend on what exporters will have seen. */
const compared = [
  "blockedGpus",
  "pendingGpus",
  "freeGpus",
  "one",
  "two",
  "four",
  "eight",
  "wholeFreeNodes",
  "expectedFragmentation",
  "idleNodeHoursPerWeek",
  "costPerWeek",
] as const;

describe("a plan that is tried on a copy", () => {
  it("comes to what a join of the changed objects and an analysis from the beginning come to", () => {
    let [starts, moves, stops] = [0, 0, 0];
    fc.assert(
      fc.property(anyKueueCluster, planChoices, anyRule, (state, choices, rule) => {
        const idleSince = state.nodes.map(({ name }, i) => [`unallocated/${name}`, now - (i + 1) * 3600] as const);
        const analysis = analysisOf(state, new Map(idleSince));
        const trial = createTrial({ analysis });
        const all = planFor(analysis.snapshot, choices);
        const plan = { ...all, changes: all.changes.filter(({ kind }) => kind === "stop" || kind === "move") };
        const outcome = trial.outcome(plan, rule);
        starts += outcome.started.length;
        moves += outcome.moved.filter(({ to, from }) => to !== null && to !== from).length;
        stops += outcome.released.size;
        const twin = wholeMeasures(analysisOf(twinOf(state, analysis.snapshot, outcome), analysis.idleNodes.since));
        const before = wholeMeasures(analysis);
        const [first, then] = [numbersOf(trial.before(plan)), numbersOf(outcome.measures)];
        for (const name of compared)
          expect(then[name] - first[name], name).toBeCloseTo(twin.numbers[name] - before.numbers[name], 5);
        const own = new Map(
          outcome.measures.deviations.map(({ queue, domain, gpus }) => [`${queue} in ${domain}`, gpus]),
        );
        for (const [queue, gpus] of twin.deviations)
          expect(own.get(queue) ?? before.deviations.get(queue) ?? 0, queue).toBeCloseTo(gpus, 5);
      }),
      { numRuns: 200, seed: 63 },
    );
    expect(Math.min(starts, moves, stops)).toBeGreaterThan(20);
  });

  it("comes with another quota to what a join of the changed ClusterQueue comes to", () => {
    let compared = 0;
    fc.assert(
      fc.property(anyKueueCluster, fc.constantFrom("a", "b"), fc.nat(16), (state, name, nominal) => {
        const analysis = analysisOf(state);
        const queue = analysis.snapshot.queueing.queues.findIndex((one) => one.name === name);
        const trial = createTrial({ analysis });
        const plan = { changes: [{ kind: "setQueue" as const, queue, guaranteed: nominal }], starts: [] };
        const { snapshot, measures } = trial.outcome(plan, "mostAllocated");
        const kueueClusterQueues = state.queues.kueueClusterQueues.map((one) =>
          one.name === name ? { ...one, quotas: one.quotas.map((quota) => ({ ...quota, nominal })) } : one,
        );
        const twin = analysisOf({ ...state, queues: { ...state.queues, kueueClusterQueues } });
        // What is declared beyond the capacity is cut: a Snapshot does not say how much it was.
        const declared = state.queues.kueueClusterQueues.reduce((sum, one) => sum + (one.quotas[0]?.nominal ?? 0), 0);
        const capacity = analysis.snapshot.queueing.domains[0]?.capacity ?? 0;
        if (declared > capacity || declared + nominal > capacity) return;
        const demand = ({ queueing: { gangs } }: Snapshot) => gangs.map(({ uid, never }) => `${uid} ${never}`).sort();
        // Which work may ever run is only looked at again in the queue that is changed, and only for higher limits.
        if (demand(snapshot).join() !== demand(twin.snapshot).join()) return;
        compared += 1;
        const kept = ({ queueing: { queues } }: Snapshot) =>
          queues.map(({ kind, name: called, guaranteed, limit }) => ({ kind, called, guaranteed, limit }));
        expect(kept(snapshot)).toEqual(kept(twin.snapshot));
        const own = new Map(
          measures.deviations.map(({ queue: called, domain, gpus }) => [`${called} in ${domain}`, gpus]),
        );
        const before = wholeMeasures(analysis).deviations;
        for (const [called, gpus] of wholeMeasures(twin).deviations)
          expect(own.get(called) ?? before.get(called), called).toBeCloseTo(gpus, 5);
      }),
      { numRuns: 300, seed: 64 },
    );
    expect(compared).toBeGreaterThan(30);
  });
});
