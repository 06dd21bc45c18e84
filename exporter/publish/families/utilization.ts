import { type WorkRatios, workRatios } from "../../analysis/signals/workSums.ts";
import type { PoolReadings } from "../../analysis/sums/momentSums.ts";
import type { utilizationMetrics } from "../../catalogue/utilization.ts";
import { allocatedTimeStates } from "../../model/gpuStates.ts";
import type { FamilyInput, Producers } from "../family.ts";

/** Who holds GPUs, and how much of them is used. Teams come largest first, so that a budget cuts the smallest. */
export const utilizationProducers: Producers<keyof typeof utilizationMetrics> = {
  fairlead_pool_gpu_utilization_ratio: ({ moment }) =>
    moment?.analysis.pools.map(({ pool, utilization }) => ({ labels: { pool }, value: utilization })),
  fairlead_pool_gpu_activity_ratio: ({ moment }) =>
    moment?.analysis.pools.map(({ pool, activity }) => ({ labels: { pool }, value: activity })),
  fairlead_pool_gpu_memory_used_bytes: (input) => poolReading(input, "memoryUsedBytes"),
  fairlead_pool_power_watts: (input) => poolReading(input, "powerWatts"),
  fairlead_team_gpu_utilization_ratio: ({ moment }) =>
    moment?.teams.map(({ team, utilization }) => ({ labels: { team }, value: utilization })),
  fairlead_pool_tensor_active_ratio: (input) => poolWork(input, "tensorActive"),
  fairlead_pool_dram_active_ratio: (input) => poolWork(input, "dramActive"),
  fairlead_pool_power_ratio: (input) => poolWork(input, "power"),
  fairlead_team_tensor_active_ratio: (input) => teamWork(input, "tensorActive"),
  fairlead_team_dram_active_ratio: (input) => teamWork(input, "dramActive"),
  fairlead_team_power_ratio: (input) => teamWork(input, "power"),
  fairlead_team_pending_gpus: ({ moment }) =>
    moment?.analysis.snapshot.coverage.objects
      ? moment.teams.map(({ team, pending }) => ({ labels: { team }, value: pending }))
      : [],
  fairlead_team_idle_opted_out_gpus: ({ moment }) =>
    moment?.teams.map(({ team, idleOptedOut }) => ({ labels: { team }, value: idleOptedOut })),
  fairlead_team_gpus: ({ moment }) =>
    moment?.teams.flatMap(({ team, pools }) =>
      pools.flatMap(({ pool, states }) =>
        allocatedTimeStates.map((state) => ({ labels: { team, pool, state }, value: states[state] })),
      ),
    ),
};

/** One reading of each pool; pools in which nothing reports it have no sample. */
function poolReading({ moment }: FamilyInput, of: keyof PoolReadings) {
  return [...(moment?.sums.readings ?? [])].map(([pool, readings]) => ({ labels: { pool }, value: readings[of] }));
}

function poolWork({ moment }: FamilyInput, of: keyof WorkRatios) {
  return moment?.analysis.signals.pools.map(({ pool, work }) => ({ labels: { pool }, value: workRatios(work)[of] }));
}

function teamWork({ moment }: FamilyInput, of: keyof WorkRatios) {
  return moment?.teams.flatMap(({ team, work }) =>
    work.map(({ pool, ratios }) => ({ labels: { team, pool }, value: ratios[of] })),
  );
}
