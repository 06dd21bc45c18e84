import fc from "fast-check";
import type { Queueing, QuotaDomain, WaitingPart } from "../../../exporter/join/queues/queueing.ts";
import type { QueueScheduler } from "../../../exporter/model/queues/eviction.ts";
import { quotaDomain } from "../../queues/queueView.ts";
import { type QueueInput, queueing } from "./queueingBuilder.ts";

/** What a generated moment of several domains and node classes may have. */
export interface UnitTraits {
  /** Domains of Kueue are divided into several classes, too. */
  readonly classesInFlavors?: boolean;
}

type Roll = (most: number) => number;

/** Whole numbers from 0 to a most, one after the other, from one seed. */
function dice(seed: number): Roll {
  let state = seed;
  return (most) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return (state >>> 12) % (most + 1);
  };
}

const systems: Some<Some<QueueScheduler>> = [["kai"], ["volcano"], ["none"], ["kai", "volcano"]];
const quotas: Some<number> = [0, 0, 1, 2, 4, 6, 9];
const weights: Some<number> = [1, 1, 2, 3, 0.5, 100];
const infinite = Number.POSITIVE_INFINITY;

/** Halves and thirds: amounts that floating point can and cannot write down. */
const units: Some<number> = [1, 1, 1, 0.5, 1 / 3];

type Some<Value> = readonly [Value, ...Value[]];

const oneOf = <Value>(roll: Roll, values: Some<Value>): Value => values[roll(values.length - 1)] ?? values[0];

/** Some of the values, in any order, at least one. */
function someOf<Value>(roll: Roll, values: readonly Value[]): readonly Value[] {
  const rest = [...values];
  const found: Value[] = [];
  const count = 1 + roll(values.length - 1);
  while (found.length < count) found.push(...rest.splice(roll(rest.length - 1), 1));
  return found;
}

/** Parents before children, at most four levels. */
function parentsFrom(roll: Roll): readonly (number | null)[] {
  const parents: (number | null)[] = [];
  const depths: number[] = [];
  const count = 1 + roll(8);
  for (let i = 0; i < count; i++) {
    const places = [null, null, ...depths.flatMap((depth, at) => (depth < 3 ? [at] : []))];
    const parent = places[roll(places.length - 1)] ?? null;
    parents.push(parent);
    depths.push(parent === null ? 0 : (depths[parent] ?? 0) + 1);
  }
  return parents;
}

/** Where a waiting gang may go; by the names of queues. */
interface Waits {
  readonly gpus: number;
  readonly places: readonly { readonly domain: number; readonly classes: readonly number[] | null }[];
  /** No place is named: anywhere in the domain of its queue. */
  readonly isUnreported: boolean;
}

interface Drafted {
  readonly inputs: readonly QueueInput[];
  /** Parallel to the inputs. */
  readonly waits: readonly (readonly Waits[])[];
}

function allocatedInClasses(roll: Roll, count = 1, unit = 1): NonNullable<QueueInput["allocatedByClass"]> {
  return Array.from({ length: count }, () => {
    const allocated = roll(2) === 0 ? 0 : roll(6) * unit;
    const lost = roll(5) === 0 ? (allocated * (1 + roll(1))) / 2 : 0;
    return { allocated, allocatedOnUnschedulable: lost };
  });
}

const allocated = (byClass: NonNullable<QueueInput["allocatedByClass"]>) => ({
  allocated: byClass.reduce((all, one) => all + one.allocated, 0),
  allocatedOnUnschedulable: byClass.reduce((all, one) => all + one.allocatedOnUnschedulable, 0),
  ...(byClass.length > 1 ? { allocatedByClass: byClass } : {}),
});

