import { FlowNetwork } from "../../kernel/maxFlow.ts";
import { gpuTolerance } from "../../model/gpuTolerance.ts";
import { addToParents, leafColumn } from "./claims.ts";
import type { Entitlement } from "./entitle.ts";
import { type LevelNetwork, markedIn } from "./levelNetwork.ts";
import { raiseTogether } from "./raise.ts";
import { createUnitNetwork, type PlacedGrant } from "./unitNetwork.ts";
import { isUniform, type SharedUnit } from "./units.ts";
import { sumOf, waterFill } from "./waterFill.ts";

/** What one leaf lacks in one domain, by cause: the four add up to `gpus`. Physical GPUs. */
export interface Shortfall {
  readonly gpus: number;
  /** What is free in classes that it may use, with each GPU counted once. */
  readonly idleGap: number;
  /** What is allocated there to others above their entitlement. */
  readonly borrowers: number;
  /** What is guaranteed to it but is on no node. */
  readonly absent: number;
  /** The rest: no whole gang fits, or nothing moves it. */
  readonly indivisible: number;
}

/** What a unit's leaves have and lack. Columns parallel to `SharedUnit.nodes`. */
export interface UnitShortfalls {
  /** Entitlement, including what is allocated on nodes that take no pods; for inner nodes the sum of what is below. */
  readonly entitled: Float64Array;
  /** What leaves hold above their entitlement, summed over classes. */
  readonly excess: Float64Array;
  /** The shortfalls of the leaves that have one. */
  readonly shortfalls: ReadonlyMap<number, Shortfall>;
  /** By class: which leaves lack what others hold there. */
  readonly byClass: readonly ClassBalance[];
}

/** One class of a unit: which leaves lack GPUs that others hold there. By index into `SharedUnit.nodes`, physical GPUs. */
export interface ClassBalance {
  /** The part of what leaves lack because of borrowers that is in this class. */
  readonly starved: ReadonlyMap<number, number>;
  /** What borrowers hold above their entitlement in this class. */
  readonly borrowers: ReadonlyMap<number, number>;
  /** What each leaf is entitled to in this class. */
  readonly entitled: ReadonlyMap<number, number>;
}

/**
 * Compares what leaves hold with what they are entitled to, class by class, never netted, and divides each shortfall by cause:
 * first free GPUs that the leaf may use, then what others hold above their entitlement, then guarantees without nodes, then the
 * rest.
 */
export function shortfallsOf(unit: SharedUnit, { placed, claims }: Entitlement): UnitShortfalls {
  const { excess, missing, balances } = compare(unit, placed);
  const absent = absentOf(unit, claims, placed);
  const short = missing.map((gpus, i) => gpus + (absent[i] ?? 0));
  const idle = idleGaps(unit, claims, short);
  const rest = short.map((gpus, i) => Math.max(0, gpus - (idle[i] ?? 0)));
  const takenByClass = borrowed(rest, balances);
  const taken = new Float64Array(short.length);
  for (const ofClass of takenByClass) for (const [leaf, gpus] of ofClass) taken[leaf] = (taken[leaf] ?? 0) + gpus;
  const shortfalls = new Map<number, Shortfall>();
  for (let i = 0; i < short.length; i++) {
    const gpus = short[i] ?? 0;
    if (gpus > gpuTolerance)
      shortfalls.set(i, causesOf(gpus, { idle: idle[i] ?? 0, taken: taken[i] ?? 0, absent: absent[i] ?? 0 }));
  }
  const byClass = balances.map(({ borrowers, entitled }, i) => ({
    borrowers,
    entitled,
    starved: takenByClass[i] ?? new Map<number, number>(),
  }));
  return { entitled: entitledOf(unit, placed), excess, shortfalls, byClass };
}

/** What is given to each node, including what it holds on nodes that take no pods; for inner nodes the sum of what is below. */
function entitledOf({ nodes }: SharedUnit, placed: readonly PlacedGrant[]): Float64Array {
  const entitled = leafColumn(nodes, ({ queue }) => queue.allocatedOnUnschedulable);
  for (const { node, gpus } of placed) entitled[node] = (entitled[node] ?? 0) + gpus;
  addToParents(nodes, entitled);
  return entitled;
}

/** Divides shortfalls by cause: each cause takes what the earlier causes leave. */
function causesOf(
  gpus: number,
  { idle, taken, absent }: { readonly idle: number; readonly taken: number; readonly absent: number },
): Shortfall {
  const idleGap = near(Math.min(idle, gpus), gpus);
  const borrowers = near(Math.min(taken, gpus - idleGap), gpus - idleGap);
  const without = gpus - idleGap - borrowers;
  const absentHere = near(Math.min(absent, without), without);
  return { gpus, idleGap, borrowers, absent: absentHere, indivisible: without - absentHere };
}

/** Returns the whole amount if almost nothing would be left, and 0 if there is almost nothing. */
const near = (gpus: number, all: number): number =>
  gpus >= all - gpuTolerance ? Math.max(0, all) : gpus <= gpuTolerance ? 0 : gpus;

