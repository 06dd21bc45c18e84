import type { QuotaDomain } from "../../join/queues/queueing.ts";
import type { Snapshot } from "../../join/snapshot.ts";
import { gpuResources } from "../../model/wellKnown.ts";

/** Resources of which a unit is a card, where cards are neither divided nor shared. */
const cards = new Set([
  gpuResources.nvidia,
  "amd.com/gpu",
  "gpu.intel.com/i915",
  "gpu.intel.com/xe",
  "habana.ai/gaudi",
]);

/** Whether a unit of a resource is one physical GPU on every node of a domain: only then can a quota be said in it. */
export function isWholeCard({ devices, unpartitioned }: Snapshot, domain: QuotaDomain, resource: string): boolean {
  const pools = new Set(domain.pools);
  if (!cards.has(resource) || unpartitioned.some(({ pool }) => pools.has(pool))) return false;
  return devices.every(({ pool, weight, slots }) => !pools.has(pool) || (weight === 1 && slots === 1));
}
