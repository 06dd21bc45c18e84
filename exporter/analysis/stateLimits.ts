import type { PodView } from "../join/snapshot.ts";

/** Whether a pod may be quiet for as long as a server may: it serves, or it is unknown whether it does. */
export function mayBeQuietLong({ workloadClass, classGuess }: Pick<PodView, "workloadClass" | "classGuess">): boolean {
  return workloadClass === "serving" || classGuess !== undefined;
}

/** The fixed times and amounts of the states of GPU time (design: double-entry GPU time), seconds. */
export const stateLimits = {
  /** An allocated device is `unavailable` only when its node has not been ready for this long. */
  notReadyGraceSeconds: 5 * 60,
  gangGraceSeconds: 5 * 60,
  startingLimitSeconds: 15 * 60,
  /** For this long every sample must look busy and compute nothing before a GPU is `stalled`. */
  stalledSeconds: 15 * 60,
  /** A pod younger than this is not called idle. */
  youngPodSeconds: 5 * 60,
  /** A node younger than this is still being set up, not idle. */
  youngNodeSeconds: 15 * 60,
} as const;