/** Compares what leaves hold with what they may have, class by class; `missing` and `excess` are by node. */
function compare(unit: SharedUnit, placed: readonly PlacedGrant[]) {
  const excess = new Float64Array(unit.nodes.length);
  const missing = new Float64Array(unit.nodes.length);
  const allocated = byClassAndNode(unit, unit.allocated);
  const granted = byClassAndNode(unit, placed);
  const balances = unit.classes.map((_, i): ClassBalance => {
    const [has, may] = [allocated[i] ?? new Map<number, number>(), granted[i] ?? new Map<number, number>()];
    const starved = new Map<number, number>();
    const borrowers = new Map<number, number>();
    const add = (node: number, more: number): void => {
      if (Math.abs(more) <= gpuTolerance) return;
      (more > 0 ? borrowers : starved).set(node, Math.abs(more));
      const sums = more > 0 ? excess : missing;
      sums[node] = (sums[node] ?? 0) + Math.abs(more);
    };
    for (const [node, gpus] of has) add(node, gpus - (may.get(node) ?? 0));
    for (const [node, gpus] of may) if (!has.has(node)) add(node, -gpus);
    return { starved, borrowers, entitled: may };
  });
  return { excess, missing, balances };
}

function byClassAndNode({ classes }: SharedUnit, amounts: readonly PlacedGrant[]): readonly Map<number, number>[] {
  const found = classes.map(() => new Map<number, number>());
  for (const { node, nodeClass, gpus } of amounts) {
    const ofClass = found[nodeClass];
    ofClass?.set(node, (ofClass.get(node) ?? 0) + gpus);
  }
  return found;
}

/** The part of each leaf's guarantees that its demand could use and the nodes do not provide. */
function absentOf(unit: SharedUnit, claims: Entitlement["claims"], placed: readonly PlacedGrant[]): Float64Array {
  const { entities } = unit;
  const most = new Float64Array(entities.length);
  const granted = new Float64Array(unit.nodes.length);
  for (const { node, gpus } of placed) granted[node] = (granted[node] ?? 0) + gpus;
  const absent = new Float64Array(unit.nodes.length);
  for (let i = 0; i < entities.length; i++) {
    const entity = entities[i];
    if (entity === undefined) continue;
    const { parent, children, nodes } = entity;
    if (parent === null) most[i] = claims.sure[i] ?? 0;
    if (children.length > 0) {
      // Queues below are promised no more than the queue above them.
      const { shares } = waterFill(most[i] ?? 0, pick(claims.sure, children), pick(claims.quota, children));
      for (let n = 0; n < children.length; n++) most[children[n] ?? -1] = shares[n] ?? 0;
      continue;
    }
    const missing = (most[i] ?? 0) - hasOf(unit, granted, nodes);
    if (missing > gpuTolerance) divideAbsent(missing, nodes, claims.ofNodes.sure, granted, absent);
  }
  return absent;
}

/** Divides what is missing of a queue's guarantees among its records, by what they lack of theirs. */
function divideAbsent(
  missing: number,
  nodes: readonly number[],
  sure: Float64Array,
  granted: Float64Array,
  absent: Float64Array,
): void {
  const gaps = nodes.map((node) => Math.max(0, (sure[node] ?? 0) - (granted[node] ?? 0)));
  const { shares } = waterFill(missing, gaps, gaps);
  for (let n = 0; n < nodes.length; n++) absent[nodes[n] ?? -1] = shares[n] ?? 0;
}

/** What a queue is given or what it holds in its records, whichever is more. */
function hasOf({ nodes: all }: SharedUnit, granted: Float64Array, nodes: readonly number[]): number {
  let [given, allocated] = [0, 0];
  for (const node of nodes) {
    given += granted[node] ?? 0;
    allocated += all[node]?.allocated ?? 0;
  }
  return Math.max(given, allocated);
}

function pick(column: Float64Array, places: readonly number[]): Float64Array {
  const found = new Float64Array(places.length);
  for (let n = 0; n < found.length; n++) found[n] = column[places[n] ?? -1] ?? 0;
  return found;
}

