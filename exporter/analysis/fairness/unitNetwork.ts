import { createFlowNetwork } from "../../kernel/maxFlow.ts";
import { gpuTolerance } from "../../model/gpuTolerance.ts";
import { addToParents } from "./claims.ts";
import { freeQuotas } from "./freeQuotas.ts";
import { type Given, tellClasses } from "./tellClasses.ts";
import type { UnitClaims } from "./unitClaims.ts";
import type { SharedUnit } from "./units.ts";

/** Where the GPUs of a unit can go: which totals of its queues can be had at the same time, and how they lie then. */
export interface UnitNetwork {
  /**
   * Whether these totals (physical GPUs, by entity) can all be had, none of them below another of them. `null`: they can; else
   * the queues that are in each other's way.
   */
  carry(totals: ReadonlyMap<number, number>, bounds: LevelBounds): Bottleneck | null;
  /** How the totals of the leaves lie: what is held stays where it is as far as it can, the rest in the queues' order. */
  place(totals: ReadonlyMap<number, number>): readonly PlacedGrant[];
}

/** What totals of one level have to leave as it is. */
export interface LevelBounds {
  /** Each of these (entities) has its total from its own guarantees, domain by domain. */
  readonly sureOnly: ReadonlySet<number>;
  /** What the parents of the level were given: what their children do not have yet, some of them can still have. */
  readonly grants: ReadonlyMap<number, number>;
}

/** Queues (entities) that can have only so much together: less than they ask for by what is missing, in physical GPUs. */
export interface Bottleneck {
  readonly entities: ReadonlySet<number>;
  readonly missing: number;
}

/** What a leaf is given in one class. */
export interface PlacedGrant {
  /** Index into `SharedUnit.nodes`. */
  readonly node: number;
  /** Index into `SharedUnit.classes`. */
  readonly nodeClass: number;
  readonly gpus: number;
}

interface ItemArc extends Omit<Given, "gpus"> {
  readonly arc: number;
  /** Place in the order of the item; 0 for what its queue can take back of its own quota, too. */
  readonly rank: number;
  readonly capacity: number;
}

/**
 * The network of a unit: queues, from the top of a tree to its leaves; then what each leaf holds and what waits; then, where a
 * queue has quota in several domains, the quotas of each domain from its leaf to its root, as Kueue bounds them (what a queue
 * keeps is for its subtree alone, what goes to its parent is bounded by its borrowing limit); then the node classes. `own` is
 * taken out beforehand: what each leaf has whatever others do, by default what it holds within its guarantee.
 */
