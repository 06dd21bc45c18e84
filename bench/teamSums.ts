import type { Snapshot } from "../exporter/join/snapshot.ts";
import type { DeviceReading } from "../exporter/model/telemetry.ts";

/** The numbers of a reading that answer the eight rules of `ruleServer.ts`; free memory is what is left of the total. */
const joinedNumbers = [
  (reading) => reading.gpuUtil,
  (reading) => reading.memoryCopyUtil,
  (reading) => reading.memoryUsedBytes,
  (reading) => (reading.memoryTotalBytes ?? 0) - (reading.memoryUsedBytes ?? 0),
  (reading) => reading.powerWatts,
  (reading) => reading.temperatureCelsius,
  (reading) => reading.grEngineActive,
  (reading) => reading.dramActive,
] as const satisfies readonly ((reading: DeviceReading) => number | null)[];

/**
 * What the eight rules ask, and nothing else: each number of all GPUs by the team of the pod that holds them. It says how much
 * of `join` and `analyse` the same question is.
 */
export function sumByTeam({ devices, pods }: Snapshot): ReadonlyMap<string, Float64Array> {
  const sums = new Map<string, Float64Array>();
  for (const { reading, holders } of devices) {
    const [holding] = holders;
    const pod = holding === undefined ? undefined : pods[holding.pod];
    if (reading === null || pod === undefined) continue;
    let sum = sums.get(pod.team);
    if (sum === undefined) {
      sum = new Float64Array(joinedNumbers.length);
      sums.set(pod.team, sum);
    }
    for (let number = 0; number < joinedNumbers.length; number += 1)
      sum[number] = (sum[number] ?? 0) + (joinedNumbers[number]?.(reading) ?? 0);
  }
  return sums;
}
