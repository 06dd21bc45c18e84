import { isIdleNode } from "../analysis/states.ts";
import type { NodeView, Snapshot } from "../join/snapshot.ts";
import { createTupleInterner } from "../kernel/tupleInterner.ts";
import type { NodeImbalance, NodeTime, NodeTimeState } from "./posting.ts";

/** The pool of a node of which nothing says what GPUs it has. */
const unknownPool = "unknown";

/**
 * Physical GPUs of each pool, from the inventory of nodes and not from bookings. A node with cards of several pools is
 * divided by the weights of its devices and parts. Nodes whose GPUs are not counted are left out.
 */
export function physicalGpusByPool(snapshot: Snapshot): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  const add = (pool: string, gpus: number): void => {
    sums.set(pool, (sums.get(pool) ?? 0) + gpus);
  };
  let parts: ReadonlyMap<string, Snapshot["unpartitioned"]> | null = null;
  for (const node of snapshot.nodes) {
    if (node.physicalGpus === null || node.physicalGpus <= 0) continue;
    const [pool = unknownPool, ...others] = node.pools;
    if (others.length === 0) {
      add(pool, node.physicalGpus);
      continue;
    }
    parts ??= Map.groupBy(snapshot.unpartitioned, (part) => part.node);
    const devices = node.devices.flatMap((index) => snapshot.devices[index] ?? []);
    const weighed = [...devices, ...(parts.get(node.name) ?? [])];
    const weight = weighed.reduce((sum, part) => sum + part.weight, 0);
    for (const part of weighed) add(part.pool, (node.physicalGpus * part.weight) / weight);
  }
  return sums;
}

/** Nodes of one kind in one state at one moment. A node with several pools counts once, for its first. */
export interface NodeCount extends Omit<NodeTime, "hour" | "nodeSeconds" | "cost"> {
  readonly nodes: number;
  /** What their GPUs cost per hour; `null` without a price. */
  readonly costPerHour: number | null;
}

/** Counts the nodes that have or should have GPUs by pool, node pool, capacity type and state. */
export function countNodes(snapshot: Snapshot): readonly NodeCount[] {
  const ids = createTupleInterner();
  const counts: { -readonly [Key in keyof NodeCount]: NodeCount[Key] }[] = [];
  for (const node of snapshot.nodes) {
    const state = nodeTimeState(snapshot, node);
    const { capacityType } = node;
    const pool = node.pools[0] ?? unknownPool;
    const nodePool = node.nodePool || "unknown";
    const id = ids.idOf([pool, nodePool, capacityType, state]);
    const known = counts[id];
    if (known === undefined)
      counts.push({ pool, nodePool, capacityType, state, nodes: 1, currency: null, costPerHour: null });
    else known.nodes += 1;
  }
  return counts;
}

function nodeTimeState(snapshot: Snapshot, node: NodeView): NodeTimeState {
  if (node.ready === false) return "not_ready";
  if (node.schedulable === false) return "cordoned";
  if (isIdleNode(snapshot, node)) return "idle_unallocated";
  return node.ready === true ? "ready" : "unknown";
}

/** What is lost in adding shares is no difference between the books. */
const toleratedGpus = 1e-6;

/** Nodes of which the book by device and the book by pod differ, for a step of `seconds`. */
export function imbalancedNodes(snapshot: Snapshot, seconds: number): readonly NodeImbalance[] {
  const imbalances: NodeImbalance[] = [];
  for (const { name, pools, heldByDevices, heldByPods } of snapshot.nodes) {
    const gpus = Math.abs(heldByDevices - heldByPods);
    if (gpus > toleratedGpus)
      imbalances.push({ node: name, pool: pools[0] ?? unknownPool, gpuSeconds: gpus * seconds });
  }
  return imbalances;
}
