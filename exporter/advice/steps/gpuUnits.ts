import { isInDomain } from "../../join/queues/domainOfNode.ts";
import type { QuotaDomain } from "../../join/queues/queueing.ts";
import type { Snapshot } from "../../join/snapshot.ts";
import { gpuResources } from "../../model/wellKnown.ts";

/** Resources that count whole GPUs, where GPUs are neither partitioned nor shared. */
const physicalGpus = new Set([
  gpuResources.nvidia,
  "amd.com/gpu",
  "gpu.intel.com/i915",
  "gpu.intel.com/xe",
  "habana.ai/gaudi",
]);

/** Whether a unit of a resource is one physical GPU on every node of a domain: only then can a quota be expressed in it. */
export function isWholeGpu({ devices, unpartitioned }: Snapshot, domain: QuotaDomain, resource: string): boolean {
  if (!physicalGpus.has(resource) || unpartitioned.some(({ pool, node }) => isInDomain(domain, pool, node)))
    return false;
  return devices.every(
    ({ pool, node, weight, slots }) => !isInDomain(domain, pool, node) || (weight === 1 && slots === 1),
  );
}
