import type { Pod } from "../model/pod.ts";
import { gpuResources } from "../model/wellKnown.ts";
import { unknownModel } from "./gpuModel.ts";
import { demandKind, fractionOf } from "./holdings/podOnNode.ts";
import { migProfileOfResource, migWeight } from "./mig.ts";
import type { NodeInput } from "./nodeInputs.ts";

/**
 * What a waiting pod asks for in physical GPUs: its units converted as all nodes that offer the resource agree on;
 * `null` where they differ, or where only an unallocated claim says.
 */
export function pendingGpus(nodes: readonly NodeInput[]): (pod: Pod) => number | null {
  const offered = new Map<string, number | null>();
  for (const { inventory } of nodes) {
    for (const [resource, unit] of inventory.units) {
      const known = offered.get(resource);
      offered.set(resource, known === undefined || known === unit.gpus ? unit.gpus : null);
    }
  }
  return (pod) => {
    const kind = demandKind(pod);
    if (kind === "claim") return null;
    const fraction = fractionOf(pod);
    if (fraction !== null) return fraction.gpus === null ? null : fraction.gpus * fraction.devices;
    let gpus = 0;
    for (const [resource, units] of Object.entries(pod.gpu.resources)) {
      const unit = offered.has(resource) ? (offered.get(resource) ?? null) : unofferedUnit(resource);
      if (unit === null) return null;
      gpus += units * unit;
    }
    return gpus;
  };
}

function unofferedUnit(resource: string): number | null {
  if (resource === gpuResources.nvidia) return 1;
  const profile = migProfileOfResource(resource);
  return profile === null ? null : migWeight(profile, unknownModel);
}
