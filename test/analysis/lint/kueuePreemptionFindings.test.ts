import { describe, expect, it } from "vitest";
import type { KueueClusterQueue, KueueWorkload } from "../../../exporter/model/queues/kueue.ts";
import type { SchedulerSettings } from "../../../exporter/model/queues/queueObjects.ts";
import { admission, condition, localQueue } from "../../queues/kueueRows.ts";
import { clusterQueue, cohort, gpuQuota, kueuePodSet, kueueWorkload } from "../queueObjectBuilder.ts";
import { found, kueueSettings, lint } from "./lint.ts";

const never = { reclaimWithinCohort: "Never", withinClusterQueue: "Never", borrowWithinCohort: "Never" };
type Preemption = Partial<KueueClusterQueue["preemption"]>;

/** Two queues of a cohort, each sure of 8 GPUs: `vision`, which has the policies, and `ads`, which takes back anything. */
const queues = (vision: Preemption, parts: Partial<KueueClusterQueue> = {}) => [
  clusterQueue("vision", { cohort: "all", preemption: { ...never, ...vision }, ...parts }),
  clusterQueue("ads", { cohort: "all" }),
];
const kueueLocalQueues = [localQueue("vision", "vision"), localQueue("ads", "ads")];

const waits = (name: string, localQueueName: string, priority: number, parts: Partial<KueueWorkload> = {}) =>
  kueueWorkload(name, { localQueue: localQueueName, priority, ...parts });
const runs = (name: string, queue: string, priority: number, gpus: number, flavor = "h100") =>
  kueueWorkload(name, { localQueue: queue, priority, ...admission(queue, flavor, 1, gpus) });

/** The finding of a code about vision; `undefined` without one. */
function ofVision(
  code: "kueue-no-reclaim" | "kueue-reclaim-no-candidates" | "kueue-preemption-no-candidates",
  kueueClusterQueues: readonly KueueClusterQueue[],
  kueueWorkloads: readonly KueueWorkload[],
  settings: Partial<SchedulerSettings> = {},
) {
  return lint({ kueueClusterQueues, kueueLocalQueues, kueueWorkloads }, settings).find(
    (finding) => finding.code === code && finding.name === "vision",
  );
}

