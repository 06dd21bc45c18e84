import type { Queueing } from "../../../exporter/join/queues/queueing.ts";
import {
  atLeast,
  atMost,
  type Constraint,
  constant,
  plus,
  region,
  type Sum,
  total,
  variable,
  zero,
} from "./linearProgram.ts";
import { type NaiveRecord, type NaiveUnit, naiveUnits } from "./naiveUnits.ts";

/**
 * What each queue is entitled to, straight from the definition, by linear programs. The variables say how much of what a leaf
 * holds in a class it keeps, and how much of each waiting item goes to which record and class; the constraints are what the
 * nodes, limits and lending limits allow. A level's vector is found by raising all together as far as any point allows,
 * stopping those for which no point allows more, and going on with the others.
 */

/** How far a total that is found may be given up again, for rounding. */
const slack = 1e-9;
const tolerance = 1e-7;

/** One queue over the domains of a unit. */
interface Queue {
  readonly records: readonly number[];
  readonly parent: number | null;
  readonly weight: number;
  readonly zeroWeight: "last" | "never";
  readonly priority: number;
  readonly isFloor: boolean;
}

interface Model {
  readonly variables: number;
  readonly constraints: readonly Constraint[];
  /** By record: what is below it in its domain, and of that the part within its quota. */
  readonly used: readonly Sum[];
  readonly within: readonly Sum[];
}

/** Where what is allocated and what waits may be, as far as the nodes go. */
function placesOf({ records, items, capacity, domains }: NaiveUnit) {
  const constraints: Constraint[] = [];
  let variables = 0;
  const bounded = (most: Sum | number): Sum => {
    const one = variable(variables++);
    constraints.push(atMost(one, most));
    return one;
  };
  const inClass = new Map<string, Sum>();
  const leafUse = records.map(() => zero);
  const add = (record: number, nodeClass: number, amount: Sum): void => {
    const key = `${records[record]?.queue.domain} ${nodeClass}`;
    inClass.set(key, plus(inClass.get(key) ?? zero, amount));
    leafUse[record] = plus(leafUse[record] ?? zero, amount);
  };
  for (const [i, { own, allocated }] of records.entries()) {
    const all = allocated.reduce((a, b) => a + b, 0);
    for (const [nodeClass, gpus] of allocated.entries()) {
      if (gpus <= 0) continue;
      const mine = (gpus * Math.min(own, all)) / all;
      add(i, nodeClass, plus(constant(mine), bounded(gpus - mine)));
    }
  }
  for (const { gpus, places } of items) {
    const ways = places.flatMap(({ record, classes }) => classes.map((nodeClass) => ({ record, nodeClass })));
    const amounts = ways.map(() => variable(variables++));
    for (const [k, { record, nodeClass }] of ways.entries()) add(record, nodeClass, amounts[k] ?? zero);
    constraints.push(atMost(total(amounts), gpus));
  }
  for (const domain of domains)
    for (const [nodeClass, gpus] of (capacity.get(domain) ?? []).entries())
      constraints.push(atMost(inClass.get(`${domain} ${nodeClass}`) ?? zero, gpus));

  return { variables: () => variables, constraints, bounded, leafUse };
}

function modelOf(unit: NaiveUnit): Model {
  const { records } = unit;
  const { variables, constraints, bounded, leafUse } = placesOf(unit);
  // What a queue keeps for its subtree is used there; the rest is asked of its parent, within its limit.
  const [used, kept] = [[...leafUse], records.map(() => zero)];
  const within = records.map(() => zero);
  const passed = [...leafUse];
  const addTo = (sums: Sum[], i: number, amount: Sum): void => {
    sums[i] = plus(sums[i] ?? zero, amount);
  };
  for (const [i, one] of [...records.entries()].reverse()) {
    const locally = one.local > 0 ? bounded(one.local) : zero;
    addTo(kept, i, locally);
    const up = plus(passed[i] ?? zero, locally, -1);
    constraints.push(atLeast(up, 0));
    if (one.limit < Number.POSITIVE_INFINITY) constraints.push(atMost(up, Math.max(0, one.limit - one.kept)));
    const lent = bounded(up);
    constraints.push(atMost(lent, Math.max(0, one.quota - one.kept)));
    within[i] = plus(kept[i] ?? zero, lent);
    if (one.parent === null) continue;
    addTo(passed, one.parent, up);
    addTo(used, one.parent, used[i] ?? zero);
    addTo(kept, one.parent, kept[i] ?? zero);
  }
  return { variables: variables(), constraints, used, within };
}

