import { domainFinder, isInDomain } from "../../join/queues/domainOfNode.ts";
import type { QuotaDomain } from "../../join/queues/queueing.ts";
import type { NodeView, Snapshot } from "../../join/snapshot.ts";
import type { TextMap } from "../../model/node.ts";
import { freeOnCards, type NodeRoom, nodeRoom, type Room } from "./nodeRoom.ts";
import { type PoolRoom, type Rooms, requestsOf } from "./rooms.ts";

/** Nodes by the value of a label; made for a label when first asked. */
type LabelIndex = Map<string, Map<string, NodeRoom[]>>;

/** What a pool has free, physical GPUs. */
export interface FreeInPool {
  /** Of whatever kind. */
  readonly gpus: number;
  /** On cards that are neither shared by replicas nor partitioned. */
  readonly onCards: number;
}

/** The nodes of one quota domain. */
export interface DomainRooms {
  /** Whether the cards of a pool on a node are in it. */
  readonly isIn: (pool: string, node: string) => boolean;
  readonly pools: ReadonlySet<string>;
  readonly nodes: readonly NodeRoom[];
  /** Of those, the ones with something free, the fewest free GPUs first. */
  readonly open: readonly NodeRoom[];
  readonly freeByPool: ReadonlyMap<string, FreeInPool>;
  readonly labelsOfNodes: LabelIndex;
  readonly labelsOfOpen: LabelIndex;
}

/** The rooms of domains, parallel to them. A node of several domains is in each with its devices there. */
export function domainRooms(
  snapshot: Snapshot,
  rooms: Rooms,
  domains: readonly Pick<QuotaDomain, "pools" | "nodes">[] = snapshot.queueing.domains,
): readonly DomainRooms[] {
  const domainOf = domainFinder(domains);
  const nodes: NodeRoom[][] = domains.map(() => []);
  const freeByPool = domains.map(() => new Map<string, FreeInPool>());
  for (const [i, node] of snapshot.nodes.entries()) {
    for (const { pool, now } of rooms.byNode[i] ?? []) {
      const free = freeByPool[domainOf(pool, node.name) ?? -1];
      if (now !== null) free?.set(pool, withRoom(free.get(pool) ?? nothingFree, now));
    }
    for (const [index, room] of roomsByDomain(snapshot, node, rooms.byNode[i] ?? [], domainOf))
      nodes[index]?.push(room);
  }
  return domains.map(({ pools, nodes: own }, index) => {
    const isIn = (pool: string, node: string) =>
      isInDomain({ pools, ...(own === undefined ? {} : { nodes: own }) }, pool, node);
    return domainOfRooms(nodes[index] ?? [], { isIn, pools: new Set(pools) }, freeByPool[index] ?? new Map());
  });
}

/** A pool without anything free. */
export const nothingFree: FreeInPool = { gpus: 0, onCards: 0 };

const withRoom = ({ gpus, onCards }: FreeInPool, room: Room): FreeInPool => ({
  gpus: gpus + room.gpus,
  onCards: onCards + freeOnCards(room),
});

/** The rooms of nodes as those of one domain. */
export function domainOfRooms(
  nodes: readonly NodeRoom[],
  { isIn, pools }: Pick<DomainRooms, "isIn" | "pools">,
  freeByPool: ReadonlyMap<string, FreeInPool>,
): DomainRooms {
  const open = nodes.filter(({ now }) => now !== null).sort(fewestFirst);
  return { isIn, pools, nodes, open, freeByPool, labelsOfNodes: new Map(), labelsOfOpen: new Map() };
}

const fewestFirst = (a: NodeRoom, b: NodeRoom): number =>
  (a.now?.gpus ?? 0) - (b.now?.gpus ?? 0) || (a.node.name < b.node.name ? -1 : 1);

/** The rooms of one node by the index of their domain. */
function roomsByDomain(
  snapshot: Snapshot,
  node: NodeView,
  rooms: readonly PoolRoom[],
  domainOf: ReturnType<typeof domainFinder>,
): readonly (readonly [domain: number, room: NodeRoom])[] {
  const found: [number, NodeRoom][] = [];
  for (const room of rooms) {
    const domain = domainOf(room.pool, node.name);
    if (domain === null) continue;
    const known = found.findIndex(([one]) => one === domain);
    if (known < 0) found.push([domain, room]);
    else found[known] = [domain, together(snapshot, node, domainOf, domain)];
  }
  return found;
}

/** One room of the pools of a node that are in one domain. */
function together(
  snapshot: Snapshot,
  node: NodeView,
  domainOf: ReturnType<typeof domainFinder>,
  index: number,
): NodeRoom {
  return nodeRoom(snapshot, node, requestsOf(snapshot, node.name), (pool) => domainOf(pool, node.name) === index);
}

/** The nodes among `nodes` that may match a node selector: those with its rarest label. */
export function withLabels(nodes: readonly NodeRoom[], index: LabelIndex, selector: TextMap): readonly NodeRoom[] {
  let fewest = nodes;
  for (const [label, value] of Object.entries(selector)) {
    const found = valuesOf(nodes, index, label).get(value) ?? [];
    if (found.length < fewest.length) fewest = found;
  }
  return fewest;
}

function valuesOf(nodes: readonly NodeRoom[], index: LabelIndex, label: string): ReadonlyMap<string, NodeRoom[]> {
  const known = index.get(label);
  if (known !== undefined) return known;
  const values = new Map<string, NodeRoom[]>();
  for (const room of nodes) {
    const { labels } = room.node;
    const value = Object.hasOwn(labels, label) ? labels[label] : undefined;
    if (value === undefined) continue;
    const list = values.get(value);
    if (list === undefined) values.set(value, [room]);
    else list.push(room);
  }
  index.set(label, values);
  return values;
}