/** Queues of KAI, Volcano or teams: one domain, in which some work may only go to some classes. */
function oneDomain(roll: Roll, count: number): Drafted {
  const parents = parentsFrom(roll);
  const schedulers = oneOf(roll, systems);
  const roots = schedulers.map((scheduler): QueueInput => ({ name: scheduler, kind: "Scheduler", scheduler }));
  const inputs = [...roots];
  const waits: Waits[][] = roots.map(() => []);
  const rootOf = (i: number): QueueScheduler => {
    const above = parents[i] ?? null;
    return above === null ? (schedulers[i % schedulers.length] ?? schedulers[0]) : rootOf(above);
  };
  const priorities = roll(2) === 0;
  for (const [i, parent] of parents.entries()) {
    const unit = oneOf(roll, units);
    const scheduler = rootOf(i);
    const isLeaf = !parents.includes(i);
    inputs.push({
      ...{ scheduler, name: `q${i}`, kind: scheduler === "none" ? "Team" : "Queue" },
      parent: parent === null ? scheduler : `q${parent}`,
      guaranteed: oneOf(roll, quotas) * unit,
      limit: roll(3) === 0 ? roll(20) * unit : infinite,
      weight: roll(6) === 0 ? 0 : oneOf(roll, weights),
      zeroWeight: roll(3) === 0 ? "last" : "never",
      priority: priorities ? roll(2) : 0,
      guaranteeIsFloor: scheduler === "volcano" && roll(2) === 0,
      isStrictOrder: roll(2) === 0,
      ...(isLeaf ? allocated(allocatedInClasses(roll, count, unit)) : {}),
    });
    waits.push(
      Array.from({ length: isLeaf ? roll(2) : 0 }, () => ({
        gpus: (1 + roll(11)) * unit,
        places: [{ domain: 0, classes: someOf(roll, [...Array(count).keys()]) }],
        isUnreported: roll(3) === 0,
      })),
    );
  }
  if (roll(3) === 0) {
    inputs.push({ name: "unqueued", kind: "Unqueued", weight: 0, ...allocated(allocatedInClasses(roll, count)) });
    waits.push([]);
  }
  return { inputs, waits };
}

interface Flavor {
  readonly guaranteed: number;
  readonly limit: number;
  readonly lendingLimit: number;
}

/** Quotas of all nodes in one flavor, as Kueue adds them up; `null`: the node is not there. */
function flavorOf(roll: Roll, parents: readonly (number | null)[], isThere: (leaf: number) => boolean) {
  const sums = parents.map(() => ({ total: 0, subtree: 0, isThere: false }));
  const found: (Flavor | null)[] = parents.map(() => null);
  for (const [i, parent] of [...parents.entries()].reverse()) {
    const sum = sums[i] ?? { total: 0, subtree: 0, isThere: false };
    const isLeaf = !parents.includes(i);
    const unit = oneOf(roll, units);
    const nominal = isLeaf || roll(3) === 0 ? oneOf(roll, quotas) * unit : 0;
    const borrowing = roll(3) === 0 ? roll(6) * unit : infinite;
    const lending = roll(3) === 0 ? roll(6) * unit : infinite;
    sum.isThere ||= isLeaf && isThere(i);
    if (!sum.isThere) continue;
    const [total, subtree] = [sum.total + nominal, sum.subtree + nominal];
    const lent = Math.min(subtree, lending);
    const lendingLimit = lent < total ? lent : infinite;
    found[i] = { guaranteed: total, limit: total + borrowing, lendingLimit };
    if (parent === null) found[i] = { guaranteed: total, limit: total, lendingLimit: infinite };
    const above = sums[parent ?? -1];
    if (above === undefined) continue;
    above.isThere = true;
    above.total += total;
    above.subtree += lent;
  }
  return found;
}

/** Up to two gangs, which may each go to some of the domains. */
function waitsIn(roll: Roll, domains: readonly number[], counts: readonly number[], unit: number): Waits[] {
  return Array.from({ length: roll(2) }, () => ({
    gpus: (1 + roll(11)) * unit,
    places: someOf(roll, domains).map((domain) => ({
      domain,
      classes: roll(1) === 0 ? null : someOf(roll, [...Array(counts[domain] ?? 1).keys()]),
    })),
    isUnreported: roll(4) === 0,
  }));
}

