import type { Review } from "../../review/document/review.ts";
import type { Action } from "../../review/document/waste.ts";

function action(id: string, kind: Action["kind"], title: string, gpus: number, more: Partial<Action> = {}): Action {
  return {
    cluster: "harbor",
    id,
    kind,
    title,
    state: "open",
    firstSeen: "2026-11-12T10:20:00Z",
    closed: null,
    closedBecause: null,
    whyMeasured: null,
    records: 1,
    fromTeam: "ads",
    forTeam: "search",
    pool: "H100",
    owner: "team ads",
    predictedGpus: gpus,
    predictedGpuHoursPerWeek: gpus * 168,
    lostGpuHours: 3.1,
    savingPerWeek: {},
    risk: "2 pods of ads restart; confidence high",
    measuredGpus: null,
    measuredLostGpuHours: null,
    ...more,
  };
}

const closed = "2026-11-13T15:00:00Z";

export const sampleActions: Pick<
  Review,
  "actions" | "lastActions" | "lastActionsLeftOut" | "notAdvised" | "notAdvisedLeftOut" | "trackRecords"
> = {
  actions: [
    action(
      "r-91c2",
      "reclaim",
      "search is short of 16 H100 that ads borrowed: suspend ads/embed-v3 (8) and ads/crawl-42 (8)",
      16,
    ),
    action("r-7d10", "release_idle", "ads/notebook-big holds 8 H100, nothing ran for 3 h 10 min", 8, {
      savingPerWeek: { USD: 9_240 },
      lostGpuHours: 0,
      risk: "nothing restarts; confidence high",
    }),
    action(
      "r-22aa",
      "defragment",
      "move vision/eval-7 (1 GPU) from a100-03 to a100-05: then vision/train-9 (8) fits",
      8,
      {
        fromTeam: "vision",
        owner: "platform",
        lostGpuHours: 0.4,
        risk: "1 pods of vision restart, at most, no checkpoint is known; confidence medium",
      },
    ),
    action("r-0b44", "scale_in", "node pool a100-spot keeps 1 node that nobody used for 3 d 19 h", 8, {
      owner: "platform",
      savingPerWeek: { USD: 4_608 },
      lostGpuHours: 0,
      risk: "nothing restarts; confidence medium",
    }),
  ],
  lastActions: [
    action("r-1111", "release_idle", "notebooks/kim holds 4 A100, nothing ran for 9 h", 4, {
      state: "taken",
      closed,
      measuredGpus: 4,
      lostGpuHours: 0,
      measuredLostGpuHours: 0.2,
      savingPerWeek: { USD: 2_305 },
    }),
    action("r-2222", "defragment", "move ads/eval-2 (2 GPUs) from h100-04 to h100-09", 8, {
      state: "taken",
      closed,
      measuredGpus: 6.5,
      whyMeasured: "its pods were evicted again after 3 h (1.5 GPUs)",
      lostGpuHours: 1.2,
      measuredLostGpuHours: 1.6,
    }),
    action("r-3333", "change_quota", "lend 8 more A100 from vision to search", 8, {
      state: "dismissed",
      closed,
      lostGpuHours: 0,
    }),
    action("r-4444", "reclaim", "search is short of 4 H100 that ads borrowed", 4, {
      state: "expired",
      closed,
      records: 3,
      closedBecause: "it was not found again: rank-7 does not wait any more",
    }),
  ],
  lastActionsLeftOut: 2,
  notAdvised: [
    {
      cluster: "harbor",
      kind: "scale_in",
      subject: "a100-reserved",
      hours: 168,
      otherReasons: 0,
      reason: "2 idle nodes (16 GPUs): they are reserved capacity, which costs the same when it is given back",
      costs: { USD: 9_216 },
    },
    {
      cluster: "harbor",
      kind: "release_idle",
      subject: "ads/notebook-3",
      hours: 40.5,
      otherReasons: 1,
      reason: "2 idle GPUs for 3 h: nobody would make pod ads/notebook-3 again",
      costs: {},
    },
  ],
  notAdvisedLeftOut: 1,
  trackRecords: [
    {
      kind: "release_idle",
      act: "ask",
      cameBack: 2,
      evictedAgain: 0,
      stayed: 11,
      ended: 1,
      regretGpuHours: 85.3,
    },
  ],
};
