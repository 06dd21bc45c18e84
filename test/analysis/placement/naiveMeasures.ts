import type { NaiveNode, NaiveTask } from "./naiveFragmentation.ts";

/** What a pod of some number of whole GPUs is taken to ask for. */
export interface NaiveRequest {
  readonly cpu: number;
  readonly memory: number;
}

/** GPUs of a node that nobody holds any part of. */
export function wholeFree(node: NaiveNode): number {
  let whole = 0;
  for (const free of node.free) if (free === 1) whole += 1;
  return whole;
}

/** Free parts of GPUs that are partly held. */
export function partlyFree(node: NaiveNode): number {
  let parts = 0;
  for (const free of node.free) if (free < 1) parts += free;
  return parts;
}

/** How many pods of `size` GPUs fit on a node, one after the other. What lacks less than a millionth of a request is enough. */
export function fitting(node: NaiveNode, size: number, request: NaiveRequest): number {
  let { cpu, memory } = node;
  let gpus = wholeFree(node);
  let pods = 0;
  const least = { cpu: request.cpu * (1 - 1e-6), memory: request.memory * (1 - 1e-6) };
  while (gpus >= size && cpu >= least.cpu && memory >= least.memory) {
    gpus -= size;
    cpu -= request.cpu;
    memory -= request.memory;
    pods += 1;
  }
  return pods;
}

/** The most GPUs that one pod can have on any of the nodes. */
export function largestPod(nodes: readonly NaiveNode[], requestOf: (size: number) => NaiveRequest): number {
  let largest = 0;
  for (const node of nodes) {
    for (let size = 1; size <= wholeFree(node); size += 1) {
      if (fitting(node, size, requestOf(size)) > 0 && size > largest) largest = size;
    }
  }
  return largest;
}

/** Nodes whose GPUs are all free. */
export function wholeFreeNodes(nodes: readonly NaiveNode[]): number {
  return nodes.filter((node) => node.free.length > 0 && wholeFree(node) === node.free.length).length;
}

/** The most nodes that could be free at once: those with most GPUs hold all that is allocated, however it would be divided. */
export function possibleFreeNodes(nodes: readonly NaiveNode[]): number {
  let allocated = 0;
  for (const { free } of nodes) for (const part of free) allocated += 1 - part;
  const sizes = nodes.map(({ free }) => free.length).filter((size) => size > 0);
  sizes.sort((a, b) => b - a);
  let keepers = 0;
  for (let freeCapacity = 0; freeCapacity < allocated - 1e-6; keepers += 1) freeCapacity += sizes[keepers] ?? 0;
  return sizes.length - keepers;
}

/** Why no task can use what is wholly free on a node; `null` where one can. */
export function strandedBecause(node: NaiveNode, tasks: readonly NaiveTask[]): string | null {
  const whole = wholeFree(node);
  const withGpus = tasks.filter((task) => task.gpus > 0);
  const allowed = withGpus.filter((task) => task.models.length === 0 || task.models.includes(node.model));
  if (allowed.length === 0) return "constraint";
  const smallEnough = allowed.filter((task) => task.gpus <= whole);
  if (smallEnough.length === 0) return "gpus";
  if (smallEnough.some((task) => node.cpu >= task.cpu && node.memory >= task.memory)) return null;
  const allLackCpu = smallEnough.every((task) => node.cpu < task.cpu);
  const allLackMemory = smallEnough.every((task) => node.memory < task.memory);
  if (allLackCpu && !allLackMemory) return "cpu";
  if (allLackMemory && !allLackCpu) return "memory";
  return "cpu_and_memory";
}

/** Stranded GPUs by reason. */
export function strandedGpus(nodes: readonly NaiveNode[], tasks: readonly NaiveTask[]): Map<string, number> {
  const sums = new Map<string, number>();
  for (const node of nodes) {
    const whole = wholeFree(node);
    const reason = whole === 0 ? null : strandedBecause(node, tasks);
    if (reason !== null) sums.set(reason, (sums.get(reason) ?? 0) + whole);
  }
  return sums;
}

/** The middle of some numbers; of an even number of them, the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  const upper = sorted[Math.floor(middle)] ?? 0;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? 0) + upper) / 2;
}

/** Sizes for which a request is published; for all others it follows from the medians per GPU. */
const publishedSizes = [1, 2, 4, 8];

/**
 * What pods of `size` whole GPUs ask for: the medians of those that there are; where there are none, the medians per GPU of
 * all pods with whole GPUs, times the size. No part of a milli CPU or of a byte: rounded up.
 */
export function medianRequest(pods: readonly Omit<NaiveTask, "popularity">[], size: number): NaiveRequest {
  const whole = pods.filter(({ gpus, share }) => gpus > 0 && share === 1);
  const same = whole.filter(({ gpus }) => gpus === size);
  if (same.length > 0 && publishedSizes.includes(size))
    return { cpu: roundedUp(median(same.map(({ cpu }) => cpu))), memory: roundedUp(median(same.map((p) => p.memory))) };
  return {
    cpu: roundedUp(size * median(whole.map(({ cpu, gpus }) => cpu / gpus))),
    memory: roundedUp(size * median(whole.map(({ memory, gpus }) => memory / gpus))),
  };
}

/** Of the number in 15 digits: the last bits of a product are noise. */
const roundedUp = (value: number): number => Math.ceil(Number(value.toPrecision(15)));