/** ClusterQueues and Cohorts of Kueue over several flavors. */
function severalDomains(roll: Roll, counts: readonly number[]): Drafted {
  const parents = parentsFrom(roll);
  const domains = [...counts.keys()];
  const domainsOf = parents.map(() => someOf(roll, domains));
  const terms = parents.map(() => ({
    weight: roll(6) === 0 ? 0 : oneOf(roll, weights),
    isStrictOrder: roll(2) === 0,
  }));
  const inputs: QueueInput[] = [];
  const waits: Waits[][] = [];
  for (const domain of domains) {
    const found = flavorOf(roll, parents, (leaf) => domainsOf[leaf]?.includes(domain) === true);
    const roots = found.filter((_, i) => parents[i] === null);
    const sumOf = (of: (flavor: Flavor) => number) => roots.reduce((all, one) => all + (one ? of(one) : 0), 0);
    const all = { guaranteed: sumOf(({ guaranteed }) => guaranteed), limit: sumOf(({ limit }) => limit) };
    inputs.push({ name: "kueue", kind: "Scheduler", scheduler: "kueue", domain, ...all });
    waits.push([]);
    for (const [i, flavor] of found.entries()) {
      if (flavor === null) continue;
      const isLeaf = !parents.includes(i);
      const parent = parents[i] ?? null;
      const unit = oneOf(roll, units);
      inputs.push({
        ...{ name: `q${i}`, kind: isLeaf ? "ClusterQueue" : "Cohort", scheduler: "kueue", domain },
        parent: parent === null ? "kueue" : `q${parent}`,
        ...flavor,
        ...terms[i],
        ...(isLeaf ? allocated(allocatedInClasses(roll, counts[domain], unit)) : {}),
      });
      waits.push(isLeaf ? waitsIn(roll, domainsOf[i] ?? [domain], counts, unit) : []);
    }
  }
  return { inputs, waits };
}

/** As many GPUs as are allocated, and some that are free. */
function domainsFor(roll: Roll, counts: readonly number[], inputs: readonly QueueInput[]): readonly QuotaDomain[] {
  return counts.map((count, domain) => {
    const own = inputs.filter((input) => (input.domain ?? 0) === domain);
    const classes = Array.from({ length: count }, (_, i) => {
      const there = own.map(({ allocatedByClass, allocated = 0, allocatedOnUnschedulable = 0 }) =>
        count === 1
          ? allocated - allocatedOnUnschedulable
          : (allocatedByClass?.[i]?.allocated ?? 0) - (allocatedByClass?.[i]?.allocatedOnUnschedulable ?? 0),
      );
      const capacity = there.reduce((a, b) => a + b, 0) + (roll(1) === 0 ? 0 : roll(10) / 2);
      return { name: `class${i}`, pool: `pool${domain}`, nodes: new Set<string>(), capacity };
    });
    const lost = own.reduce((all, one) => all + (one.allocatedOnUnschedulable ?? 0), 0);
    return quotaDomain({
      ...{ name: `domain${domain}`, pools: [`pool${domain}`], allocatedOnUnschedulable: lost },
      capacity: classes.reduce((all, one) => all + one.capacity, 0) + lost,
      ...(count > 1 ? { classes } : {}),
    });
  });
}

function momentFrom({ inputs, waits }: Drafted, domains: readonly QuotaDomain[]): Queueing {
  const moment = queueing(
    inputs.map((input, i) => ({ ...input, waiting: (waits[i] ?? []).map(({ gpus }) => gpus) })),
    domains,
  );
  const gangs = [...moment.gangs];
  for (const [i, queue] of moment.queues.entries())
    for (const [k, index] of queue.gangs.entries()) {
      const [gang, wait] = [gangs[index], waits[i]?.[k]];
      if (gang === undefined || wait === undefined) continue;
      const places = wait.places.map(({ domain, classes }) => {
        const record = moment.queues.findIndex((one) => one.name === queue.name && one.domain === domain);
        return { queue: record, domain, classes, gpusPerPod: wait.gpus };
      });
      // A gang waits in the record of one of its places.
      const isHere = places.some((place) => place.queue === i);
      const part = gang.parts.map((one): WaitingPart => ({ ...one, queue: i, domain: queue.domain }));
      gangs[index] = { ...gang, parts: isHere && !wait.isUnreported ? part.map((one) => ({ ...one, places })) : part };
    }
  return { ...moment, gangs };
}

/** Moments of one domain with one to four classes, whose work may be bound to some of them. */
export const classMoments: fc.Arbitrary<Queueing> = fc.noBias(fc.nat()).map((seed) => {
  const roll = dice(seed);
  const counts = [1 + roll(3)];
  const drafted = oneDomain(roll, counts[0] ?? 1);
  return momentFrom(drafted, domainsFor(roll, counts, drafted.inputs));
});

/** Moments of Kueue with one to four flavors, each over nodes of its own. */
export function flavorMoments({ classesInFlavors = false }: UnitTraits = {}): fc.Arbitrary<Queueing> {
  return fc.noBias(fc.nat()).map((seed) => {
    const roll = dice(seed);
    const counts = Array.from({ length: 1 + roll(3) }, () => (classesInFlavors ? 1 + roll(3) : 1));
    const drafted = severalDomains(roll, counts);
    return momentFrom(drafted, domainsFor(roll, counts, drafted.inputs));
  });
}
