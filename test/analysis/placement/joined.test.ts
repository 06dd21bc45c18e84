import { describe, expect, it } from "vitest";
import { createFleet } from "../../../bench/fleetState.ts";
import { createPlacementCache, measurePlacement } from "../../../exporter/analysis/placement/measurePlacement.ts";
import { defaultConfig } from "../../../exporter/config/defaults.ts";
import { join } from "../../../exporter/join/join.ts";
import { createJoinCache } from "../../../exporter/join/joinCache.ts";
import { emptyMemory } from "../../../exporter/join/memory.ts";
import { noQueueObjects } from "../../../exporter/model/queues/queueObjects.ts";
import { gpuNode, gpuPod, now } from "../../join/clusterBuilder.ts";
import { snapshotOf } from "../../join/outcomes.ts";
import { localQueue } from "../../queues/kueueRows.ts";
import { clusterQueue, flavor, gpuQuota, kueuePodSet, kueueWorkload } from "../queueObjectBuilder.ts";
import { byPods } from "./placementBuilder.ts";

describe("a snapshot that was joined", () => {
  it("keeps members that nobody has created apart from pods that wait", () => {
    const annotations = { "kueue.x-k8s.io/workload": "gang" };
    const pods = [
      ...Array.from({ length: 4 }, (_, i) => gpuPod(`held-${i}`, "n", 1)),
      gpuPod("gang-0", null, 2, { annotations }),
      gpuPod("gang-1", null, 2, { annotations }),
    ];
    const podSets = [kueuePodSet("main", 16, { "nvidia.com/gpu": 2 })];
    const queues = {
      ...noQueueObjects,
      kueueClusterQueues: [clusterQueue("a", { quotas: [gpuQuota(64)] })],
      kueueLocalQueues: [localQueue("main", "a")],
      kueueResourceFlavors: [flavor("h100")],
      kueueWorkloads: [kueueWorkload("gang", { createdAt: now - 900, podSets })],
    };
    const nodes = Array.from({ length: 5 }, (_, i) => gpuNode(i === 0 ? "n" : `n${i}`, 8));
    const snapshot = snapshotOf({ nodes, pods, queues });
    expect(snapshot.queueing.gangs.map(({ parts }) => parts.map((part) => [part.pods, part.createdPods]))).toEqual([
      [[16, 2]],
    ]);
    const { pools, target } = measurePlacement(snapshot, byPods);
    expect(target.pods).toBe(4 + 16);
    expect(pools).toMatchObject([{ freeGpus: 36, wholeFreeNodes: 4, possibleWholeFreeNodes: 4 }]);
  });

  it("is measured alike with and without what was kept, cycle after cycle", () => {
    const fleet = createFleet(40);
    const [joinCache, cache] = [createJoinCache(), createPlacementCache()];
    let memory = emptyMemory;
    for (let cycle = 0; cycle < 5; cycle++) {
      const joined = join(fleet.state(), memory, defaultConfig, now + cycle * 30, joinCache);
      memory = joined.memory;
      const kept = measurePlacement(joined.snapshot, byPods, cache);
      expect(kept.pools.length).toBeGreaterThan(1);
      expect(kept).toEqual(measurePlacement(joined.snapshot, byPods));
      fleet.step();
    }
  });
});
