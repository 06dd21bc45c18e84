import type { Analysis } from "../../analysis/analysis.ts";
import type { DomainRooms, FreeInPool } from "../../analysis/rooms/domainRooms.ts";
import { freeOnCards, type NodeRoom, nodeRoom } from "../../analysis/rooms/nodeRoom.ts";
import { createPoolStock, type PoolStock } from "../../analysis/rooms/poolStock.ts";
import type { ClusterCopy } from "./clusterCopy.ts";
import { roomsNow } from "./touchedMeasures.ts";

/** A domain of the moment with the rooms of the touched nodes put in. */
export function domainNow(copy: ClusterCopy, domain: DomainRooms): DomainRooms {
  const places = placesIn(domain);
  const freeByPool = new Map<string, FreeInPool>(domain.freeByPool);
  const nodes: (NodeRoom | null)[] = [...domain.nodes];
  const gone: number[] = [];
  const fresh: NodeRoom[] = [];
  for (const index of copy.touched) {
    const before = copy.analysis.snapshot.nodes[index];
    const view = copy.nodes[index];
    const isIn = (pool: string) => domain.isIn(pool, view?.name ?? "");
    if (before === undefined || view === undefined || !before.pools.some(isIn)) continue;
    const inside = (rooms: Analysis["rooms"]["byNode"][number]) => rooms.filter(({ pool }) => isIn(pool));
    for (const room of inside(copy.analysis.rooms.byNode[index] ?? [])) addFree(freeByPool, room, -1);
    for (const room of inside(roomsNow(copy, index))) addFree(freeByPool, room, 1);
    const room = view.pools.some(isIn) ? nodeRoom(copy.live, view, copy.requestsOf(view.name), isIn) : null;
    const [place, open] = [places.nodes.get(view.name), places.open.get(view.name)];
    if (place !== undefined) nodes[place] = room;
    if (open !== undefined) gone.push(open);
    if (room !== null && room.now !== null) fresh.push(room);
  }
  return {
    ...{ isIn: domain.isIn, pools: domain.pools },
    nodes: nodes.filter((room) => room !== null),
    open: replaced(domain.open, gone, fresh.sort(fewestFirst)),
    freeByPool,
    // What is looked up here is what nodes would have if they were empty.
    labelsOfNodes: hasItsNodes(copy) ? domain.labelsOfNodes : new Map(),
    labelsOfOpen: new Map(),
  };
}

/** The stock of a domain of the moment, as long as no node has other devices than before. */
export function stockOf(copy: ClusterCopy, domain: number): PoolStock | null {
  const rooms = copy.analysis.gangRooms.domains[domain];
  if (rooms === undefined || !hasItsNodes(copy)) return null;
  const found = stocks.get(rooms) ?? createPoolStock(rooms);
  stocks.set(rooms, found);
  return found;
}

const stocks = new WeakMap<DomainRooms, PoolStock>();

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

const places = new WeakMap<DomainRooms, NodePlaces>();

function placesIn(domain: DomainRooms): NodePlaces {
  const byName = (rooms: readonly NodeRoom[]) => new Map(rooms.map(({ node }, place) => [node.name, place] as const));
  const found = places.get(domain) ?? { nodes: byName(domain.nodes), open: byName(domain.open) };
  places.set(domain, found);
  return found;
}

function addFree(
  free: Map<string, FreeInPool>,
  { pool, now }: Analysis["rooms"]["byNode"][number][number],
  by: 1 | -1,
) {
  if (now === null) return;
  const { gpus, onCards } = free.get(pool) ?? { gpus: 0, onCards: 0 };
  free.set(pool, { gpus: gpus + by * now.gpus, onCards: onCards + by * freeOnCards(now) });
}

const fewestFirst = (a: NodeRoom, b: NodeRoom): number =>
  (a.now?.gpus ?? 0) - (b.now?.gpus ?? 0) || (a.node.name < b.node.name ? -1 : 1);

/** A sorted list without some of its places and with others, which are sorted, too. */
function replaced(
  rooms: readonly NodeRoom[],
  gone: readonly number[],
  fresh: readonly NodeRoom[],
): readonly NodeRoom[] {
  const all = [...rooms];
  for (const place of gone.toSorted((a, b) => b - a)) all.splice(place, 1);
  for (const room of fresh) {
    let [low, high] = [0, all.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      const other = all[middle];
      if (other !== undefined && fewestFirst(room, other) > 0) low = middle + 1;
      else high = middle;
    }
    all.splice(low, 0, room);
  }
  return all;
}
