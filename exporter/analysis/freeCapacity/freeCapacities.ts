import type { NodeView, Snapshot } from "../../join/snapshot.ts";
import type { NodeRequests } from "../../model/cluster.ts";
import { isSpread, type NodeFreeCapacity, nodeFreeCapacity, standsOnSeveral } from "./nodeFreeCapacity.ts";

/** What a node has in one of its pools. CPU and memory are the node's: a node of several pools has them once. */
export interface PoolFreeCapacity extends NodeFreeCapacity {
  readonly pool: string;
}

/** What every node has in each of its pools at one moment. */
export interface FreeCapacities {
  /** The pools of each node, in their order; parallel to `Snapshot.nodes`. */
  readonly byNode: readonly (readonly PoolFreeCapacity[])[];
}

/** The free capacity of a node, and what it was derived from. */
interface KeptFreeCapacities {
  readonly node: NodeView;
  /** Facts about holders that a scrape can change: see `spreadOf`; `null` if there are none. */
  readonly spread: readonly boolean[] | null;
  readonly cpuMilli: number;
  readonly memoryBytes: number;
  readonly freeCapacities: readonly PoolFreeCapacity[];
  cycle: number;
}

/**
 * The free capacity of the previous moment, by node: for an unchanged node the same object is returned again. The cache changes
 * no answer.
 */
export interface FreeCapacitiesCache {
  readonly byName: Map<string, KeptFreeCapacities>;
  /** The same by their place among the nodes of the last moment, since most nodes keep their place. */
  readonly byPlace: KeptFreeCapacities[];
  cycle: number;
}

/** Creates an empty cache. */
export const createFreeCapacitiesCache = (): FreeCapacitiesCache => ({ byName: new Map(), byPlace: [], cycle: 0 });

/** Finds what every node has and what of it is free; this is done once for all questions of a moment. */
export function findFreeCapacities(
  snapshot: Snapshot,
  cache: FreeCapacitiesCache = createFreeCapacitiesCache(),
): FreeCapacities {
  cache.cycle += 1;
  const byNode: (readonly PoolFreeCapacity[])[] = [];
  let place = 0;
  for (const node of snapshot.nodes) {
    const guess = cache.byPlace[place];
    const kept = keptFreeCapacities(snapshot, node, guess?.node === node ? guess : cache.byName.get(node.name), cache);
    cache.byPlace[place] = kept;
    byNode.push(kept.freeCapacities);
    place += 1;
  }
  cache.byPlace.length = snapshot.nodes.length;
  if (cache.byName.size > snapshot.nodes.length)
    for (const [name, { cycle }] of cache.byName) if (cycle !== cache.cycle) cache.byName.delete(name);
  return { byNode };
}

function keptFreeCapacities(
  snapshot: Snapshot,
  node: NodeView,
  kept: KeptFreeCapacities | undefined,
  cache: FreeCapacitiesCache,
): KeptFreeCapacities {
  const requests = requestsOf(snapshot, node.name);
  const { cpuMilli, memoryBytes } = requests ?? unknownRequests;
  if (
    kept !== undefined &&
    kept.node === node &&
    kept.cpuMilli === cpuMilli &&
    kept.memoryBytes === memoryBytes &&
    (kept.spread === null || isSpreadAs(kept.spread, snapshot, node))
  ) {
    kept.cycle = cache.cycle;
    return kept;
  }
  const freeCapacities = makeFreeCapacities(snapshot, node, requests);
  const made = { node, spread: spreadOf(snapshot, node), cpuMilli, memoryBytes, freeCapacities, cycle: cache.cycle };
  cache.byName.set(node.name, made);
  return made;
}

/** A value that differs from all possible requests. */
const unknownRequests = { cpuMilli: -1, memoryBytes: -1 } as const;
const noRequests: NodeRequests = { pods: 0, cpuMilli: 0, memoryBytes: 0 };

/** What the pods of a node ask for together; `null` if nothing is known about any node. */
export function requestsOf({ requestsByNode }: Snapshot, node: string): NodeRequests | null {
  return requestsByNode === null ? null : (requestsByNode.get(node) ?? noRequests);
}

function makeFreeCapacities(
  snapshot: Snapshot,
  node: NodeView,
  requests: NodeRequests | null,
): readonly PoolFreeCapacity[] {
  return node.pools.map((pool) => ({ ...nodeFreeCapacity(snapshot, node, requests, (one) => one === pool), pool }));
}

/**
 * The only part of a free capacity that can change while its NodeView and requests stay the same: a scrape can show which
 * devices pods hold that share a device and hold parts of others. Whether each device is allocated in this way; `null` if no
 * pods share one.
 */
function spreadOf({ devices, pods }: Snapshot, node: NodeView): readonly boolean[] | null {
  const own = node.devices.flatMap((index) => devices[index] ?? []);
  if (!own.some((device) => device.holders.length > 1 && standsOnSeveral(device, pods))) return null;
  return own.map((device) => isSpread(device, pods));
}

function isSpreadAs(spread: readonly boolean[], { devices, pods }: Snapshot, node: NodeView): boolean {
  return node.devices.every((index, i) => {
    const device = devices[index];
    return device !== undefined && isSpread(device, pods) === spread[i];
  });
}
