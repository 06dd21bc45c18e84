import { describe, expect, it } from "vitest";
import { findFixScheduler } from "../../../exporter/advice/kinds/fixScheduler.ts";
import { findReclaim } from "../../../exporter/advice/kinds/reclaim.ts";
import type { AdviceMoment } from "../../../exporter/advice/moment.ts";
import { nothingWatched } from "../../../exporter/advice/usage/usageWatch.ts";
import { defaultConfig } from "../../../exporter/config/defaults.ts";
import type { Pod } from "../../../exporter/model/pod.ts";
import {
  noQueueObjects,
  type QueueObjects,
  type SchedulerSettings,
} from "../../../exporter/model/queues/queueObjects.ts";
import { kaiPodGroup, kaiQueue, volcanoPodGroup, volcanoQueue } from "../../analysis/queueObjectBuilder.ts";
import { bareReading, claimant, gpuNode, gpuPod, now, owner, ownerRef, page } from "../../join/clusterBuilder.ts";
import { analysed, snapshotOf } from "../../join/outcomes.ts";
import { foundBy, gainsOf, onlyCandidate } from "./kueueCluster.ts";

const limits = { backoffLimit: 6, failed: 0, onDisruption: "Count", isSuspended: false } as const;
const job = (name: string) => owner("Job", name, null, { apiVersion: "batch/v1", uid: `uid-${name}`, job: limits });

/** A pod of a Job with 4 GPUs, in the PodGroup of the same name. */
const ofJob = (name: string, node: string | null, group: string, parts: Partial<Pod> = {}): Pod =>
  gpuPod(`${name}-0`, node, 4, { owner: ownerRef(job(name)), annotations: { [group]: name }, ...parts });

interface Given {
  readonly pods: readonly Pod[];
  readonly queues: Partial<QueueObjects>;
  readonly schedulerSettings?: SchedulerSettings;
}

/** A node of 8 GPUs that the first two pods hold. */
function momentOf({ pods, queues, schedulerSettings = { kueue: null, volcano: null } }: Given): AdviceMoment {
  const devices = Array.from({ length: 8 }, (_, i) =>
    bareReading(`GPU-${i}`, { smActive: 0.9, claimants: [claimant(i < 4 ? "embed-0" : "crawl-0")] }),
  );
  const snapshot = snapshotOf({
    nodes: [gpuNode("a", 8)],
    pods,
    owners: ["embed", "crawl", "query"].map(job),
    telemetry: [page("a", devices)],
    queues: { ...noQueueObjects, ...queues },
    schedulerSettings,
  });
  return { analysis: analysed(snapshot), settings: defaultConfig.advice, usage: nothingWatched };
}

const newer = { scheduledAt: now - 600, createdAt: now - 600 };

describe("KAI", () => {
  const kai = (crawl: Partial<Pod> = {}, parts: Parameters<typeof kaiQueue>[1] = {}): AdviceMoment => {
    const scheduler = { schedulerName: "kai-scheduler" };
    const gpu = { quota: 4, overQuotaWeight: 1, limit: -1 };
    return momentOf({
      pods: [
        ofJob("embed", "a", "pod-group-name", scheduler),
        ofJob("crawl", "a", "pod-group-name", { ...scheduler, ...newer, ...crawl }),
        ofJob("query", null, "pod-group-name", scheduler),
      ],
      queues: {
        kaiQueues: [kaiQueue("ads", { gpu, ...parts }), kaiQueue("search", { gpu })],
        kaiPodGroups: ["embed", "crawl", "query"].map((name) =>
          kaiPodGroup(name, { queue: name === "query" ? "search" : "ads" }),
        ),
      },
    });
  };

  it("gives back what is above quota by suspending the Job that loses least, then letting it wait again", () => {
    const moment = kai();
    const candidate = onlyCandidate(foundBy(findReclaim, moment));
    expect(candidate.title).toBe("give search 4 H100-80GB-HBM3 back: requeue research/crawl (4)");
    expect(candidate.steps.map(({ request: { body } }) => body)).toMatchObject([
      { spec: { suspend: true } },
      { spec: { suspend: false } },
    ]);
    expect(gainsOf(moment, candidate)).toEqual({ mostAllocated: 4, leastAllocated: 4 });
  });

  it("lets work run for the time that its queue promises", () => {
    const candidate = onlyCandidate(foundBy(findReclaim, kai({}, { reclaimMinRuntimeSeconds: 1800 })));
    expect(candidate.targets).toEqual(["Job research/embed"]);
    expect(candidate.blockedAlternatives).toEqual([
      "research/crawl (4 GPUs): Pod research/crawl-0 may run for 1800 s in queue ads; it has run for 600 s.",
    ]);
  });

  it("leaves alone what is not preemptible", () => {
    const candidate = onlyCandidate(foundBy(findReclaim, kai({ priority: 125 })));
    expect(candidate.targets).toEqual(["Job research/embed"]);
  });
});

describe("Volcano", () => {
  const volcano = (reclaimable: boolean): AdviceMoment => {
    const scheduler = { schedulerName: "volcano" };
    const group = "scheduling.k8s.io/group-name";
    const amounts = { deserved: { "nvidia.com/gpu": 4 } };
    return momentOf({
      pods: [
        ofJob("embed", "a", group, scheduler),
        ofJob("crawl", "a", group, { ...scheduler, ...newer }),
        ofJob("query", null, group, scheduler),
      ],
      queues: {
        volcanoQueues: [volcanoQueue("ads", { ...amounts, reclaimable }), volcanoQueue("search", amounts)],
        volcanoPodGroups: ["embed", "crawl", "query"].map((name) =>
          volcanoPodGroup(name, {
            queue: name === "query" ? "search" : "ads",
            phase: name === "query" ? "Pending" : "Running",
          }),
        ),
      },
      schedulerSettings: { kueue: null, volcano: { plugin: "capacity" } },
    });
  };

  it("gives back what is above deserved", () => {
    const candidate = onlyCandidate(foundBy(findReclaim, volcano(true)));
    expect(candidate.title).toBe("give search 4 H100-80GB-HBM3 back: requeue research/crawl (4)");
  });

  it("keeps what is in a queue that is not reclaimable, and says why", () => {
    const { candidates, withheld } = foundBy(findReclaim, volcano(false));
    expect(candidates).toEqual([]);
    expect(withheld).toMatchObject([{ subject: "search", why: "guard" }]);
    expect(withheld[0]?.reason).toContain("spec.reclaimable of Queue ads is false");
  });

  it("is advised to let it be taken, with what that would start", () => {
    const moment = volcano(false);
    const candidate = onlyCandidate(foundBy(findFixScheduler, moment));
    expect(candidate.title).toBe(
      "let Volcano take back what Queue ads borrows from Queue search: 4 H100-80GB-HBM3 of waiting work start",
    );
    expect(gainsOf(moment, candidate)).toEqual({ mostAllocated: 4, leastAllocated: 4 });
    expect(candidate.disrupted).toHaveLength(1);
    expect(foundBy(findFixScheduler, volcano(true)).candidates).toEqual([]);
  });
});
