import type { Problem } from "../../model/problem.ts";
import { allocatedOf, type DeviceDraft } from "../drafts.ts";
import { shownGpus } from "../shownGpus.ts";

/**
 * No GPU is allocated more than once: if several sources allocate more than a whole device, all shares are scaled down
 * together, marked as estimated, and the conflict is reported with both amounts.
 */
export function scaleDownOverallocated(
  devices: readonly DeviceDraft[],
  podName: (pod: number) => string,
): readonly Problem[] {
  const problems: Problem[] = [];
  for (const device of devices) {
    const allocated = allocatedOf(device);
    if (allocated <= device.weight) continue;
    // Fractions that add up to slightly more than a GPU (3 x 0.333334) are no conflict, but the accounts must add up
    // exactly.
    const conflict = allocated > device.weight + 1e-6;
    for (const share of device.shares) {
      share.share *= device.weight / allocated;
      share.estimated ||= conflict;
    }
    if (!conflict) continue;
    const pods = [...new Set(device.shares.map((s) => podName(s.pod)))].slice(0, 5).join(", ");
    problems.push({
      source: "join",
      code: "allocated-twice",
      severity: "warning",
      subject: device.node,
      message: `node ${device.node}: ${device.uuid ?? "a GPU"} is ${shownGpus(device.weight)} GPU and is given to ${pods} for ${shownGpus(allocated)}; scaled down together`,
      nextStep:
        "If the GPU is shared on purpose, let the node say so: label nvidia.com/gpu.replicas, or gpu.replicas in the configuration.",
    });
  }
  return problems;
}
