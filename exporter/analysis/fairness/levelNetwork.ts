import { createFlowNetwork, type FlowNetwork } from "../../kernel/maxFlow.ts";
import { gpuTolerance } from "../../model/gpuTolerance.ts";
import type { FreeQuota } from "./freeQuotas.ts";
import type { SharedUnit } from "./units.ts";

/**
 * Queues (entities) that together can have only a limited amount, which is less than they ask for by `missing` physical GPUs.
 */
export interface Bottleneck {
  readonly entities: ReadonlySet<number>;
  readonly missing: number;
}

/** An amount that a leaf holds beyond its own, or that waits in it. */
export interface FlowItem {
  /** Index into `SharedUnit.entities`. */
  readonly entity: number;
  /** Physical GPUs. */
  readonly gpus: number;
  /** Indices into `SharedUnit.nodes` where quotas count by domain; else into `SharedUnit.classes`. */
  readonly targets: readonly number[];
}

/** The facts by which every level of a unit is divided. Columns are parallel to the entities, in physical GPUs. */
export interface UnitFacts {
  readonly unit: SharedUnit;
  readonly items: readonly FlowItem[];
  /** What can be divided in each class after what was taken out beforehand. */
  readonly capacities: readonly number[];
  /** Free quotas, parallel to `SharedUnit.nodes`; `null` where quotas do not count by domain. */
  readonly quotas: readonly FreeQuota[] | null;
  /** The most that each queue can be given. */
  readonly demand: Float64Array;
  /** What each queue has without asking for it, and the least that it has once it is asked for. */
  readonly unasked: Float64Array;
  readonly least: Float64Array;
}

/** The same facts with what is found once for all levels. */
export interface LevelFacts extends UnitFacts {
  /** The most that can be given to a queue by asking, and whether that is less than what its work could take (1). */
  readonly most: Float64Array;
  readonly isBound: Uint8Array;
  /** By index of the quota: the most that can come to it. */
  readonly comes: Float64Array;
  /** Parallel to `SharedUnit.nodes`: its domain, as an index into `SharedUnit.domains`. */
  readonly domainOf: Int32Array;
}

/** Finds what all levels have in common. `alike`: what was found for the same work and quotas. */
export function levelFacts(facts: UnitFacts, alike: Pick<LevelFacts, "comes" | "domainOf"> | null = null): LevelFacts {
  const { nodes, domains } = facts.unit;
  if (alike !== null) return { ...facts, ...limitsOf(facts), comes: alike.comes, domainOf: alike.domainOf };
  const domainOf = new Int32Array(nodes.length);
  for (let i = 0; i < nodes.length; i++) domainOf[i] = domains.indexOf(nodes[i]?.queue.domain ?? -1);
  return { ...facts, ...limitsOf(facts), comes: comesTo(facts.quotas ?? [], facts.items), domainOf };
}

/** The queues of a level, including those that were settled on levels above it. */
export interface Level {
  /** Entities that are asked for. */
  readonly asked: ReadonlySet<number>;
  /**
   * What the parents of the level were given: some of their children can still have the part that the children do not have yet.
   */
  readonly grants: ReadonlyMap<number, number>;
  /** Entities whose totals come from their own guarantees, domain by domain; empty: there are none. */
  readonly sureOnly: ReadonlySet<number>;
}

/** Decides which totals of a level can be had together. */
export interface LevelNetwork {
  /**
   * Whether these totals (physical GPUs, by entity; 0 where nothing is asked for) can all be had, none of them below another of
   * them. Returns `null` if they can; else the queues that are in each other's way.
   */
  carry(totals: Float64Array): Bottleneck | null;
}

/** The rounding error by which sums of parts differ from the whole. */
const rounding = gpuTolerance / 1000;

/**
 * Creates the network of a unit as one level sees it. It contains only what can limit a queue of the level: a queue below the
 * level, or a quota, that lets everything through is merged with its parent, and work of one queue that may go to the same
 * places is one amount. So it is small on the levels at the top, however many queues and gangs there are, and allows the same
 * totals.
 */
