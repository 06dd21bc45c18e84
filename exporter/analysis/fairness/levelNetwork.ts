import { FlowNetwork } from "../../kernel/maxFlow.ts";
import { gpuTolerance } from "../../model/gpuTolerance.ts";
import type { FreeQuotas } from "./freeQuotas.ts";
import { type LevelFacts, rounding, type UnitFacts } from "./levelFacts.ts";

/**
 * Queues (entities) that together can have only a limited amount, which is less than they ask for by `missing` physical GPUs.
 */
export interface Bottleneck {
  readonly entities: ReadonlySet<number>;
  readonly missing: number;
}

/** The queues of a level, including those that were settled on levels above it. */
export interface Level {
  /** By entity: 1 if it is asked for. */
  readonly asked: Uint8Array;
  /**
   * What the parents of the level were given: some of their children can still have the part that the children do not have yet.
   */
  readonly grants: ReadonlyMap<number, number>;
  /** By entity: 1 if its total comes from its own guarantees, domain by domain; `null`: there are none. */
  readonly sureOnly: Uint8Array | null;
}

/** A column with 1 for some entities. */
export function markedIn(length: number, entities: Iterable<number>): Uint8Array {
  const marked = new Uint8Array(length);
  for (const entity of entities) marked[entity] = 1;
  return marked;
}

/** Decides which totals of a level can be had together. */
export interface LevelNetwork {
  /**
   * Whether these totals (physical GPUs, by entity; 0 where nothing is asked for) can all be had, none of them below another of
   * them. Returns `null` if they can; else the queues that are in each other's way.
   */
  carry(totals: Float64Array): Bottleneck | null;
}

/**
 * Creates the network of a unit as one level sees it. It contains only what can limit a queue of the level: a queue below the
 * level, or a quota, that lets everything through is merged with its parent, and work of one queue that may go to the same
 * places is one amount. So it is small on the levels at the top, however many queues and gangs there are, and allows the same
 * totals.
 */
export function createLevelNetwork(facts: LevelFacts, level: Level): LevelNetwork {
  const network = new FlowNetwork();
  const [source, sink] = [network.addNode(), network.addNode()];
  const { asking, inner, askedBelow } = addQueues(facts, level, network, source);
  addItems(facts, inner, addTargets(facts, level, network, sink), network);
  return new Carrier({ facts, grants: level.grants, network, source, sink, asking, askedBelow });
}

/** The parts of a network of one level. */
interface CarrierParts {
  readonly facts: LevelFacts;
  readonly grants: Level["grants"];
  readonly network: FlowNetwork;
  readonly source: number;
  readonly sink: number;
  readonly asking: Asking;
  readonly askedBelow: number;
}

class Carrier implements LevelNetwork {
  readonly #parts: CarrierParts;

  constructor(parts: CarrierParts) {
    this.#parts = parts;
  }

  carry(totals: Float64Array): Bottleneck | null {
    const { facts, grants, network, source, sink, asking, askedBelow } = this.#parts;
    network.clear();
    let missing = askedBelow;
    for (let n = 0; n < asking.entity.length; n++) {
      const entity = asking.entity[n] ?? -1;
      const grant = grants.get(entity);
      const ask = grant === undefined ? askOf(entity, facts, totals[entity]) : leftOf(grant, entity, totals, facts);
      missing += ask;
      network.setCapacity(asking.arc[n] ?? -1, ask);
    }
    missing -= network.augment(source, sink);
    if (missing <= gpuTolerance) return null;
    const side = network.reachableFrom(source);
    const { entities } = facts.unit;
    const stuck = new Set<number>();
    for (let n = 0; n < asking.entity.length; n++)
      if (side[asking.entry[n] ?? -1] === 1) stuck.add(asking.entity[n] ?? -1);
    // A queue whose parent is among them takes nothing more from the others, because what it has is taken from its siblings.
    const inWay = new Set<number>();
    for (const entity of stuck) if (!stuck.has(entities[entity]?.parent ?? -1)) inWay.add(entity);
    return { entities: inWay, missing };
  }
}

/** What a parent of the level was given beyond what its children have. */
function leftOf(grant: number, parent: number, totals: Float64Array, { unit, least }: UnitFacts): number {
  let left = grant;
  const children = unit.entities[parent]?.children ?? noChildren;
  for (let n = 0; n < children.length; n++) {
    const child = children[n] ?? -1;
    left -= Math.max(totals[child] ?? 0, least[child] ?? 0);
  }
  return Math.max(0, left);
}

const noChildren: readonly number[] = [];

/** What a queue asks for besides what it has without asking: as much as its given total or its minimum requires. */
function askOf(entity: number, { least, unasked }: UnitFacts, total = 0): number {
  return Math.max(0, Math.max(total, least[entity] ?? 0) - (unasked[entity] ?? 0));
}

/** The queues of the level, and parents of it that may have more than their children ask for. Parallel columns. */
interface Asking {
  readonly entity: number[];
  /** The node of each in the network, and the arc from the source to it. */
  readonly entry: number[];
  readonly arc: number[];
}

