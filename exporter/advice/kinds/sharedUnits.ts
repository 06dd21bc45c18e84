import type { Analysis } from "../../analysis/analysis.ts";
import type { FreeCapacity } from "../../analysis/freeCapacity/nodeFreeCapacity.ts";
import { takesNow } from "../../analysis/freeCapacity/nodeRules.ts";
import { instanceKey, unitKey } from "../../analysis/freeCapacity/podDemand.ts";
import type { Device, NodeView, Snapshot } from "../../join/snapshot.ts";
import { gpuResources, nodeLabels } from "../../model/wellKnown.ts";
import type { SmallUser } from "./smallUsers.ts";

/** Free parts of GPUs that a node offers under a resource name of their own. */
export interface SharedUnits {
  readonly node: NodeView;
  readonly resource: string;
  readonly model: string;
  /** Physical GPUs of one such part. */
  readonly unit: number;
  readonly memoryBytes: number;
  /** How many parts are free; the number decreases when users get some of them. */
  free: number;
  cpuMilli: number;
  ramBytes: number;
}

const gibibyte = 1024 ** 3;

/** The free MIG instances and time-sliced replicas of a moment, the smallest first. */
export function findSharedUnits({ snapshot, freeCapacities }: Analysis): SharedUnits[] {
  const found: SharedUnits[] = [];
  for (const [i, node] of snapshot.nodes.entries()) {
    if (node.ready !== true || node.schedulable !== true) continue;
    for (const { now } of freeCapacities.byNode[i] ?? [])
      if (now !== null && now.slots.size > 0) found.push(...unitsOn(snapshot, node, now));
  }
  return found.sort((a, b) => a.unit - b.unit || (a.node.name < b.node.name ? -1 : 1));
}

/** The parts of GPUs that are free on one node, by kind. */
function unitsOn({ devices }: Snapshot, node: NodeView, now: FreeCapacity): readonly SharedUnits[] {
  const found: SharedUnits[] = [];
  const seen = new Set<string>();
  for (const index of node.devices) {
    const device = devices[index];
    const part = device === undefined ? null : partOf(device, node);
    if (device === undefined || part === null || seen.has(part.key)) continue;
    seen.add(part.key);
    const free = now.slots.get(part.key)?.count ?? 0;
    const { cpuMilli, memoryBytes: ramBytes } = now;
    const { resource, unit, memoryBytes } = part;
    if (free > 0) found.push({ node, resource, model: device.model, unit, memoryBytes, free, cpuMilli, ramBytes });
  }
  return found;
}

/** Describes one part of a device; `null` for whole GPUs, and for parts without a resource name of their own. */
function partOf(
  { profile, weight, slots, memoryTotalBytes, reading }: Device,
  { labels }: NodeView,
): (Pick<SharedUnits, "resource" | "unit" | "memoryBytes"> & { readonly key: string }) | null {
  if (profile !== null) {
    // With strategy `single`, instances have the name of whole GPUs: a request cannot distinguish them.
    const gigabytes = /^[1-9]g\.(\d{1,3})gb$/.exec(profile)?.[1];
    if (slots > 1 || gigabytes === undefined || labels[nodeLabels.migStrategy] !== "mixed") return null;
    return {
      key: instanceKey(profile),
      resource: `${gpuResources.nvidiaMigPrefix}${profile}`,
      unit: weight,
      memoryBytes: Number(gigabytes) * gibibyte,
    };
  }
  const memory = memoryTotalBytes ?? reading?.memoryTotalBytes ?? null;
  if (slots < 2 || memory === null) return null;
  // GPU Feature Discovery marks the product of GPUs whose replicas keep the name of whole GPUs.
  const isRenamed =
    Number(labels[nodeLabels.gpuReplicas] ?? "") > 1 && !/-SHARED$/.test(labels[nodeLabels.gpuProduct] ?? "-SHARED");
  if (!isRenamed) return null;
  const unit = weight / slots;
  return { key: unitKey(unit), resource: gpuResources.nvidiaShared, unit, memoryBytes: memory / slots };
}

/** The units that a user gets: all of one kind, one for each of its pods. */
export interface GivenUnits {
  readonly resource: string;
  readonly unit: number;
  readonly nodes: readonly string[];
}

/**
 * Gives a user the smallest units that serve it, on nodes that take its pods, and subtracts them from what is free. Returns
 * `null` if there are none.
 */
export function giveUnits(units: readonly SharedUnits[], user: SmallUser): GivenUnits | null {
  const cpuMilli = Math.max(0, user.needs.requests.cpu ?? 0) * 1000;
  const ramBytes = Math.max(0, user.needs.requests.memory ?? 0);
  const freeCapacityFor = (one: SharedUnits): number =>
    Math.floor(
      Math.min(
        one.free,
        cpuMilli > 0 ? one.cpuMilli / cpuMilli : Infinity,
        ramBytes > 0 ? one.ramBytes / ramBytes : Infinity,
      ),
    );
  const usable = units.filter(
    (one) =>
      one.model === user.model &&
      one.unit >= user.usage.peakActivity &&
      one.memoryBytes >= user.memoryBytes &&
      freeCapacityFor(one) > 0 &&
      takesNow(one.node, user.needs),
  );
  for (const kind of new Set(usable.map(({ resource, unit }) => `${resource} ${unit}`))) {
    const same = usable.filter(({ resource, unit }) => `${resource} ${unit}` === kind);
    const [first] = same;
    if (first === undefined || same.reduce((sum, one) => sum + freeCapacityFor(one), 0) < user.allocated.length)
      continue;
    let left = user.allocated.length;
    const nodes: string[] = [];
    for (const one of same) {
      const taken = Math.min(left, freeCapacityFor(one));
      if (taken === 0) break;
      one.free -= taken;
      one.cpuMilli -= taken * cpuMilli;
      one.ramBytes -= taken * ramBytes;
      nodes.push(one.node.name);
      left -= taken;
    }
    return { resource: first.resource, unit: first.unit, nodes };
  }
  return null;
}
