/**
 * Since when a pod's device has been quiet for this pod, seconds since the epoch: what the device did before it was bound
 * (`boundAt`) does not count for it, and a clock that is ahead of `at` does not either.
 */
export function quietSince(idleSince: number, boundAt: number, at: number): number {
  return Math.max(idleSince, Math.min(boundAt, at));
}