export function createUnitNetwork(
  unit: SharedUnit,
  claims: UnitClaims,
  own: readonly PlacedGrant[] = ownByClass(unit, claims),
): UnitNetwork {
  const { nodes, entities, entityOf, classes, placed } = unit;
  const network = createFlowNetwork();
  const [source, sink] = [network.addNode(), network.addNode()];
  const ownOfNode = sumUp(unit, own);
  const isByDomain = hasDomainQuotas(unit);

  const taken = new Float64Array(classes.length);
  for (const { nodeClass, gpus } of own) taken[nodeClass] = (taken[nodeClass] ?? 0) + gpus;
  const classNodes = classes.map(({ capacity }, i) => {
    const node = network.addNode();
    network.addArc(node, sink, Math.max(0, capacity - (taken[i] ?? 0)));
    return node;
  });
  const hubs = new Map(unit.domains.map((domain) => [domain, network.addNode()] as const));
  for (const [i, { domain }] of classes.entries())
    network.addArc(hubs.get(domain) ?? sink, classNodes[i] ?? sink, Number.POSITIVE_INFINITY);

  // Whatever comes from above or is asked for the queue itself: together at most what it can be given.
  const entryNodes = entities.map(() => network.addNode());
  const entityNodes = entities.map(() => network.addNode());
  const sourceArcs = entryNodes.map((node) => network.addArc(source, node, 0));
  const entryArcs = entities.map(({ parent }, i) => {
    const entry = entryNodes[i] ?? sink;
    if (parent !== null) network.addArc(entityNodes[parent] ?? source, entry, Number.POSITIVE_INFINITY);
    return network.addArc(entry, entityNodes[i] ?? sink, 0);
  });

  const quotaNodes = isByDomain ? nodes.map(() => network.addNode()) : [];
  const quotas = isByDomain ? freeQuotas(unit, claims, ownOfNode) : [];
  const upArcs = quotas.map(({ local, usual, parent }, i) => {
    const self = quotaNodes[i] ?? sink;
    const hub = hubs.get(placed[i]?.queue.domain ?? -1) ?? sink;
    network.addArc(self, hub, local);
    return network.addArc(self, parent === null ? hub : (quotaNodes[parent] ?? hub), usual);
  });

  const ownThere = new Map(own.map(({ node, nodeClass, gpus }) => [placeKey(node, nodeClass), gpus] as const));
  const heldArcs: ItemArc[] = [];
  for (const { node, nodeClass, gpus } of unit.held) {
    const rest = gpus - (ownThere.get(placeKey(node, nodeClass)) ?? 0);
    if (rest <= gpuTolerance) continue;
    const to = isByDomain ? (quotaNodes[node] ?? sink) : (classNodes[nodeClass] ?? sink);
    const arc = network.addArc(entityNodes[entityOf[node] ?? -1] ?? source, to, rest);
    heldArcs.push({ arc, node, nodeClass, classes: [nodeClass], rank: -1, capacity: rest });
  }
  const waitingArcs = unit.waiting.flatMap(({ entity, gpus, places }): readonly ItemArc[] => {
    const item = network.addNode();
    network.addArc(entityNodes[entity] ?? source, item, gpus);
    const [owed, others] = [places.filter(({ node }) => isOwed(node)), places.filter(({ node }) => !isOwed(node))];
    const addArc = (target: number | undefined) => ({
      arc: network.addArc(item, target ?? sink, gpus),
      capacity: gpus,
    });
    return [...owed, ...others].flatMap(({ node, classes: allowed }, rank): readonly ItemArc[] =>
      isByDomain
        ? [{ ...addArc(quotaNodes[node]), node, nodeClass: null, classes: allowed, rank }]
        : allowed.map((nodeClass) => ({ ...addArc(classNodes[nodeClass]), node, nodeClass, classes: allowed, rank })),
    );
  });

  /** Of its own quota there, something is not held yet. */
  function isOwed(node: number): boolean {
    return (claims.ofNodes.quota[node] ?? 0) - (claims.ofNodes.own[node] ?? 0) > gpuTolerance;
  }

  /** What is each queue's by a column of claims; of a leaf what was taken out beforehand. */
  const withLeaves = (column: Float64Array): Float64Array =>
    column.map((gpus, i) => {
      const entity = entities[i];
      if (entity === undefined || entity.children.length > 0) return gpus;
      return entity.nodes.reduce((sum, node) => sum + (ownOfNode[node] ?? 0), 0);
    });
  const ownTotals = withLeaves(claims.own);
  // What goes to a queue without asking at its entry: it is taken out beforehand, or asked for further down.
  const ownBelow = withLeaves(claims.ownBelow);
  const leavesOwn = withLeaves(claims.leavesOwn);

  /** With `keepsOwn` nobody has less than its own: what is none of its children's an inner queue asks for itself. */
  function setTotals(totals: ReadonlyMap<number, number>, keepsOwn: boolean): number {
    network.clear();
    // Whose own is asked for further down has that without asking here.
    const [unasked, least] = keepsOwn ? [ownBelow, ownTotals] : [leavesOwn, leavesOwn];
    let asked = 0;
    const isBelow = new Uint8Array(entities.length);
    for (const [i, { parent }] of entities.entries()) {
      const total = totals.get(i);
      isBelow[i] = parent !== null && (totals.has(parent) || isBelow[parent] === 1) ? 1 : 0;
      const below = unasked[i] ?? 0;
      const isAsked = total !== undefined || isBelow[i] === 1;
      const more = Math.max(0, Math.max(total ?? 0, (isAsked ? least : unasked)[i] ?? 0) - below);
      asked += more;
      network.setCapacity(sourceArcs[i] ?? 0, more);
      network.setCapacity(entryArcs[i] ?? 0, Math.max(0, (claims.demand[i] ?? 0) - below));
    }
    return asked;
  }

  /** What is missing, and who asks for it. */
  function missing(asked: number): Bottleneck | null {
    const gap = asked - network.augment(source, sink);
    if (gap <= gpuTolerance) return null;
    const side = network.reachableFrom(source);
    const isStuck = (entity: number | null): boolean =>
      side[entryNodes[entity ?? -1] ?? source] === 1 && entity !== null;
    return { entities: new Set([...entities.keys()].filter(isStuck)), missing: gap };
  }

  function boundBySure(bounded: ReadonlySet<number>, isSure: boolean): void {
    for (const entity of bounded)
      for (const node of entities[entity]?.nodes ?? []) {
        const { usual = 0, sure = 0 } = quotas[node] ?? {};
        network.setCapacity(upArcs[node] ?? 0, isSure ? Math.min(usual, sure) : usual);
      }
  }

  return {
    carry(totals, { sureOnly, grants }) {
      let asked = setTotals(totals, true);
      for (const [parent, grant] of grants) {
        const below = entities[parent]?.children ?? [];
        const rest = Math.max(
          0,
          grant - below.reduce((sum, child) => sum + Math.max(totals.get(child) ?? 0, ownTotals[child] ?? 0), 0),
        );
        asked += rest;
        network.setCapacity(sourceArcs[parent] ?? 0, rest);
      }
      const found = missing(asked);
      if (found !== null) {
        // Whose parent is among them takes nothing more from the others: what it has its siblings have not.
        const isInWay = (entity: number) => !found.entities.has(entities[entity]?.parent ?? -1);
        return { ...found, entities: new Set([...found.entities].filter(isInWay)) };
      }
      if (!isByDomain || sureOnly.size === 0) return null;
      boundBySure(sureOnly, true);
      const unsure = missing(setTotals(totals, false));
      boundBySure(sureOnly, false);
      return unsure;
    },
    place(totals) {
      const asked = setTotals(totals, true);
      const ranks = [...new Set(waitingArcs.map(({ rank }) => rank))].sort((a, b) => a - b);
      for (const { arc } of waitingArcs) network.setCapacity(arc, 0);
      let carried = network.augment(source, sink);
      for (const rank of ranks) {
        for (const one of waitingArcs) if (one.rank === rank) network.setCapacity(one.arc, one.capacity);
        if (asked - carried > gpuTolerance / 10) carried += network.augment(source, sink);
      }
      const given = [...heldArcs, ...waitingArcs].flatMap((one): readonly Given[] => {
        const gpus = network.flowOf(one.arc);
        return gpus > 0 ? [{ ...one, gpus }] : [];
      });
      for (const { arc, capacity } of waitingArcs) network.setCapacity(arc, capacity);
      return [...own, ...tellClasses(unit, own, given)];
    },
  };
}

