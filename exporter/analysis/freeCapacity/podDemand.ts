import { type GpuVendor, gpuLikeResource, vendorOfResources } from "../../model/gpuResource.ts";
import { gpuTolerance } from "../../model/gpuTolerance.ts";
import type { PodNeeds } from "../../model/queues/podNeeds.ts";
import { gpuResources } from "../../model/wellKnown.ts";

/** What one waiting pod takes from its node. */
export interface PodDemand {
  /** Physical GPUs, above 0. */
  readonly gpus: number;
  /** Number of different GPUs that must each have at least `share` free. */
  readonly physicalGpus: number;
  /** Part of each GPU that is taken; 1: whole GPUs without any holder. */
  readonly share: number;
  /** Replicas of shared GPUs and MIG instances, by the keys of `instanceKey` and `unitKey`. */
  readonly slots: readonly (readonly [key: string, count: number])[];
  readonly cpuMilli: number;
  readonly memoryBytes: number;
}

/** The key of MIG instances that are asked for by profile; punctuation differs between DCGM, resource names and DRA. */
export const instanceKey = (profile: string): string => `mig:${profile.toLowerCase().replace(/[^a-z0-9]/g, "")}`;

/** The key of parts of GPUs that are asked for as units of one size: replicas, and MIG instances under strategy `single`. */
export const unitKey = (gpus: number): string => `unit:${Math.round(gpus / gpuTolerance)}`;

/**
 * What a pod of `gpus` physical GPUs with these requests takes. A resource whose unit is a GPU takes whole GPUs, one whose unit
 * is a part of a GPU takes that many parts of this size, and MIG resources take instances of their profile; without any GPU
 * resource (KAI's fractions) the pod takes a part of one GPU, or equal parts of as few as can hold it.
 */
export function podDemand(gpus: number, { requests }: PodNeeds): PodDemand {
  const instances: [string, number][] = [];
  let units = 0;
  for (const resource of Object.keys(requests)) {
    const amount = requests[resource] ?? 0;
    if (amount <= 0 || resource === "cpu" || resource === "memory") continue;
    if (resource === gpuResources.nvidia) units += amount;
    else if (resource.startsWith(gpuResources.nvidiaMigPrefix)) instances.push([instanceOf(resource), amount]);
    else if (gpuLikeResource(resource)) units += amount;
  }
  const cpuMilli = Math.max(0, requests.cpu ?? 0) * 1000;
  const memoryBytes = Math.max(0, requests.memory ?? 0);
  return { gpus, ...gpusOf(gpus, units, instances), cpuMilli, memoryBytes };
}

function gpusOf(
  gpus: number,
  units: number,
  instances: readonly (readonly [string, number])[],
): Pick<PodDemand, "physicalGpus" | "share" | "slots"> {
  if (instances.length > 0) return { physicalGpus: units, share: 1, slots: instances };
  if (units > 0 && gpus / units < 1 - gpuTolerance) {
    return { physicalGpus: 0, share: 1, slots: [[unitKey(gpus / units), units]] };
  }
  const physicalGpus = Math.max(1, Math.ceil(gpus - gpuTolerance));
  const share = gpus / physicalGpus;
  return { physicalGpus, share: share > 1 - gpuTolerance ? 1 : share, slots: [] };
}

function instanceOf(resource: string): string {
  const profile = resource.slice(gpuResources.nvidiaMigPrefix.length);
  return instanceKey(profile.endsWith(".shared") ? profile.slice(0, -".shared".length) : profile);
}

/** A key that is equal for demands that the same nodes can serve equally often. */
export function demandKey({ physicalGpus, share, slots, cpuMilli, memoryBytes }: PodDemand): string {
  const parts = slots.length === 0 ? "" : slots.map(([key, count]) => `${key}*${count}`).join();
  return `${physicalGpus}*${share}|${parts}|${cpuMilli}|${memoryBytes}`;
}

/** Vendors already found; pods with the same requests share the object. */
const vendors = new WeakMap<PodNeeds, GpuVendor | null>();

/** The vendor of the accelerators that a pod asks for; `null` if none of its resources names one. */
export function vendorAsked(needs: PodNeeds): GpuVendor | null {
  const known = vendors.get(needs);
  if (known !== undefined) return known;
  const asked = Object.keys(needs.requests).filter((name) => (needs.requests[name] ?? 0) > 0);
  const vendor = vendorOfResources(asked) ?? null;
  vendors.set(needs, vendor);
  return vendor;
}

/** A key that is equal for pods that the same nodes allow. */
export function rulesKey(needs: PodNeeds): string {
  const { nodeSelector, nodeAffinity, tolerations } = needs;
  const vendor = vendorAsked(needs);
  let rules = vendor === null ? "" : `${vendor}!`;
  for (const label of Object.keys(nodeSelector).sort()) rules += part(label) + part(nodeSelector[label] ?? "");
  if (nodeAffinity.length > 0) rules += `&${JSON.stringify(nodeAffinity)}`;
  rules += "|";
  for (const { key, operator, value, effect } of tolerations) {
    rules += part(key) + part(value) + part(effect ?? "") + operator;
  }
  return rules;
}

/** A part of a key. Its length comes first, so that no text can look like two parts. */
export const part = (text: string): string => `${text.length}:${text}`;