/** Kueue's queues are one over all domains; others have one record each. */
function queuesOf({ records }: NaiveUnit): readonly Queue[] {
  const nameOf = ({ queue, index }: NaiveRecord): string =>
    queue.scheduler === "kueue" ? `${queue.kind} ${queue.name}` : `${index}`;
  const names = [...new Set(records.map(nameOf))];
  return names.flatMap((name): readonly Queue[] => {
    const own = [...records.keys()].filter((i) => nameOf(records[i] as NaiveRecord) === name);
    const first = records[own[0] ?? -1];
    if (first === undefined) return [];
    const above = first.parent === null ? undefined : records[first.parent];
    const { weight, zeroWeight, priority, guaranteeIsFloor: isFloor = false } = first.queue;
    const parent = above === undefined ? null : names.indexOf(nameOf(above));
    return [{ records: own, parent, weight, zeroWeight, priority, isFloor }];
  });
}

/** What is raised: a sum that is to reach base + level x weight, and what it has in any case. */
interface Riser {
  readonly sum: Sum;
  readonly weight: number;
  readonly base: number;
  readonly least: number;
}

/** Raises all as far as they go; what each of them reaches. */
function raised(variables: number, fixed: readonly Constraint[], risers: readonly Riser[]): readonly number[] {
  const got = risers.map(({ least }) => least);
  const open = new Set(risers.keys());
  const has = (i: number): Constraint => atLeast(risers[i]?.sum ?? zero, (got[i] ?? 0) - slack);
  while (open.size > 0) {
    const level = variable(variables);
    const rising = [...open].flatMap((i) => {
      const { sum, weight, base } = risers[i] as Riser;
      return [atLeast(sum, plus(constant(base), level, weight)), has(i)];
    });
    const stopped = [...risers.keys()].filter((i) => !open.has(i)).map(has);
    const most = region(variables + 1, [...fixed, ...stopped, ...rising]).maximise(level);
    for (const i of open) {
      const { weight, base, least } = risers[i] as Riser;
      got[i] = Math.max(least, base + most * weight);
    }
    const above = region(variables, [...fixed, ...[...risers.keys()].map(has)]);
    const before = open.size;
    for (const i of [...open]) if (above.maximise(risers[i]?.sum ?? zero) <= (got[i] ?? 0) + tolerance) open.delete(i);
    if (open.size === before) throw new Error("nobody is stopped");
  }
  return got;
}

/** The same sum of other variables. */
const moved = ({ constant: amount, of }: Sum, by: number): Sum => ({
  constant: amount,
  of: new Map([...of].map(([number, times]) => [number + by, times] as const)),
});

/**
 * What is at most two sums at once, each at a point of its own: what a queue is sure of has to be there beside all that those
 * above it were given, and has to be there of its own quotas beside what others are sure of.
 */
function bothWays(
  { variables, constraints }: Model,
  fixed: readonly Constraint[],
  elsewhere: readonly Constraint[],
  sums: readonly { readonly used: Sum; readonly within: Sum }[],
): Pick<Model, "variables" | "constraints"> & { readonly sums: readonly Sum[] } {
  const both = sums.map((_, i) => variable(2 * variables + i));
  return {
    variables: 2 * variables + sums.length,
    constraints: [
      ...fixed,
      ...[...constraints, ...elsewhere].map((one) => moved(one, variables)),
      ...both.flatMap((one, i) => {
        const { used, within } = sums[i] ?? { used: zero, within: zero };
        return [atMost(one, used), atMost(one, moved(within, variables))];
      }),
    ],
    sums: both,
  };
}