/** By node: the part of its shortfall that is free and that it could have now, by its quotas and where its work may go. */
function idleGaps(unit: SharedUnit, claims: Entitlement["claims"], short: Float64Array): Float64Array {
  const { entities, entityOf, classes, nodes } = unit;
  const missing = new Map<number, number>();
  for (let i = 0; i < short.length; i++) {
    const [gpus, entity] = [short[i] ?? 0, entityOf[i] ?? -1];
    if (gpus > gpuTolerance) missing.set(entity, (missing.get(entity) ?? 0) + gpus);
  }
  const free = classes.reduce((sum, one) => sum + one.free, 0);
  if (missing.size === 0 || free <= gpuTolerance) return new Float64Array(nodes.length);
  const held = (entity: number): number =>
    sumOf((entities[entity]?.nodes ?? []).map((node) => nodes[node]?.allocated ?? 0));
  const asked = [...missing].map(([entity, gpus]) => ({
    entity,
    sure: held(entity),
    headroom: gpus,
    weight: gpus,
  }));
  const network = isUniform(unit) ? null : createUnitNetwork(unit, claims, unit.allocated);
  const level = network?.atLevel(markedIn(entities.length, missing.keys()), new Map()).usual ?? null;
  const gaps = raiseTogether(level, asked, free);
  const totals = new Float64Array(entities.length);
  for (const { entity, sure } of asked) totals[entity] = sure + (gaps.get(entity) ?? 0);
  const isChoice = asked.some(({ entity }) => (entities[entity]?.nodes.length ?? 0) > 1);
  const placed = network === null || !isChoice ? [] : network.place(totals);
  return divideAmong(unit, short, gaps, beyondAllocated(unit, placed));
}

/** By node: how much more is placed than the leaf holds. */
function beyondAllocated({ nodes, allocated }: SharedUnit, placed: readonly PlacedGrant[]): Float64Array {
  const more = new Float64Array(nodes.length);
  for (const { node, gpus } of placed) more[node] = (more[node] ?? 0) + gpus;
  for (const { node, gpus } of allocated) more[node] = (more[node] ?? 0) - gpus;
  return more;
}

/**
 * Divides an amount of each entity among its records: each gets what is there, up to what it lacks, and the rest is divided in
 * proportion to what they still lack.
 */
function divideAmong(
  { entities, nodes }: SharedUnit,
  short: Float64Array,
  amounts: ReadonlyMap<number, number>,
  there: Float64Array,
): Float64Array {
  const found = new Float64Array(nodes.length);
  for (const [entity, gpus] of amounts) {
    const records = entities[entity]?.nodes ?? [];
    const lying = records.map((node) => Math.min(short[node] ?? 0, Math.max(0, there[node] ?? 0)));
    const missing = records.map((node, n) => (short[node] ?? 0) - (lying[n] ?? 0));
    const { shares } = waterFill(Math.max(0, gpus - sumOf(lying)), missing, missing);
    for (const [n, node] of records.entries()) found[node] = (lying[n] ?? 0) + (shares[n] ?? 0);
  }
  return found;
}

/**
 * By class: the part of what each leaf still lacks that others hold above their entitlement in those classes in which the leaf
 * is entitled to more than it holds. If that is not enough for all, each gets the same part of what it lacks.
 */
function borrowed(rest: Float64Array, balances: readonly ClassBalance[]): readonly ReadonlyMap<number, number>[] {
  const network = new FlowNetwork();
  const [source, sink] = [network.addNode(), network.addNode()];
  const leaves = new Map<number, { readonly node: number; readonly arc: number }>();
  const arcs: { readonly leaf: number; readonly nodeClass: number; readonly arc: number }[] = [];
  let all = 0;
  for (const [nodeClass, { starved, borrowers }] of balances.entries()) {
    const excess = sumOf(borrowers.values());
    if (excess <= 0 || starved.size === 0) continue;
    all += excess;
    const there = network.addNode();
    network.addArc(there, sink, excess);
    for (const [leaf, gpus] of starved) {
      if ((rest[leaf] ?? 0) <= gpuTolerance) continue;
      const { node } = leaves.get(leaf) ?? addLeaf(leaf);
      arcs.push({ leaf, nodeClass, arc: network.addArc(node, there, gpus) });
    }
  }
  const carry: LevelNetwork["carry"] = (totals) => {
    network.clear();
    let missing = 0;
    for (const [leaf, { arc }] of leaves) {
      const gpus = totals[leaf] ?? 0;
      missing += gpus;
      network.setCapacity(arc, gpus);
    }
    missing -= network.augment(source, sink);
    if (missing <= gpuTolerance) return null;
    const side = network.reachableFrom(source);
    const stuck = [...leaves].filter(([, { node }]) => side[node] === 1);
    return { entities: new Set(stuck.map(([leaf]) => leaf)), missing };
  };
  const claims = [...leaves.keys()].map((leaf) => ({
    entity: leaf,
    sure: 0,
    headroom: rest[leaf] ?? 0,
    weight: rest[leaf] ?? 0,
  }));
  const got = raiseTogether({ carry }, claims, all);
  const totals = new Float64Array(rest.length);
  for (const [leaf, gpus] of got) totals[leaf] = gpus;
  carry(totals);
  const found = balances.map(() => new Map<number, number>());
  for (const { leaf, nodeClass, arc } of arcs) {
    const gpus = network.flowOf(arc);
    if (gpus > gpuTolerance) found[nodeClass]?.set(leaf, gpus);
  }
  return found;

  function addLeaf(leaf: number) {
    const node = network.addNode();
    const added = { node, arc: network.addArc(source, node, 0) };
    leaves.set(leaf, added);
    return added;
  }
}
