import { createFlowNetwork } from "../../kernel/maxFlow.ts";
import type { UnitClaims } from "./unitClaims.ts";
import type { SharedUnit } from "./units.ts";
import { gpuTolerance } from "./waterFill.ts";

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

interface ItemArc {
  readonly arc: number;
  readonly node: number;
  /** Where it goes; `null`: to any of `classes`, which cannot be told apart here. */
  readonly nodeClass: number | null;
  readonly classes: readonly number[];
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
  const upArcs: { readonly arc: number; readonly usual: number; readonly sure: number }[] = [];
  if (isByDomain) addQuotas();

  /** What a queue has used of its own is gone from what it keeps, then from what it may ask its parent for. */
  function addQuotas(): void {
    const passedUp = new Float64Array(nodes.length);
    for (let i = nodes.length - 1; i >= 0; i--) {
      const node = nodes[i];
      if (node === undefined) continue;
      const { kept, quota } = claims.ofNodes;
      const below = (claims.ofNodes.children[i] ?? []).reduce((sum, child) => sum + (kept[child] ?? 0), 0);
      const local = Math.max(0, (kept[i] ?? 0) - below);
      const isLeaf = placed[i]?.queue.isLeaf === true;
      const used = isLeaf ? (ownOfNode[i] ?? 0) : (passedUp[i] ?? 0);
      const fromLocal = Math.min(used, local);
      const up = used - fromLocal;
      if (node.parent !== null) passedUp[node.parent] = (passedUp[node.parent] ?? 0) + up;
      const hub = hubs.get(placed[i]?.queue.domain ?? -1) ?? sink;
      const isTop = node.parent === null || placed[node.parent]?.queue.kind === "Scheduler";
      const self = quotaNodes[i] ?? sink;
      network.addArc(self, hub, local - fromLocal);
      const usual = Math.max(0, node.limit - (kept[i] ?? 0) - up);
      const sure = Math.max(0, (quota[i] ?? 0) - (kept[i] ?? 0) - up);
      const target = isTop ? hub : (quotaNodes[node.parent ?? -1] ?? hub);
      upArcs[i] = { arc: network.addArc(self, target, usual), usual, sure };
    }
  }

  const ownThere = new Map(own.map(({ node, nodeClass, gpus }) => [placeKey(node, nodeClass), gpus] as const));
  const heldArcs: ItemArc[] = [];
  for (const { node, nodeClass, gpus } of unit.held) {
    const rest = gpus - (ownThere.get(placeKey(node, nodeClass)) ?? 0);
    if (rest <= gpuTolerance) continue;
    const to = isByDomain ? (quotaNodes[node] ?? sink) : (classNodes[nodeClass] ?? sink);
    const arc = network.addArc(entityNodes[entityOf[node] ?? -1] ?? source, to, rest);
    heldArcs.push({ arc, node, nodeClass, classes: [nodeClass], rank: -1, capacity: rest });
  }
  const waitingArcs: ItemArc[] = [];
  for (const { entity, gpus, places } of unit.waiting) {
    const item = network.addNode();
    network.addArc(entityNodes[entity] ?? source, item, gpus);
    const isOwed = (node: number) => (claims.ofNodes.quota[node] ?? 0) - (claims.ofNodes.own[node] ?? 0) > gpuTolerance;
    const ordered = [...places.filter(({ node }) => isOwed(node)), ...places.filter(({ node }) => !isOwed(node))];
    for (const [rank, { node, classes: allowed }] of ordered.entries()) {
      if (isByDomain) {
        const arc = network.addArc(item, quotaNodes[node] ?? sink, gpus);
        waitingArcs.push({ arc, node, nodeClass: null, classes: allowed, rank, capacity: gpus });
        continue;
      }
      for (const nodeClass of allowed) {
        const arc = network.addArc(item, classNodes[nodeClass] ?? sink, gpus);
        waitingArcs.push({ arc, node, nodeClass, classes: allowed, rank, capacity: gpus });
      }
    }
  }

  function ownOfEntity(entity: number): number {
    return (entities[entity]?.nodes ?? []).reduce((sum, node) => sum + (ownOfNode[node] ?? 0), 0);
  }
  /** What goes to a queue without asking at its entry: it is taken out beforehand, or asked for further down. */
  function ownBelow(entity: number): number {
    return entities[entity]?.children.length === 0 ? ownOfEntity(entity) : (claims.ownBelow[entity] ?? 0);
  }

