import { createFlowNetwork } from "../../kernel/maxFlow.ts";
import type { UnitClaims } from "./unitClaims.ts";
import type { SharedUnit } from "./units.ts";
import { gpuTolerance } from "./waterFill.ts";

/** Where the GPUs of a unit can go: which totals of its queues can be had at the same time, and how they lie then. */
export interface UnitNetwork {
  /**
   * Whether these totals (physical GPUs, by entity) can all be had, none of them below another of them; of the `sureOnly`
   * ones each from its own guarantees. `null`: they can; else the queues that are in each other's way, and what is there for
   * them together.
   */
  carry(totals: ReadonlyMap<number, number>, sureOnly: ReadonlySet<number>): Bottleneck | null;
  /** How the totals of the leaves lie: what is held stays where it is as far as it can, the rest in the queues' order. */
  place(totals: ReadonlyMap<number, number>): readonly PlacedGrant[];
}

/** Queues (entities) that can have only so much together. */
export interface Bottleneck {
  readonly entities: ReadonlySet<number>;
  /** Physical GPUs. */
  readonly gpus: number;
}

/** What a leaf is given in one class. */
export interface PlacedGrant {
  /** Index into `SharedUnit.nodes`. */
  readonly node: number;
  /** Index into `SharedUnit.classes`. */
  readonly nodeClass: number;
  readonly gpus: number;
}

interface LeafArc {
  readonly arc: number;
  readonly node: number;
  /** `null`: the classes of the domain cannot be told apart here. */
  readonly nodeClass: number | null;
}

interface ItemArc extends LeafArc {
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

  const entityNodes = entities.map(() => network.addNode());
  const sourceArcs = entityNodes.map((node) => network.addArc(source, node, 0));
  for (const [i, { parent, nodes: records }] of entities.entries()) {
    if (parent === null) continue;
    const limit = isByDomain ? Number.POSITIVE_INFINITY : records.reduce((sum, one) => sum + limitOf(one), 0);
    network.addArc(entityNodes[parent] ?? source, entityNodes[i] ?? sink, limit);
  }
  function limitOf(node: number): number {
    return Math.max(0, (nodes[node]?.limit ?? 0) - (ownOfNode[node] ?? 0));
  }

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
    heldArcs.push({ arc, node, nodeClass: isByDomain ? null : nodeClass, rank: -1, capacity: rest });
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
        waitingArcs.push({ arc, node, nodeClass: null, rank, capacity: gpus });
        continue;
      }
      for (const nodeClass of allowed) {
        const arc = network.addArc(item, classNodes[nodeClass] ?? sink, gpus);
        waitingArcs.push({ arc, node, nodeClass, rank, capacity: gpus });
      }
    }
  }

  const ownOfEntity = (entity: number): number =>
    (entities[entity]?.nodes ?? []).reduce((sum, node) => sum + (ownOfNode[node] ?? 0), 0);

  function setTotals(totals: ReadonlyMap<number, number>): number {
    network.clear();
    let asked = 0;
    for (const arc of sourceArcs) network.setCapacity(arc, 0);
    for (const [entity, gpus] of totals) {
      const more = Math.max(0, gpus - ownOfEntity(entity));
      asked += more;
      network.setCapacity(sourceArcs[entity] ?? 0, more);
    }
    return asked;
  }

  function boundBySure(bounded: ReadonlySet<number>, isSure: boolean): void {
    for (const entity of bounded)
      for (const node of entities[entity]?.nodes ?? []) {
        const up = upArcs[node];
        if (up !== undefined) network.setCapacity(up.arc, isSure ? Math.min(up.usual, up.sure) : up.usual);
      }
  }

  return {
    carry(totals, sureOnly) {
      boundBySure(sureOnly, true);
      const asked = setTotals(totals);
      const carried = network.augment(source, sink);
      boundBySure(sureOnly, false);
      if (asked - carried <= gpuTolerance) return null;
      const side = network.reachableFrom(source);
      const stuck = new Set([...totals.keys()].filter((entity) => side[entityNodes[entity] ?? 0] === 1));
      // What flows out of that side is all that is there for them, whatever more they ask.
      let gpus = 0;
      for (const entity of stuck) gpus += ownOfEntity(entity) + network.flowOf(sourceArcs[entity] ?? 0);
      return { entities: stuck, gpus };
    },
    place(totals) {
      const asked = setTotals(totals);
      const ranks = [...new Set(waitingArcs.map(({ rank }) => rank))].sort((a, b) => a - b);
      for (const { arc } of waitingArcs) network.setCapacity(arc, 0);
      let carried = network.augment(source, sink);
      for (const rank of ranks) {
        for (const one of waitingArcs) if (one.rank === rank) network.setCapacity(one.arc, one.capacity);
        if (asked - carried > gpuTolerance / 10) carried += network.augment(source, sink);
      }
      const given = [...heldArcs, ...waitingArcs].map((one): LeafArc & { readonly gpus: number } => ({
        ...one,
        gpus: network.flowOf(one.arc),
      }));
      for (const { arc, capacity } of waitingArcs) network.setCapacity(arc, capacity);
      return [
        ...own,
        ...tellClasses(
          unit,
          given.filter(({ gpus }) => gpus > 0),
        ),
      ];
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

/** Where a domain's classes were not told apart: what is held first, the rest in proportion to what a class has left. */
function tellClasses(
  { classes, placed, held }: SharedUnit,
  given: readonly (LeafArc & { readonly gpus: number })[],
): readonly PlacedGrant[] {
  const left = classes.map(({ capacity }) => capacity);
  return given.flatMap(({ node, nodeClass, gpus }): PlacedGrant[] => {
    if (nodeClass !== null) return [{ node, nodeClass, gpus }];
    const domain = placed[node]?.queue.domain ?? -1;
    const here = [...classes.keys()].filter((i) => classes[i]?.domain === domain);
    const [only] = here;
    if (here.length === 1 && only !== undefined) return [{ node, nodeClass: only, gpus }];
    const holds = new Set(held.filter((one) => one.node === node).map((one) => one.nodeClass));
    let rest = gpus;
    const found: PlacedGrant[] = [];
    for (const i of here.toSorted((a, b) => Number(holds.has(b)) - Number(holds.has(a)) || a - b)) {
      const part = Math.min(rest, Math.max(0, left[i] ?? 0));
      if (part <= 0) continue;
      left[i] = (left[i] ?? 0) - part;
      rest -= part;
      found.push({ node, nodeClass: i, gpus: part });
    }
    return found;
  });
}
