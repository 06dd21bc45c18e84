import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  createFreeCapacitiesCache,
  findFreeCapacities,
} from "../../../exporter/analysis/freeCapacity/freeCapacities.ts";
import { createPlacementCache, measurePlacement } from "../../../exporter/analysis/placement/measurePlacement.ts";
import { join } from "../../../exporter/join/join.ts";
import { createJoinCache } from "../../../exporter/join/joinCache.ts";
import { emptyMemory } from "../../../exporter/join/memory.ts";
import { now } from "../../join/clusterBuilder.ts";
import { type ChangeName, changed, changeNames } from "../../join/clusterChanges.ts";
import { anyCluster } from "../../join/clusterGenerator.ts";
import { defaultSettings } from "../../join/outcomes.ts";
import { byPods } from "../placement/placementBuilder.ts";

const anyStep = fc.record({ change: fc.constantFrom<ChangeName>(...changeNames), pick: fc.nat(20) });

describe("free capacities of snapshots that a join with a memory made", () => {
  it("are those that are made anew, whatever changes in the cluster, and placement is what it would be", () => {
    fc.assert(
      fc.property(anyCluster, fc.array(anyStep, { minLength: 3, maxLength: 9 }), (first, steps) => {
        const [joinCache, freeCapacitiesCache, placementCache] = [
          createJoinCache(),
          createFreeCapacitiesCache(),
          createPlacementCache(),
        ];
        let [state, memory] = [first, emptyMemory];
        for (const [round, { change, pick }] of steps.entries()) {
          const joined = join(state, memory, defaultSettings, now + 30 * round, joinCache);
          const { snapshot } = joined;
          expect(findFreeCapacities(snapshot, freeCapacitiesCache)).toEqual(findFreeCapacities(snapshot));
          expect(measurePlacement(snapshot, byPods, placementCache)).toEqual(measurePlacement(snapshot, byPods));
          memory = joined.memory;
          state = changed(state, change, pick, round);
        }
      }),
      { numRuns: 300, seed: 23 },
    );
  });
});
