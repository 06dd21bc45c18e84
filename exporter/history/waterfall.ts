import { type GpuState, gpuStates } from "../model/gpuStates.ts";
import type { History, TotalsQuestion, TotalsResult, TotalsRow } from "./history.ts";
import { sortedRecord } from "./totalsSum.ts";

/** The levels of a waterfall, from all GPU time down to what was used. */
export const waterfallLevels = ["capacity", "ready", "allocated", "started", "active"] as const;

export type WaterfallLevel = (typeof waterfallLevels)[number];

/** An amount of GPU time, and what it cost. */
export interface WaterfallAmount {
  readonly gpuSeconds: number;
  /** Cost by currency; time without a price is in none. */
  readonly costs: Readonly<Record<string, number>>;
  /** The part of `gpuSeconds` that had no price; `null` where that is known only for the whole, or not at all. */
  readonly unpricedGpuSeconds: number | null;
}

/** The GPU time that is lost between a level and the next. */
interface WaterfallDrop extends WaterfallAmount {
  readonly state: GpuState;
  /** Whether a pod held the GPUs: GPUs can be unavailable both under a pod and free. */
  readonly isAllocated: boolean;
}

/** A level, and what the next one lacks of it: the drops and the next level add up to this level. */
export interface WaterfallStage extends WaterfallAmount {
  readonly level: WaterfallLevel;
  readonly drops: readonly WaterfallDrop[];
}

/** The steps from all GPU time of a window to the active GPU time. */
interface Waterfall {
  readonly stages: readonly WaterfallStage[];
  /** The part of all GPU time without a price; `null` if it is unknown. */
  readonly unpricedGpuSeconds: number | null;
}

/** The dimensions that the totals of a waterfall need, in this order. */
export const waterfallDimensions = ["state", "team"] as const;

/** The drops between each level and the next, as states and whether they are allocated. */
const dropsAfter: Readonly<
  Record<Exclude<WaterfallLevel, "active">, readonly (readonly [state: GpuState, isAllocated: boolean])[]>
> = {
  capacity: [
    ["unavailable", false],
    ["unavailable", true],
    ["cordoned", false],
  ],
  ready: [
    ["free", false],
    ["idle_node", false],
    ["unattributed", false],
  ],
  allocated: [
    ["starting", true],
    ["gang_wait", true],
  ],
  started: [
    ["unobserved", true],
    ["idle", true],
    ["stalled", true],
    ["underutilized", true],
  ],
};

/** The drops of a level; the last level has none. */
const drops = (level: WaterfallLevel) => (level === "active" ? [] : dropsAfter[level]);

/**
 * Builds the waterfall from totals by state and team. From capacity, unavailable and cordoned time leads to ready; unallocated
 * time leads to allocated; time of waiting and starting leads to started; idle, stalled, underutilized and unobserved time
 * leads to active. Each level is the sum of the next one and its drops, so all sums are balanced. `unpriced` is for all GPU
 * time, for servers that do not know it by state.
 */
export function waterfallOf(rows: readonly TotalsRow[], unpriced: number | null = null): Waterfall {
  const amounts = amountsByState(rows);
  const stages: WaterfallStage[] = [];
  let below = amounts("active", true);
  for (const level of waterfallLevels.toReversed()) {
    const lost = drops(level).map(([state, isAllocated]) => ({ state, isAllocated, ...amounts(state, isAllocated) }));
    below = lost.reduce<WaterfallAmount>((sum, drop) => added(sum, drop), below);
    stages.push({ level, ...below, drops: lost.filter(({ gpuSeconds }) => gpuSeconds > 0) });
  }
  return { stages: stages.toReversed(), unpricedGpuSeconds: below.unpricedGpuSeconds ?? unpriced };
}

/**
 * Amounts by state and whether a pod held the GPUs. Only `unavailable` can be both; every other state is always one or the
 * other.
 */
function amountsByState(rows: readonly TotalsRow[]): (state: GpuState, isAllocated: boolean) => WaterfallAmount {
  const sums = new Map<string, WaterfallAmount>();
  for (const { values, gpuSeconds, costs, unpricedGpuSeconds } of rows) {
    const [text = "", team = ""] = values;
    const state = gpuStates.find((known) => known === text);
    if (state === undefined) continue;
    const key = keyOf(state, team !== "");
    sums.set(key, added(sums.get(key) ?? none, { gpuSeconds, costs, unpricedGpuSeconds }));
  }
  return (state, isAllocated) => sums.get(keyOf(state, isAllocated)) ?? none;
}

const keyOf = (state: GpuState, isAllocated: boolean): string =>
  state === "unavailable" && isAllocated ? "unavailable, allocated" : state;

const none: WaterfallAmount = { gpuSeconds: 0, costs: {}, unpricedGpuSeconds: 0 };

function added(one: WaterfallAmount, other: WaterfallAmount): WaterfallAmount {
  const costs = new Map(Object.entries(one.costs));
  for (const [currency, cost] of Object.entries(other.costs)) costs.set(currency, (costs.get(currency) ?? 0) + cost);
  const isKnown = one.unpricedGpuSeconds !== null && other.unpricedGpuSeconds !== null;
  return {
    gpuSeconds: one.gpuSeconds + other.gpuSeconds,
    costs: sortedRecord(costs),
    unpricedGpuSeconds: isKnown ? (one.unpricedGpuSeconds ?? 0) + (other.unpricedGpuSeconds ?? 0) : null,
  };
}

/** A waterfall of a window, and how much of the window it covers. */
export interface WaterfallAnswer extends Waterfall {
  /** Start of the part of the window that the history can know about, seconds since the epoch. */
  readonly from: number;
  readonly to: number;
  readonly coveredSeconds: number;
  /** The history that the answer comes from. */
  readonly source: Pick<History, "name" | "kind">;
}

/** A waterfall, or the reason why there is none. */
type WaterfallResult =
  | { readonly ok: true; readonly answer: WaterfallAnswer }
  | Extract<TotalsResult, { readonly ok: false }>;

/** Queries a history for the waterfall of a window, of all GPUs or of some. */
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
