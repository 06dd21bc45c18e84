import { once, oncePer } from "../../kernel/once.ts";
import { gpuTolerance } from "../../model/gpuTolerance.ts";
import { addToParents, sumIn } from "./claims.ts";
import { distinguishClasses } from "./distinguishClasses.ts";
import { freeQuotas } from "./freeQuotas.ts";
import { levelFacts, type UnitFacts } from "./levelFacts.ts";
import { createLevelNetwork, type LevelNetwork } from "./levelNetwork.ts";
import { type ItemPlacing, type PlacedItem, placeItems } from "./placeItems.ts";
import type { UnitClaims } from "./unitClaims.ts";
import type { ItemPlace, SharedUnit, WaitingItem } from "./units.ts";

/** Where the GPUs of a unit can go: which totals of its queues can be had at the same time, and how they are placed then. */
export interface UnitNetwork {
  /**
   * Returns which totals of the queues of a level (`asked`, by entity: 1) are possible, given what the parents of the level got.
   */
  atLevel(asked: Uint8Array, grants: ReadonlyMap<number, number>): LevelCarriers;
  /**
   * Places the totals of the leaves (by entity): what is allocated stays where it is as far as it can, the rest goes in the queues' order.
   */
  place(totals: Float64Array): readonly PlacedGrant[];
}

/** For one level: which totals can be had at all, and which while some queues have theirs from their own guarantees. */
export interface LevelCarriers {
  readonly usual: LevelNetwork;
  /** Returns the network in which each of these entities (1) has its total from its own guarantees, domain by domain. */
  readonly sure: (sureOnly: Uint8Array) => LevelNetwork;
}

/** What a leaf is given in one class. */
export interface PlacedGrant {
  /** Index into `SharedUnit.nodes`. */
  readonly node: number;
  /** Index into `SharedUnit.classes`. */
  readonly nodeClass: number;
  readonly gpus: number;
}

/**
 * Creates the network of a unit: queues, from the top of a tree to its leaves; then what each leaf holds and what waits; then,
 * where a queue has quota in several domains, the quotas of each domain from its leaf to its root, as Kueue bounds them (what a
 * queue keeps is for its subtree alone, what goes to its parent is bounded by its borrowing limit); then the node classes.
 * `own` is taken out beforehand: what each leaf has whatever others do, which by default is what it holds within its guarantee.
 */
export function createUnitNetwork(
  unit: SharedUnit,
  claims: UnitClaims,
  own: readonly PlacedGrant[] = ownByClass(unit, claims),
): UnitNetwork {
  const { classes } = unit;
  const ownOfNode = sumUp(unit, own);
  const taken = new Float64Array(classes.length);
  for (const { nodeClass, gpus } of own) taken[nodeClass] = (taken[nodeClass] ?? 0) + gpus;
  const isByDomain = hasDomainQuotas(unit);
  const items = [...allocatedItems(unit, own, isByDomain), ...waitingItems(claims)];

  // With this, no queue has less than its own: an inner queue itself asks for what belongs to none of its children.
  const facts: UnitFacts = {
    unit,
    items,
    demand: claims.demand,
    least: withLeaves(unit, claims.own, ownOfNode),
    capacities: classes.map(({ capacity }, i) => Math.max(0, capacity - (taken[i] ?? 0))),
    quotas: isByDomain ? freeQuotas(unit, claims, ownOfNode) : null,
    // What a queue has at its entry without asking: it is taken out beforehand, or asked for further down.
    unasked: withLeaves(unit, claims.ownBelow, ownOfNode),
  };
  const forLevels = levelFacts(facts);
  const fromGuarantees = once(() => {
    const leavesOwn = withLeaves(unit, claims.leavesOwn, ownOfNode);
    return levelFacts({ ...facts, unasked: leavesOwn, least: leavesOwn }, forLevels);
  });

  return {
    atLevel(asked, grants) {
      const usual = createLevelNetwork(forLevels, { asked, grants, sureOnly: null });
      const sure = (sureOnly: Uint8Array): LevelNetwork => {
        if (!isByDomain) return usual;
        const bounded = createLevelNetwork(fromGuarantees(), { asked, grants: nothing, sureOnly });
        return { carry: (totals) => usual.carry(totals) ?? bounded.carry(totals) };
      };
      return { usual, sure };
    },
    place: (totals) => [...own, ...distinguishClasses(unit, own, placeItems(forLevels, items, totals))],
  };
}

