import { type FragmentationCause, fragmentationCauses } from "../../model/fragmentation.ts";
import { gpuTolerance } from "../../model/gpuTolerance.ts";
import type { FreeCapacity } from "../freeCapacity/nodeFreeCapacity.ts";
import type { PodDemand } from "../freeCapacity/podDemand.ts";

/** A shape, as far as it is judged on a node. */
export interface AskedShape {
  /** Part of all pods; those of a workload add up to 1. */
  readonly popularity: number;
  /** What a pod of the shape takes from its node; `null`: it asks for no GPU. */
  readonly demand: PodDemand | null;
}

/** How much a typical pod could use of one node's free GPUs. Physical GPUs. */
export interface Fragmentation {
  /** All free GPUs, usable or not. */
  readonly freeGpus: number;
  /** Expected GPUs that could not be used: the sum of `byCause`. */
  readonly gpus: number;
  /** The same by cause; a cause that is absent is 0. */
  readonly byCause: Readonly<Partial<Record<FragmentationCause, number>>>;
}

/** The outcome for a shape on a node, as a small number: the index of its cause, or `fitsOutcome`. */
export type OutcomeCode = number;

export const fitsOutcome: OutcomeCode = fragmentationCauses.length;

const codeOf = (cause: FragmentationCause): OutcomeCode => fragmentationCauses.indexOf(cause);

export const outcomes = {
  noGpuTask: codeOf("no_gpu_task"),
  noAccess: codeOf("no_access"),
  lackGpu: codeOf("lack_gpu"),
  lackCpu: codeOf("lack_cpu"),
  lackMemory: codeOf("lack_memory"),
  lackCpuAndMemory: codeOf("lack_cpu_and_memory"),
  lackBoth: codeOf("lack_both"),
} as const;

/**
 * Expected fragmentation of one node (Weng et al., "Beware of Fragmentation", USENIX ATC 2023, section 3.1, with memory treated
 * like CPU): the sum over shapes of popularity x free GPUs that a pod of the shape could not use. `freeCapacity` is `null`
 * where nothing is free; `hasAccess` returns whether the node's labels, taints and model let the shape in.
 */
export function expectedFragmentation<Shape extends AskedShape>(
  freeCapacity: FreeCapacity | null,
  shapes: readonly Shape[],
  hasAccess: (shape: Shape) => boolean,
): Fragmentation {
  const byCause: Partial<Record<FragmentationCause, number>> = {};
  if (freeCapacity === null) return { freeGpus: 0, gpus: 0, byCause };
  let gpus = 0;
  for (const shape of shapes) {
    const code = outcomeOf(freeCapacity, shape.demand, hasAccess(shape));
    const unusable = shape.popularity * unusableGpus(freeCapacity, shape.demand, code);
    const cause = fragmentationCauses[code] ?? "lack_gpu";
    if (unusable === 0) continue;
    byCause[cause] = (byCause[cause] ?? 0) + unusable;
    gpus += unusable;
  }
  return { freeGpus: freeCapacity.gpus, gpus, byCause };
}

/** The first reason for which a pod cannot start in a free capacity, or the outcome that it can. */
export function outcomeOf(freeCapacity: FreeCapacity, demand: PodDemand | null, hasAccess: boolean): OutcomeCode {
  if (demand === null) return outcomes.noGpuTask;
  if (!hasAccess) return outcomes.noAccess;
  const lacksCpu = demand.cpuMilli > 0 && freeCapacity.cpuMilli < demand.cpuMilli * justBelow;
  const lacksMemory = demand.memoryBytes > 0 && freeCapacity.memoryBytes < demand.memoryBytes * justBelow;
  if (!hasGpus(freeCapacity, demand)) return lacksCpu || lacksMemory ? outcomes.lackBoth : outcomes.lackGpu;
  if (lacksCpu) return lacksMemory ? outcomes.lackCpuAndMemory : outcomes.lackCpu;
  return lacksMemory ? outcomes.lackMemory : fitsOutcome;
}

/** An amount is enough if it is this close to what is asked for. */
const justBelow = 1 - gpuTolerance;

function hasGpus({ physicalGpus, slots }: FreeCapacity, demand: PodDemand): boolean {
  if (demand.physicalGpus > 0) {
    const least = demand.share * justBelow;
    let fitting = 0;
    for (const free of physicalGpus) if (free >= least) fitting += 1;
    if (fitting < demand.physicalGpus) return false;
  }
  for (const [key, count] of demand.slots) if ((slots.get(key)?.count ?? 0) < count) return false;
  return true;
}

/**
 * Free GPUs of a free capacity that are of no use to a shape: all of them, unless it fits. Where it fits, these are the GPUs
 * that have less left than it takes of one, and everything of another kind than it asks for: GPUs, where it asks for replicas
 * or MIG instances only, and replicas or instances of other sizes.
 */
export function unusableGpus(freeCapacity: FreeCapacity, demand: PodDemand | null, code: OutcomeCode): number {
  if (code !== fitsOutcome || demand === null) return freeCapacity.gpus;
  const least = demand.physicalGpus > 0 ? demand.share * justBelow : Number.POSITIVE_INFINITY;
  let unusable = 0;
  let onGpus = 0;
  for (const free of freeCapacity.physicalGpus) {
    onGpus += free;
    if (free < least) unusable += free;
  }
  if (freeCapacity.slots.size === 0) return unusable;
  let asked = 0;
  const keys = new Set(demand.slots.map(([key]) => key));
  for (const key of keys) asked += freeCapacity.slots.get(key)?.gpus ?? 0;
  return Math.min(freeCapacity.gpus, unusable + Math.max(0, freeCapacity.gpus - onGpus - asked));
}
