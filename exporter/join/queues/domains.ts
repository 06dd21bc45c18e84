import type { Device, NodeView } from "../snapshot.ts";
import type { QuotaDomain } from "./queueing.ts";
import type { QueueSystem } from "./queueSystem.ts";

/** What is known of one pool, in physical GPUs. */
export interface PoolCapacity {
  /** As `QuotaDomain.capacity` and `.heldOnUnschedulable`, of this pool. */
  capacity: number;
  heldOnUnschedulable: number;
  /** All cards, given out or not. */
  physical: number;
  /** The most cards of it on one node. */
  largestNode: number;
}

/** Whether new pods may come to a node. What the API does not say does not keep them away. */
export function takesPods({ ready, schedulable }: Pick<NodeView, "ready" | "schedulable">): boolean {
  return ready !== false && schedulable !== false;
}

/** What each pool can give out and what of it is held where nothing more can be given out, by name of the pool. */
export function poolCapacities(
  nodes: readonly NodeView[],
  devices: readonly Device[],
): ReadonlyMap<string, PoolCapacity> {
  const pools = new Map<string, PoolCapacity>();
  for (const node of nodes) {
    const parts = partsOfNode(node, devices);
    const weight = parts.reduce((sum, part) => sum + part.weight, 0);
    for (const { pool, weight: own, held } of parts) {
      const share = parts.length === 1 || weight === 0 ? 1 / parts.length : own / weight;
      const physical = (node.physicalGpus ?? 0) * share;
      const allocatable = Math.min(physical, (node.allocatableGpus ?? node.physicalGpus ?? 0) * share);
      const known = pools.get(pool) ?? { capacity: 0, heldOnUnschedulable: 0, physical: 0, largestNode: 0 };
      pools.set(pool, known);
      known.physical += physical;
      known.largestNode = Math.max(known.largestNode, physical);
      if (takesPods(node)) known.capacity += Math.max(allocatable, held);
      else {
        known.capacity += held;
        known.heldOnUnschedulable += held;
      }
    }
  }
  return pools;
}

interface NodePart {
  readonly pool: string;
  weight: number;
  held: number;
}

/** A node's devices by pool; mostly there is one. */
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

const textOrder = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** A domain without what its queues say. */
export type BareDomain = Omit<QuotaDomain, "unknownBecause">;

/**
 * Groups pools over which some quota counts together; a pool that no quota counts over is a domain by itself. Quotas of teams
 * group only the pools over which no scheduler's quota counts.
 */
export function quotaDomains(
  pools: ReadonlyMap<string, PoolCapacity>,
  systems: readonly Pick<QueueSystem, "scopes" | "leafOf">[],
): readonly BareDomain[] {
  const parents = new Map([...pools.keys()].map((pool) => [pool, pool] as const));
  const taken = new Set<string>();
  for (const { scopes } of systems.filter(({ leafOf }) => leafOf === null)) {
    for (const scope of scopes) {
      unite(scope, parents);
      for (const pool of scope) taken.add(pool);
    }
  }
  for (const { scopes } of systems.filter(({ leafOf }) => leafOf !== null))
    for (const scope of scopes)
      unite(
        scope.filter((pool) => !taken.has(pool)),
        parents,
      );
  const groups = Map.groupBy([...pools.keys()].sort(textOrder), (pool) => rootOf(pool, parents));
  return [...groups.values()]
    .map((names): BareDomain => {
      let [capacity, heldOnUnschedulable] = [0, 0];
      for (const name of names) {
        capacity += pools.get(name)?.capacity ?? 0;
        heldOnUnschedulable += pools.get(name)?.heldOnUnschedulable ?? 0;
      }
      return { name: names.join("+"), pools: names, capacity, heldOnUnschedulable };
    })
    .sort((a, b) => textOrder(a.name, b.name));
}

function rootOf(pool: string, parents: Map<string, string>): string {
  let root = pool;
  for (let next = parents.get(root); next !== undefined && next !== root; next = parents.get(root)) root = next;
  parents.set(pool, root);
  return root;
}

function unite(scope: readonly string[], parents: Map<string, string>): void {
  const known = scope.filter((pool) => parents.has(pool));
  const [first] = known;
  if (first === undefined) return;
  for (const pool of known) parents.set(rootOf(pool, parents), rootOf(first, parents));
}
