import { arcStep, FlowNetwork } from "../../kernel/maxFlow.ts";
import { gpuTolerance } from "../../model/gpuTolerance.ts";
import type { Given } from "./distinguishClasses.ts";
import type { FreeQuotas } from "./freeQuotas.ts";
import type { FlowItem, LevelFacts, UnitFacts } from "./levelFacts.ts";

/** An amount that is allocated beyond what was taken out beforehand, or that waits, and the places where it may go. */
export interface PlacedItem extends FlowItem {
  /** The placing for each target; parallel to `targets`. */
  readonly places: readonly ItemPlacing[];
}

/** One place where an item may go. */
export interface ItemPlacing extends Omit<Given, "gpus"> {
  /** Its place in the order of the item, 0 for the first; -1 for what is allocated. */
  readonly rank: number;
}

/**
 * Places the totals of leaves (by entity, including what was taken out beforehand): what is allocated stays where it is as far
 * as possible, and what waits goes to the first of its places that can carry it besides everything else. In this network only
 * leaves ask, and it contains only quotas that their work can use.
 */
export function placeItems(facts: LevelFacts, items: readonly PlacedItem[], totals: Float64Array): readonly Given[] {
  const { unit, capacities, quotas, domainOf } = facts;
  const network = new FlowNetwork();
  const [source, sink] = [network.addNode(), network.addNode()];
  const classes = capacities.map((gpus) => {
    const node = network.addNode();
    network.addArc(node, sink, gpus);
    return node;
  });
  const hubs = unit.domains.map(() => network.addNode());
  for (const [i, { domain }] of unit.classes.entries())
    network.addArc(hubs[unit.domains.indexOf(domain)] ?? sink, classes[i] ?? sink, Number.POSITIVE_INFINITY);

  const { leaves, asked } = addLeaves(facts, totals, network, source);
  const moving: PlacedItem[] = [];
  for (const item of items) if ((leaves[item.entity] ?? -1) !== -1) moving.push(item);
  const hubOf = (quota: number): number => hubs[domainOf[quota] ?? -1] ?? sink;
  const targets = quotas === null ? classes : addQuotas(quotas, moving, network, hubOf);
  // The arc to the first place of each item; those to its other places follow.
  const arcs = new Int32Array(moving.length);
  let ranks = 0;
  for (let n = 0; n < moving.length; n++) {
    const item = moving[n] ?? nothing;
    arcs[n] = addItem(item, leaves[item.entity] ?? source, targets, network);
    ranks = Math.max(ranks, (item.places.at(-1)?.rank ?? -1) + 1);
  }
  let carried = network.augment(source, sink);
  for (let rank = 0; rank < ranks; rank++) {
    openRank(rank, moving, arcs, network);
    if (asked - carried > gpuTolerance / 10) carried += network.augment(source, sink);
  }
  return flowsOf(moving, arcs, network);
}

/** Adds the leaves that ask for something. `leaves` has, by entity, the node of each; -1 for others. */
function addLeaves(
  { unit, demand, least, unasked }: UnitFacts,
  totals: Float64Array,
  network: FlowNetwork,
  source: number,
) {
  let asked = 0;
  const leaves = new Int32Array(unit.entities.length).fill(-1);
  for (let i = 0; i < leaves.length; i++) {
    if (unit.entities[i]?.children.length !== 0) continue;
    const ask = Math.max(totals[i] ?? 0, least[i] ?? 0) - (unasked[i] ?? 0);
    if (ask <= 0) continue;
    asked += ask;
    const node = network.addNode();
    network.addArc(source, node, Math.min(ask, Math.max(0, (demand[i] ?? 0) - (unasked[i] ?? 0))));
    leaves[i] = node;
  }
  return { leaves, asked };
}

/** Adds an item. The places of what waits are opened later, rank by rank. Returns the arc to its first place. */
function addItem(
  { gpus, targets, places }: PlacedItem,
  leaf: number,
  nodes: ArrayLike<number>,
  network: FlowNetwork,
): number {
  const isWaiting = places[0]?.rank !== -1;
  const from = isWaiting ? network.addNode() : leaf;
  if (isWaiting) network.addArc(leaf, from, gpus);
  let first = -1;
  for (let k = 0; k < targets.length; k++) {
    const arc = network.addArc(from, nodes[targets[k] ?? -1] ?? -1, isWaiting ? 0 : gpus);
    if (k === 0) first = arc;
  }
  return first;
}

/** Lets the items flow to their places of one rank. */
function openRank(rank: number, items: readonly PlacedItem[], arcs: Int32Array, network: FlowNetwork): void {
  for (let n = 0; n < items.length; n++) {
    const { places, gpus } = items[n] ?? nothing;
    for (let k = 0; k < places.length; k++)
      if (places[k]?.rank === rank) network.setCapacity((arcs[n] ?? 0) + arcStep * k, gpus);
  }
}

/** What has come to each place. */
function flowsOf(items: readonly PlacedItem[], arcs: Int32Array, network: FlowNetwork): readonly Given[] {
  const given: Given[] = [];
  for (let n = 0; n < items.length; n++) {
    const { places } = items[n] ?? nothing;
    for (let k = 0; k < places.length; k++) {
      const place = places[k];
      const gpus = network.flowOf((arcs[n] ?? 0) + arcStep * k);
      if (place !== undefined && gpus > 0)
        given.push({ node: place.node, nodeClass: place.nodeClass, classes: place.classes, gpus });
    }
  }
  return given;
}

const nothing: PlacedItem = { entity: -1, gpus: 0, targets: [], places: [] };

/** Adds the node of each quota; -1 for one to which nothing comes. */
function addQuotas(
  { local, usual, parent }: FreeQuotas,
  items: readonly FlowItem[],
  network: FlowNetwork,
  hubOf: (quota: number) => number,
): Int32Array {
  const isUsed = new Uint8Array(parent.length);
  for (const { targets } of items) for (const target of targets) isUsed[target] = 1;
  for (let i = parent.length - 1; i >= 0; i--) if (isUsed[i] === 1) isUsed[parent[i] ?? -1] = 1;
  const nodes = new Int32Array(parent.length).fill(-1);
  for (let i = 0; i < nodes.length; i++) if (isUsed[i] === 1) nodes[i] = network.addNode();
  for (let i = 0; i < nodes.length; i++) {
    const own = nodes[i] ?? -1;
    if (own === -1) continue;
    const hub = hubOf(i);
    network.addArc(own, hub, local[i] ?? 0);
    network.addArc(own, nodes[parent[i] ?? -1] ?? hub, usual[i] ?? 0);
  }
  return nodes;
}
