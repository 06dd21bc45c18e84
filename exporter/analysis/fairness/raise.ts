import { gpuTolerance } from "../../model/gpuTolerance.ts";
import type { LevelNetwork } from "./levelNetwork.ts";
import { sumOf, waterFill } from "./waterFill.ts";

/** What one queue has and can still use in one step of a level. */
export interface Claim {
  readonly entity: number;
  readonly sure: number;
  readonly headroom: number;
  readonly weight: number;
  readonly base: number;
}

/** Claims that share one amount. */
export interface Contest {
  readonly amount: number;
  readonly claims: readonly Claim[];
}

const unboundLevel = Number.POSITIVE_INFINITY;

/**
 * Raises claims together, each in proportion to its weight, as far as their amounts and the network allow; `got` is what every
 * queue has (by entity), before and after. Claims that are in each other's way stop at the same level, and the rest goes on.
 * Returns the level at which each contest used up its amount; infinite if its claims were met.
 */
export function raise(
  network: LevelNetwork | null,
  contests: readonly Contest[],
  got: Float64Array,
): readonly number[] {
  let active = contests.map(({ claims }) =>
    claims.filter(({ headroom, weight }) => headroom > gpuTolerance && weight > 0),
  );
  const stopped = contests.map(() => unboundLevel);
  const left = contests.map(
    ({ amount, claims }) => amount - claims.reduce((sum, { entity }) => sum + (got[entity] ?? 0), 0),
  );
  while (active.some((claims) => claims.length > 0)) {
    const ideals = active.map((claims, n) => idealOf(claims, left[n] ?? 0));
    const most = ideals.flatMap(
      ({ shares }, n) =>
        active[n]?.map(({ entity, sure, weight, base }, k) => ({
          entity,
          sure,
          headroom: shares[k] ?? 0,
          weight,
          base,
        })) ?? [],
    );
    const stop = network === null ? null : firstStop(network, most, got);
    for (const [n, { level }] of ideals.entries()) stopped[n] = Math.min(stopped[n] ?? level, level);
    const level = stop?.level ?? unboundLevel;
    for (const claim of most)
      if (stop === null || stop.entities.has(claim.entity)) got[claim.entity] = claim.sure + shareAt(claim, level);
    if (stop === null) break;
    active = active.map((claims, n) =>
      claims.filter(({ entity, sure }) => {
        if (!stop.entities.has(entity)) return true;
        left[n] = (left[n] ?? 0) - ((got[entity] ?? 0) - sure);
        return false;
      }),
    );
  }
  return stopped;
}

function idealOf(claims: readonly Claim[], amount: number): ReturnType<typeof waterFill> {
  const column = () => new Float64Array(claims.length);
  const [headrooms, weights, bases] = [column(), column(), column()];
  for (let n = 0; n < claims.length; n++) {
    const { headroom = 0, weight = 0, base = 0 } = claims[n] ?? {};
    headrooms[n] = headroom;
    weights[n] = weight;
    bases[n] = base;
  }
  return waterFill(Math.max(0, amount), headrooms, weights, bases);
}

const shareAt = ({ headroom, weight, base }: Claim, level: number): number =>
  level === unboundLevel ? headroom : Math.min(headroom, Math.max(0, level * weight - base));

/**
 * The level at which claims that rise together are first stopped, and which are; `null`: never. Newton's method over the
 * network's cuts.
 */
function firstStop(
  network: LevelNetwork,
  claims: readonly Claim[],
  got: Float64Array,
): { readonly level: number; readonly entities: ReadonlySet<number> } | null {
  let level = unboundLevel;
  let stop: { readonly level: number; readonly entities: ReadonlySet<number> } | null = null;
  while (true) {
    const totals = got.slice();
    for (const claim of claims) totals[claim.entity] = claim.sure + shareAt(claim, level);
    const bottleneck = network.carry(totals);
    if (bottleneck === null) return stop;
    const inWay = claims.filter(({ entity }) => bottleneck.entities.has(entity));
    const asked = sumOf(inWay.map((claim) => shareAt(claim, level)));
    const next = idealOf(inWay, asked - bottleneck.missing).level;
    // Only rounding is left, so none of them can rise any more.
    const isSettled = next === unboundLevel || next >= level || inWay.length === 0;
    if (isSettled) return stop;
    level = next;
    stop = { level, entities: new Set(inWay.map(({ entity }) => entity)) };
  }
}

/**
 * Claims that have no parent to share with, raised together in proportion to their weights: what each gets on top of what it is
 * sure of.
 */
export function raiseTogether(
  network: LevelNetwork | null,
  claims: readonly Omit<Claim, "base">[],
  amount: number,
): ReadonlyMap<number, number> {
  const got = new Float64Array(Math.max(0, ...claims.map(({ entity }) => entity + 1)));
  for (const { entity, sure } of claims) got[entity] = sure;
  const all = amount + sumOf(claims.map(({ sure }) => sure));
  raise(network, [{ amount: all, claims: claims.map((claim) => ({ ...claim, base: 0 })) }], got);
  return new Map(claims.map(({ entity, sure }) => [entity, (got[entity] ?? sure) - sure] as const));
}