function sharesOf(unit: NaiveUnit, found: Map<number, number>): void {
  const { records } = unit;
  const model = modelOf(unit);
  const queues = queuesOf(unit);
  const children = (i: number | null): readonly number[] =>
    [...queues.keys()].filter((one) => queues[one]?.parent === i);
  const sumOver = (queue: number, of: readonly Sum[]): Sum =>
    total((queues[queue]?.records ?? []).map((record) => of[record] ?? zero));
  const amountOf = (queue: number, of: (record: NaiveRecord) => number): number =>
    (queues[queue]?.records ?? []).reduce((all, i) => all + of(records[i] as NaiveRecord), 0);
  const isNever = (i: number): boolean => queues[i]?.weight === 0 && queues[i]?.zeroWeight === "never";
  const usedBy = (i: number): Sum => sumOver(i, model.used);
  const never = [...queues.keys()].filter(isNever).map((i) =>
    atMost(
      usedBy(i),
      amountOf(i, ({ sure }) => sure),
    ),
  );
  const has = new Map<number, number>();
  const ownOf = (i: number): number => amountOf(i, ({ own }) => own);
  const keepsOwn = (i: number): Constraint => atLeast(usedBy(i), ownOf(i) - slack);
  const fixed = [...model.constraints, ...never, ...[...queues.keys()].map(keepsOwn)];
  const leavesOwn = (i: number): number => {
    const below = children(i);
    return below.length === 0 ? ownOf(i) : below.reduce((all, child) => all + leavesOwn(child), 0);
  };
  for (let groups = [children(null)]; groups.length > 0; ) {
    const level = groups.flat();
    // Guarantees.
    const owed = level.filter((i) => amountOf(i, ({ quota }) => quota) > 0);
    const settled = [...has.keys()].filter((i) => children(i).length === 0);
    const guaranteed = bothWays(
      model,
      fixed,
      [...never, ...settled.map((i) => atLeast(usedBy(i), (has.get(i) ?? 0) - slack))],
      owed.map((i) => ({ used: usedBy(i), within: sumOver(i, model.within) })),
    );
    const keeps = owed.map((i, n): Riser => {
      return { sum: guaranteed.sums[n] ?? zero, weight: ownOf(i), base: 0, least: leavesOwn(i) };
    });
    const isMore = owed.some((i, n) => ownOf(i) > (keeps[n]?.least ?? 0) + tolerance);
    const bounded = owed.map((i, n) => atMost(guaranteed.sums[n] ?? zero, ownOf(i)));
    const own = isMore
      ? raised(guaranteed.variables, [...guaranteed.constraints, ...bounded], keeps)
      : keeps.map(({ least }) => least);
    const claims = owed.map((i, n): Riser => {
      const weight = amountOf(i, ({ quota }) => quota);
      return { sum: guaranteed.sums[n] ?? zero, weight, base: 0, least: own[n] ?? 0 };
    });
    const sure = raised(guaranteed.variables, guaranteed.constraints, claims);
    for (const i of level) has.set(i, 0);
    for (const [n, i] of owed.entries()) has.set(i, Math.max(sure[n] ?? 0, ownOf(i)));
    const sureOf = new Map(has);
    raiseTiers(groups, sureOf);
    for (const i of level) {
      fixed.push(atLeast(usedBy(i), (has.get(i) ?? 0) - slack));
      for (const record of queues[i]?.records ?? []) found.set(records[record]?.index ?? -1, has.get(i) ?? 0);
    }
    groups = level.map(children).filter((group) => group.length > 0);
  }

  /** The surplus of one level. */
  function raiseTiers(groups: readonly (readonly number[])[], sureOf: ReadonlyMap<number, number>): void {
    const tiers = groups.map((group) => tiersOf(group, queues));
    const level = groups.flat();
    for (let round = 0; tiers.some((one) => round < one.length); round++) {
      const tier = tiers.flatMap((one) => one[round] ?? []);
      const others = level.filter((i) => !tier.includes(i)).map((i) => atLeast(usedBy(i), (has.get(i) ?? 0) - slack));
      const risers = tier.map((i): Riser => {
        const { weight, isFloor } = queues[i] as Queue;
        const least = sureOf.get(i) ?? 0;
        return { sum: usedBy(i), weight: weight > 0 ? weight : 1, base: isFloor && weight > 0 ? 0 : least, least };
      });
      const reached = raised(model.variables, [...fixed, ...others], risers);
      for (const [n, i] of tier.entries()) has.set(i, reached[n] ?? 0);
    }
  }
}

/** By priority; of one priority those of weight 0 at the end, where they are served. */
function tiersOf(group: readonly number[], queues: readonly Queue[]): readonly (readonly number[])[] {
  const priorities = [...new Set(group.map((i) => queues[i]?.priority ?? 0))].sort((a, b) => b - a);
  return priorities
    .flatMap((priority) => {
      const here = group.filter((i) => queues[i]?.priority === priority);
      const isServed = (i: number): boolean => (queues[i]?.weight ?? 0) > 0;
      const last = here.filter((i) => !isServed(i) && queues[i]?.zeroWeight === "last");
      return [here.filter(isServed), last];
    })
    .filter((tier) => tier.length > 0);
}

/** By index into `Queueing.queues`: what the queue is entitled to over all domains of its unit, without what is lost. */
export function naiveShares(queueing: Queueing): ReadonlyMap<number, number> {
  const found = new Map<number, number>();
  for (const unit of naiveUnits(queueing)) sharesOf(unit, found);
  return found;
}

/** The most that all queues of a unit can have together, whoever has it; parallel to `naiveUnits`. */
export function naiveMost(queueing: Queueing): readonly number[] {
  return naiveUnits(queueing).map((unit) => {
    const { variables, constraints, used } = modelOf(unit);
    const tops = unit.records.flatMap(({ parent }, i) => (parent === null ? [used[i] ?? zero] : []));
    const never = unit.records.flatMap(({ queue, sure }, i) =>
      queue.weight === 0 && queue.zeroWeight === "never" ? [atMost(used[i] ?? zero, sure)] : [],
    );
    return region(variables, [...constraints, ...never]).maximise(total(tops));
  });
}
