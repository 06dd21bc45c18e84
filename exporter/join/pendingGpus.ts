import type { Pod } from "../model/pod.ts";
import type { Problem } from "../model/problem.ts";
import { gpuResources } from "../model/wellKnown.ts";
import { unknownModel } from "./gpuModel.ts";
import { demandKind, fractionOf } from "./holdings/podOnNode.ts";
import { migProfileOfResource, migWeight } from "./mig.ts";
import type { NodeInput } from "./nodeInputs.ts";
import type { PodView } from "./snapshot.ts";

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
    const kind = demandKind(pod, false);
    if (kind === "claim") return null;
    const fraction = kind === "fraction" ? fractionOf(pod) : null;
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

/** Waiting pods whose demand is not known: they are missing from every sum of pending GPUs. */
export function unknownDemand(pods: readonly PodView[]): readonly Problem[] {
  const unknown = pods.filter((pod) => pod.status === "pending" && pod.gpus === null);
  const [first] = unknown;
  if (first === undefined) return [];
  return [
    {
      source: "join",
      code: "pending-gpus-unknown",
      severity: "info",
      subject: `${first.namespace}/${first.name}`,
      message: `${unknown.length} waiting pods (${first.namespace}/${first.name} first) ask for claims, memory, or a resource that is not the same part of a card on all nodes; their GPUs are not in any sum of pending GPUs`,
      nextStep:
        "Let the device plugin rename shared resources (renameByDefault: true), so that nvidia.com/gpu is a whole card on every node.",
    },
  ];
}

function unofferedUnit(resource: string): number | null {
  if (resource === gpuResources.nvidia) return 1;
  const profile = migProfileOfResource(resource);
  return profile === null ? null : migWeight(profile, unknownModel);
}