/** A queue that has quota in several domains, or a domain in which quota is not lent, is bounded by the quotas of each domain. */
const hasDomainQuotas = ({ entities, nodes }: SharedUnit): boolean =>
  entities.length < nodes.length || nodes.some(({ lendingLimit }) => lendingLimit !== Number.POSITIVE_INFINITY);

/** What each leaf holds within its guarantee, by class in proportion to what it holds there. */
function ownByClass({ held, nodes }: SharedUnit, { ofNodes }: UnitClaims): readonly PlacedGrant[] {
  return held.flatMap(({ node, nodeClass, gpus }) => {
    const all = nodes[node]?.held ?? 0;
    const part = all > 0 ? (gpus * Math.min(all, ofNodes.own[node] ?? 0)) / all : 0;
    return part > 0 ? [{ node, nodeClass, gpus: part }] : [];
  });
}

/** A leaf in a class. */
export const placeKey = (node: number, nodeClass: number): string => `${node} ${nodeClass}`;

/** Amounts of leaves, and of everything above them. */
function sumUp({ nodes }: SharedUnit, grants: readonly PlacedGrant[]): Float64Array {
  const sums = new Float64Array(nodes.length);
  for (const { node, gpus } of grants) sums[node] = (sums[node] ?? 0) + gpus;
  addToParents(nodes, sums);
  return sums;
}
