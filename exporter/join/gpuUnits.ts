import { gpuLikeResource, gpuResourceOf } from "../model/gpuResource.ts";
import type { ClusterNode, ResourceAmounts } from "../model/node.ts";
import { gpuResources, nodeAnnotations, nodeLabels } from "../model/wellKnown.ts";
import { type MigGpu, migProfileOfResource, migWeight } from "./mig.ts";

/** Settings that give meaning to resources which labels do not explain. */
export interface GpuResourceSettings {
  /** Part of a GPU per unit, by resource name. */
  readonly resources: Readonly<Record<string, number>>;
  /** Replicas per GPU, by resource name. */
  readonly replicas: Readonly<Record<string, number>>;
}

/** What one unit of a GPU resource is on one node. */
export interface GpuUnit {
  /** Physical GPUs per unit; `null` when it cannot be known. */
  readonly gpus: number | null;
  /** Pods that can share one device of it; 1 without sharing. */
  readonly replicas: number;
  /** MIG profile of its devices; `null` for whole GPUs. */
  readonly profile: string | null;
}

/** A number that a label holds; `null` when absent, not a whole number, or zero (GFD writes 0 for "none"). */
export function labelNumber(value: string | undefined): number | null {
  if (value === undefined || !/^\d{1,9}$/.test(value)) return null;
  const number = Number(value);
  return number > 0 ? number : null;
}

/** The MIG profile that all of a node's `nvidia.com/gpu` devices have: strategy `single`, or GKE's partition size. */
export function singleMigProfile(node: ClusterNode): string | null {
  const product = node.labels[nodeLabels.gpuProduct] ?? "";
  const fromProduct = /-MIG-(\d.*?)(?:-SHARED)?$/.exec(product)?.[1];
  return fromProduct ?? node.labels[nodeLabels.gkePartitionSize] ?? null;
}

/** GPUs that GFD counts; `null` where its number is not of GPUs (MIG single, invalid, absent). */
export function gfdGpuCount(node: ClusterNode): number | null {
  if (/-MIG-/.test(node.labels[nodeLabels.gpuProduct] ?? "")) return null;
  return labelNumber(node.labels[nodeLabels.gpuCount]);
}

/** One GPU in the node register of HAMi, or of Volcano's vGPU plugin. */
export interface RegisteredGpu {
  readonly uuid: string;
  readonly replicas: number;
  /** Memory of the GPU that is given out (scaled, if it overcommits); `null` if the register does not report it. */
  readonly memoryMiB: number | null;
}

