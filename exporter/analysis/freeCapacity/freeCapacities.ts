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
  /** The entries of `Snapshot.requestsByNode` at the last moment, in their order. */
  readonly requests: { readonly node: string; readonly sums: NodeRequests }[];
  cycle: number;
}

/** Creates an empty cache. */
export const createFreeCapacitiesCache = (): FreeCapacitiesCache => ({
  byName: new Map(),
  byPlace: [],
  requests: [],
  cycle: 0,
});

/** Finds what every node has and what of it is free; this is done once for all questions of a moment. */
export function findFreeCapacities(
  snapshot: Snapshot,
  cache: FreeCapacitiesCache = createFreeCapacitiesCache(),
): FreeCapacities {
  cache.cycle += 1;
  const changed = changedRequests(snapshot, cache.requests);
  const byNode: (readonly PoolFreeCapacity[])[] = [];
  let place = 0;
  for (const node of snapshot.nodes) {
    const guess = cache.byPlace[place];
    const isKept = guess?.node === node && !changed.has(node.name) && hasSameSpread(guess, snapshot);
    const kept = isKept ? guess : findAgain(snapshot, node, cache);
    kept.cycle = cache.cycle;
    cache.byPlace[place] = kept;
    byNode.push(kept.freeCapacities);
    place += 1;
  }
  cache.byPlace.length = snapshot.nodes.length;
  if (cache.byName.size > snapshot.nodes.length)
    for (const [name, { cycle }] of cache.byName) if (cycle !== cache.cycle) cache.byName.delete(name);
  return { byNode };
}

/**
 * Names of nodes whose pods may ask for something else than at the last moment; `last` becomes the entries of now. Entries that
 * do not change stay the same objects in the same order, so that hardly any name has to be looked up.
 */
function changedRequests(
  { requestsByNode }: Snapshot,
  last: FreeCapacitiesCache["requests"],
): Pick<ReadonlySet<string>, "has"> {
  const changed = new Set<string>();
  const isComparable = last.length > 0 && last.length === requestsByNode?.size;
  let place = 0;
  for (const [node, sums] of requestsByNode ?? []) {
    const before = last[place];
    if (before?.sums !== sums || before.node !== node) {
      changed.add(node).add(before?.node ?? node);
      last[place] = { node, sums };
    }
    place += 1;
  }
  last.length = place;
  return isComparable ? changed : all;
}

const all: Pick<ReadonlySet<string>, "has"> = { has: () => true };

/** The free capacity of a node that may have changed. */
function findAgain(snapshot: Snapshot, node: NodeView, cache: FreeCapacitiesCache): KeptFreeCapacities {
  const kept = cache.byName.get(node.name);
  const requests = requestsOf(snapshot, node.name);
  const { cpuMilli, memoryBytes } = requests ?? unknownRequests;
  const isSame = kept?.node === node && kept.cpuMilli === cpuMilli && kept.memoryBytes === memoryBytes;
  if (isSame && hasSameSpread(kept, snapshot)) return kept;
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

function hasSameSpread({ spread, node }: KeptFreeCapacities, { devices, pods }: Snapshot): boolean {
  if (spread === null) return true;
  return node.devices.every((index, i) => {
    const device = devices[index];
    return device !== undefined && isSpread(device, pods) === spread[i];
  });
}