/**
 * Adds the queues. `inner` has, by entity, the node from which amounts go on: its own or one above it; -1 for what is above the
 * level.
 */
function addQueues(facts: LevelFacts, { asked, grants }: Level, network: FlowNetwork, source: number) {
  const { entities } = facts.unit;
  const inner = new Int32Array(entities.length).fill(-1);
  const asking: Asking = { entity: [], entry: [], arc: [] };
  let askedBelow = 0;
  const { most, isBound } = facts;
  for (let entity = 0; entity < entities.length; entity++) {
    const above = inner[entities[entity]?.parent ?? -1] ?? -1;
    const isOfLevel = asked[entity] === 1 || grants.has(entity);
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
    if (!isOfLevel) continue;
    asking.entity.push(entity);
    asking.entry.push(entry);
    asking.arc.push(arc);
  }
  return { asking, inner, askedBelow };
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
  const nodes = new Int32Array(quotas.parent.length);
  for (let i = 0; i < nodes.length; i++) {
    const hub = hubs[domainOf[i] ?? -1] ?? sink;
    const above = nodes[quotas.parent[i] ?? -1] ?? hub;
    nodes[i] = above;
    const most = mostOf(quotas, i, sureOnly?.[unit.entityOf[i] ?? -1] === 1);
    // Everything that comes in goes on, so nothing is bounded here.
    if (most >= (comes[i] ?? 0) - rounding && (above === hub || (quotas.local[i] ?? 0) <= 0)) continue;
    const own = network.addNode();
    network.addArc(own, hub, quotas.local[i] ?? 0);
    network.addArc(own, above, most);
    nodes[i] = own;
  }
  return nodes;
}

/** The most that a record may pass up to its parent. */
const mostOf = ({ usual, sure }: FreeQuotas, at: number, isSure: boolean): number =>
  isSure ? Math.min(usual[at] ?? 0, sure[at] ?? 0) : (usual[at] ?? 0);

/**
 * Adds the items. Those of one queue, or of several that are one in this network, become one if they may go to the same places.
 */
function addItems(facts: UnitFacts, inner: Int32Array, nodes: Int32Array, network: FlowNetwork): void {
  const { from, gpus, first, targets } = sumsOf(facts, inner, nodes);
  for (let n = 0; n < from.length; n++) {
    const [start, end] = [first[n] ?? 0, first[n + 1] ?? targets.length];
    let entry = from[n] ?? -1;
    const amount = gpus[n] ?? 0;
    if (end - start !== 1) {
      entry = network.addNode();
      network.addArc(from[n] ?? -1, entry, amount);
    }
    for (let k = start; k < end; k++) network.addArc(entry, targets[k] ?? -1, amount);
  }
}

/** Amounts that go from one node to the same others each. Columns, since there are as many as waiting items. */
interface ItemSums {
  readonly from: number[];
  readonly gpus: number[];
  /** The index of the first target of each, up to that of the next. */
  readonly first: number[];
  readonly targets: number[];
  /** The sum before each that comes from the same node and may go to the same first node; -1: there is none. */
  readonly before: number[];
}

function sumsOf({ unit, items }: UnitFacts, inner: Int32Array, nodes: Int32Array): ItemSums {
  const { entities, nodes: records, classes, domains } = unit;
  // A number above that of all nodes so far, so that two of them can be combined into one number.
  const mostNodes = 2 * entities.length + records.length + classes.length + domains.length + 3;
  const sums: ItemSums = { from: [], gpus: [], first: [], targets: [], before: [] };
  // The last sum of each combination of the node it comes from and the first node to which it may go.
  const last = new Map<number, number>();
  for (let i = 0; i < items.length; i++) {
    const item = items[i];
    const from = inner[item?.entity ?? -1] ?? -1;
    if (item === undefined || from === -1) continue;
    const { gpus, targets } = item;
    const key = from * mostNodes + (nodes[targets[0] ?? -1] ?? -1) + 1;
    const before = last.get(key) ?? -1;
    let known = before;
    while (known !== -1 && !goesTo(sums, known, targets, nodes)) known = sums.before[known] ?? -1;
    if (known !== -1) {
      sums.gpus[known] = (sums.gpus[known] ?? 0) + gpus;
      continue;
    }
    last.set(key, sums.from.length);
    sums.from.push(from);
    sums.gpus.push(gpus);
    sums.first.push(sums.targets.length);
    sums.before.push(before);
    for (let k = 0; k < targets.length; k++) sums.targets.push(nodes[targets[k] ?? -1] ?? -1);
  }
  return sums;
}

function goesTo(sums: ItemSums, at: number, targets: readonly number[], nodes: Int32Array): boolean {
  const start = sums.first[at] ?? 0;
  if ((sums.first[at + 1] ?? sums.targets.length) - start !== targets.length) return false;
  for (let k = 0; k < targets.length; k++)
    if (sums.targets[start + k] !== (nodes[targets[k] ?? -1] ?? -1)) return false;
  return true;
}