export function createLevelNetwork(facts: LevelFacts, level: Level): LevelNetwork {
  const network = createFlowNetwork();
  const [source, sink] = [network.addNode(), network.addNode()];
  const { asking, inner, askedBelow } = addQueues(facts, level, network, source);
  addItems(facts, inner, addTargets(facts, level, network, sink), network);

  /** What a parent of the level was given beyond what its children have. */
  function leftOf(grant: number, parent: number, totals: Float64Array): number {
    let left = grant;
    for (const child of facts.unit.entities[parent]?.children ?? [])
      left -= Math.max(totals[child] ?? 0, facts.least[child] ?? 0);
    return Math.max(0, left);
  }

  return {
    carry(totals) {
      network.clear();
      let missing = askedBelow;
      for (let n = 0; n < asking.length; n++) {
        const { entity = -1, arc = -1 } = asking[n] ?? {};
        const grant = level.grants.get(entity);
        const ask = grant === undefined ? askOf(entity, facts, totals[entity]) : leftOf(grant, entity, totals);
        missing += ask;
        network.setCapacity(arc, ask);
      }
      missing -= network.augment(source, sink);
      if (missing <= gpuTolerance) return null;
      const side = network.reachableFrom(source);
      const stuck = new Set(asking.flatMap(({ entry, entity }) => (side[entry] === 1 ? [entity] : [])));
      // A queue whose parent is among them takes nothing more from the others, because what it has is taken from its siblings.
      const isInWay = (entity: number) => !stuck.has(facts.unit.entities[entity]?.parent ?? -1);
      return { entities: new Set([...stuck].filter(isInWay)), missing };
    },
  };
}

/** What a queue asks for besides what it has without asking: as much as its given total or its minimum requires. */
function askOf(entity: number, { least, unasked }: UnitFacts, total = 0): number {
  return Math.max(0, Math.max(total, least[entity] ?? 0) - (unasked[entity] ?? 0));
}

/** A queue of the level, or a parent of it that may have more than its children ask for. */
interface Asking {
  readonly entity: number;
  /** Its node in the network, and the arc from the source to it. */
  readonly entry: number;
  readonly arc: number;
}

/**
 * Adds the queues. `inner` has, by entity, the node from which amounts go on: its own or one above it; -1 for what is above the
 * level.
 */
function addQueues(facts: LevelFacts, { asked, grants }: Level, network: FlowNetwork, source: number) {
  const { entities } = facts.unit;
  const inner = new Int32Array(entities.length).fill(-1);
  const asking: Asking[] = [];
  let askedBelow = 0;
  const { most, isBound } = facts;
  for (let entity = 0; entity < entities.length; entity++) {
    const above = inner[entities[entity]?.parent ?? -1] ?? -1;
    const isOfLevel = asked.has(entity) || grants.has(entity);
    if (!isOfLevel && above === -1) continue;
    // Below the level a queue asks for its own amount, as far as queues below it do not ask for it.
    const own = isOfLevel ? 0 : askOf(entity, facts);
    inner[entity] = above;
    if (!isOfLevel && isBound[entity] === 0 && own === 0) continue;
    const entry = network.addNode();
    if (above !== -1) network.addArc(above, entry, Number.POSITIVE_INFINITY);
    inner[entity] = entry;
    if (isBound[entity] === 1) {
      inner[entity] = network.addNode();
      network.addArc(entry, inner[entity] ?? entry, most[entity] ?? 0);
    }
    const arc = network.addArc(source, entry, own);
    askedBelow += own;
    if (isOfLevel) asking.push({ entity, entry, arc });
  }
  return { asking, inner, askedBelow };
}

function limitsOf({ unit: { entities }, items, demand, unasked }: UnitFacts) {
  const most = demand.map((gpus, i) => Math.max(0, gpus - (unasked[i] ?? 0)));
  const comes = new Float64Array(entities.length);
  for (const { entity, gpus } of items) comes[entity] = (comes[entity] ?? 0) + gpus;
  for (let i = entities.length - 1; i >= 0; i--) {
    const parent = entities[i]?.parent ?? null;
    if (parent !== null) comes[parent] = (comes[parent] ?? 0) + Math.min(comes[i] ?? 0, most[i] ?? 0);
  }
  const isBound = new Uint8Array(entities.length);
  for (let i = 0; i < isBound.length; i++) if ((most[i] ?? 0) < (comes[i] ?? 0) - rounding) isBound[i] = 1;
  return { most, isBound };
}

