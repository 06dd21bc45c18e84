import type { Review } from "../document/review.ts";
import type { Note } from "../document/tiles.ts";

const lowCoverage = 0.95;
const largeShare = 0.1;
const smallShare = 0.01;

/** What a reader should know before trusting the numbers of one cluster's review. */
export function notesOf(
  review: Pick<
    Review,
    "coverage" | "unpricedGpuHours" | "estimatedGpuHours" | "unobservedGpuHours" | "periods" | "prices"
  >,
  cluster: string,
): Note[] {
  const { coverage, unpricedGpuHours, estimatedGpuHours, unobservedGpuHours, periods, prices } = review;
  const last = periods.at(-1);
  const [capacity, allocated] = [last?.capacity ?? 0, last?.allocated ?? 0];
  const unknownBefore = periods.slice(0, -1).filter((period) => period.coverage === null).length;
  const currencies = new Set(prices.map(({ currency }) => currency));
  const texts = [
    coverage.ratio < lowCoverage && coverage.ratio > 0
      ? `Only ${percent(coverage.ratio)} of the window is covered: amounts are of that part, and too small for the whole.`
      : null,
    unknownBefore > 0 ? `${unknownBefore} of the ${periods.length - 1} windows before are not known.` : null,
    (unpricedGpuHours ?? 0) > smallShare * capacity
      ? `${percent((unpricedGpuHours ?? 0) / capacity)} of the GPU time has no price and is in no cost.`
      : null,
    unpricedGpuHours === null ? "How much of the GPU time has no price is not known." : null,
    unobservedGpuHours > largeShare * allocated
      ? `${percent(unobservedGpuHours / allocated)} of the allocated GPU time was not observed: whether it was used is not known.`
      : null,
    (estimatedGpuHours ?? 0) > largeShare * allocated
      ? `Of ${percent((estimatedGpuHours ?? 0) / allocated)} of the allocated GPU time, the device or the split of a shared GPU is estimated.`
      : null,
    currencies.size > 1 ? `Prices are in ${[...currencies].sort().join(", ")}: these are never added up.` : null,
  ];
  return texts.filter((text) => text !== null).map((text) => ({ cluster, text }));
}

const percent = (ratio: number): string => `${Math.round(100 * Math.min(1, ratio))} %`;
