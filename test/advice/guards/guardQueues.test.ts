import { describe, expect, it } from "vitest";
import type { GuardQuestion } from "../../../exporter/advice/guards/guards.ts";
import type { PodView, Snapshot } from "../../../exporter/join/snapshot.ts";
import { noQueueObjects, type QueueObjects } from "../../../exporter/model/queues/queueObjects.ts";
import { type QueueInput, queueing } from "../../analysis/fairness/queueingBuilder.ts";
import { clusterQueue, kaiPodGroup, kaiQueue, volcanoQueue } from "../../analysis/queueObjectBuilder.ts";
import { now } from "../../join/clusterBuilder.ts";
import { quotaDomain } from "../../queues/queueView.ts";
import { guardMoment, guardsOf, vetoesOf, workloadView } from "./guardMoment.ts";

/** Queue 1 (`ads`) holds 8 and is sure of 4; queue 2 (`search`) holds nothing and is sure of 4. */
function twoQueues(
  scheduler: "kueue" | "kai" | "volcano" | "none",
  objects: Partial<QueueObjects>,
  pods: readonly Partial<PodView>[] = [{ gpus: 4 }],
  change: Partial<Record<"ads" | "search", Partial<QueueInput>>> = {},
  parts: Partial<Snapshot> = {},
) {
  const isKueue = scheduler === "kueue";
  const base = { scheduler, kind: isKueue ? "ClusterQueue" : "Queue", parent: "top", guaranteed: 4 } as const;
  const built = queueing(
    [
      { name: "top", kind: isKueue ? "Cohort" : "Scheduler", scheduler },
      { ...base, name: "ads", allocated: 8, ...change.ads },
      { ...base, name: "search", waiting: [4], ...change.search },
    ],
    [quotaDomain({ capacity: 8 })],
  );
  return guardMoment(pods, {
    queueing: { ...built, queueOfPod: Int32Array.from(pods, () => 1) },
    queueObjects: { ...noQueueObjects, ...objects },
    ...parts,
  });
}

/** What `ads` loses to work of the same priority in `search`. */
const loss: Partial<GuardQuestion> = { how: "lose", by: "requeue", beneficiary: { priority: 0, queue: 2, gpus: 4 } };

const policy = (reclaimWithinCohort: string): Partial<QueueObjects> => ({
  kueueClusterQueues: [
    clusterQueue("ads"),
    clusterQueue("search", {
      preemption: { reclaimWithinCohort, withinClusterQueue: "Never", borrowWithinCohort: "Never" },
    }),
  ],
});

describe("work of equal priority", () => {
  it("may be moved by anybody", () => {
    expect(guardsOf(twoQueues("kueue", policy("Never")), { beneficiary: { priority: 0, queue: 2 } })).toEqual([]);
  });

  it.each([
    ["Any", []],
    ["LowerPriority", ["reclaim-policy"]],
    ["Never", ["reclaim-policy"]],
  ])("loses what its ClusterQueue borrows by reclaimWithinCohort %s alone", (within, vetoes) => {
    expect(guardsOf(twoQueues("kueue", policy(within)), loss)).toEqual(vetoes);
  });

  it("is not taken by a ClusterQueue that could not be read", () => {
    expect(guardsOf(twoQueues("kueue", {}), loss)).toEqual(["reclaim-policy"]);
  });

  it("is not taken without a common cohort", () => {
    const moment = twoQueues("kueue", policy("Any"));
    const { snapshot } = moment.analysis;
    const queues = snapshot.queueing.queues.map((queue) => ({ ...queue, parent: null }));
    const apart = {
      ...moment,
      analysis: { ...moment.analysis, snapshot: { ...snapshot, queueing: { ...snapshot.queueing, queues } } },
    };
    expect(guardsOf(apart, loss)).toEqual(["reclaim-policy"]);
  });

  it("stays where nobody manages queues", () => {
    expect(guardsOf(twoQueues("none", {}), loss)).toEqual(["reclaim-policy"]);
  });
});

describe("what a queue is owed", () => {
  it.each([
    ["a borrower that is within its guarantee", { ads: { guaranteed: 8 } }],
    ["a beneficiary that has its guarantee", { search: { allocated: 4 } }],
    ["a beneficiary that would hold more than its guarantee", { search: { allocated: 1 } }],
    ["a beneficiary whose quota is reserved", { search: { reserved: 4 } }],
  ])("is nothing for %s", (_, change) => {
    expect(guardsOf(twoQueues("kueue", policy("Any"), [{ gpus: 4 }], change), loss)).toEqual(["priority"]);
  });

  it("is nothing within one queue, or where no queue is known", () => {
    const moment = twoQueues("kueue", policy("Any"));
    expect(guardsOf(moment, { ...loss, beneficiary: { priority: 0, queue: 1 } })).toEqual(["priority"]);
    expect(guardsOf(moment, { ...loss, beneficiary: { priority: 0, queue: null } })).toEqual(["priority"]);
  });

  it("ends where all that is borrowed was taken", () => {
    const pods = [
      { gpus: 4, workload: 0 },
      { gpus: 4, workload: 1 },
    ];
    const workloads = [workloadView({ pods: [0] }), workloadView({ name: "other", pods: [1] })];
    const moment = twoQueues("kueue", policy("Any"), pods, {}, { workloads });
    expect(guardsOf(moment, { ...loss, pods: [0] })).toEqual([]);
    // After the first the queue holds what it is sure of.
    expect(guardsOf(moment, { ...loss, pods: [0, 1] })).toEqual(["priority"]);
  });

  it("is not asked of work with a lower priority", () => {
    const moment = twoQueues("kueue", policy("Never"), [{ gpus: 8 }], { ads: { guaranteed: 8 } });
    expect(guardsOf(moment, { ...loss, beneficiary: { priority: 1, queue: 2, gpus: 8 } })).toEqual([]);
  });

  it("is said with the numbers", () => {
    const [veto] = vetoesOf(twoQueues("kueue", policy("Any"), [{ gpus: 4 }], { ads: { guaranteed: 8 } }), loss);
    expect(veto?.reason).toBe(
      "Pod research/pod-0 has priority 0, not below 0 of the work that would gain, and queue ads holds 8 GPUs and is sure of 8: so much is not borrowed.",
    );
  });
});

