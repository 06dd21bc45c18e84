import type { Analysis } from "../../exporter/analysis/analysis.ts";
import type { BlockedWork } from "../../exporter/analysis/blocked/blocked.ts";
import type { PoolPlacement } from "../../exporter/analysis/placement/poolPlacement.ts";
import { toleratesAll } from "../../exporter/model/queues/nodeMatch.ts";
import { at } from "./moment.ts";
import { queueMoment } from "./queueMoment.ts";

/** A pool in which 16 GPUs are free as 3 + 5 + 8, where nothing else is said. */
export function poolPlacement(values: Partial<PoolPlacement> = {}): PoolPlacement {
  return {
    pool: "H100",
    freeGpus: 16,
    sharedFreeGpus: 0.5,
    partitionedFreeGpus: 0,
    unavailableFreeGpus: 8,
    largestPlaceablePod: 8,
    placeablePods: { 1: 16, 2: 7, 4: 3, 8: 1 },
    shapeFragmentation: { 1: 0, 2: 0.125, 4: 0.25, 8: 0.5 },
    typicalRequests: [{ size: 1, cpuMilli: 8000, memoryBytes: 2 ** 36, basis: "median" }],
    wholeFreeNodes: 1,
    possibleWholeFreeNodes: 2,
    strandedGpus: { cpu: 3 },
    expected: { gpus: 6.6, ratio: 0.4, byCause: { lack_gpu: 5, lack_cpu: 1.6 } },
    migFragmentation: [{ profile: "3g.40gb", physicalGpus: 2, ratio: 0.5 }],
    ...values,
  };
}

/** The first waiting gang of `queueMoment`, blocked for twenty minutes, where nothing else is said. */
export function blockedWork(values: Partial<BlockedWork> = {}): BlockedWork {
  return {
    gang: 0,
    key: "gang 0",
    pools: ["H100"],
    gpus: 12,
    freeGpus: 16,
    blocker: "cpu",
    since: at - 1200,
    isStanding: true,
    ...values,
  };
}

/** `queueMoment` with free GPUs that lie badly, and work that waits for it. */
export const placementMoment: Analysis = {
  ...queueMoment,
  placement: {
    pools: [poolPlacement()],
    target: {
      source: "pods",
      pods: 40,
      shapes: [
        {
          gpus: 4,
          needs: {
            requests: { "nvidia.com/gpu": 4, cpu: 32, memory: 2 ** 38 },
            nodeSelector: {},
            nodeAffinity: [],
            tolerations: toleratesAll,
          },
          popularity: 1,
          pods: 40,
        },
      ],
    },
  },
  blocked: {
    work: [blockedWork(), blockedWork({ key: "young", gpus: 2, since: at - 60, isStanding: false })],
    since: new Map(),
  },
};