  const leavesOwn = (entity: number): number =>
    entities[entity]?.children.length === 0 ? ownOfEntity(entity) : (claims.leavesOwn[entity] ?? 0);
  const ownOf = (entity: number): number =>
    entities[entity]?.children.length === 0 ? ownOfEntity(entity) : (claims.own[entity] ?? 0);

  /** With `keepsOwn` nobody has less than its own: what is none of its children's an inner queue asks for itself. */
  function setTotals(totals: ReadonlyMap<number, number>, keepsOwn: boolean): number {
    network.clear();
    let asked = 0;
    const isBelow = new Uint8Array(entities.length);
    for (const [i, { parent }] of entities.entries()) {
      const total = totals.get(i);
      isBelow[i] = parent !== null && (totals.has(parent) || isBelow[parent] === 1) ? 1 : 0;
      // Whose own is asked for further down has that without asking here.
      const below = keepsOwn ? ownBelow(i) : leavesOwn(i);
      const least = keepsOwn && (total !== undefined || isBelow[i] === 1) ? ownOf(i) : below;
      const more = Math.max(0, Math.max(total ?? 0, least) - below);
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
        const up = upArcs[node];
        if (up !== undefined) network.setCapacity(up.arc, isSure ? Math.min(up.usual, up.sure) : up.usual);
      }
  }

  return {
    carry(totals, { sureOnly, grants }) {
      let asked = setTotals(totals, true);
      for (const [parent, grant] of grants) {
        const below = entities[parent]?.children ?? [];
        const rest = Math.max(
          0,
          grant - below.reduce((sum, child) => sum + Math.max(totals.get(child) ?? 0, ownOf(child)), 0),
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

const placeKey = (node: number, nodeClass: number): string => `${node} ${nodeClass}`;

/** Amounts of leaves, and of everything above them. */
function sumUp({ nodes }: SharedUnit, grants: readonly PlacedGrant[]): Float64Array {
  const sums = new Float64Array(nodes.length);
  for (const { node, gpus } of grants) sums[node] = (sums[node] ?? 0) + gpus;
  for (let i = nodes.length - 1; i >= 0; i--) {
    const parent = nodes[i]?.parent ?? null;
    if (parent !== null) sums[parent] = (sums[parent] ?? 0) + (sums[i] ?? 0);
  }
  return sums;
}

type Given = Pick<ItemArc, "node" | "nodeClass" | "classes"> & { readonly gpus: number };

/** Where a domain's classes were not told apart: as much as the classes to which it may go can carry beside all else. */
function tellClasses(
  { classes }: SharedUnit,
  own: readonly PlacedGrant[],
  given: readonly Given[],
): readonly PlacedGrant[] {
  const found: PlacedGrant[] = [];
  const left = classes.map(({ capacity }) => capacity);
  const take = (grant: PlacedGrant): void => {
    left[grant.nodeClass] = (left[grant.nodeClass] ?? 0) - grant.gpus;
  };
  own.forEach(take);
  for (const { node, nodeClass, gpus } of given)
    if (nodeClass !== null) {
      found.push({ node, nodeClass, gpus });
      take({ node, nodeClass, gpus });
    }
  const open = given.filter(({ nodeClass }) => nodeClass === null);
  if (open.length === 0) return found;
  const network = createFlowNetwork();
  const [source, sink] = [network.addNode(), network.addNode()];
  const nodesOf = left.map((gpus) => {
    const node = network.addNode();
    network.addArc(node, sink, Math.max(0, gpus));
    return node;
  });
  const arcs = open.flatMap(({ node, classes: allowed, gpus }) => {
    const item = network.addNode();
    network.addArc(source, item, gpus);
    return allowed.map((nodeClass) => ({
      ...{ node, nodeClass, arc: network.addArc(item, nodesOf[nodeClass] ?? sink, gpus) },
    }));
  });
  network.augment(source, sink);
  for (const { node, nodeClass, arc } of arcs) {
    const gpus = network.flowOf(arc);
    if (gpus > 0) found.push({ node, nodeClass, gpus });
  }
  return found;
}
