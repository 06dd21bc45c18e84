import { once } from "../kernel/once.ts";
import type { ResourceClaim } from "../model/cluster.ts";
import { gpuResourceOf } from "../model/gpuResource.ts";
import type { TextMap } from "../model/node.ts";
import type { Pod } from "../model/pod.ts";
import type { Problem } from "../model/problem.ts";
import { gpuResources } from "../model/wellKnown.ts";
import { memoryOfModel, unknownModel } from "./gpuModel.ts";
import { fractionOf, partOf } from "./holdings/fractions.ts";
import { demandKind, noWitness } from "./holdings/podOnNode.ts";
import { unitOn } from "./inventory.ts";
import { migProfileOfResource, migWeight } from "./mig.ts";
import type { NodeInput } from "./nodeInputs.ts";
import { mostUnitsOfPod } from "./queues/impossibleDemand.ts";
import type { PodView } from "./snapshot.ts";

type OfferingNode = Pick<NodeInput, "inventory" | "object">;

/**
 * What a waiting pod asks for in physical GPUs: its units, converted as all nodes agree that offer the resource and that its
 * node selector allows, or the devices that its claims ask for; `null` if nodes differ, if it is not known what a claim asks
 * for, and for nonsensical amounts.
 */
export function pendingGpus(
  nodes: readonly OfferingNode[],
  claims: readonly ResourceClaim[],
): (pod: Pod) => number | null {
  let claimsByName: ReadonlyMap<string, ResourceClaim> | null = null;
  const claimNamed = (namespace: string, name: string): ResourceClaim | undefined => {
    claimsByName ??= new Map(claims.map((claim) => [`${claim.namespace}/${claim.name}`, claim] as const));
    return claimsByName.get(`${namespace}/${name}`);
  };
  const memory = once(() => agreedMemory(nodes));
  const units = new Map<string, number | null>();
  const unitFor = (resource: string, selector: TextMap): number | null => {
    const key = JSON.stringify([resource, Object.entries(selector).sort()]);
    const known = units.get(key);
    if (known !== undefined) return known;
    const unit = agreedUnit(nodes, resource, selector);
    units.set(key, unit);
    return unit;
  };
  return (pod) => {
    const kind = demandKind(pod, noWitness);
    if (kind === "claim") return claimedGpus(pod, claimNamed);
    const fraction = kind === "fraction" ? fractionOf(pod) : null;
    if (fraction !== null) {
      const part = partOf(fraction, memory());
      return part === null ? null : part * fraction.devices;
    }
    let gpus = 0;
    for (const [resource, amount] of Object.entries(pod.gpu.resources)) {
      const unit = unitFor(resource, pod.nodeSelector);
      if (unit === null) return null;
      gpus += amount * unit;
    }
    return Object.values(pod.gpu.resources).some((amount) => amount > mostUnitsOfPod) ? null : gpus;
  };
}

function claimedGpus(
  { namespace, gpu }: Pod,
  claimNamed: (namespace: string, name: string) => ResourceClaim | undefined,
): number | null {
  let gpus = 0;
  const names = gpu.claims.map(({ claimName }) => claimName);
  for (const name of gpu.extendedResourceClaim === null ? names : [...names, gpu.extendedResourceClaim]) {
    const claim = name === null ? undefined : claimNamed(namespace, name);
    if (claim === undefined) return null;
    // A device that another pod already uses is no additional one.
    if (claim.allocated.length > 0) continue;
    for (const { deviceClasses, count, adminAccess } of claim.requests) {
      if (adminAccess) continue;
      const units = new Set(
        deviceClasses.map((name) => gpuResourceOf(`${gpuResources.deviceClassPrefix}${name}`)?.unit),
      );
      const [unit] = units;
      if (units.size !== 1 || typeof unit !== "number" || count === null) return null;
      gpus += unit * count;
    }
  }
  return gpus;
}

/** Memory of one GPU, if it is the same on all nodes; else `null`. */
function agreedMemory(nodes: readonly OfferingNode[]): number | null {
  const found = new Set(nodes.map(({ inventory: { memoryBytes, model } }) => memoryBytes ?? memoryOfModel(model)));
  const [memoryBytes = null] = found;
  return found.size === 1 ? memoryBytes : null;
}

/** Physical GPUs per unit on the nodes that a selector allows; as `unofferedUnit` assumes if none of them offers it. */
function agreedUnit(nodes: readonly OfferingNode[], resource: string, selector: TextMap): number | null {
  const wanted = Object.entries(selector);
  const found = new Set<number | null>();
  for (const { inventory, object } of nodes) {
    const unit = unitOn(inventory, resource);
    if (unit !== undefined && wanted.every(([label, value]) => object.labels[label] === value)) found.add(unit.gpus);
  }
  const [unit] = found;
  if (unit === undefined) return unofferedUnit(resource);
  return found.size === 1 ? unit : null;
}

/** Waiting pods whose demand is not known: they are missing from every sum of pending GPUs. */
export function unknownDemand(pods: readonly PodView[]): readonly Problem[] {
  const unknown = pods.filter((pod) => pod.status === "pending" && pod.gpus === null && pod.impossible === undefined);
  const [first] = unknown;
  if (first === undefined) return [];
  return [
    {
      source: "join",
      code: "pending-gpus-unknown",
      severity: "info",
      subject: `${first.namespace}/${first.name}`,
      message: `${unknown.length} waiting pods (${first.namespace}/${first.name} first) ask for claims, memory, or a resource that is not the same part of a GPU on all nodes; their GPUs are not in any sum of pending GPUs`,
      nextStep:
        "Let the device plugin rename shared resources (renameByDefault: true), so that nvidia.com/gpu is a whole GPU on every node.",
    },
  ];
}

function unofferedUnit(resource: string): number | null {
  if (resource === gpuResources.nvidia) return 1;
  const named = gpuResourceOf(resource)?.unit;
  if (typeof named === "number") return named;
  const profile = migProfileOfResource(resource);
  return profile === null ? null : migWeight(profile, { model: unknownModel, memoryBytes: null });
}
