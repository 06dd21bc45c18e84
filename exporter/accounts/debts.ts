import type { Analysis } from "../analysis/analysis.ts";
import type { QueueView, QuotaDomain } from "../join/queues/queueing.ts";
import { labelValue } from "../kernel/labelValue.ts";
import type { FairnessDebt, QueueKey } from "./queueCounters.ts";

/**
 * Decayed integrals x(t) = integral of value x 2^(-age / half-life), one for each half-life. With a constant value over dt, x
 * becomes exactly x 2^(-dt / H) + value H / ln 2 (1 - 2^(-dt / H)).
 */
export type Decayed = readonly number[];

/** Decayed deviation and entitlement of a leaf queue, GPU-seconds. */
export interface QueueDebt {
  readonly key: QueueKey;
  readonly team: string;
  readonly deviation: Decayed;
  readonly entitled: Decayed;
}

/** Decayed time of a quota domain since it was first seen: all time, covered time, and capacity while covered. */
export interface DomainDebt {
  readonly domain: string;
  readonly elapsed: Decayed;
  readonly covered: Decayed;
  /** Decayed capacity in GPU-seconds. */
  readonly capacity: Decayed;
}

/** All decayed sums as of one moment. */
export interface DebtState {
  /** The debts of queues by `queueId`. */
  readonly queues: ReadonlyMap<string, QueueDebt>;
  readonly domains: ReadonlyMap<string, DomainDebt>;
}

/** A ratio is shown only from these parts upwards: covered time of all time, and entitlement of the domain's capacity. */
const leastCoverage = 0.9;
const leastEntitled = 0.01;

/** A queue that is gone is dropped when its debt is below this part of its domain's capacity, or below a GPU-second. */
const negligiblePart = 0.001;
const negligibleGpuSeconds = 1;
/** The most departed queues that still decay. If there are more, those with the smallest debts are dropped. */
const mostDeparted = 10_000;

/** The text that identifies a queue over time. */
export function queueId({ scheduler, kind, queue, domain }: QueueKey): string {
  return JSON.stringify([scheduler, kind, queue, domain]);
}

/** The effect of passing time on decayed sums; both arrays are parallel to the half-lives. */
export interface Passing {
  readonly factors: Decayed;
  /** The decayed integral of 1 over that time: H / ln 2 (1 - 2^(-dt / H)). */
  readonly gains: Decayed;
}

/** The effect of `seconds` of time on the sums, by half-life. */
export function passing(halfLives: readonly number[], seconds: number): Passing {
  return {
    factors: halfLives.map((halfLife) => 2 ** (-seconds / halfLife)),
    gains: halfLives.map((halfLife) => (-halfLife / Math.LN2) * Math.expm1((-seconds * Math.LN2) / halfLife)),
  };
}

/** The debt of a queue after some time in which its deviation and entitlement had these constant values, in GPUs. */
export function laterQueue(debt: QueueDebt, { factors, gains }: Passing, deviation = 0, entitled = 0): QueueDebt {
  return {
    ...debt,
    deviation: plus(times(debt.deviation, factors), gains, deviation),
    entitled: plus(times(debt.entitled, factors), gains, entitled),
  };
}

/** The debt of a domain after some time; `capacity` is `null` where that time is not covered. */
export function laterDomain(debt: DomainDebt, { factors, gains }: Passing, capacity: number | null): DomainDebt {
  return {
    domain: debt.domain,
    elapsed: plus(times(debt.elapsed, factors), gains, 1),
    covered: plus(times(debt.covered, factors), gains, capacity === null ? 0 : 1),
    capacity: plus(times(debt.capacity, factors), gains, capacity ?? 0),
  };
}

/** The debts after a step, and what the step changed. */
export interface AccruedDebts extends DebtState {
  /** Queues whose sums did more than decay. */
  readonly moved: readonly string[];
  readonly dropped: readonly string[];
  readonly droppedDomains: readonly string[];
}

/** Adds a covered step with the values of the earlier moment. A step that is not covered only lets time pass. */
export function accrueDebts(
  state: DebtState,
  halfLives: readonly number[],
  before: Analysis,
  seconds: number,
  isCovered: boolean,
): AccruedDebts {
  const { queueing } = before.snapshot;
  const pass = passing(halfLives, seconds);
  const none = halfLives.map(() => 0);
  const domains = laterDomains(state.domains, before, pass, isCovered);
  const queues = new Map<string, QueueDebt>();
  for (const [id, debt] of state.queues) {
    queues.set(id, laterQueue(debt, pass));
  }
  const moved = new Set<string>();
  const present = new Set<string>();
  for (const [i, view] of queueing.queues.entries()) {
    const domain = queueing.domains[view.domain];
    if (!view.isLeaf || domain === undefined) continue;
    const key = keyOf(view, domain);
    const id = queueId(key);
    present.add(id);
    const fairness = before.fairness.queues[i] ?? null;
    if (!isCovered || fairness === null || !Number.isFinite(fairness.deviation)) continue;
    if (fairness.deviation === 0 && fairness.entitled === 0) continue;
    const debt = state.queues.get(id) ?? { key, deviation: none, entitled: none };
    const team = view.team ?? "";
    queues.set(id, laterQueue({ ...debt, team }, pass, fairness.deviation, fairness.entitled));
    moved.add(id);
  }
  const dropped = negligible(queues, domains, present);
  for (const id of dropped) queues.delete(id);
  const used = new Set([...queueing.domains.map(({ name }) => name), ...[...queues.values()].map((q) => q.key.domain)]);
  const droppedDomains = [...domains.keys()].filter((name) => !used.has(name));
  for (const name of droppedDomains) domains.delete(name);
  return { queues, domains, moved: [...moved], dropped, droppedDomains };
}

