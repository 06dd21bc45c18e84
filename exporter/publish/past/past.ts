import type { LedgerCoverage } from "../../accounts/ledger/accountsQuery.ts";

/** One series of a chart. `look` says what it shows, and so whether it is filled from the bottom up or a line. */
export interface PastSeries {
  readonly name: string;
  readonly look: "allocated" | "active" | "entitled" | "waiting";
  /** Mean GPUs (or hours) of each step; `null`: not known. */
  readonly values: readonly (number | null)[];
}

/** A window of the past in steps of equal length. */
export interface PastChart {
  readonly title: string;
  /** When the first step begins, seconds since the epoch. */
  readonly from: number;
  readonly stepSeconds: number;
  readonly unit: "GPUs" | "GPU-hours" | "hours";
  readonly series: readonly PastSeries[];
}

/** The last day and week of one name: charts, or why there are none and what to do about it. */
export type Past =
  | { readonly isKnown: true; readonly charts: readonly PastChart[] }
  | { readonly isKnown: false; readonly why: string; readonly nextStep: string };

/** The steps of a window: when the first one begins, seconds since the epoch, how long each is, and how many there are. */
export interface Steps {
  readonly from: number;
  readonly seconds: number;
  readonly count: number;
}

/** How much of each step is counted, seconds; `null`: not known, because there are more gaps than are listed. */
export function coveredSteps(
  { from, seconds, count }: Steps,
  { gaps, gapsLeftOut }: Pick<LedgerCoverage, "gaps" | "gapsLeftOut">,
): readonly (number | null)[] {
  const known = gapsLeftOut === 0 ? Number.POSITIVE_INFINITY : (gaps.at(-1)?.to ?? from);
  return Array.from({ length: count }, (_, i) => {
    const [begin, end] = [from + i * seconds, from + (i + 1) * seconds];
    if (end > known) return null;
    const lost = gaps.reduce((sum, gap) => sum + Math.max(0, Math.min(end, gap.to) - Math.max(begin, gap.from)), 0);
    return Math.max(0, seconds - lost);
  });
}

/** If less than this part of a step is covered, its mean says little, and is not shown. */
const leastCovered = 0.1;

/** The mean of an amount that was counted over a step: unknown where too little of the step is covered. */
export function meanOf(amountSeconds: number, coveredSeconds: number | null, stepSeconds: number): number | null {
  if (coveredSeconds === null || coveredSeconds < leastCovered * stepSeconds) return null;
  return amountSeconds / coveredSeconds;
}