/** Adds the nodes for the targets of items: for each target its class, or the quota that bounds first what comes to it. */
function addTargets(facts: LevelFacts, { sureOnly }: Level, network: FlowNetwork, sink: number): Int32Array {
  const { unit, capacities, quotas, comes, domainOf } = facts;
  const classes = Int32Array.from(capacities, (gpus) => {
    const node = network.addNode();
    network.addArc(node, sink, gpus);
    return node;
  });
  if (quotas === null) return classes;
  const hubs = unit.domains.map(() => network.addNode());
  for (const [i, { domain }] of unit.classes.entries())
    network.addArc(hubs[unit.domains.indexOf(domain)] ?? sink, classes[i] ?? sink, Number.POSITIVE_INFINITY);
  const nodes = new Int32Array(quotas.length);
  for (let i = 0; i < quotas.length; i++) {
    const quota = quotas[i];
    if (quota === undefined) continue;
    const { local, usual, sure, parent } = quota;
    const hub = hubs[domainOf[i] ?? -1] ?? sink;
    const above = nodes[parent ?? -1] ?? hub;
    const most = sureOnly.has(unit.entityOf[i] ?? -1) ? Math.min(usual, sure) : usual;
    nodes[i] = above;
    // Everything that comes in goes on, so nothing is bounded here.
    if (most >= (comes[i] ?? 0) - rounding && (local <= 0 || above === hub)) continue;
    const own = network.addNode();
    network.addArc(own, hub, local);
    network.addArc(own, above, most);
    nodes[i] = own;
  }
  return nodes;
}

function comesTo(quotas: readonly FreeQuota[], items: readonly FlowItem[]): Float64Array {
  const comes = new Float64Array(quotas.length);
  for (const { gpus, targets } of items) for (const target of targets) comes[target] = (comes[target] ?? 0) + gpus;
  for (let i = quotas.length - 1; i >= 0; i--) {
    const parent = quotas[i]?.parent ?? null;
    if (parent !== null) comes[parent] = (comes[parent] ?? 0) + (comes[i] ?? 0);
  }
  return comes;
}

/**
 * Adds the items. Those of one queue, or of several that are one in this network, become one if they may go to the same places.
 */
function addItems(facts: UnitFacts, inner: Int32Array, nodes: Int32Array, network: FlowNetwork): void {
  for (const { from, targets, gpus } of sumsOf(facts, inner, nodes)) {
    const [only] = targets;
    if (targets.length === 1 && only !== undefined) {
      network.addArc(from, only, gpus);
      continue;
    }
    const item = network.addNode();
    network.addArc(from, item, gpus);
    for (const target of targets) network.addArc(item, target, gpus);
  }
}

function sumsOf({ unit, items }: UnitFacts, inner: Int32Array, nodes: Int32Array): readonly ItemSum[] {
  const { entities, nodes: records, classes, domains } = unit;
  // A number above that of all nodes so far, so that two of them can be combined into one number.
  const mostNodes = 2 * entities.length + records.length + classes.length + domains.length + 3;
  const sums: ItemSum[] = [];
  // The last item of each combination of the node it comes from and the first node to which it may go.
  const last = new Map<number, ItemSum>();
  for (const { entity, gpus, targets } of items) {
    const from = inner[entity] ?? -1;
    if (from === -1) continue;
    const key = from * mostNodes + (nodes[targets[0] ?? -1] ?? -1) + 1;
    const before = last.get(key) ?? null;
    let known = before;
    while (known !== null && !goesTo(known, targets, nodes)) known = known.before;
    if (known !== null) {
      known.gpus += gpus;
      continue;
    }
    const sum: ItemSum = { from, targets: targets.map((target) => nodes[target] ?? -1), gpus, before };
    sums.push(sum);
    last.set(key, sum);
  }
  return sums;
}

/** An amount that goes from one node to the same others. */
interface ItemSum {
  readonly from: number;
  readonly targets: readonly number[];
  gpus: number;
  /** The item before it that comes from the same node and may go to the same first node. */
  readonly before: ItemSum | null;
}

function goesTo(sum: ItemSum, targets: readonly number[], nodes: Int32Array): boolean {
  if (sum.targets.length !== targets.length) return false;
  for (let k = 0; k < targets.length; k++) if (sum.targets[k] !== (nodes[targets[k] ?? -1] ?? -1)) return false;
  return true;
}
