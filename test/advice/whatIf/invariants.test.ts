import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createTrial } from "../../../exporter/advice/whatIf/trial.ts";
import { analyse } from "../../../exporter/analysis/analyse.ts";
import type { Device, NodeView, Snapshot } from "../../../exporter/join/snapshot.ts";
import { plainData } from "../../plainData.ts";
import {
  analysisOf,
  anyKueueCluster,
  anyRule,
  anyState,
  planChoices,
  planFor,
  renumbered,
  settings,
} from "./generatedMoments.ts";
import { numbersOf, wholeMeasures } from "./wholeAnalysis.ts";

const allocated = ({ devices }: Pick<Snapshot, "devices">): number =>
  devices.reduce((sum, { holders }) => sum + holders.reduce((all, { share }) => all + share, 0), 0);
const weight = ({ devices }: Pick<Snapshot, "devices">): number => devices.reduce((sum, one) => sum + one.weight, 0);

const devicesOf = ({ devices }: Snapshot, node: NodeView | undefined): readonly Device[] =>
  node?.devices.flatMap((index) => devices[index] ?? []) ?? [];

const runs = { numRuns: 150, seed: 61 };

describe("a plan that is tried on a copy", () => {
  it("changes nothing of the moment, and the same plan has the same outcome again", () => {
    fc.assert(
      fc.property(anyState, planChoices, anyRule, (state, choices, rule) => {
        const analysis = analysisOf(state);
        const { snapshot } = analysis;
        const before = plainData(snapshot);
        const plan = planFor(snapshot, choices);
        const trial = createTrial({ analysis });
        const first = trial.outcome(plan, rule);
        const all = { ...first, measuresBefore: trial.before(plan) };
        trial.outcome({ changes: [], starts: [0, 1] }, rule);
        const again = createTrial({ analysis });
        expect({ ...trial.outcome(plan, rule), measuresBefore: trial.before(plan) }).toEqual(all);
        expect({ ...again.outcome({ ...plan }, rule), measuresBefore: again.before({ ...plan }) }).toEqual(all);
        expect(trial.started(plan, rule)).toEqual(first.started);
        expect(plainData(snapshot)).toEqual(before);
      }),
      runs,
    );
  });

  it("gives no device to more than it has, and the sums still add up", () => {
    fc.assert(
      fc.property(anyState, planChoices, anyRule, (state, choices, rule) => {
        const analysis = analysisOf(state);
        const { snapshot } = createTrial({ analysis }).outcome(planFor(analysis.snapshot, choices), rule);
        for (const [i, device] of snapshot.devices.entries()) {
          const sum = device.holders.reduce((all, { share }) => all + share, 0);
          const before = analysis.snapshot.devices[i]?.holders.reduce((all, { share }) => all + share, 0) ?? 0;
          expect(sum).toBeLessThanOrEqual(Math.max(device.weight, before) + 1e-6);
          expect(device.holders.every(({ share }) => share > 0)).toBe(true);
          for (const { pod } of device.holders) {
            expect(snapshot.pods[pod]?.node ?? device.node).toBe(device.node);
          }
        }
        const after = analyse(snapshot, settings);
        for (const { states, physicalGpus } of after.pools)
          expect(Object.values(states).reduce((sum, gpus) => sum + gpus, 0)).toBeCloseTo(physicalGpus, 6);
      }),
      runs,
    );
  });

  it("makes a new NodeView of every node on which someone else holds something", () => {
    fc.assert(
      fc.property(anyState, planChoices, anyRule, (state, choices, rule) => {
        const analysis = analysisOf(state);
        const { snapshot } = createTrial({ analysis }).outcome(planFor(analysis.snapshot, choices), rule);
        for (const [i, node] of snapshot.nodes.entries()) {
          const before = analysis.snapshot.nodes[i];
          const own = allocated({ devices: devicesOf(snapshot, node) });
          const was = allocated({ devices: devicesOf(analysis.snapshot, before) });
          expect(node.allocatedByDevices - (before?.allocatedByDevices ?? 0)).toBeCloseTo(own - was, 6);
          if (devicesOf(snapshot, node).some((one, k) => one !== devicesOf(analysis.snapshot, before)[k]))
            expect(node).not.toBe(before);
        }
      }),
      runs,
    );
  });

  it("is the moment itself where it has no changes", () => {
    fc.assert(
      fc.property(anyState, anyRule, (state, rule) => {
        const analysis = analysisOf(state);
        const trial = createTrial({ analysis });
        const plan = { changes: [], starts: [] };
        const { snapshot, measures, moved, started, released } = trial.outcome(plan, rule);
        expect(plainData(snapshot)).toEqual(plainData(analysis.snapshot));
        expect(measures).toEqual(trial.before(plan));
        expect([moved, started, [...released]]).toEqual([[], [], []]);
      }),
      runs,
    );
  });

  it("measures what the whole analysis of the changed cluster does", () => {
    let [measured, changed] = [0, 0];
    fc.assert(
      fc.property(fc.oneof(anyState, anyKueueCluster), planChoices, anyRule, (state, choices, rule) => {
        const analysis = analysisOf(state);
        const trial = createTrial({ analysis });
        const plan = planFor(analysis.snapshot, choices);
        const { snapshot, measures } = trial.outcome(plan, rule);
        const [before, after] = [wholeMeasures(analysis), wholeMeasures(analyse(snapshot, settings))];
        const [first, then] = [numbersOf(trial.before(plan)), numbersOf(measures)];
        for (const name of Object.keys(before.numbers) as (keyof typeof first)[]) {
          expect.soft(then[name] - first[name], name).toBeCloseTo(after.numbers[name] - before.numbers[name], 5);
          measured += 1;
        }
        const own = new Map(measures.deviations.map(({ queue, domain, gpus }) => [`${queue} in ${domain}`, gpus]));
        for (const [queue, gpus] of after.deviations)
          expect(own.get(queue) ?? before.deviations.get(queue), queue).toBeCloseTo(gpus, 5);
        expect(trial.before(plan).deviations.map(({ queue }) => queue)).toEqual(
          measures.deviations.map(({ queue }) => queue),
        );
        changed += own.size;
      }),
      { numRuns: 300, seed: 62 },
    );
    expect(measured).toBeGreaterThan(1000);
    expect(changed).toBeGreaterThan(100);
  });

  it("comes to the same whatever order the nodes and pods are in", () => {
    fc.assert(
      fc.property(anyKueueCluster, planChoices, anyRule, (state, choices, rule) => {
        const { nodes, pods, queues } = state;
        const { kueueClusterQueues, kueueWorkloads } = queues;
        const reversed = {
          ...queues,
          kueueClusterQueues: kueueClusterQueues.toReversed(),
          kueueWorkloads: kueueWorkloads.toReversed(),
        };
        const other = analysisOf({ ...state, nodes: nodes.toReversed(), pods: pods.toReversed(), queues: reversed });
        const analysis = analysisOf(state);
        const plan = planFor(analysis.snapshot, choices);
        const same = renumbered(plan, analysis.snapshot, other.snapshot);
        const [one, two] = [createTrial({ analysis }), createTrial({ analysis: other })];
        expect(two.before(same)).toEqual(one.before(plan));
        const [mine, theirs] = [one.outcome(plan, rule), two.outcome(same, rule)];
        expect(theirs.measures).toEqual(mine.measures);
        const names = (outcome: typeof mine, { nodes: all }: Snapshot) =>
          outcome.moved.map(({ to }) => all[to ?? -1]?.name);
        expect(names(theirs, other.snapshot)).toEqual(names(mine, analysis.snapshot));
      }),
      runs,
    );
  });

  it("counts each GPU that work gave up or got in its queue", () => {
    fc.assert(
      fc.property(anyState, planChoices, anyRule, (state, choices, rule) => {
        const analysis = analysisOf(state);
        const { snapshot } = createTrial({ analysis }).outcome(planFor(analysis.snapshot, choices), rule);
        const inLeaves = ({ queueing: { queues } }: Snapshot) =>
          queues.reduce((sum, queue) => sum + (queue.isLeaf ? queue.allocated : 0), 0);
        expect(inLeaves(snapshot)).toBeCloseTo(
          allocated(snapshot) + inLeaves(analysis.snapshot) - allocated(analysis.snapshot),
          5,
        );
        for (const { isLeaf, allocated: own, pending, children } of snapshot.queueing.queues) {
          if (isLeaf || children.length === 0) continue;
          const below = children.flatMap((child) => snapshot.queueing.queues[child] ?? []);
          expect(own).toBeCloseTo(
            below.reduce((sum, one) => sum + one.allocated, 0),
            5,
          );
          expect(pending).toBeCloseTo(
            below.reduce((sum, one) => sum + one.pending, 0),
            5,
          );
        }
        expect(weight(snapshot)).toBeLessThanOrEqual(weight(analysis.snapshot) + 1e-6);
      }),
      runs,
    );
  });
});
