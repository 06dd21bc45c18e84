import { kaiNames } from "../../exporter/model/wellKnown.ts";
import type { GpuRequest, NodeMode } from "../scenario.ts";
import {
  nextUid,
  type PhysicalGpu,
  type SimNode,
  type SimPod,
  type Unit,
  type Workload,
  type World,
  wallClock,
} from "./world.ts";
import { isInService } from "./xid.ts";

/** A part of a GPU that a pod could get. */
interface Part {
  readonly physicalGpu: PhysicalGpu;
  readonly unit: Unit | null;
  readonly share: number;
}

const tolerance = 1e-9;

/** Free part of a GPU, in physical GPUs; 0 while the GPU cannot be allocated. */
export function freeShare(physicalGpu: PhysicalGpu): number {
  if (!isInService(physicalGpu)) return 0;
  if (physicalGpu.units.length > 0)
    return physicalGpu.units.reduce((sum, unit) => sum + (unit.holder === null ? unit.weight : 0), 0);
  let allocated = 0;
  for (const allocation of physicalGpu.allocations) allocated += allocation.share;
  return Math.max(0, 1 - allocated);
}

/** Whether the scheduler may use the node at all. */
export function isSchedulable(node: SimNode): boolean {
  return node.spec.ready && !node.lost && !node.spec.cordoned && !node.tainted;
}

/** Tries to bind a pod to the best node that fits, of those that `isIn` names; returns whether it did. */
export function placePod(world: World, pod: SimPod, isIn: (node: SimNode) => boolean = () => true): boolean {
  let best: { node: SimNode; parts: readonly Part[]; score: number } | null = null;
  const sign = world.scenario.placement === "pack" ? -1 : 1;
  for (const node of world.nodes) {
    const parts = isIn(node) ? offer(node, pod) : null;
    if (parts === null) continue;
    const score = sign * node.physicalGpus.reduce((sum, physicalGpu) => sum + freeShare(physicalGpu), 0);
    if (best === null || score > best.score + tolerance) best = { node, parts, score };
  }
  if (best === null) return false;
  bind(world, pod, best.node, best.parts);
  return true;
}

/** Binds a pod to given GPUs of a node without checking anything; for traces. */
export function bindToGpus(world: World, pod: SimPod, node: SimNode, physicalGpus: readonly PhysicalGpu[]): void {
  const { request } = pod.workload.spec;
  const share = request.kind === "fraction" ? request.share : 1;
  bind(
    world,
    pod,
    node,
    physicalGpus.map((physicalGpu) => ({ physicalGpu, unit: null, share })),
  );
}

function offer(node: SimNode, pod: SimPod): readonly Part[] | null {
  const { spec } = pod.workload;
  if (!isSchedulable(node) || !serves(node, pod.workload)) return null;
  if (node.freeCpuMilli < spec.cpuMilli || node.freeMemoryMiB < spec.memoryMiB) return null;
  const physicalGpus = node.physicalGpus.filter(
    (physicalGpu) =>
      isInService(physicalGpu) &&
      (spec.models.length === 0 || spec.models.some((name) => node.spec.physicalGpus[physicalGpu.index] === name)),
  );
  return partsFor(pod, node, physicalGpus);
}

/** Whether a node can serve a workload at all: by its mode, by the labels that its pods select, and by its shard. */
export function serves(node: SimNode, { spec, nodePool }: Pick<Workload, "spec" | "nodePool">): boolean {
  const { mode, physicalGpus, featureDiscovery, labels } = node.spec;
  if (!accepts(mode, spec.request)) return false;
  if (nodePool !== undefined && (labels[kaiNames.nodePool] ?? null) !== nodePool) return false;
  if (spec.request.kind !== "physicalGpus" || spec.models.length === 0) return true;
  // The label of a node with two models names the last one.
  const labelled = featureDiscovery ? physicalGpus.at(-1) : undefined;
  return labelled !== undefined && spec.models.includes(labelled);
}

/** Whether nodes of this mode can serve a request at all. */
export function accepts(mode: NodeMode, request: GpuRequest): boolean {
  switch (request.kind) {
    case "none":
      return true;
    case "physicalGpus":
      return mode.kind === "whole" || mode.kind === "kai" || mode.kind === "vgpu-guest";
    case "replicas":
      return mode.kind === request.strategy && mode.renamed === request.renamed;
    case "mig":
      return mode.kind === request.strategy;
    case "claim":
    case "extended-resource":
      return mode.kind === "dra";
    case "fraction":
      return mode.kind === "kai";
    case "hami":
      return mode.kind === "hami";
  }
}

function partsFor(pod: SimPod, node: SimNode, physicalGpus: readonly PhysicalGpu[]): readonly Part[] | null {
  const { request } = pod.workload.spec;
  switch (request.kind) {
    case "none":
      return [];
    case "physicalGpus":
    case "extended-resource":
      return wholeGpus(physicalGpus, request.count);
    case "claim":
      return request.shared
        ? sharedClaimParts(pod, node, physicalGpus, request.count)
        : wholeGpus(physicalGpus, request.count);
    case "replicas":
      return unitParts(physicalGpus, request.count, () => true);
    case "mig":
      return unitParts(physicalGpus, request.count, (unit) => unit.profile === request.profile);
    case "fraction":
      return fraction(physicalGpus, () => request.share);
    case "hami":
      return fraction(physicalGpus, (physicalGpu) =>
        Math.max(request.corePercent / 100, request.memoryMiB / physicalGpu.model.memoryMiB),
      );
  }
}

