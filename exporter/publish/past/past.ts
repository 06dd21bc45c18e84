/** What one line of a chart shows: `filled` from the bottom up, or a `line`. */
export interface PastSeries {
  readonly name: string;
  readonly look: "allocated" | "active" | "entitled" | "waiting";
  /** Mean GPUs (or hours) of each step; `null`: not known. */
  readonly values: readonly (number | null)[];
}

/** A window of the past in steps of equal length. */
export interface PastChart {
  readonly title: string;
  /** Begin of the first step, seconds since the epoch. */
  readonly from: number;
  readonly stepSeconds: number;
  readonly unit: "GPUs" | "GPU-hours" | "hours";
  readonly series: readonly PastSeries[];
}

/** The last day and week of one name: charts, or why there are none and what to do about it. */
export type Past =
  | { readonly isKnown: true; readonly charts: readonly PastChart[] }
  | { readonly isKnown: false; readonly why: string; readonly nextStep: string };
