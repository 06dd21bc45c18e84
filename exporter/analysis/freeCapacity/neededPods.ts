import type { WaitingGang, WaitingPart } from "../../join/queues/queueing.ts";
import { gpuTolerance } from "../../model/gpuTolerance.ts";
import type { PlacedPods } from "./gangFit.ts";

/** The pods that bring a gang to its minimum, at least one: all of them, or as many of the smallest as it takes. */
export function neededParts({ parts, min, bound, pods }: WaitingGang): readonly WaitingPart[] {
  const needed = Math.max(1, min - bound);
  if (needed >= pods) return parts;
  const sorted = [...parts].sort((a, b) => (a.gpusPerPod ?? Infinity) - (b.gpusPerPod ?? Infinity));
  const chosen: WaitingPart[] = [];
  let missing = needed;
  for (const part of sorted) {
    if (missing <= 0) break;
    const taken = Math.min(missing, part.pods);
    chosen.push(taken === part.pods ? part : { ...part, pods: taken });
    missing -= taken;
  }
  // Members without GPUs start anywhere: what waits for GPUs are the others.
  return chosen.every(({ gpusPerPod }) => gpusPerPod === 0) ? parts : chosen;
}

/**
 * The pods among those that a gang needs that ask for GPUs; `null` if something about them is not known. `anywhere` is their
 * domain if no queue system decides it, otherwise `null`.
 */
export function placedPods(gang: WaitingGang, anywhere: number | null): readonly PlacedPods[] | null {
  const placed: PlacedPods[] = [];
  for (const { domain, pods, gpusPerPod, needs } of neededParts(gang)) {
    if (gpusPerPod === null) return null;
    if (gpusPerPod <= gpuTolerance || pods === 0) continue;
    if (domain === null) return null;
    placed.push({ domain: anywhere ?? domain, pods, gpusPerPod, needs });
  }
  return placed;
}