function wholeGpus(physicalGpus: readonly PhysicalGpu[], count: number): readonly Part[] | null {
  const free = physicalGpus.filter((physicalGpu) => physicalGpu.allocations.size === 0).slice(0, count);
  return free.length < count ? null : free.map((physicalGpu) => ({ physicalGpu, unit: null, share: 1 }));
}

/**
 * The GPUs of a shared claim. All pods of the workload use the GPUs of its one claim, so the later ones must follow the first.
 */
function sharedClaimParts(
  pod: SimPod,
  node: SimNode,
  physicalGpus: readonly PhysicalGpu[],
  count: number,
): readonly Part[] | null {
  const first = pod.workload.pods.find((other) => other.node !== null);
  const share = 1 / pod.workload.spec.pods;
  if (first === undefined) return wholeGpus(physicalGpus, count)?.map((part) => ({ ...part, share })) ?? null;
  if (first.node !== node) return null;
  return first.allocations.map((allocation) => ({ physicalGpu: allocation.physicalGpu, unit: null, share }));
}

/** Replicas or instances for a pod. The device plugin spreads them: each comes from the GPU with the most free ones. */
function unitParts(
  physicalGpus: readonly PhysicalGpu[],
  count: number,
  fits: (unit: Unit) => boolean,
): readonly Part[] | null {
  const taken: Part[] = [];
  const free = physicalGpus.map((physicalGpu) => ({
    physicalGpu,
    units: physicalGpu.units.filter((unit) => unit.holder === null && fits(unit)),
  }));
  while (taken.length < count) {
    const fullest = free.reduce(
      (a, b) => (b.units.length > a.units.length ? b : a),
      free[0] ?? { physicalGpu: null, units: [] },
    );
    const unit = fullest.units.shift();
    if (unit === undefined || fullest.physicalGpu === null) return null;
    taken.push({ physicalGpu: fullest.physicalGpu, unit, share: unit.weight });
  }
  return taken;
}

/** A fraction of a GPU by best fit: the GPU with the least free capacity that is still enough. */
function fraction(
  physicalGpus: readonly PhysicalGpu[],
  shareOn: (physicalGpu: PhysicalGpu) => number,
): readonly Part[] | null {
  let best: Part | null = null;
  let bestFreeCapacity = 2;
  for (const physicalGpu of physicalGpus) {
    const freeCapacity = freeShare(physicalGpu);
    const share = shareOn(physicalGpu);
    if (freeCapacity + tolerance < share || freeCapacity >= bestFreeCapacity) continue;
    best = { physicalGpu, unit: null, share };
    bestFreeCapacity = freeCapacity;
  }
  return best === null ? null : [best];
}

function bind(world: World, pod: SimPod, node: SimNode, parts: readonly Part[]): void {
  const { spec } = pod.workload;
  pod.node = node;
  pod.scheduledAt = wallClock(world);
  pod.scheduledTime = world.time;
  pod.allocations = parts.map((part) => {
    const allocation = { pod, physicalGpu: part.physicalGpu, unit: part.unit, share: part.share, observed: 0 };
    part.physicalGpu.allocations.add(allocation);
    if (part.unit !== null) part.unit.holder = pod;
    return allocation;
  });
  node.freeCpuMilli -= spec.cpuMilli;
  node.freeMemoryMiB -= spec.memoryMiB;
  if (spec.request.kind === "fraction") for (const { physicalGpu } of parts) reserve(world, physicalGpu);
  world.waiting.delete(pod);
  world.starting.add(pod);
  world.dirtyPods.add(pod);
}

function reserve(world: World, physicalGpu: PhysicalGpu): void {
  if (physicalGpu.reservation !== null) return;
  const uid = nextUid(world);
  const group = nextUid(world);
  const name = `gpu-reservation-${physicalGpu.node.spec.name}-${uid.slice(0, 5)}`;
  physicalGpu.reservation = { name, uid, group, createdAt: wallClock(world) };
  world.dirtyGpus.add(physicalGpu);
}

/** Takes a pod off its GPUs and its node; the pod keeps its node's name, as ended pods do. */
export function release(world: World, pod: SimPod): void {
  for (const allocation of pod.allocations) {
    allocation.physicalGpu.allocations.delete(allocation);
    if (allocation.unit !== null) allocation.unit.holder = null;
    if (allocation.physicalGpu.reservation !== null && allocation.physicalGpu.allocations.size === 0) {
      allocation.physicalGpu.reservation = null;
      world.dirtyGpus.add(allocation.physicalGpu);
    }
  }
  if (pod.node !== null && pod.phase !== "Succeeded" && pod.phase !== "Failed") {
    pod.node.freeCpuMilli += pod.workload.spec.cpuMilli;
    pod.node.freeMemoryMiB += pod.workload.spec.memoryMiB;
  }
  world.starting.delete(pod);
  world.running.delete(pod);
  world.dirtyPods.add(pod);
}

/** Undoes `bind` for a gang that does not fit whole. */
export function unbind(world: World, pod: SimPod): void {
  release(world, pod);
  pod.node = null;
  pod.allocations = [];
  pod.scheduledAt = null;
  world.waiting.add(pod);
}
