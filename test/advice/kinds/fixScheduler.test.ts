import { describe, expect, it } from "vitest";
import { findFixScheduler } from "../../../exporter/advice/kinds/fixScheduler.ts";
import type { AdviceMoment } from "../../../exporter/advice/moment.ts";
import { nothingWatched } from "../../../exporter/advice/usage/usageWatch.ts";
import { defaultConfig } from "../../../exporter/config/defaults.ts";
import { noQueueObjects } from "../../../exporter/model/queues/queueObjects.ts";
import { kaiPodGroup, kaiQueue, unlimited, volcanoQueue } from "../../analysis/queueObjectBuilder.ts";
import { bareReading, gpuNode, gpuPod, page } from "../../join/clusterBuilder.ts";
import { analysed, snapshotOf } from "../../join/outcomes.ts";
import { foundBy, gainsOf, type KueueCase, kueueMoment, onlyCandidate } from "./kueueCluster.ts";

const never = { reclaimWithinCohort: "Never", withinClusterQueue: "Never", borrowWithinCohort: "Never" };

/** Ads borrows a node of search, which never takes it back. */
const noReclaim: KueueCase = {
  nodes: { a: 8, b: 8 },
  queues: [
    { name: "ads", nominal: 8 },
    { name: "search", nominal: 8, parts: { preemption: never } },
  ],
  running: [
    { name: "embed", queue: "ads", nodes: ["a"], gpusPerPod: 8, hours: 5 },
    { name: "crawl", queue: "ads", nodes: ["b"], gpusPerPod: 8, hours: 1 },
  ],
  waiting: [{ name: "query", queue: "search", pods: 1, gpusPerPod: 8 }],
};

const found = (given: KueueCase) => foundBy(findFixScheduler, kueueMoment(given));

describe("a ClusterQueue that never takes back what others borrow", () => {
  it("is let to, when work of its own waits for it", () => {
    const moment = kueueMoment(noReclaim);
    const candidate = onlyCandidate(foundBy(findFixScheduler, moment));
    expect(candidate).toMatchObject({
      kind: "fix_scheduler",
      title: "let ClusterQueue search take back what its cohort borrows: 8 H100-80GB-HBM3 of waiting work start",
      targets: ["ClusterQueue search"],
      beneficiary: { kind: "queue", name: "search" },
      signs: [{ kind: "finding-gone", code: "kueue-no-reclaim", objectKind: "ClusterQueue", name: "search" }],
      measuredBy: { kind: "work-started", work: [expect.stringContaining("/query")] },
    });
    expect(gainsOf(moment, candidate)).toEqual({ mostAllocated: 8, leastAllocated: 8 });
    expect(candidate.reason).toContain("it takes them from ads/crawl (1 pod)");
    expect(candidate.disrupted.map((pod) => moment.analysis.snapshot.pods[pod]?.name)).toEqual(["crawl-0"]);
    expect(JSON.stringify(candidate.steps[0]?.request.body)).toContain("reclaimWithinCohort");
  });

  it("is left to the lint while nothing of its own waits", () => {
    const { candidates, withheld } = found({ ...noReclaim, waiting: [] });
    expect(candidates).toEqual([]);
    expect(withheld).toMatchObject([{ kind: "fix_scheduler", subject: "ClusterQueue search", why: "worth" }]);
  });

  it("is not let to take what may not be taken", () => {
    const annotations = { "kueue.x-k8s.io/workload": "job-crawl", "karpenter.sh/do-not-disrupt": "true" };
    const running = (noReclaim.running ?? []).map((one) =>
      one.name === "crawl" ? { ...one, pod: { annotations } } : one,
    );
    const { candidates, withheld } = found({ ...noReclaim, running });
    expect(candidates).toEqual([]);
    expect(withheld).toMatchObject([{ why: "guard" }]);
    expect(withheld[0]?.reason).toContain("karpenter.sh/do-not-disrupt");
  });
});

describe("a ClusterQueue that takes back from lower priorities alone", () => {
  const lowerPriority = (priority: number): KueueCase => ({
    ...noReclaim,
    queues: [
      { name: "ads", nominal: 8 },
      { name: "search", nominal: 8, parts: { preemption: { ...never, reclaimWithinCohort: "LowerPriority" } } },
    ],
    waiting: (noReclaim.waiting ?? []).map((one) => ({ ...one, priority })),
  });

  it("is let to take back anything, where all work has one priority", () => {
    const candidate = onlyCandidate(found(lowerPriority(0)));
    expect(candidate).toMatchObject({
      title: "let ClusterQueue search take back what its cohort borrows: 8 H100-80GB-HBM3 of waiting work start",
      signs: [{ kind: "finding-gone", code: "kueue-reclaim-no-candidates", name: "search" }],
    });
    expect(candidate.steps[0]?.request.body).toContainEqual({
      op: "replace",
      path: "/spec/preemption/reclaimWithinCohort",
      value: "Any",
    });
  });

  it("is left as it is where what waits has a higher priority: Kueue takes it back by itself", () => {
    const { candidates, withheld } = found(lowerPriority(100));
    expect(candidates).toEqual([]);
    expect(withheld.filter(({ subject }) => subject === "ClusterQueue search")).toEqual([]);
  });
});

