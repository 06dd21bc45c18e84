import { describe, expect, it } from "vitest";
import { createTrial } from "../../../exporter/advice/whatIf/trial.ts";
import { noQueueObjects } from "../../../exporter/model/queues/queueObjects.ts";
import { kaiPodGroup, kaiQueue } from "../../analysis/queueObjectBuilder.ts";
import { cluster, gpuNode, gpuPod, now } from "../../join/clusterBuilder.ts";
import * as kueue from "../../queues/kueueRows.ts";
import { analysisOf } from "./generatedMoments.ts";

/** A pod of the borrower: its priority, and for how many seconds it has run. */
type Borrowed = readonly [name: string, priority: number, seconds: number];

const older: readonly Borrowed[] = [
  ["low-old", 1, 9000],
  ["low-new", 1, 100],
  ["high", 5, 50],
  ["low-middle", 1, 500],
];

/** Queue `lender` is sure of 8 GPUs and waits for 4; `borrower` is sure of none and holds all 8, in pods of 2. */
function kueueMoment(reclaimWithinCohort: string, waits: { priority: number; gpus: number }, nominal = 8) {
  const preemption = { reclaimWithinCohort, withinClusterQueue: "Never", borrowWithinCohort: "Never" };
  const pods = older.map(([name, priority, seconds]) =>
    gpuPod(name, "n", 2, {
      annotations: { "kueue.x-k8s.io/workload": name },
      priority,
      scheduledAt: now - seconds,
      createdAt: now - seconds,
    }),
  );
  return analysisOf(
    cluster({
      nodes: [gpuNode("n", 8)],
      pods,
      queues: {
        ...noQueueObjects,
        kueueResourceFlavors: [kueue.flavor("any")],
        kueueClusterQueues: [
          kueue.clusterQueue("lender", [kueue.quota("any", nominal)], { cohort: "all", preemption }),
          kueue.clusterQueue("borrower", [kueue.quota("any", 8 - nominal)], { cohort: "all" }),
        ],
        kueueLocalQueues: [kueue.localQueue("lender", "lender"), kueue.localQueue("borrower", "borrower")],
        kueueWorkloads: [
          ...older.map(([name, priority]) =>
            kueue.workload(name, [kueue.podSet(1, 2)], {
              ...kueue.admission("borrower", "any", 1, 2),
              localQueue: "borrower",
              priority,
            }),
          ),
          kueue.workload("waits", [kueue.podSet(1, waits.gpus)], { localQueue: "lender", priority: waits.priority }),
        ],
      },
    }),
  );
}

function taken(analysis: ReturnType<typeof kueueMoment>, name = "lender") {
  const queue = analysis.snapshot.queueing.queues.findIndex((one) => one.name === name);
  const trial = createTrial({ analysis });
  const plan = { changes: [{ kind: "letReclaim" as const, queue }], starts: [0] };
  const { snapshot, started, released, measures } = trial.outcome(plan, "mostAllocated");
  const left = snapshot.pods.filter((pod, i) => pod.node === null && analysis.snapshot.pods[i]?.status === "allocated");
  return {
    left: left.map((pod) => pod.name).sort(),
    started: started.length,
    released: [...released.values()],
    pending: measures.pendingGpus,
  };
}

describe("letting Kueue reclaim", () => {
  it("takes the lowest priority first, and of these what started last, as much as the waiting work needs", () => {
    expect(taken(kueueMoment("Any", { priority: 0, gpus: 4 }))).toEqual({
      left: ["low-middle", "low-new"],
      started: 1,
      released: [2, 2],
      pending: 4,
    });
    expect(taken(kueueMoment("Any", { priority: 0, gpus: 8 })).left).toEqual([
      "high",
      "low-middle",
      "low-new",
      "low-old",
    ]);
  });

  it("takes nothing where the policy allows nothing", () => {
    expect(taken(kueueMoment("Never", { priority: 9, gpus: 4 })).left).toEqual([]);
    expect(taken(kueueMoment("LowerPriority", { priority: 1, gpus: 4 })).left).toEqual([]);
    expect(taken(kueueMoment("LowerPriority", { priority: 2, gpus: 8 }))).toMatchObject({ left: [], started: 0 });
    expect(taken(kueueMoment("LowerPriority", { priority: 2, gpus: 6 })).left).toHaveLength(3);
  });

  it("takes nothing for work beyond what the queue is sure of, nor from a queue within its own", () => {
    expect(taken(kueueMoment("Any", { priority: 0, gpus: 4 }, 3)).left).toEqual([]);
    expect(taken(kueueMoment("Any", { priority: 0, gpus: 4 }), "borrower").left).toEqual([]);
  });
});

describe("letting KAI reclaim", () => {
  it("takes preemptible work above the fair share, and none where the pods would not fit", () => {
    const group = (name: string, on: string | null, gpus: number, priority: number) =>
      gpuPod(name, on, gpus, { annotations: { "pod-group-name": name }, schedulerName: "kai-scheduler", priority });
    const analysis = (priority: number) =>
      analysisOf(
        cluster({
          nodes: [gpuNode("n", 8), gpuNode("m", 8)],
          pods: [
            ...["n", "m"].flatMap((on) => [0, 1].map((i) => group(`${on}${i}`, on, 4, priority))),
            group("waits", null, 8, 50),
          ],
          queues: {
            ...noQueueObjects,
            kaiQueues: [kaiQueue("vision"), kaiQueue("speech")],
            kaiPodGroups: [
              ...["n0", "n1", "m0", "m1"].map((name) => kaiPodGroup(name, { queue: "speech" })),
              kaiPodGroup("waits", { queue: "vision" }),
            ],
          },
        }),
      );
    const { left, started } = taken(analysis(50), "vision");
    expect(started).toBe(1);
    expect([
      ["m0", "m1"],
      ["n0", "n1"],
    ]).toContainEqual(left);
    expect(taken(analysis(125), "vision")).toMatchObject({ left: [], started: 0 });
  });
});
