import type { TraceNode, TracePod } from "./openbTrace.ts";

/** A pod that was drawn from the trace; the same row may be drawn several times. */
export interface Task extends TracePod {
  readonly id: number;
  /** Index of its requests: tasks with equal requests have the same. */
  readonly shape: number;
  /** Seconds for which it has run, if it runs, when the replay begins. */
  readonly ageSeconds: number;
}

/** A node with what is left on it. */
export interface PackedNode {
  readonly node: TraceNode;
  cpuMilli: number;
  memoryMiB: number;
  /** Thousandths that are left of each GPU. */
  readonly freeMilli: number[];
  /** The tasks on it, by id. */
  readonly tasks: Set<number>;
  /** Changes with every task that comes or goes, so that what was worked out for it before can be told from what is true. */
  version: number;
  isCordoned: boolean;
}

/** Where a task is. */
export interface Place {
  readonly node: number;
  /** Indices of its GPUs on the node; empty for tasks without. */
  readonly gpus: readonly number[];
}

/** Nodes and the tasks on them. */
export interface Packing {
  readonly nodes: readonly PackedNode[];
  readonly places: Map<number, Place>;
}

/** Nodes without any task. */
export const emptyPacking = (nodes: readonly TraceNode[]): Packing => ({
  nodes: nodes.map((node) => ({
    node,
    cpuMilli: node.cpuMilli,
    memoryMiB: node.memoryMiB,
    freeMilli: Array.from({ length: node.gpus }, () => 1000),
    tasks: new Set(),
    version: 0,
    isCordoned: false,
  })),
  places: new Map(),
});

/** A copy that can be changed without the original. */
export const copyPacking = ({ nodes, places }: Packing): Packing => ({
  nodes: nodes.map((one) => ({ ...one, freeMilli: [...one.freeMilli], tasks: new Set(one.tasks) })),
  places: new Map(places),
});

/** Whether a node that is not cordoned has what a task asks for. */
export function fits(node: PackedNode, task: Pick<Task, "cpuMilli" | "memoryMiB" | "gpus" | "gpuMilli">): boolean {
  if (node.isCordoned || node.cpuMilli < task.cpuMilli || node.memoryMiB < task.memoryMiB) return false;
  if (task.gpus === 0) return true;
  let found = 0;
  for (const free of node.freeMilli) if (free >= task.gpuMilli) found += 1;
  return found >= task.gpus;
}

/** The first GPUs that a task of whole GPUs can have. */
export function wholeGpus({ freeMilli }: PackedNode, { gpus, gpuMilli }: Task): readonly number[] {
  const found: number[] = [];
  for (const [index, free] of freeMilli.entries()) {
    if (found.length === gpus) break;
    if (free >= gpuMilli) found.push(index);
  }
  return found;
}

/** Puts a task on a node. */
export function put({ nodes, places }: Packing, task: Task, place: Place): void {
  change(nodes, task, place, -1);
  nodes[place.node]?.tasks.add(task.id);
  places.set(task.id, place);
}

/** Takes a task off its node; nothing happens if it is on none. */
export function takeOff({ nodes, places }: Packing, task: Task): void {
  const place = places.get(task.id);
  if (place === undefined) return;
  change(nodes, task, place, 1);
  nodes[place.node]?.tasks.delete(task.id);
  places.delete(task.id);
}

function change(nodes: readonly PackedNode[], task: Task, place: Place, sign: 1 | -1): void {
  const node = nodes[place.node];
  if (node === undefined) return;
  node.cpuMilli += sign * task.cpuMilli;
  node.memoryMiB += sign * task.memoryMiB;
  for (const gpu of place.gpus) node.freeMilli[gpu] = (node.freeMilli[gpu] ?? 0) + sign * task.gpuMilli;
  node.version += 1;
}

/** GPUs of all nodes that no task has. */
export const unallocatedGpus = ({ nodes }: Packing): number =>
  nodes.reduce((sum, { freeMilli }) => sum + freeMilli.reduce((a, b) => a + b, 0), 0) / 1000;
