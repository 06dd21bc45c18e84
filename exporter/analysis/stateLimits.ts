import type { Device, Holding, PodView } from "../join/snapshot.ts";
import { gpuTolerance } from "../model/gpuTolerance.ts";

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

/**
 * Whether nothing shows that a device (or any that an estimated holding may be on) works: no signal of it is above the idle
 * threshold now, or it has no signal. A pod that computes does not wait for the rest of its gang, even if the gang looks
 * incomplete.
 */
export function isQuiet({ idleSince }: Holding, { idleNow }: Device): boolean {
  return idleNow === null || idleSince !== null;
}

/**
 * Since when a pod's device has been quiet for this pod, seconds since the epoch: what the device did before it was bound
 * (`boundAt`) does not count for it, and a clock that is ahead of `at` does not either.
 */
export function quietSince(idleSince: number, boundAt: number, at: number): number {
  return Math.max(idleSince, Math.min(boundAt, at));
}

/**
 * Since when a pod's GPU looks busy and computes nothing, seconds since the epoch; `null` if it does not, or if this cannot be
 * attributed to the pod: power and busy engines are those of the whole GPU, so that the pod must be known to hold all of it.
 */
export function stalledSince(holding: Holding, pod: PodView, device: Device): number | null {
  const { stall, holders, gpuInstance, weight } = device;
  if (stall === null || gpuInstance !== null || holding.estimated) return null;
  if (holders.length !== 1 || holding.share < weight - gpuTolerance) return null;
  // What a GPU did before this pod had it says nothing about this pod.
  return Math.max(stall.since, pod.boundAt ?? pod.createdAt ?? stall.since);
}
