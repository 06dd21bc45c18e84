import { gpuLikeResource } from "../model/gpuResource.ts";
import type { ClusterNode, ResourceAmounts } from "../model/node.ts";
import { gpuResources, nodeAnnotations, nodeLabels } from "../model/wellKnown.ts";
import { migProfileOfResource, migWeight } from "./mig.ts";

/** Settings that give meaning to resources which labels do not explain. */
export interface GpuResourceSettings {
  /** Part of a card per unit, by resource name. */
  readonly resources: Readonly<Record<string, number>>;
  /** Replicas per card, by resource name. */
  readonly replicas: Readonly<Record<string, number>>;
}

/** What one unit of a GPU resource is on one node. */
export interface GpuUnit {
  /** Physical GPUs per unit; `null` when it cannot be known. */
  readonly gpus: number | null;
  /** Pods that can share one device of it; 1 without sharing. */
  readonly replicas: number;
  /** MIG profile of its devices; `null` for whole cards. */
  readonly profile: string | null;
}

/** A number that a label holds; `null` when absent, not a whole number, or zero (GFD writes 0 for "not here"). */
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

/** Cards that GFD counts; `null` where its number is not of cards (MIG single, invalid, absent). */
export function gfdCardCount(node: ClusterNode): number | null {
  if (/-MIG-/.test(node.labels[nodeLabels.gpuProduct] ?? "")) return null;
  return labelNumber(node.labels[nodeLabels.gpuCount]);
}

/** One card of HAMi's node register. */
export interface HamiCard {
  readonly uuid: string;
  readonly replicas: number;
  /** Memory that HAMi hands out of it (scaled, where it overcommits); `null` where the register does not say. */
  readonly memoryMiB: number | null;
}

/** HAMi's node register: the cards with their UUIDs, how often each is offered, and the memory that is handed out. */
export function hamiCards(node: ClusterNode): readonly HamiCard[] {
  const text = node.annotations[nodeAnnotations.hamiRegister];
  if (text === undefined) return [];
  const cards = new Map<string, HamiCard>();
  // Bounded look-ahead: the annotation is untrusted text, and an unbounded one costs quadratic time.
  for (const entry of text.matchAll(
    /(GPU-[0-9a-fA-F-]{8,64})(?:,|"[^{}]{0,200}?"count":\s{0,4})(\d{1,4})(?:(?:,|[^{}]{0,200}?"devmem":\s{0,4})(\d{1,9}))?/g,
  )) {
    const [, uuid, count, memory] = entry;
    if (uuid === undefined || count === undefined) continue;
    const memoryMiB = memory === undefined || Number(memory) === 0 ? null : Number(memory);
    cards.set(uuid, { uuid, replicas: Math.max(1, Number(count)), memoryMiB });
  }
  return [...cards.values()];
}

/**
 * What one unit of `resource` is on `node`. Order: configuration, MIG profile, then sharing by label, HAMi's register,
 * GKE's sharing labels, configured replicas, and the ratio of capacity to GFD's count where the product says `-SHARED`.
 */
export function gpuUnitOf(node: ClusterNode, resource: string, model: string, settings: GpuResourceSettings): GpuUnit {
  const configured = own(settings.resources, resource);
  if (configured !== undefined)
    return { gpus: configured, replicas: Math.max(1, Math.floor(1 / configured + 1e-9)), profile: null };
  const profile = migProfileOfResource(resource) ?? (resource === gpuResources.nvidia ? singleMigProfile(node) : null);
  const replicas = replicasOf(node, resource, settings);
  if (replicas === null) return { gpus: null, replicas: 1, profile };
  if (profile === null) return { gpus: 1 / replicas, replicas, profile };
  const weight = migWeight(profile, model);
  return { gpus: weight === null ? null : weight / replicas, replicas, profile };
}

function own(amounts: Readonly<Record<string, number>>, name: string): number | undefined {
  return Object.hasOwn(amounts, name) ? amounts[name] : undefined;
}

/** Parts of AMD cards (compute partition modes other than `spx`): how many make a card depends on the card. */
const amdPart = /^amd\.com\/(?!spx)[a-z]px_nps\d+$/;

/** `null`: the resource is shared, and nothing says by how many. */
function replicasOf(node: ClusterNode, resource: string, settings: GpuResourceSettings): number | null {
  const { labels } = node;
  const mig = migProfileOfResource(resource);
  if (mig !== null)
    return (
      labelNumber(labels[`${gpuResources.nvidiaMigPrefix}${mig}.replicas`]) ?? own(settings.replicas, resource) ?? 1
    );
  const renamed = resource !== gpuResources.nvidia && resource !== gpuResources.nvidiaShared;
  const set = own(settings.replicas, resource);
  // A name that somebody chose means what the setting of that name says.
  if (renamed && set !== undefined) return set;
  if (!resource.startsWith(gpuResources.nvidiaPrefix)) return amdPart.test(resource) ? null : 1;
  const sharedIsSeparate = resource === gpuResources.nvidia && (node.capacity[gpuResources.nvidiaShared] ?? 0) > 0;
  if (sharedIsSeparate) return 1;
  const labelled = labelNumber(labels[nodeLabels.gpuReplicas]);
  if (labelled !== null && labelled > 1) return labelled;
  // GFD's 1 only says that NVIDIA's own plugin does not share: HAMi and GKE share beside it.
  const known =
    hamiCards(node)[0]?.replicas ??
    labelNumber(labels[nodeLabels.gkeMaxSharedClients]) ??
    (resource === gpuResources.nvidiaShared ? null : labelled) ??
    set;
  if (known !== undefined) return known;
  return saysShared(node, resource) ? ratioToCount(node, resource) : 1;
}

function saysShared(node: ClusterNode, resource: string): boolean {
  const strategy = node.labels[nodeLabels.gpuSharingStrategy] ?? node.labels[nodeLabels.gkeSharingStrategy] ?? "none";
  return (
    resource === gpuResources.nvidiaShared ||
    strategy !== "none" ||
    /-SHARED$/.test(node.labels[nodeLabels.gpuProduct] ?? "")
  );
}

function ratioToCount(node: ClusterNode, resource: string): number | null {
  const count = gfdCardCount(node);
  const capacity = node.capacity[resource] ?? 0;
  if (count === null || capacity === 0 || capacity % count !== 0) return null;
  return capacity / count;
}

/** The GPU resources that a node offers now: a zero, or a left-over of an older geometry (nothing allocatable), adds nothing. */
export function offeredGpuResources(node: ClusterNode, settings: GpuResourceSettings): ResourceAmounts {
  const names = Object.keys(node.capacity).filter(
    (name) => (gpuLikeResource(name) || own(settings.resources, name) !== undefined) && (node.capacity[name] ?? 0) > 0,
  );
  const live = names.filter((name) => (node.allocatable?.[name] ?? node.capacity[name] ?? 0) > 0);
  const offered = live.length > 0 ? live : names;
  return Object.fromEntries(offered.map((name) => [name, node.capacity[name] ?? 0]));
}