describe("reclaimWithinCohort LowerPriority", () => {
  const code = "kueue-reclaim-no-candidates";
  const lower = queues({ reclaimWithinCohort: "LowerPriority" });
  /** Ads holds 12 of the 16 with work of these priorities, vision 4. */
  const borrowed = (...priorities: readonly [number, number]) => [
    runs("crawl", "ads", priorities[0], 6),
    runs("embed", "ads", priorities[1], 6),
    runs("label", "vision", 0, 4),
  ];

  it("takes back nothing where all work has one priority: only Any does, or higher priorities", () => {
    const finding = ofVision(code, lower, [...borrowed(0, 0), waits("a", "vision", 0), waits("b", "vision", 0)]);
    expect(finding?.reason).toContain(
      "the 2 Workloads that wait have priority 0 or less, and what others borrow has priority 0 or more",
    );
    expect(finding?.change).toMatch(/^Set spec\.preemption\.reclaimWithinCohort of ClusterQueue vision to Any,/);
    expect(finding?.change).toContain("a WorkloadPriorityClass with a value above 0");
    expect(finding?.change).not.toContain("or to LowerPriority");
  });

  it("takes back what has a lower priority than the work that waits", () => {
    expect(ofVision(code, lower, [...borrowed(0, 0), waits("a", "vision", 100)])).toBeUndefined();
    // One lower priority among the borrowers, or one higher among those that wait, is enough.
    expect(ofVision(code, lower, [...borrowed(0, 200), waits("a", "vision", 100)])).toBeUndefined();
    const two = [waits("a", "vision", 0), waits("b", "vision", 100)];
    expect(ofVision(code, lower, [...borrowed(50, 50), ...two])).toBeUndefined();
  });

  it("takes back nothing from higher priorities", () => {
    const finding = ofVision(code, lower, [...borrowed(100, 200), waits("a", "vision", 50)]);
    expect(finding?.reason).toContain(
      "the Workload that waits has priority 50, and what others borrow has priority 100 or more",
    );
    expect(finding?.change).toContain("above 100");
  });

  it("takes nothing of queues within their own quota, however low their priority", () => {
    const third = clusterQueue("third", { cohort: "all" });
    const work = [...borrowed(10, 10), runs("low", "third", 0, 4), waits("a", "vision", 10)];
    expect(ofVision(code, [...lower, third], work)?.reason).toContain("has priority 10 or more");
    expect(ofVision(code, [...lower, third], [...work, runs("more", "third", 0, 8)])).toBeUndefined();
  });

  it("takes nothing of another flavor, and nothing without GPUs", () => {
    const work = [...borrowed(10, 10), waits("a", "vision", 10)];
    expect(ofVision(code, lower, [...work, runs("spot", "ads", 0, 20, "a100")])).toBeDefined();
    const cpu = kueueWorkload("cpu", {
      localQueue: "ads",
      podSets: [kueuePodSet("main", 1, { cpu: 8 })],
      admission: {
        clusterQueue: "ads",
        assignments: [{ podSet: "main", count: 1, flavors: { cpu: "h100" }, usage: { cpu: 8 } }],
      },
    });
    expect(ofVision(code, lower, [...work, cpu])).toBeDefined();
    expect(ofVision(code, lower, [...borrowed(0, 0), { ...cpu, priority: 5 }])?.reason).toContain("all work with GPUs");
  });

  it("is found before anything waits while several queues have work, of one priority throughout", () => {
    const finding = ofVision(code, lower, borrowed(0, 0));
    expect(finding?.reason).toContain("all work with GPUs in its cohort has priority 0");
    expect(ofVision(code, lower, borrowed(0, 5))).toBeUndefined();
    // What will come is not known where only one queue has work.
    expect(ofVision(code, lower, [runs("crawl", "ads", 0, 12)])).toBeUndefined();
    expect(ofVision(code, lower, [runs("label", "vision", 0, 4)])).toBeUndefined();
  });

  it("is not held against what is waiting for more than the queue is sure of", () => {
    const full = [runs("crawl", "ads", 50, 12), runs("label", "vision", 0, 8), waits("a", "vision", 10)];
    expect(ofVision(code, lower, full)).toBeUndefined();
  });

  it("has no work to look at in what ended, is off, or is in no queue that is known", () => {
    const gone = [
      waits("done", "vision", 0, { conditions: [condition("Finished", true)] }),
      waits("off", "vision", 0, { active: false }),
      waits("lost", "unknown", 0),
    ];
    expect(ofVision(code, lower, [runs("crawl", "ads", 10, 12), runs("c", "ads", 5, 1), ...gone])).toBeUndefined();
  });

  it("goes by boosts of the priority only where Kueue does", () => {
    const work = [...borrowed(0, 0), waits("a", "vision", 10, { priorityBoost: 10 })];
    expect(ofVision(code, lower, work)).toBeUndefined();
    const { kueue } = kueueSettings({});
    if (kueue === undefined || kueue === null) throw new Error("no settings");
    expect(ofVision(code, lower, work, { kueue: { ...kueue, priorityBoost: false } })).toBeDefined();
  });

  it("is found across the Cohorts of one tree, and not where nobody may borrow", () => {
    const tree = [
      clusterQueue("vision", { cohort: "x", preemption: { ...never, reclaimWithinCohort: "LowerPriority" } }),
      clusterQueue("ads", { cohort: "y" }),
    ];
    const objects = {
      kueueClusterQueues: tree,
      kueueLocalQueues,
      kueueWorkloads: [...borrowed(0, 0), waits("a", "vision", 0)],
      kueueCohorts: [cohort("x", { parent: "root" }), cohort("y", { parent: "root" })],
    };
    expect(found(code, objects)).toEqual(["ClusterQueue vision"]);
    expect(found(code, { ...objects, kueueCohorts: [] })).toEqual([]);
    const unlent = queues({ reclaimWithinCohort: "LowerPriority" }, { quotas: [gpuQuota(8, { lendingLimit: 0 })] });
    expect(ofVision(code, unlent, [...borrowed(0, 0), waits("a", "vision", 0)])).toBeUndefined();
  });

  it("is not found where the policy is Any", () => {
    const any = queues({ reclaimWithinCohort: "Any" });
    expect(ofVision(code, any, [...borrowed(0, 0), waits("a", "vision", 0)])).toBeUndefined();
  });
});

