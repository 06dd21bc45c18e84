import type { Guard } from "./guard.ts";
import { podName } from "./guard.ts";
import { claimOn } from "./reclaimClaim.ts";

/**
 * A pod that is placed again may have any priority up to that of the work that it makes room for; one that loses its GPUs must
 * have a lower one, unless the work has a claim on what the pod's queue borrows.
 */
export const priority: Guard = (asked) => {
  const { how, beneficiary, pods } = asked;
  if (how === "release") return [];
  if (how === "move") {
    if (beneficiary === null) return [];
    return pods
      .filter(({ pod }) => pod.priority > beneficiary.priority)
      .map(({ index, pod }) => ({
        pod: index,
        reason: `${podName(pod)} has priority ${pod.priority}, above ${beneficiary.priority} of the work that would gain.`,
      }));
  }
  if (beneficiary === null) {
    return pods.map(({ index, pod }) => ({ pod: index, reason: `${podName(pod)} would lose its GPUs to nobody.` }));
  }
  return pods.flatMap(({ index, pod }) => {
    if (pod.priority < beneficiary.priority) return [];
    const claim = claimOn(asked, index);
    if (claim.isOwed) return [];
    const reason = `${podName(pod)} has priority ${pod.priority}, not below ${beneficiary.priority} of the work that would gain, and ${claim.because}.`;
    return [{ pod: index, reason }];
  });
};
