import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { askGuards, type GuardQuestion } from "../../../exporter/advice/guards/guards.ts";
import type { AdviceMoment } from "../../../exporter/advice/moment.ts";
import type { PodView } from "../../../exporter/join/snapshot.ts";
import { noQueueObjects } from "../../../exporter/model/queues/queueObjects.ts";
import { queueing } from "../../analysis/fairness/queueingBuilder.ts";
import { device, holding } from "../../analysis/momentBuilder.ts";
import { clusterQueue } from "../../analysis/queueObjectBuilder.ts";
import { quotaDomain } from "../../queues/queueView.ts";
import { budget, guardMoment, job, replicaSet, workloadView } from "./guardMoment.ts";
import { brokenRules } from "./naiveGuards.ts";

/** Mostly what is in order, so that some questions pass. */
const rarely = <Value>(usual: Value, ...others: readonly Value[]): fc.Arbitrary<Value> =>
  fc.oneof({ weight: 12, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: fc.constantFrom(...others) });

const anyPod: fc.Arbitrary<Partial<PodView>> = fc.record({
  uid: rarely<string | null>("uid", null),
  status: rarely<PodView["status"]>("allocated", "pending"),
  node: rarely<string | null>("n", null, "gone"),
  gpus: rarely<number | null>(1, 2, null),
  priority: fc.constantFrom(0, 0, 5, 10),
  workload: fc.nat(2),
  namespace: rarely("research", "other"),
  labels: fc.constantFrom({}, { app: "a" }, { app: "b" }),
  owner: rarely(replicaSet, job, null, { ...replicaSet, kind: "DaemonSet" }),
  disruption: fc.record({
    isStatic: rarely(false, true),
    hasLocalStorage: rarely(false, true),
    forbiddenBy: rarely<string | null>(null, "example.com/leave-me"),
  }),
  gang: rarely<PodView["gang"]>(null, { id: "g", min: 2, bound: 2, partialSince: null }),
});

const anyBudget = fc
  .tuple(rarely<number | null>(9, 0, 1, 2, null), fc.constantFrom({ app: "a" }, { app: "b" }, {}))
  .map(([allowed, matchLabels]) => budget(allowed, { matchLabels, name: `${allowed}-${matchLabels.app ?? ""}` }));

const anyMoment: fc.Arbitrary<AdviceMoment> = fc
  .record({
    pods: fc.array(anyPod, { minLength: 1, maxLength: 6 }),
    estimated: rarely(false, true),
    budgets: fc.oneof(
      { weight: 5, arbitrary: fc.array(anyBudget, { maxLength: 2 }) },
      { weight: 1, arbitrary: fc.constant(null) },
    ),
    failed: fc.nat(6),
    onDisruption: fc.constantFrom("Count" as const, "Ignore" as const, "FailJob" as const),
    policy: fc.constantFrom("Any", "Never", "LowerPriority"),
    allocated: fc.tuple(fc.nat(8), fc.nat(8)),
    queueOfPod: fc.array(fc.integer({ min: -1, max: 2 }), { minLength: 6, maxLength: 6 }),
  })
  .map(({ pods, estimated, budgets, failed, onDisruption, policy, allocated, queueOfPod }) => {
    const limits = { backoffLimit: 6, failed, onDisruption, isSuspended: false };
    const workloads = [0, 1, 2].map((workload) =>
      workloadView({
        name: `w${workload}`,
        job: workload === 2 ? null : limits,
        pods: pods.flatMap((pod, i) => (pod.workload === workload ? [i] : [])),
      }),
    );
    const built = queueing(
      [
        { name: "cohort" },
        { name: "ads", parent: "cohort", guaranteed: 4, allocated: allocated[0] },
        { name: "search", parent: "cohort", guaranteed: 4, allocated: allocated[1], waiting: [2] },
      ],
      [quotaDomain({ capacity: 16 })],
    );
    const preemption = { reclaimWithinCohort: policy, withinClusterQueue: "Never", borrowWithinCohort: "Never" };
    const kueueClusterQueues = [clusterQueue("ads", { preemption }), clusterQueue("search", { preemption })];
    return guardMoment(pods, {
      workloads,
      devices: pods.map((_, pod) => device({ uuid: `GPU-${pod}`, holders: [holding({ pod, estimated })] })),
      podDisruptionBudgets: budgets,
      queueing: { ...built, queueOfPod: Int32Array.from(queueOfPod.slice(0, pods.length)) },
      queueObjects: { ...noQueueObjects, kueueClusterQueues },
    });
  });

const anyQuestion: fc.Arbitrary<GuardQuestion> = fc.record({
  pods: fc.array(fc.nat(6), { minLength: 1, maxLength: 4 }),
  how: fc.constantFrom("move", "lose", "release"),
  by: fc.constantFrom("eviction", "requeue", "scale"),
  beneficiary: fc.oneof(
    { weight: 1, arbitrary: fc.constant(null) },
    { weight: 5, arbitrary: fc.record({ priority: fc.constantFrom(0, 5, 11), queue: fc.constantFrom(null, 1, 2) }) },
  ),
});

describe("in generated clusters", () => {
  it("nothing passes that breaks a rule, and enough passes in every way for that to mean something", () => {
    const passed = new Map<string, number>();
    fc.assert(
      fc.property(anyMoment, anyQuestion, (moment, question) => {
        if (askGuards(moment, question).vetoes.length > 0) return;
        expect(brokenRules(moment.analysis.snapshot, question)).toEqual([]);
        const way = `${question.how} by ${question.by}`;
        passed.set(way, (passed.get(way) ?? 0) + 1);
      }),
      { numRuns: 2000, seed: 8 },
    );
    expect(passed.size).toBe(9);
    for (const count of passed.values()) expect(count).toBeGreaterThan(5);
  });

  it("no order of the pods in a question changes the answer, nor does asking twice", () => {
    fc.assert(
      fc.property(anyMoment, anyQuestion, (moment, question) => {
        const answer = askGuards(moment, question);
        expect(askGuards(moment, question)).toEqual(answer);
        const turned = askGuards(moment, { ...question, pods: [...question.pods].reverse() });
        expect(turned.vetoes.length === 0).toBe(answer.vetoes.length === 0);
      }),
      { numRuns: 200, seed: 8 },
    );
  });
});
