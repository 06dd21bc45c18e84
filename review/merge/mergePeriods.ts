import { sumCosts } from "../build/sumCosts.ts";
import type { Period } from "../document/head.ts";
import type { Review } from "../document/review.ts";
import type { Terms } from "../document/tiles.ts";
import { sumOrUnknown } from "./sumOrUnknown.ts";

/**
 * The periods of several clusters, added up by when they begin. A cluster that does not know a period adds nothing to it, and
 * no coverage.
 */
export function mergePeriods(reviews: readonly Review[]): Period[] {
  const begins = [...new Set(reviews.flatMap(({ periods }) => periods.map(({ from }) => from)))].sort();
  const clusters = reviews.reduce((sum, review) => sum + review.clusters.length, 0);
  return begins.flatMap((begin) => {
    const found = reviews.flatMap((review) => {
      const period = periodAt(review, begin);
      return period === undefined ? [] : [{ period, clusters: review.clusters.length }];
    });
    const [any] = found;
    const covered = found.reduce((sum, one) => sum + (one.period.coverage ?? 0) * one.clusters, 0) / clusters;
    return any === undefined ? [] : [merged(any.period, found.map(({ period }) => period).filter(isKnown), covered)];
  });
}

const periodAt = ({ periods }: Review, begin: string): Period | undefined => periods.find(({ from }) => from === begin);
const isKnown = ({ coverage }: Period): boolean => coverage !== null;

/**
 * Whether each cluster of the reviews knows a period: sums of fewer clusters cannot be compared with sums of all. A review that
 * was merged itself shows no value before where one of its clusters had none.
 */
export function isKnownOfAll(reviews: readonly Review[], { from, label }: Period): boolean {
  return reviews.every((review) => {
    const period = periodAt(review, from);
    if (period === undefined || !isKnown(period)) return false;
    const shown = review.tiles[0]?.before.find((before) => before.label === label);
    return shown === undefined || shown.value !== null;
  });
}

function merged({ label, from, to }: Period, known: readonly Period[], covered: number): Period {
  const sum = (of: (period: Period) => number): number => known.reduce((all, period) => all + of(period), 0);
  return {
    label,
    from,
    to,
    coverage: known.length === 0 ? null : Math.min(1, covered),
    coveredSeconds: sum(({ coveredSeconds }) => coveredSeconds),
    capacity: sum(({ capacity }) => capacity),
    allocated: sum(({ allocated }) => allocated),
    active: sum(({ active }) => active),
    judged: sum(({ judged }) => judged),
    pending: sumOrUnknown(known.map(({ pending }) => pending)),
    usable: sum(({ usable }) => usable),
    costs: sumCosts(known.map(({ costs }) => costs)),
    notAllocatedCosts: sumCosts(known.map(({ notAllocatedCosts }) => notAllocatedCosts)),
  };
}

/** The terms of several clusters: GPUs are added up, and the waiting work of each cluster could have run only there. */
export function mergeTerms(reviews: readonly Review[]): Terms {
  const terms = reviews.map((review) => review.terms);
  const lasts = reviews.map(({ periods }) => periods.at(-1));
  const judged = lasts.reduce((sum, period) => sum + (period?.judged ?? 0), 0);
  const active = lasts.reduce((sum, period) => sum + (period?.active ?? 0), 0);
  const allocated = lasts.reduce((sum, period) => sum + (period?.allocated ?? 0), 0);
  const couldBeAllocated = sumOrUnknown(
    reviews.map(({ terms: { schedulingEfficiency: ratio } }, i) => {
      const own = lasts[i]?.allocated ?? 0;
      if (ratio === null) return own > 0 ? null : 0;
      return ratio > 0 ? own / ratio : 0;
    }),
  );
  return {
    totalGpus: sumOrUnknown(terms.map(({ totalGpus }) => totalGpus)),
    effectiveGpus: sumOrUnknown(terms.map(({ effectiveGpus }) => effectiveGpus)),
    wastedGpus: sumOrUnknown(terms.map(({ wastedGpus }) => wastedGpus)),
    utilization: judged > 0 ? Math.min(1, active / judged) : null,
    schedulingEfficiency:
      couldBeAllocated === null || couldBeAllocated <= 0 ? null : Math.min(1, allocated / couldBeAllocated),
  };
}
