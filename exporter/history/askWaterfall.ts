import type { History, TotalsQuestion, TotalsResult } from "./history.ts";
import { type Waterfall, waterfallDimensions, waterfallOf } from "./waterfall.ts";

/** A waterfall of a window, and how much of the window it covers. */
export interface WaterfallAnswer extends Waterfall {
  /** Seconds since the epoch; what the history can know of the window that was asked for. */
  readonly from: number;
  readonly to: number;
  readonly coveredSeconds: number;
  /** Where it comes from. */
  readonly source: Pick<History, "name" | "kind">;
}

/** A waterfall, or why there is none. */
export type WaterfallResult =
  | { readonly ok: true; readonly answer: WaterfallAnswer }
  | Extract<TotalsResult, { readonly ok: false }>;

/** Asks a history for the waterfall of a window, of all GPUs or of some. */
export async function askWaterfall(
  history: History,
  { from, to, where }: Omit<TotalsQuestion, "by">,
): Promise<WaterfallResult> {
  const asked = await history.totals({ from, to, where, by: waterfallDimensions });
  if (!asked.ok) return asked;
  const { rows, ...window } = asked.answer;
  const isUnpricedKnown = rows.every(({ unpricedGpuSeconds }) => unpricedGpuSeconds !== null);
  const whole = isUnpricedKnown ? null : await history.totals({ from, to, where, by: [] });
  const unpriced = whole?.ok === true ? (whole.answer.rows[0]?.unpricedGpuSeconds ?? null) : null;
  const source = { name: history.name, kind: history.kind };
  return { ok: true, answer: { ...waterfallOf(rows, unpriced), ...window, source } };
}