function laterDomains(
  before: ReadonlyMap<string, DomainDebt>,
  { snapshot, fairness }: Analysis,
  pass: Passing,
  isCovered: boolean,
): Map<string, DomainDebt> {
  const none = pass.gains.map(() => 0);
  const later = new Map<string, DomainDebt>();
  for (const [name, debt] of before) later.set(name, laterDomain(debt, pass, null));
  for (const [i, { name: domain, capacity }] of snapshot.queueing.domains.entries()) {
    const debt = before.get(domain) ?? { domain, elapsed: none, covered: none, capacity: none };
    const isKnown = isCovered && (fairness.domains[i] ?? null) !== null;
    later.set(domain, laterDomain(debt, pass, isKnown ? capacity : null));
  }
  return later;
}

/** The ids of departed queues whose debt is too small to show. */
function negligible(
  queues: ReadonlyMap<string, QueueDebt>,
  domains: ReadonlyMap<string, DomainDebt>,
  present: ReadonlySet<string>,
): readonly string[] {
  const departed = [...queues].filter(([id]) => !present.has(id));
  const isSmall = ([, debt]: readonly [string, QueueDebt]): boolean => isNegligible(debt, domains.get(debt.key.domain));
  const rest = departed.filter((entry) => !isSmall(entry));
  const beyond = rest.sort(([, a], [, b]) => largest(a) - largest(b)).slice(0, Math.max(0, rest.length - mostDeparted));
  return [...departed.filter(isSmall), ...beyond].map(([id]) => id);
}

function isNegligible({ deviation, entitled }: QueueDebt, domain: DomainDebt | undefined): boolean {
  const small = (value: number, part: number, i: number): boolean =>
    Math.abs(value) <= Math.max(negligibleGpuSeconds, part * (domain?.capacity[i] ?? 0));
  return (
    deviation.every((value, i) => small(value, negligiblePart, i)) &&
    entitled.every((value, i) => small(value, leastEntitled, i))
  );
}

const largest = ({ deviation }: QueueDebt): number => Math.max(...deviation.map(Math.abs));

/** The debts as they are shown: one for each queue and half-life. */
export function shownDebts(state: DebtState, halfLives: readonly number[]): readonly FairnessDebt[] {
  const shown: FairnessDebt[] = [];
  for (const debt of state.queues.values()) {
    const { scheduler, kind } = debt.key;
    const queue = labelValue(debt.key.queue);
    const domain = labelValue(debt.key.domain);
    const team = labelValue(debt.team);
    const time = state.domains.get(debt.key.domain);
    for (const [i, halfLifeSeconds] of halfLives.entries()) {
      const gpuSeconds = debt.deviation[i] ?? 0;
      const ratio = ratioOf(debt, time, halfLifeSeconds, i);
      shown.push({ scheduler, kind, queue, domain, team, halfLifeSeconds, gpuSeconds, ratio });
    }
  }
  return shown;
}

/** The value of `FairnessDebt.ratio`. */
function ratioOf(debt: QueueDebt, domain: DomainDebt | undefined, halfLife: number, i: number): number | null {
  const [elapsed = 0, covered = 0, capacity = 0] = [domain?.elapsed[i], domain?.covered[i], domain?.capacity[i]];
  const entitled = debt.entitled[i] ?? 0;
  // All time before a moment weighs H / ln 2 together, and the last half-life weighs one half of that.
  if (!(elapsed >= (0.5 - 1e-9) * (halfLife / Math.LN2))) return null;
  if (!(covered >= leastCoverage * elapsed)) return null;
  return entitled > 0 && entitled >= leastEntitled * capacity ? (debt.deviation[i] ?? 0) / entitled : null;
}

function keyOf({ scheduler, kind, name }: QueueView, domain: QuotaDomain): QueueKey {
  return { scheduler, kind, queue: name, domain: domain.name };
}

const times = (values: Decayed, factors: Decayed): Decayed => values.map((value, i) => value * (factors[i] ?? 0));

const plus = (values: Decayed, gains: Decayed, amount: number): Decayed =>
  values.map((value, i) => value + amount * (gains[i] ?? 0));