describe("ClusterQueues without a cohort, one of which waits for what the other leaves unused", () => {
  const alone = { cohort: null };
  const split: KueueCase = {
    nodes: { a: 8 },
    queues: [
      { name: "research", nominal: 4, parts: alone },
      { name: "serving", nominal: 4, parts: { ...alone, preemption: never } },
    ],
    running: [{ name: "train", queue: "research", nodes: ["a"], gpusPerPod: 4 }],
    waiting: [{ name: "more", queue: "research", pods: 1, gpusPerPod: 2 }],
  };

  it("are put into one cohort", () => {
    const moment = kueueMoment(split);
    const candidate = onlyCandidate(foundBy(findFixScheduler, moment));
    expect(candidate).toMatchObject({
      title:
        "put ClusterQueue research into one cohort with serving, whose quota is unused: 2 H100-80GB-HBM3 of waiting work start",
      disrupted: [],
      signs: [{ kind: "finding-gone", code: "kueue-quota-not-shared", name: "research" }],
    });
    expect(gainsOf(moment, candidate)).toEqual({ mostAllocated: 2, leastAllocated: 2 });
    const join = [{ op: "add", path: "/spec/cohortName", value: "shared-gpus" }];
    expect(candidate.steps.map(({ request: { path, body } }) => [path, body])).toEqual([
      ["/apis/kueue.x-k8s.io/v1beta2/clusterqueues/serving", join],
      ["/apis/kueue.x-k8s.io/v1beta2/clusterqueues/research", join],
    ]);
    expect(candidate.steps[0]?.precondition).toContain("reclaimWithinCohort to Any");
    expect(candidate.steps[1]?.precondition).not.toContain("reclaimWithinCohort");
  });

  it("come into no cohort of others", () => {
    const others = { name: "others", nominal: 0, parts: { cohort: "shared-gpus" } };
    const candidate = onlyCandidate(found({ ...split, queues: [...split.queues, others] }));
    expect(JSON.stringify(candidate.steps[0]?.request.body)).toContain("shared-gpus-2");
  });

  it("stay as they are while nothing waits for it", () => {
    expect(found({ ...split, waiting: [] }).candidates).toEqual([]);
  });
});

describe("other findings", () => {
  it("gives a queue of KAI without a limit what it waits for", () => {
    const kaiQueues = [
      kaiQueue("all", { gpu: unlimited }),
      kaiQueue("vision", { parent: "all", gpu: { quota: 4, overQuotaWeight: 1, limit: 0 } }),
    ];
    const pods = [gpuPod("v-0", null, 4, { annotations: { "pod-group-name": "v" }, schedulerName: "kai-scheduler" })];
    const moment: AdviceMoment = {
      analysis: analysed(
        snapshotOf({
          nodes: [gpuNode("a", 8)],
          pods,
          telemetry: [
            page(
              "a",
              Array.from({ length: 8 }, (_, i) => bareReading(`GPU-${i}`, { smActive: 0 })),
            ),
          ],
          queues: { ...noQueueObjects, kaiQueues, kaiPodGroups: [kaiPodGroup("v", { queue: "vision" })] },
        }),
      ),
      settings: defaultConfig.advice,
      usage: nothingWatched,
    };
    expect(moment.analysis.findings.map(({ code }) => code)).toContain("kai-limit-zero");
    const candidate = foundBy(findFixScheduler, moment).candidates.find(({ title }) => title.includes("limit"));
    expect(candidate?.title).toBe("take the limit of 0 GPUs from Queue vision: 4 H100-80GB-HBM3 of waiting work start");
    if (candidate === undefined) return;
    expect(gainsOf(moment, candidate)).toEqual({ mostAllocated: 4, leastAllocated: 4 });
  });

  it("says why no request fixes them", () => {
    const volcanoQueues = [volcanoQueue("vision", { deserved: { "nvidia.com/gpu": 4 } })];
    const moment: AdviceMoment = {
      analysis: analysed(
        snapshotOf({
          nodes: [gpuNode("a", 8)],
          queues: { ...noQueueObjects, volcanoQueues },
          schedulerSettings: { kueue: null, volcano: { plugin: "proportion" } },
        }),
      ),
      settings: defaultConfig.advice,
      usage: nothingWatched,
    };
    const { candidates, withheld } = foundBy(findFixScheduler, moment);
    expect(candidates).toEqual([]);
    expect(withheld).toMatchObject([{ subject: "Queue vision", why: "no-plan" }]);
    expect(withheld[0]?.reason).toContain("volcano-scheduler.conf");
  });
});
