import type { PoolReadings } from "../../analysis/sums/momentSums.ts";
import type { utilizationMetrics } from "../../catalogue/utilization.ts";
import { allocatedTimeStates } from "../../model/gpuStates.ts";
import type { FamilyInput, Producers } from "../family.ts";

/** Who holds what, and uses it. Teams come largest first, so that a budget cuts the smallest. */
export const utilizationProducers: Producers<keyof typeof utilizationMetrics> = {
  fairlead_pool_gpu_utilization_ratio: ({ health: { cluster }, moment }) =>
    (moment?.analysis.pools ?? []).flatMap(({ pool, utilization }) =>
      utilization === null ? [] : [{ labels: { cluster, pool }, value: utilization }],
    ),
  fairlead_pool_gpu_activity_ratio: ({ health: { cluster }, moment }) =>
    (moment?.analysis.pools ?? []).flatMap(({ pool, activity }) =>
      activity === null ? [] : [{ labels: { cluster, pool }, value: activity }],
    ),
  fairlead_pool_gpu_memory_used_bytes: (input) => poolReading(input, "memoryUsedBytes"),
  fairlead_pool_power_watts: (input) => poolReading(input, "powerWatts"),
  fairlead_team_gpu_utilization_ratio: ({ health: { cluster }, moment }) =>
    (moment?.teams ?? []).flatMap(({ team, utilization }) =>
      utilization === null ? [] : [{ labels: { cluster, team }, value: utilization }],
    ),
  fairlead_team_pending_gpus: ({ health: { cluster }, moment }) =>
    moment?.analysis.snapshot.coverage.objects
      ? moment.teams.map(({ team, pending }) => ({ labels: { cluster, team }, value: pending }))
      : [],
  fairlead_team_idle_opted_out_gpus: ({ health: { cluster }, moment }) =>
    (moment?.teams ?? []).map(({ team, idleOptedOut }) => ({ labels: { cluster, team }, value: idleOptedOut })),
  fairlead_team_gpus: ({ health: { cluster }, moment }) =>
    (moment?.teams ?? []).flatMap(({ team, pools }) =>
      pools.flatMap(({ pool, states }) =>
        allocatedTimeStates.map((state) => ({ labels: { cluster, team, pool, state }, value: states[state] })),
      ),
    ),
};

/** Pools in which nothing reports it are absent. */
function poolReading({ health: { cluster }, moment }: FamilyInput, of: keyof PoolReadings) {
  return [...(moment?.sums.readings ?? [])].flatMap(([pool, readings]) => {
    const value = readings[of];
    return value === null ? [] : [{ labels: { cluster, pool }, value }];
  });
}
