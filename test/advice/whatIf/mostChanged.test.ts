import { expect, it } from "vitest";
import { mostChanged } from "../../../exporter/advice/whatIf/mostChanged.ts";
import { createTrial } from "../../../exporter/advice/whatIf/trial.ts";
import { noQueueObjects } from "../../../exporter/model/queues/queueObjects.ts";
import { cluster, gpuNode } from "../../join/clusterBuilder.ts";
import * as kueue from "../../queues/kueueRows.ts";
import { analysisOf } from "./generatedMoments.ts";

it("puts the queues first that change most under either placement rule", () => {
  const before = [0, 8, -4];
  const after = [new Map([[0, 0.5]]), new Map([[2, -2]]), new Map([[1, 0]])];
  expect(mostChanged((queue) => before[queue] ?? 0, after)).toEqual([1, 2, 0]);
});

it("takes the larger of the changes under the two rules, and puts equal ones in the order of the queues", () => {
  const after = [
    new Map([
      [2, 1],
      [1, 5],
    ]),
    new Map([
      [1, 3],
      [2, -5],
      [0, 4],
    ]),
  ];
  expect(mostChanged(() => 0, after)).toEqual([1, 2, 0]);
  expect(mostChanged(() => 0, after.toReversed())).toEqual([1, 2, 0]);
});

it("takes twenty of hundreds, whatever their order", () => {
  const queues = Array.from({ length: 500 }, (_, i) => i);
  const changed = queues.map((queue) => [queue, -1 + queue / 100] as const);
  const expected = queues.slice(-20).toReversed();
  for (const order of [changed, changed.toReversed()])
    expect(mostChanged(() => -1, [new Map(order), new Map()])).toEqual(expected);
});

it("is what an effect has: a guarantee of one of thirty queues takes a little from all others", () => {
  const names = Array.from({ length: 30 }, (_, i) => `queue-${i}`);
  const analysis = analysisOf(
    cluster({
      nodes: Array.from({ length: 8 }, (_, i) => gpuNode(`node-${i}`, 8)),
      queues: {
        ...noQueueObjects,
        kueueResourceFlavors: [kueue.flavor("any")],
        kueueClusterQueues: names.map((name) => kueue.clusterQueue(name, [kueue.quota("any", 0)], { cohort: "all" })),
        kueueCohorts: [kueue.cohort("all", null, [kueue.quota("any", 64)])],
        kueueLocalQueues: names.map((name) => kueue.localQueue(name, name)),
        kueueWorkloads: names.map((name) => kueue.workload(name, [kueue.podSet(16, 1)], { localQueue: name })),
      },
    }),
  );
  const queue = analysis.snapshot.queueing.queues.findIndex(({ name }) => name === "queue-7");
  const trial = createTrial({ analysis });
  const plan = { changes: [{ kind: "setQueue", queue, guaranteed: 16 } as const], starts: [] };
  const [before, after] = [trial.before(plan), trial.outcome(plan, "mostAllocated").measures];
  for (const { deviations } of [before, after]) {
    expect(deviations).toHaveLength(20);
    expect(deviations[0]?.queue).toBe("queue-7");
    expect(new Set(deviations.slice(1).map(({ gpus }) => gpus.toFixed(3))).size).toBe(1);
  }
});
