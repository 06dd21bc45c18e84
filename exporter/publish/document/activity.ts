import type { Snapshot } from "../../join/snapshot.ts";

/** Mean activity of the observed GPUs, weighted by share, for each key that holds some. */
export function meanActivity<Key>(
  snapshot: Snapshot,
  keyOf: (pod: Snapshot["pods"][number]) => Key,
): ReadonlyMap<Key, number> {
  const sums = new Map<Key, { share: number; active: number }>();
  for (const device of snapshot.devices) {
    for (const { pod: index, share, activity } of device.holders) {
      const pod = snapshot.pods[index];
      if (pod === undefined || activity === null) continue;
      const key = keyOf(pod);
      const sum = sums.get(key) ?? { share: 0, active: 0 };
      sum.share += share;
      sum.active += share * activity;
      sums.set(key, sum);
    }
  }
  const means = new Map<Key, number>();
  for (const [key, { share, active }] of sums) if (share > 0) means.set(key, active / share);
  return means;
}
