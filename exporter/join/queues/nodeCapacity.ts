import type { Device, NodeView } from "../snapshot.ts";

/** The GPUs of one pool on one node, in physical GPUs. */
export interface NodeCapacity {
  readonly pool: string;
  /** All GPUs, given out or not. */
  readonly physical: number;
  /** What can be given out: allocatable, at least what is allocated; 0 where no pods may come. */
  readonly capacity: number;
  /** Held on a node to which no pods may come. */
  readonly allocatedOnUnschedulable: number;
  /** GPUs that are not available now and that nobody holds. */
  readonly outOfService: number;
}

/** Whether new pods may come to a node. If the API does not report it, they may. */
export function takesPods({ ready, schedulable }: Pick<NodeView, "ready" | "schedulable">): boolean {
  return ready !== false && schedulable !== false;
}

/** The capacity of a node by pool; mostly there is one. `devices`: those of the Snapshot that the node is in. */
export function nodeCapacities(node: NodeView, devices: readonly Device[]): readonly NodeCapacity[] {
  const parts = partsOfNode(node, devices);
  const weight = parts.reduce((sum, part) => sum + part.weight, 0);
  return parts.map(({ pool, weight: own, allocated }) => {
    const share = parts.length === 1 || weight === 0 ? 1 / parts.length : own / weight;
    const physical = (node.physicalGpus ?? 0) * share;
    const allocatable = Math.min(physical, (node.allocatableGpus ?? node.physicalGpus ?? 0) * share);
    const capacity = takesPods(node) ? Math.max(allocatable, allocated) : 0;
    const allocatedOnUnschedulable = takesPods(node) ? 0 : allocated;
    const outOfService = Math.max(0, physical - capacity - allocatedOnUnschedulable);
    return { pool, physical, capacity, allocatedOnUnschedulable, outOfService };
  });
}

interface NodePart {
  readonly pool: string;
  weight: number;
  allocated: number;
}

function partsOfNode(node: NodeView, devices: readonly Device[]): readonly NodePart[] {
  const [only] = node.pools;
  if (node.pools.length === 1 && only !== undefined)
    return [{ pool: only, weight: 1, allocated: node.allocatedByDevices }];
  const parts: NodePart[] = node.pools.map((pool) => ({ pool, weight: 0, allocated: 0 }));
  let part = parts[0];
  for (const index of node.devices) {
    const device = devices[index];
    if (device === undefined) continue;
    if (part === undefined || part.pool !== device.pool) part = parts.find(({ pool }) => pool === device.pool);
    if (part === undefined) continue;
    part.weight += device.weight;
    for (const { share } of device.holders) part.allocated += share;
  }
  return parts;
}
