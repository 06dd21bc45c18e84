import type { Analysis } from "../../analysis/analysis.ts";
import type { DomainFreeCapacities, FreeInPool } from "../../analysis/freeCapacity/domainFreeCapacities.ts";
import { freeOnGpus, type NodeFreeCapacity, nodeFreeCapacity } from "../../analysis/freeCapacity/nodeFreeCapacity.ts";
import { createPoolStock, type PoolStock } from "../../analysis/freeCapacity/poolStock.ts";
import type { ClusterCopy } from "./clusterCopy.ts";
import { freeCapacitiesNow } from "./touchedMeasures.ts";

/** A domain of the moment with the free capacity of the touched nodes put in. */
export function domainNow(copy: ClusterCopy, domain: DomainFreeCapacities): DomainFreeCapacities {
  const places = placesIn(domain);
  const freeByPool = new Map<string, FreeInPool>(domain.freeByPool);
  const nodes: (NodeFreeCapacity | null)[] = [...domain.nodes];
  const gone: number[] = [];
  const fresh: NodeFreeCapacity[] = [];
  for (const index of copy.touched) {
    const before = copy.analysis.snapshot.nodes[index];
    const view = copy.nodes[index];
    const isIn = (pool: string) => domain.isIn(pool, view?.name ?? "");
    if (before === undefined || view === undefined || !before.pools.some(isIn)) continue;
    const inside = (freeCapacities: Analysis["freeCapacities"]["byNode"][number]) =>
      freeCapacities.filter(({ pool }) => isIn(pool));
    for (const freeCapacity of inside(copy.analysis.freeCapacities.byNode[index] ?? []))
      addFree(freeByPool, freeCapacity, -1);
    for (const freeCapacity of inside(freeCapacitiesNow(copy, index))) addFree(freeByPool, freeCapacity, 1);
    const freeCapacity = view.pools.some(isIn)
      ? nodeFreeCapacity(copy.live, view, copy.requestsOf(view.name), isIn)
      : null;
    const [place, open] = [places.nodes.get(view.name), places.open.get(view.name)];
    if (place !== undefined) nodes[place] = freeCapacity;
    if (open !== undefined) gone.push(open);
    if (freeCapacity !== null && freeCapacity.now !== null) fresh.push(freeCapacity);
  }
  return {
    ...{ isIn: domain.isIn, pools: domain.pools },
    nodes: nodes.filter((freeCapacity) => freeCapacity !== null),
    open: replaced(domain.open, gone, fresh.sort(fewestFirst)),
    freeByPool,
    // What is looked up here is what nodes would have if they were empty.
    labelsOfNodes: hasItsNodes(copy) ? domain.labelsOfNodes : new Map(),
    labelsOfOpen: new Map(),
  };
}

/** The stock of a domain of the moment, as long as no node has other devices than before. */
export function stockOf(copy: ClusterCopy, domain: number): PoolStock | null {
  const freeCapacities = copy.analysis.gangFreeCapacities.domains[domain];
  if (freeCapacities === undefined || !hasItsNodes(copy)) return null;
  const found = stocks.get(freeCapacities) ?? createPoolStock(freeCapacities);
  stocks.set(freeCapacities, found);
  return found;
}

const stocks = new WeakMap<DomainFreeCapacities, PoolStock>();

/** Nodes were neither removed nor got other devices. */
function hasItsNodes({ analysis, nodes, touched }: ClusterCopy): boolean {
  for (const index of touched) {
    const [before, after] = [analysis.snapshot.nodes[index], nodes[index]];
    if (before?.pools !== after?.pools || before?.devices !== after?.devices || before?.labels !== after?.labels)
      return false;
  }
  return true;
}

/** Places in the lists of a domain by name of the node. */
interface NodePlaces {
  readonly nodes: ReadonlyMap<string, number>;
  readonly open: ReadonlyMap<string, number>;
}

const places = new WeakMap<DomainFreeCapacities, NodePlaces>();

function placesIn(domain: DomainFreeCapacities): NodePlaces {
  const byName = (freeCapacities: readonly NodeFreeCapacity[]) =>
    new Map(freeCapacities.map(({ node }, place) => [node.name, place] as const));
  const found = places.get(domain) ?? { nodes: byName(domain.nodes), open: byName(domain.open) };
  places.set(domain, found);
  return found;
}

function addFree(
  free: Map<string, FreeInPool>,
  { pool, now }: Analysis["freeCapacities"]["byNode"][number][number],
  by: 1 | -1,
) {
  if (now === null) return;
  const { gpus, onGpus } = free.get(pool) ?? { gpus: 0, onGpus: 0 };
  free.set(pool, { gpus: gpus + by * now.gpus, onGpus: onGpus + by * freeOnGpus(now) });
}

const fewestFirst = (a: NodeFreeCapacity, b: NodeFreeCapacity): number =>
  (a.now?.gpus ?? 0) - (b.now?.gpus ?? 0) || (a.node.name < b.node.name ? -1 : 1);

/** A sorted list without some of its places and with others, which are sorted, too. */
function replaced(
  freeCapacities: readonly NodeFreeCapacity[],
  gone: readonly number[],
  fresh: readonly NodeFreeCapacity[],
): readonly NodeFreeCapacity[] {
  const all = [...freeCapacities];
  for (const place of gone.toSorted((a, b) => b - a)) all.splice(place, 1);
  for (const freeCapacity of fresh) {
    let [low, high] = [0, all.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      const other = all[middle];
      if (other !== undefined && fewestFirst(freeCapacity, other) > 0) low = middle + 1;
      else high = middle;
    }
    all.splice(low, 0, freeCapacity);
  }
  return all;
}
