import { createFlowNetwork, type FlowNetwork } from "../../kernel/maxFlow.ts";
import { gpuTolerance } from "../../model/gpuTolerance.ts";
import type { Given } from "./distinguishClasses.ts";
import type { FreeQuota } from "./freeQuotas.ts";
import type { FlowItem, UnitFacts } from "./levelNetwork.ts";

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

interface ItemArc {
  readonly place: ItemPlacing;
  readonly arc: number;
  readonly capacity: number;
}

/**
 * Places the totals of leaves (by entity, including what was taken out beforehand): what is allocated stays where it is as far
 * as possible, and what waits goes to the first of its places that can carry it besides everything else. In this network only
 * leaves ask, and it contains only quotas that their work can use.
 */
export function placeItems(
  { unit, capacities, quotas, demand, least, unasked }: UnitFacts,
  items: readonly PlacedItem[],
  totals: ReadonlyMap<number, number>,
): readonly Given[] {
  const network = createFlowNetwork();
  const [source, sink] = [network.addNode(), network.addNode()];
  const classes = capacities.map((gpus) => {
    const node = network.addNode();
    network.addArc(node, sink, gpus);
    return node;
  });
  const hubs = new Map(unit.domains.map((domain) => [domain, network.addNode()] as const));
  for (const [i, { domain }] of unit.classes.entries())
    network.addArc(hubs.get(domain) ?? sink, classes[i] ?? sink, Number.POSITIVE_INFINITY);

  const hubOf = (quota: number): number => hubs.get(unit.nodes[quota]?.queue.domain ?? -1) ?? sink;

  let asked = 0;
  const leaves = unit.entities.map(({ children }, i) => {
    if (children.length > 0) return null;
    const ask = Math.max(totals.get(i) ?? 0, least[i] ?? 0) - (unasked[i] ?? 0);
    if (ask <= 0) return null;
    asked += ask;
    const node = network.addNode();
    network.addArc(source, node, Math.min(ask, Math.max(0, (demand[i] ?? 0) - (unasked[i] ?? 0))));
    return node;
  });
  const moving = items.filter(({ entity }) => (leaves[entity] ?? null) !== null);
  const targets = quotas === null ? classes : addQuotas(quotas, moving, network, hubOf);

  const arcs: ItemArc[] = [];
  for (const { entity, gpus, targets: places, places: reported } of moving) {
    let from = leaves[entity] ?? source;
    const isAllocated = reported[0]?.rank === -1;
    if (!isAllocated) {
      const item = network.addNode();
      network.addArc(from, item, gpus);
      from = item;
    }
    for (const [n, place] of reported.entries())
      arcs.push({ place, capacity: gpus, arc: network.addArc(from, targets[places[n] ?? -1] ?? sink, gpus) });
  }
  const ofRank = (rank: number) => arcs.filter(({ place }) => place.rank === rank);
  const ranks = [...new Set(arcs.map(({ place }) => place.rank))].filter((rank) => rank >= 0).sort((a, b) => a - b);
  for (const { arc, place } of arcs) if (place.rank >= 0) network.setCapacity(arc, 0);
  let carried = network.augment(source, sink);
  for (const rank of ranks) {
    for (const { arc, capacity } of ofRank(rank)) network.setCapacity(arc, capacity);
    if (asked - carried > gpuTolerance / 10) carried += network.augment(source, sink);
  }
  return arcs.flatMap(({ arc, place }): readonly Given[] => {
    const gpus = network.flowOf(arc);
    return gpus > 0 ? [{ ...place, gpus }] : [];
  });
}

/** Adds the node of each quota; -1 for one to which nothing comes. */
function addQuotas(
  quotas: readonly FreeQuota[],
  items: readonly FlowItem[],
  network: FlowNetwork,
  hubOf: (quota: number) => number,
): readonly number[] {
  const isUsed = new Uint8Array(quotas.length);
  for (const { targets } of items) for (const target of targets) isUsed[target] = 1;
  for (let i = quotas.length - 1; i >= 0; i--) if (isUsed[i] === 1) isUsed[quotas[i]?.parent ?? -1] = 1;
  const nodes = quotas.map((_, i) => (isUsed[i] === 1 ? network.addNode() : -1));
  for (let i = 0; i < quotas.length; i++) {
    const own = nodes[i] ?? -1;
    const quota = quotas[i];
    if (own === -1 || quota === undefined) continue;
    const { local, usual, parent } = quota;
    const hub = hubOf(i);
    network.addArc(own, hub, local);
    network.addArc(own, nodes[parent ?? -1] ?? hub, usual);
  }
  return nodes;
}