describe("the advice against reclaimWithinCohort Never", () => {
  const change = (...work: readonly KueueWorkload[]) => ofVision("kueue-no-reclaim", queues({}), work)?.change;
  const set = "Set spec.preemption.reclaimWithinCohort of ClusterQueue vision to Any";

  it("names LowerPriority only where it would take back something", () => {
    expect(change(runs("crawl", "ads", 0, 12), waits("a", "vision", 100))).toBe(
      `${set}; or to LowerPriority, which takes back from work of lower priority than that which waits, and there is such work now.`,
    );
    expect(change(runs("crawl", "ads", 0, 12), waits("a", "vision", 0))).toBe(
      `${set}: LowerPriority would take back nothing, because the Workload that waits has priority 0, and what others borrow has priority 0 or more.`,
    );
    expect(change()).toBe(`${set}: LowerPriority takes back only from work of lower priority than that which waits.`);
  });
});

describe("withinClusterQueue LowerPriority", () => {
  const code = "kueue-preemption-no-candidates";
  const alone = (withinClusterQueue: string) => [
    clusterQueue("vision", { preemption: { ...never, withinClusterQueue } }),
  ];
  const work = [runs("label", "vision", 7, 8), waits("a", "vision", 7)];

  it("preempts nothing while all work of the queue has one priority", () => {
    const finding = ofVision(code, alone("LowerPriority"), work);
    expect(finding?.reason).toContain(
      "withinClusterQueue is LowerPriority, but all its 2 Workloads with GPUs, of which 1 wait, have priority 7",
    );
    expect(finding?.change).toContain("a WorkloadPriorityClass with a value above 7");
    expect(finding?.change).toContain("withinClusterQueue LowerOrNewerEqualPriority");
  });

  it("is not dead with several priorities, or while nothing waits for what runs", () => {
    expect(ofVision(code, alone("LowerPriority"), [...work, runs("low", "vision", 1, 1)])).toBeUndefined();
    expect(ofVision(code, alone("LowerPriority"), [...work, waits("high", "vision", 9)])).toBeUndefined();
    expect(ofVision(code, alone("LowerPriority"), work.slice(0, 1))).toBeUndefined();
    expect(ofVision(code, alone("LowerPriority"), work.slice(1))).toBeUndefined();
  });

  it("is not what other policies are", () => {
    expect(ofVision(code, alone("LowerOrNewerEqualPriority"), work)).toBeUndefined();
    expect(ofVision(code, alone("Never"), work)).toBeUndefined();
  });
});

describe("borrowWithinCohort LowerPriority", () => {
  const code = "kueue-preemption-no-candidates";
  const borrow = { reclaimWithinCohort: "Any", borrowWithinCohort: "LowerPriority" };
  const work = (priority: number) => [runs("crawl", "ads", 0, 12), waits("a", "vision", priority)];

  it("takes nothing while all work of the cohort has one priority", () => {
    const finding = ofVision(code, queues(borrow), work(0));
    expect(finding?.reason).toContain(
      "borrowWithinCohort is LowerPriority, but all work with GPUs in its cohort has priority 0",
    );
    expect(finding?.change).toContain("a WorkloadPriorityClass with a value above 0");
    expect(ofVision(code, queues(borrow), work(1))).toBeUndefined();
  });

  it("takes nothing above its threshold", () => {
    const below = (borrowMaxPriority: number) => queues({ ...borrow, borrowMaxPriority });
    expect(ofVision(code, below(-1), work(100))?.reason).toContain("maxPriorityThreshold -1 alone");
    expect(ofVision(code, below(0), work(100))).toBeUndefined();
    // What the queue itself borrows is not taken for its own work.
    expect(ofVision(code, below(-1), [...work(100), runs("own", "vision", -5, 9)])).toBeDefined();
  });

  it("is not looked at where Kueue does not, or where the queue may not borrow", () => {
    expect(ofVision(code, queues(borrow), work(0), kueueSettings({}, true))).toBeUndefined();
    expect(ofVision(code, queues(borrow), work(0), kueueSettings({}, false))).toBeDefined();
    const bounded = queues(borrow, { quotas: [gpuQuota(8, { borrowingLimit: 0 })] });
    expect(ofVision(code, bounded, work(0))).toBeUndefined();
    expect(ofVision(code, queues({ ...borrow, borrowWithinCohort: "Never" }), work(0))).toBeUndefined();
  });

  it("is reported in one finding with the other policy of the queue", () => {
    const both = queues({ ...borrow, withinClusterQueue: "LowerPriority" });
    const finding = ofVision(code, both, [...work(0), runs("label", "vision", 0, 2)]);
    expect(finding?.reason).toContain("withinClusterQueue is LowerPriority");
    expect(finding?.reason).toContain("borrowWithinCohort is LowerPriority");
  });
});