/** The one model that a sharing plugin's register names, as it spells it; `null` where it names none, or several. */
export function registeredModel(node: ClusterNode): string | null {
  const text = registerOf(node);
  if (text === undefined) return null;
  const json = [...text.matchAll(/"type":\s{0,4}"([^"]{1,80})"/g)];
  const list = [...text.matchAll(/GPU-[0-9a-fA-F-]{8,64}(?:,\d{1,9}){2,3},([^,:"{}]{1,80}),/g)];
  const models = new Set([...json, ...list].map(([, model]) => model));
  const [model = null] = models;
  return models.size === 1 ? model : null;
}

/** What a sharing plugin wrote about a node's GPUs, as it wrote it; `undefined` on nodes without such a plugin. */
export const registerOf = ({ annotations }: ClusterNode): string | undefined =>
  annotations[nodeAnnotations.hamiRegister] ?? annotations[nodeAnnotations.volcanoRegister];

/** The register of a sharing plugin: the GPUs with their UUIDs, how often each is offered, and the memory that is handed out. */
export function registeredGpus(node: ClusterNode): readonly RegisteredGpu[] {
  const text = registerOf(node);
  if (text === undefined) return [];
  const physicalGpus = new Map<string, RegisteredGpu>();
  // Bounded look-ahead: the annotation is untrusted text, and an unbounded one costs quadratic time.
  for (const entry of text.matchAll(
    /(GPU-[0-9a-fA-F-]{8,64})(?:,|"[^{}]{0,200}?"count":\s{0,4})(\d{1,4})(?:(?:,|[^{}]{0,200}?"devmem":\s{0,4})(\d{1,9}))?/g,
  )) {
    const [, uuid, count, memory] = entry;
    if (uuid === undefined || count === undefined) continue;
    const memoryMiB = memory === undefined || Number(memory) === 0 ? null : Number(memory);
    physicalGpus.set(uuid, { uuid, replicas: Math.max(1, Number(count)), memoryMiB });
  }
  return [...physicalGpus.values()];
}

/**
 * What one unit of `resource` is on `node`, before its MIG instances are weighed against each other. Order: configuration, the
 * name itself, MIG profile, then sharing by label, a plugin's register, GKE's sharing labels, configured replicas, the ratio of
 * capacity to GFD's count where the product says `-SHARED`, and the GPUs that witnesses count (`shared`).
 */
export function gpuUnitOf(
  node: ClusterNode,
  resource: string,
  physicalGpu: MigGpu,
  settings: GpuResourceSettings,
  shared: number | null = null,
): GpuUnit {
  const configured = own(settings.resources, resource);
  if (configured !== undefined) return partOfGpu(configured);
  const named = gpuResourceOf(resource)?.unit;
  if (named === undefined) return partOfGpu(0);
  if (named === null && own(settings.replicas, resource) === undefined)
    return { gpus: null, replicas: 1, profile: null };
  if (typeof named === "number" && named < 1) return partOfGpu(named);
  const profile = migProfileOfResource(resource) ?? (resource === gpuResources.nvidia ? singleMigProfile(node) : null);
  const amount = node.capacity[resource] ?? 0;
  if (shared !== null && amount > 0) return partOfGpu(shared / amount);
  const reported = reportedReplicas(node, resource, settings);
  const replicas = reported === undefined ? 1 : reported;
  if (replicas === null) return { gpus: null, replicas: 1, profile };
  if (profile === null) return { gpus: 1 / replicas, replicas: Math.ceil(replicas - 1e-9), profile };
  const weight = migWeight(profile, physicalGpu);
  return { gpus: weight === null ? null : weight / replicas, replicas, profile };
}

function partOfGpu(gpus: number): GpuUnit {
  return { gpus, replicas: gpus > 0 ? Math.max(1, Math.floor(1 / gpus + 1e-9)) : 1, profile: null };
}

function own(amounts: Readonly<Record<string, number>>, name: string): number | undefined {
  return Object.hasOwn(amounts, name) ? amounts[name] : undefined;
}

/**
 * How many pods share a device of the resource, as the node or the configuration says; `undefined` if nothing says that it is
 * shared, `null` if it is shared by an unknown number of pods.
 */
export function reportedReplicas(
  node: ClusterNode,
  resource: string,
  settings: GpuResourceSettings,
): number | null | undefined {
  const { labels } = node;
  const mig = migProfileOfResource(resource);
  const set = own(settings.replicas, resource);
  if (mig !== null) return labelNumber(labels[`${gpuResources.nvidiaMigPrefix}${mig}.replicas`]) ?? set;
  const renamed = resource !== gpuResources.nvidia && resource !== gpuResources.nvidiaShared;
  // A name that the user has chosen means what its setting says.
  if (renamed && set !== undefined) return set;
  if (renamed) return gpuResourceOf(resource)?.unit === "node" ? replicasOfPlugin(node, resource) : undefined;
  const sharedIsSeparate = resource === gpuResources.nvidia && (node.capacity[gpuResources.nvidiaShared] ?? 0) > 0;
  if (sharedIsSeparate) return 1;
  const labelled = labelNumber(labels[nodeLabels.gpuReplicas]);
  if (labelled !== null && labelled > 1) return labelled;
  // GFD's 1 only says that NVIDIA's own plugin does not share: others share beside it.
  const known =
    registeredGpus(node)[0]?.replicas ??
    ratioTo(volcanoGpus(node), node.capacity[resource] ?? 0) ??
    labelNumber(labels[nodeLabels.gkeMaxSharedClients]) ??
    set;
  if (known !== undefined) return known;
  return saysShared(node, resource) ? ratioTo(gfdGpuCount(node), node.capacity[resource] ?? 0) : undefined;
}

/** GPUs whose cores Volcano's vGPU plugin gives out; `null` without it. */
export function volcanoGpus({ capacity }: ClusterNode): number | null {
  const cores = capacity[gpuResources.volcanoCores] ?? 0;
  return cores > 0 && cores % 100 === 0 ? cores / 100 : null;
}

/** Units per GPU of another plugin's resource, by what it reports itself about the node's GPUs. */
function replicasOfPlugin(node: ClusterNode, resource: string): number | null {
  const { capacity } = node;
  const amount = capacity[resource] ?? 0;
  if (resource === gpuResources.neuronCore)
    return ratioTo(capacity[gpuResources.neuron] ?? capacity[gpuResources.neuronDevice] ?? null, amount);
  if (resource === gpuResources.gpushareMemory)
    return ratioTo(capacity[gpuResources.gpushareCount] ?? gfdGpuCount(node), amount);
  return registeredGpus(node)[0]?.replicas ?? ratioTo(volcanoGpus(node) ?? gfdGpuCount(node), amount);
}

function saysShared(node: ClusterNode, resource: string): boolean {
  const strategy = node.labels[nodeLabels.gpuSharingStrategy] ?? node.labels[nodeLabels.gkeSharingStrategy] ?? "none";
  return (
    resource === gpuResources.nvidiaShared ||
    strategy !== "none" ||
    /-SHARED$/.test(node.labels[nodeLabels.gpuProduct] ?? "")
  );
}

function ratioTo(physicalGpus: number | null, amount: number): number | null {
  return physicalGpus === null || physicalGpus <= 0 || amount <= 0 || amount % physicalGpus !== 0
    ? null
    : amount / physicalGpus;
}

/** The GPU resources that a node offers now: a zero, or a left-over of an older geometry (nothing allocatable), adds nothing. */
export function offeredGpuResources(node: ClusterNode, settings: GpuResourceSettings): ResourceAmounts {
  const names = Object.keys(node.capacity).filter((name) => {
    const isGpu = own(settings.resources, name) ?? (gpuLikeResource(name) ? 1 : 0);
    return isGpu > 0 && (node.capacity[name] ?? 0) > 0;
  });
  const live = names.filter((name) => (node.allocatable?.[name] ?? node.capacity[name] ?? 0) > 0);
  const offered = live.length > 0 ? live : names;
  return Object.fromEntries(offered.map((name) => [name, node.capacity[name] ?? 0]));
}
