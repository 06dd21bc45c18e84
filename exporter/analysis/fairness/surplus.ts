import { gpuTolerance } from "../../model/gpuTolerance.ts";
import { type EntitledNode, isNeverServed } from "./claims.ts";
import type { CappedBy, SurplusStep } from "./trace.ts";
import { sumOf, waterFill } from "./waterFill.ts";

/** A sibling that may take part in a surplus. */
export interface SurplusClaim {
  readonly node: EntitledNode;
  /** What the sibling has been given already. */
  readonly sure: number;
  /** What the sibling can still use. */
  readonly headroom: number;
  /** What stops the sibling when it has no headroom left. */
  readonly stop: CappedBy;
}

/** What siblings get of a surplus. */
export interface DividedSurplus {
  /** Parallel to the claims. */
  readonly got: Float64Array;
  readonly left: number;
}

/**
 * Divides a surplus among siblings: by priority from high to low; within a priority in proportion to weights, and finally
 * equally among those of weight 0 that are served last. If `kValue` is above 0 and one of them has past use, the weights take
 * that into account; only KAI divides in this way, and it has no guarantees that are floors.
 */
export function divideSurplus(
  surplus: number,
  claims: readonly SurplusClaim[],
  kValue: number,
  record: ((step: SurplusStep) => void) | null,
): DividedSurplus {
  const got = new Float64Array(claims.length);
  let left = surplus;
  for (const [priority, level] of byPriority(claims)) {
    for (const { by, members, idle } of stepsOf(level, claims, kValue)) {
      const taking = members.map((i) => claims[i]).filter((claim) => claim !== undefined);
      const division = divideAmong(left, taking, by, kValue);
      members.forEach((i, n) => {
        got[i] = division.got[n] ?? 0;
      });
      const available = left;
      left = Math.max(0, left - sumOf(division.got));
      if (record !== null) record(describe({ priority, by, available, left, claims, members, idle, division }));
    }
  }
  return { got, left };
}

/** A step to come; `members`, and `idle` queues that take no part, are indices into the claims. */
interface PlannedStep {
  readonly by: SurplusStep["by"];
  readonly members: readonly number[];
  readonly idle: readonly number[];
}

function stepsOf(level: readonly number[], claims: readonly SurplusClaim[], kValue: number): readonly PlannedStep[] {
  const [weighted, last, never]: [number[], number[], number[]] = [[], [], []];
  let hasHistory = false;
  for (const i of level) {
    const node = claims[i]?.node;
    if (node === undefined) continue;
    (node.queue.weight > 0 ? weighted : isNeverServed(node) ? never : last).push(i);
    hasHistory ||= kValue > 0 && node.queue.weight > 0 && node.usage > 0;
  }
  const first: PlannedStep = { by: hasHistory ? "history" : "weight", members: weighted, idle: never };
  const steps: readonly PlannedStep[] = [first, { by: "last", members: last, idle: [] }];
  return steps.filter(({ members, idle }) => members.length + idle.length > 0);
}

function byPriority(
  claims: readonly SurplusClaim[],
): readonly (readonly [priority: number, members: readonly number[]])[] {
  const levels = new Map<number, number[]>();
  claims.forEach(({ node }, i) => {
    const { priority } = node.queue;
    const level = levels.get(priority);
    if (level === undefined) levels.set(priority, [i]);
    else level.push(i);
  });
  return [...levels].sort(([a], [b]) => b - a);
}

/** What one step gives, and by which weights. */
interface Division {
  readonly got: Float64Array;
  readonly weights: ArrayLike<number>;
}

function divideAmong(amount: number, claims: readonly SurplusClaim[], by: SurplusStep["by"], kValue: number): Division {
  const headrooms = claims.map(({ headroom }) => headroom);
  const weights = claims.map(({ node }) => (by === "last" ? 1 : node.queue.weight));
  const bases = claims.map(({ node, sure }) => (by === "weight" && node.queue.guaranteeIsFloor === true ? sure : 0));
  if (by !== "history") return { got: waterFill(amount, headrooms, weights, bases).shares, weights };
  const usage = claims.map(({ node }) => node.usage);
  const unsatisfied = headrooms.map((_, i) => i).filter((i) => (headrooms[i] ?? 0) > 0);
  return {
    got: divideByHistory(amount, headrooms, weights, usage, kValue),
    weights: historyWeights(unsatisfied, weights, usage, kValue),
  };
}

/**
 * KAI's weights under time-based fairshare (pkg/scheduler/plugins/proportion/resource_division, calcShareWeights): P = max(0,
 * w' + k (w' - u)), where w' is the weight over the sum of the weights of all that still want something, and u is the use. If
 * past use leaves no queue any weight, plain weights count: a surplus is never left over because of the past.
 */
function historyWeights(
  unsatisfied: readonly number[],
  weights: readonly number[],
  usage: readonly number[],
  kValue: number,
): Float64Array {
  const effective = new Float64Array(weights.length);
  const total = sumOf(unsatisfied.map((i) => weights[i] ?? 0));
  for (const i of unsatisfied) {
    const share = (weights[i] ?? 0) / total;
    effective[i] = Math.max(0, share + kValue * (share - (usage[i] ?? 0)));
  }
  if (sumOf(effective) > 0) return effective;
  for (const i of unsatisfied) effective[i] = weights[i] ?? 0;
  return effective;
}

/**
 * Divides in KAI's rounds: weights change whenever a queue is satisfied, and shares of earlier rounds stay. At most n rounds.
 */
function divideByHistory(
  amount: number,
  headrooms: readonly number[],
  weights: readonly number[],
  usage: readonly number[],
  kValue: number,
): Float64Array {
  const got = new Float64Array(headrooms.length);
  let unsatisfied = headrooms.map((_, i) => i).filter((i) => (headrooms[i] ?? 0) > 0);
  let left = amount;
  while (unsatisfied.length > 0 && left > gpuTolerance) {
    const effective = historyWeights(unsatisfied, weights, usage, kValue);
    const perWeight = left / sumOf(effective);
    const still: number[] = [];
    for (const i of unsatisfied) {
      const headroom = (headrooms[i] ?? 0) - (got[i] ?? 0);
      const share = perWeight * (effective[i] ?? 0);
      const isMet = headroom <= share + gpuTolerance;
      got[i] = isMet ? (headrooms[i] ?? 0) : (got[i] ?? 0) + share;
      left -= isMet ? headroom : share;
      if (!isMet) still.push(i);
    }
    if (still.length === unsatisfied.length) break;
    unsatisfied = still;
  }
  return got;
}

interface Described {
  readonly priority: number;
  readonly by: SurplusStep["by"];
  readonly available: number;
  readonly left: number;
  readonly claims: readonly SurplusClaim[];
  readonly members: readonly number[];
  readonly idle: readonly number[];
  readonly division: Division;
}

function describe({ priority, by, available, left, claims, members, idle, division }: Described): SurplusStep {
  const shares = [...members, ...idle].flatMap((i, n) => {
    const claim = claims[i];
    if (claim === undefined) return [];
    const { node, headroom, stop } = claim;
    const isIdle = n >= members.length;
    const got = isIdle ? 0 : (division.got[n] ?? 0);
    const effectiveWeight = isIdle ? 0 : (division.weights[n] ?? 0);
    const cappedBy: CappedBy = isIdle ? "weight" : got < headroom - gpuTolerance ? "nothing" : stop;
    const { weight, guaranteeIsFloor: isFloor = false } = node.queue;
    return [{ queue: node.index, weight, isFloor, effectiveWeight, headroom, got, cappedBy }];
  });
  return { priority, by, available, shares, left };
}
