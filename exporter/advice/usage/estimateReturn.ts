import type { WorkHabit } from "../../model/adviceAct.ts";
import type { IdleSpell } from "./habit.ts";

/** Published numbers about idle work: how much of the work that had been idle for some time worked again, and how soon. */
export interface PublishedReturn {
  readonly idleMinutes: number;
  /** The part of the work that worked again, 0..1. */
  readonly cameBack: number;
  /** Median of the minutes until it worked again. */
  readonly medianMinutes: number;
}

/** Once there are this many spells of the work itself, they count as much as the other knowledge. */
const ownWeight = 4;
/** Once there are this many spells of the whole cluster, they count as much as the published numbers. */
const clusterWeight = 20;

/** A probability and an expected duration. */
interface Expected {
  readonly probability: number;
  readonly hours: number;
}

/**
 * Estimates whether work that has been idle for `idleSeconds` works again within the horizon, and for how much longer it stays
 * idle within it. The estimate counts the work's own spells that lasted for at least as long; each of them ended in work, or
 * because the pods were gone. The spells of the whole cluster count as `ownWeight` such spells, and the published numbers count
 * as `clusterWeight` spells among those. Spells that still last are not counted: the estimate errs on the side of work that
 * comes back. Pure.
 */
export function estimateReturn(
  idleSeconds: number,
  horizonHours: number,
  own: readonly IdleSpell[],
  cluster: readonly IdleSpell[],
  published: readonly PublishedReturn[],
): WorkHabit {
  const asLong = (spells: readonly IdleSpell[]) => spells.filter(({ seconds }) => seconds > idleSeconds);
  const [ownSpells, clusterSpells] = [asLong(own), asLong(cluster)];
  const begun = publishedAt(published, idleSeconds / 60, horizonHours);
  const prior = mix(clusterSpells, idleSeconds, horizonHours, begun, clusterWeight);
  const { probability, hours } = mix(ownSpells, idleSeconds, horizonHours, prior, ownWeight);
  const returned = ownSpells.filter((spell) => spell.returned);
  return {
    spells: ownSpells.length,
    returns: returned.length,
    medianReturnSeconds: median(returned.map(({ seconds }) => seconds - idleSeconds)),
    returnProbability: probability,
    expectedIdleHours: hours,
    basis: ownSpells.length >= ownWeight ? "own" : clusterSpells.length >= clusterWeight ? "cluster" : "published",
  };
}

function mix(
  spells: readonly IdleSpell[],
  idleSeconds: number,
  horizonHours: number,
  prior: Expected,
  weight: number,
): Expected {
  let [returns, hours] = [prior.probability * weight, prior.hours * weight];
  for (const { seconds, returned } of spells) {
    const left = (seconds - idleSeconds) / 3600;
    if (returned && left <= horizonHours) returns += 1;
    hours += Math.min(left, horizonHours);
  }
  const count = spells.length + weight;
  return { probability: returns / count, hours: hours / count };
}

/**
 * The published numbers for this length of idle time: those of the longest listed time that is not longer. Work that comes
 * back is assumed to do so after a memoryless (exponential) time with that median; other work stays idle for the whole
 * horizon.
 */
function publishedAt(published: readonly PublishedReturn[], idleMinutes: number, horizonHours: number): Expected {
  const sorted = published.toSorted((a, b) => a.idleMinutes - b.idleMinutes);
  const found = sorted.findLast((one) => one.idleMinutes <= idleMinutes) ?? sorted[0];
  // Nothing is known: it is as likely as not that work comes back, at any time.
  if (found === undefined) return { probability: 0.5, hours: horizonHours / 2 };
  const mean = found.medianMinutes / 60 / Math.LN2;
  const within = mean <= 0 ? 1 : 1 - Math.exp(-horizonHours / mean);
  // This is E[min(T, horizon)] of an exponential T.
  const hours = mean * within;
  return {
    probability: found.cameBack * within,
    hours: found.cameBack * hours + (1 - found.cameBack) * horizonHours,
  };
}

function median(values: readonly number[]): number | null {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted[Math.floor((sorted.length - 1) / 2)];
  if (middle === undefined) return null;
  return sorted.length % 2 === 1 ? middle : (middle + (sorted[sorted.length / 2] ?? middle)) / 2;
}