describe("KAI", () => {
  const queues = (parts: Partial<Parameters<typeof kaiQueue>[1]> = {}): Partial<QueueObjects> => ({
    kaiQueues: [kaiQueue("ads", parts), kaiQueue("search")],
  });

  it("takes back what is above quota, whatever the priority", () => {
    expect(guardsOf(twoQueues("kai", queues()), loss)).toEqual([]);
  });

  it("leaves alone what is not preemptible", () => {
    const build = { beneficiary: { priority: 100, queue: 2, gpus: 4 }, how: "lose", by: "requeue" } as const;
    expect(guardsOf(twoQueues("kai", queues(), [{ gpus: 4, priority: 100 }]), build)).toEqual(["reclaim-policy"]);
    const queueObject = { scheduler: "kai", kind: "PodGroup", namespace: "research", name: "g", uid: "g" } as const;
    const group = kaiPodGroup("g", { uid: "g", preemptibility: "non-preemptible" });
    const workloads = [workloadView({ queueObject })];
    const moment = twoQueues("kai", { ...queues(), kaiPodGroups: [group] }, [{ gpus: 4 }], {}, { workloads });
    expect(guardsOf(moment, loss)).toEqual(["reclaim-policy"]);
  });

  it.each([
    ["another queue", 2, { reclaimMinRuntimeSeconds: 3600 }, ["min-runtime"]],
    ["another queue, by its promise within the queue", 2, { preemptMinRuntimeSeconds: 3600 }, []],
    ["the same queue", 1, { preemptMinRuntimeSeconds: 3600 }, ["min-runtime"]],
    ["the same queue, by its promise to others", 1, { reclaimMinRuntimeSeconds: 3600 }, []],
    ["nobody known", null, { preemptMinRuntimeSeconds: 3600 }, ["min-runtime"]],
  ])("lets work run for its time before it is moved for %s", (_, queue, parts, vetoes) => {
    const moment = twoQueues("kai", queues(parts), [{ gpus: 4, boundAt: now - 60 }]);
    expect(guardsOf(moment, { beneficiary: { priority: 0, queue } })).toEqual(vetoes);
  });

  it("has nothing against it once the time is over", () => {
    const moment = twoQueues("kai", queues({ reclaimMinRuntimeSeconds: 3600 }), [{ gpus: 4, boundAt: now - 3600 }]);
    expect(guardsOf(moment, loss)).toEqual([]);
  });

  it("inherits the time from the queues above, and a circle of them has an end", () => {
    const above = kaiQueue("all", { reclaimMinRuntimeSeconds: 3600, parent: "ads" });
    const objects = { kaiQueues: [kaiQueue("ads", { parent: "all" }), above] };
    const pods = [{ gpus: 4, boundAt: now - 60 }];
    expect(guardsOf(twoQueues("kai", objects, pods), { beneficiary: { priority: 0, queue: 2 } })).toEqual([
      "min-runtime",
    ]);
    expect(guardsOf(twoQueues("kai", objects, pods), { how: "release", beneficiary: null })).toEqual([]);
  });
});

describe("Volcano", () => {
  const ads = (parts: Parameters<typeof volcanoQueue>[1]): Partial<QueueObjects> => ({
    volcanoQueues: [volcanoQueue("ads", parts), volcanoQueue("search")],
  });
  const settings = { schedulerSettings: { kueue: null, volcano: { plugin: "capacity" } } } as const;

  it("takes from queues that are reclaimable and above what they deserve", () => {
    expect(guardsOf(twoQueues("volcano", ads({}), [{ gpus: 4 }], {}, settings), loss)).toEqual([]);
  });

  it("leaves queues alone that are not reclaimable", () => {
    const moment = twoQueues("volcano", ads({ reclaimable: false }), [{ gpus: 4 }], {}, settings);
    expect(guardsOf(moment, loss)).toEqual(["reclaim-policy"]);
  });

  it("leaves work alone that says so", () => {
    const pods = [{ gpus: 4, labels: { "volcano.sh/preemptable": "false" } }];
    expect(guardsOf(twoQueues("volcano", ads({}), pods, {}, settings), loss)).toEqual(["reclaim-policy"]);
  });
});
