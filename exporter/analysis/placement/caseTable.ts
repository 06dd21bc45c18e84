import { type FragmentationCause, fragmentationCauses } from "../../model/fragmentation.ts";
import { gpuTolerance } from "../../model/gpuTolerance.ts";
import type { Room } from "../rooms/nodeRoom.ts";
import type { PodDemand } from "../rooms/podDemand.ts";

/** A shape as a node is asked for it. */
export interface AskedShape {
  /** Part of all pods; those of a workload add up to 1. */
  readonly popularity: number;
  /** `null`: it asks for no GPU. */
  readonly demand: PodDemand | null;
}

/** What one node's free GPUs are to a typical pod. Physical GPUs. */
export interface Fragmentation {
  /** All that is free: what can be used and what cannot. */
  readonly freeGpus: number;
  /** Expected GPUs that could not be used: the sum of `byCause`. */
  readonly gpus: number;
  /** A cause that is not there is 0. */
  readonly byCause: Readonly<Partial<Record<FragmentationCause, number>>>;
}

/** What becomes of a shape on a node, as a small number: the index of its cause, or `fitsOutcome`. */
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
 * Expected fragmentation of one node (Weng et al., "Beware of Fragmentation", USENIX ATC 2023, section 3.1, with memory as
 * CPU): the sum over shapes of popularity x free GPUs that a pod of the shape could not use. `room` is `null` where nothing
 * is free; `hasAccess` says whether the node's labels, taints and model let the shape in.
 */
export function expectedFragmentation<Shape extends AskedShape>(
  room: Room | null,
  shapes: readonly Shape[],
  hasAccess: (shape: Shape) => boolean,
): Fragmentation {
  const byCause: Partial<Record<FragmentationCause, number>> = {};
  if (room === null) return { freeGpus: 0, gpus: 0, byCause };
  let gpus = 0;
  for (const shape of shapes) {
    const code = outcomeOf(room, shape.demand, hasAccess(shape));
    const unusable = shape.popularity * unusableGpus(room, shape.demand, code);
    const cause = fragmentationCauses[code] ?? "lack_gpu";
    if (unusable === 0) continue;
    byCause[cause] = (byCause[cause] ?? 0) + unusable;
    gpus += unusable;
  }
  return { freeGpus: room.gpus, gpus, byCause };
}

/** Why a pod cannot start in a room, or that it can: the first that is true. */
export function outcomeOf(room: Room, demand: PodDemand | null, hasAccess: boolean): OutcomeCode {
  if (demand === null) return outcomes.noGpuTask;
  if (!hasAccess) return outcomes.noAccess;
  const lacksCpu = demand.cpuMilli > 0 && room.cpuMilli < demand.cpuMilli * justBelow;
  const lacksMemory = demand.memoryBytes > 0 && room.memoryBytes < demand.memoryBytes * justBelow;
  if (!hasGpus(room, demand)) return lacksCpu || lacksMemory ? outcomes.lackBoth : outcomes.lackGpu;
  if (lacksCpu) return lacksMemory ? outcomes.lackCpuAndMemory : outcomes.lackCpu;
  return lacksMemory ? outcomes.lackMemory : fitsOutcome;
}

/** An amount that is so near to what is asked for is enough. */
const justBelow = 1 - gpuTolerance;

function hasGpus({ cards, slots }: Room, demand: PodDemand): boolean {
  if (demand.cards > 0) {
    const least = demand.share * justBelow;
    let fitting = 0;
    for (const free of cards) if (free >= least) fitting += 1;
    if (fitting < demand.cards) return false;
  }
  for (const [key, count] of demand.slots) if ((slots.get(key)?.count ?? 0) < count) return false;
  return true;
}

/**
 * Free GPUs of a room that are of no use to a shape: all of them, unless it fits. Where it fits, cards that have less left than
 * it takes of one; and everything that is of another kind than it asks for: cards, where it asks for replicas or MIG
 * instances only, and replicas or instances of other sizes.
 */
export function unusableGpus(room: Room, demand: PodDemand | null, code: OutcomeCode): number {
  if (code !== fitsOutcome || demand === null) return room.gpus;
  const least = demand.cards > 0 ? demand.share * justBelow : Number.POSITIVE_INFINITY;
  let unusable = 0;
  let onCards = 0;
  for (const free of room.cards) {
    onCards += free;
    if (free < least) unusable += free;
  }
  if (room.slots.size === 0) return unusable;
  let asked = 0;
  const keys = new Set(demand.slots.map(([key]) => key));
  for (const key of keys) asked += room.slots.get(key)?.gpus ?? 0;
  return Math.min(room.gpus, unusable + Math.max(0, room.gpus - onCards - asked));
}
