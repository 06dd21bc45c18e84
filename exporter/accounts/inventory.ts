import type { Analysis } from "../analysis/analysis.ts";
import type { IdleNode } from "../analysis/idleNodes/findIdleNodes.ts";
import { addHourlyCost } from "../analysis/prices/addHourlyCost.ts";
import type { Prices } from "../analysis/prices/prices.ts";
import type { NodeView, Snapshot } from "../join/snapshot.ts";
import { createTupleInterner } from "../kernel/tupleInterner.ts";
import type { NodeTimeState } from "../model/idleKinds.ts";
import { idleNodeState } from "./idleNodeStates.ts";
import type { NodeImbalance, NodeTime } from "./posting.ts";

/** The pool of a node whose GPUs nothing describes. */
export const unknownPool = "unknown";

/** Physical GPUs of each pool, from the inventory of nodes and not from accounting entries. */
export function physicalGpusByPool(snapshot: Snapshot): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  visitInventory(snapshot, (_node, pool, gpus) => void sums.set(pool, (sums.get(pool) ?? 0) + gpus));
  return sums;
}

/** A pool, and what its GPUs cost per hour in one currency. */
export interface PoolCost {
  readonly pool: string;
  readonly currency: string;
  readonly costPerHour: number;
}

/** What the GPUs of each pool cost by their nodes' prices, from the inventory and not from accounting entries. */
export function costsByPool(snapshot: Snapshot, { byNode }: Prices): readonly PoolCost[] {
  if (byNode.size === 0) return [];
  const sums = new Map<string, Map<string, number>>();
  visitInventory(snapshot, ({ name }, pool, gpus) => {
    const price = byNode.get(name);
    if (price === undefined) return;
    const ofPool = sums.get(pool) ?? new Map<string, number>();
    sums.set(pool, ofPool);
    addHourlyCost(ofPool, price, gpus);
  });
  return [...sums].flatMap(([pool, ofPool]) =>
    [...ofPool].map(([currency, costPerHour]) => ({ pool, currency, costPerHour })),
  );
}

/**
 * The physical GPUs of every node by pool. A node with GPUs of several pools is divided by the weights of its devices and
 * parts. Nodes whose GPUs are not counted are left out.
 */
function visitInventory(snapshot: Snapshot, visit: (node: NodeView, pool: string, gpus: number) => void): void {
  let parts: ReadonlyMap<string, Snapshot["unpartitioned"]> | null = null;
  for (const node of snapshot.nodes) {
    if (node.physicalGpus === null || node.physicalGpus <= 0) continue;
    if (node.pools.length <= 1) {
      visit(node, node.pools[0] ?? unknownPool, node.physicalGpus);
      continue;
    }
    parts ??= Map.groupBy(snapshot.unpartitioned, (part) => part.node);
    const devices = node.devices.flatMap((index) => snapshot.devices[index] ?? []);
    const weighed = [...devices, ...(parts.get(node.name) ?? [])];
    const weight = weighed.reduce((sum, part) => sum + part.weight, 0);
    for (const part of weighed) visit(node, part.pool, (node.physicalGpus * part.weight) / weight);
  }
}

/** Nodes of one kind in one state at one moment. A node with several pools counts once, for its first. */
export interface NodeCount extends Omit<NodeTime, "hour" | "nodeSeconds" | "cost"> {
  readonly nodes: number;
  /** What the GPUs of the nodes cost per hour, in `currency`; `null` without a price. */
  readonly costPerHour: number | null;
}

/** The parts of an analysis from which nodes are counted. */
export type CountedMoment = Pick<Analysis, "snapshot" | "idleNodes" | "prices">;

/** Counts the nodes that have or should have GPUs by pool, node pool, capacity type, state and currency of their price. */
export function countNodes({ snapshot, idleNodes, prices }: CountedMoment): readonly NodeCount[] {
  const idle = new Map(idleNodes.nodes.map((found) => [found.node, found] as const));
  const ids = createTupleInterner();
  const counts: { -readonly [Key in keyof NodeCount]: NodeCount[Key] }[] = [];
  for (const [index, node] of snapshot.nodes.entries()) {
    const state = nodeTimeState(node, idle.get(index));
    const { capacityType } = node;
    const pool = node.pools[0] ?? unknownPool;
    const nodePool = node.nodePool || "unknown";
    const price = prices.byNode.get(node.name);
    const currency = price?.currency ?? null;
    const costPerHour = price?.perNodeHour ?? null;
    const id = ids.idOf([pool, nodePool, capacityType, state, currency]);
    const known = counts[id];
    if (known === undefined) counts.push({ pool, nodePool, capacityType, state, nodes: 1, currency, costPerHour });
    else {
      known.nodes += 1;
      if (known.costPerHour !== null) known.costPerHour += costPerHour ?? 0;
    }
  }
  return counts;
}

/** The state in which a node is counted. `idle` is how the node was found idle; `undefined` if it is not idle. */
export function nodeTimeState(node: NodeView, idle: IdleNode | undefined): NodeTimeState {
  if (node.ready === false) return "not_ready";
  if (node.schedulable === false) return "cordoned";
  if (idle !== undefined) return idleNodeState(idle.kind, idle.isWarmPool);
  return node.ready === true ? "ready" : "unknown";
}

/** A difference below this is rounding of shares, and no difference between the accounts. */
const toleratedGpus = 1e-6;

/** Nodes for which the count by device and the count by pod differ, over a step of `seconds`. */
export function imbalancedNodes(snapshot: Snapshot, seconds: number): readonly NodeImbalance[] {
  const imbalances: NodeImbalance[] = [];
  for (const { name, pools, allocatedByDevices, allocatedByPods } of snapshot.nodes) {
    const gpus = Math.abs(allocatedByDevices - allocatedByPods);
    if (gpus > toleratedGpus)
      imbalances.push({ node: name, pool: pools[0] ?? unknownPool, gpuSeconds: gpus * seconds });
  }
  return imbalances;
}
