import type { Device, NodeView } from "../snapshot.ts";

/** What the cards of one pool on one node come to, in physical GPUs. */
export interface NodeCapacity {
  readonly pool: string;
  /** All cards, given out or not. */
  readonly physical: number;
  /** What can be given out: allocatable, at least what is held; 0 where no pods may come. */
  readonly capacity: number;
  /** Held on a node to which no pods may come. */
  readonly heldOnUnschedulable: number;
  /** What nobody can have now and nobody holds. */
  readonly outOfService: number;
}

/** Whether new pods may come to a node. What the API does not say does not keep them away. */
export function takesPods({ ready, schedulable }: Pick<NodeView, "ready" | "schedulable">): boolean {
  return ready !== false && schedulable !== false;
}

/** The capacity of a node by pool; mostly there is one. `devices`: those of the Snapshot that the node is in. */
export function nodeCapacities(node: NodeView, devices: readonly Device[]): readonly NodeCapacity[] {
  const parts = partsOfNode(node, devices);
  const weight = parts.reduce((sum, part) => sum + part.weight, 0);
  return parts.map(({ pool, weight: own, held }) => {
    const share = parts.length === 1 || weight === 0 ? 1 / parts.length : own / weight;
    const physical = (node.physicalGpus ?? 0) * share;
    const allocatable = Math.min(physical, (node.allocatableGpus ?? node.physicalGpus ?? 0) * share);
    const capacity = takesPods(node) ? Math.max(allocatable, held) : 0;
    const heldOnUnschedulable = takesPods(node) ? 0 : held;
    const outOfService = Math.max(0, physical - capacity - heldOnUnschedulable);
    return { pool, physical, capacity, heldOnUnschedulable, outOfService };
  });
}

interface NodePart {
  readonly pool: string;
  weight: number;
  held: number;
}

function partsOfNode(node: NodeView, devices: readonly Device[]): readonly NodePart[] {
  const [only] = node.pools;
  if (node.pools.length === 1 && only !== undefined) return [{ pool: only, weight: 1, held: node.heldByDevices }];
  const parts: NodePart[] = node.pools.map((pool) => ({ pool, weight: 0, held: 0 }));
  let part = parts[0];
  for (const index of node.devices) {
    const device = devices[index];
    if (device === undefined) continue;
    if (part === undefined || part.pool !== device.pool) part = parts.find(({ pool }) => pool === device.pool);
    if (part === undefined) continue;
    part.weight += device.weight;
    for (const { share } of device.holders) part.held += share;
  }
  return parts;
}