/** The amount of each queue by a column of claims; for a leaf, what was taken out beforehand. */
function withLeaves({ entities }: SharedUnit, column: Float64Array, ownOfNode: Float64Array): Float64Array {
  const found = column.slice();
  for (let i = 0; i < found.length; i++) {
    const entity = entities[i];
    if (entity !== undefined && entity.children.length === 0) found[i] = sumIn(ownOfNode, entity.nodes);
  }
  return found;
}

const nothing: ReadonlyMap<number, number> = new Map();

function allocatedItems(unit: SharedUnit, own: readonly PlacedGrant[], isByDomain: boolean): readonly PlacedItem[] {
  const ownThere = new Map<number, number>();
  for (const { node, nodeClass, gpus } of own) ownThere.set(placeKey(unit, node, nodeClass), gpus);
  const items: PlacedItem[] = [];
  for (const { node, nodeClass, gpus } of unit.allocated) {
    const rest = gpus - (ownThere.get(placeKey(unit, node, nodeClass)) ?? 0);
    if (rest <= gpuTolerance) continue;
    const target = isByDomain ? node : nodeClass;
    const place = { node, nodeClass, classes: [nodeClass], rank: -1 };
    items.push({ entity: unit.entityOf[node] ?? -1, gpus: rest, targets: [target], places: [place] });
  }
  return items;
}

/** The waiting items of a unit, found once for all its networks. */
const waitingItems = oncePer((claims: UnitClaims): readonly PlacedItem[] => {
  const isByDomain = hasDomainQuotas(claims.unit);
  const items: PlacedItem[] = [];
  for (const item of claims.unit.waiting) items.push(placedItem(item, claims, isByDomain));
  return items;
});

/** A waiting item with its targets: places in which quota is owed to its queue come first. */
function placedItem({ entity, gpus, places }: WaitingItem, claims: UnitClaims, isByDomain: boolean): PlacedItem {
  const item = { entity, gpus, targets: [] as number[], places: [] as ItemPlacing[] };
  let rank = 0;
  for (let pass = 0; pass < 2; pass++) {
    for (let n = 0; n < places.length; n++) {
      const place = places[n];
      if (place === undefined || isOwed(place.node, claims) !== (pass === 0)) continue;
      addTargets(item, place, rank, isByDomain);
      rank += 1;
    }
  }
  return item;
}

function addTargets(
  item: { readonly targets: number[]; readonly places: ItemPlacing[] },
  { node, classes }: ItemPlace,
  rank: number,
  isByDomain: boolean,
): void {
  // Where quotas count by domain, the classes of a domain are distinguished at the end.
  if (isByDomain) {
    item.targets.push(node);
    item.places.push({ node, nodeClass: null, classes, rank });
    return;
  }
  for (const nodeClass of classes) {
    item.targets.push(nodeClass);
    item.places.push({ node, nodeClass, classes, rank });
  }
}

/** Whether part of the record's own quota in the domain is not allocated yet. */
const isOwed = (node: number, { ofNodes: { quota, own } }: UnitClaims): boolean =>
  (quota[node] ?? 0) - (own[node] ?? 0) > gpuTolerance;

/** Whether quotas of domains count: a queue has quota in several domains, or a domain has quota that is not lent. */
const hasDomainQuotas = ({ entities, nodes }: SharedUnit): boolean =>
  entities.length < nodes.length || nodes.some(({ lendingLimit }) => lendingLimit !== Number.POSITIVE_INFINITY);

/** What each leaf holds within its guarantee, by class in proportion to what it holds there. */
function ownByClass({ allocated, nodes }: SharedUnit, { ofNodes }: UnitClaims): readonly PlacedGrant[] {
  const found: PlacedGrant[] = [];
  for (const { node, nodeClass, gpus } of allocated) {
    const all = nodes[node]?.allocated ?? 0;
    const part = all > 0 ? (gpus * Math.min(all, ofNodes.own[node] ?? 0)) / all : 0;
    if (part > 0) found.push({ node, nodeClass, gpus: part });
  }
  return found;
}

/** A leaf in a class of its unit, as a number. */
export const placeKey = ({ classes }: SharedUnit, node: number, nodeClass: number): number =>
  node * classes.length + nodeClass;

/** Adds up the amounts of leaves, also for everything above them. */
function sumUp({ nodes }: SharedUnit, grants: readonly PlacedGrant[]): Float64Array {
  const sums = new Float64Array(nodes.length);
  for (const { node, gpus } of grants) sums[node] = (sums[node] ?? 0) + gpus;
  addToParents(nodes, sums);
  return sums;
}
