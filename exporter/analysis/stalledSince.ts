import type { Device, Holding, PodView } from "../join/snapshot.ts";
import { gpuTolerance } from "../model/gpuTolerance.ts";

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
