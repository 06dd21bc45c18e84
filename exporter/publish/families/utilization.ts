import { heldGpuStates } from "../../catalogue/labels.ts";
import type { utilizationMetrics } from "../../catalogue/utilization.ts";
import type { Device } from "../../join/snapshot.ts";
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
  fairlead_pool_gpu_memory_used_bytes: (input) =>
    poolSums(input, deviceKey, (device) => device.reading?.memoryUsedBytes),
  fairlead_pool_power_watts: (input) => poolSums(input, cardKey, (device) => device.reading?.powerWatts),
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
        heldGpuStates.map((state) => ({ labels: { cluster, team, pool, state }, value: states[state] ?? 0 })),
      ),
    ),
};

function deviceKey(device: Device): string | null {
  return device.uuid === null || device.gpuInstance === null ? device.uuid : `${device.uuid}/${device.gpuInstance}`;
}

/** Power of a MIG instance is that of its card. */
function cardKey(device: Device): string | null {
  return device.uuid;
}

/** Adds up a reading over the things of a pool that report it, each once; pools in which nothing does are absent. */
function poolSums(
  { health: { cluster }, moment }: FamilyInput,
  keyOf: (device: Device) => string | null,
  readingOf: (device: Device) => number | null | undefined,
) {
  const pools = new Map<string, Map<string, number>>();
  for (const device of moment?.analysis.snapshot.devices ?? []) {
    const key = keyOf(device);
    const value = readingOf(device);
    if (key === null || value === null || value === undefined) continue;
    let readings = pools.get(device.pool);
    if (readings === undefined) {
      readings = new Map();
      pools.set(device.pool, readings);
    }
    readings.set(key, Math.max(readings.get(key) ?? 0, value));
  }
  return [...pools].map(([pool, readings]) => ({
    labels: { cluster, pool },
    value: [...readings.values()].reduce((sum, value) => sum + value, 0),
  }));
}
