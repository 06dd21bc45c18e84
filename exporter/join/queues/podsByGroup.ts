import type { Pod } from "../../model/pod.ts";

/**
 * How many pods that have not ended name each PodGroup, by its key (`namespace/name`); nothing is counted if there are no
 * groups.
 */
export function podsByGroup(
  groups: readonly unknown[],
  pods: readonly Pod[],
  keyOf: (pod: Pod) => string | null,
): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  if (groups.length === 0) return found;
  for (const pod of pods) {
    if (pod.phase === "Succeeded" || pod.phase === "Failed") continue;
    const key = keyOf(pod);
    if (key !== null) found.set(key, (found.get(key) ?? 0) + 1);
  }
  return found;
}
