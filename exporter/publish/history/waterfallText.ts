import type { WaterfallAmount, WaterfallAnswer } from "../../history/waterfall.ts";
import { dropName, levelNames } from "../stateNames.ts";
import { duration, left, minuteOf, plainText, right, tableLines } from "../terminal/columns.ts";
import { fold, type Line } from "../terminal/layout.ts";
import { coverageRecord } from "./records.ts";

const secondsPerHour = 3600;
const barWidth = 28;
/** The most currencies that have a column; no more fit into 100 columns. */
const shownCurrencies = 2;

/** A waterfall for a terminal of 100 columns: each level, and what is lost before the next. */
export function waterfallText(answer: WaterfallAnswer, now: number): readonly Line[] {
  const { stages } = answer;
  const capacity = stages[0]?.gpuSeconds ?? 0;
  const currencies = [...new Set(stages.flatMap(({ costs }) => Object.keys(costs)))].sort();
  const shown = currencies.slice(0, shownCurrencies);
  const columns = [
    ...["", ""].map(left),
    ...["GPU-hours", "share", ...shown.map((name) => plainText(name, 16))].map(right),
  ];
  const cells = (name: string, bar: string, amount: WaterfallAmount): readonly string[] => [
    plainText(name),
    bar,
    (amount.gpuSeconds / secondsPerHour).toFixed(1),
    share(amount.gpuSeconds, capacity),
    ...shown.map((currency) => (amount.costs[currency] ?? 0).toFixed(2)),
  ];
  const rows = stages.flatMap(({ level, drops, ...amount }) => {
    let rest = amount.gpuSeconds;
    return [
      cells(levelNames[level], bar(0, amount.gpuSeconds, capacity, "█"), amount),
      ...drops.map((drop) => {
        rest -= drop.gpuSeconds;
        return cells(
          `  - ${dropName(drop.state, drop.isAllocated)}`,
          bar(rest, rest + drop.gpuSeconds, capacity, "░"),
          drop,
        );
      }),
    ];
  });
  return [
    ...headingLines(answer, now),
    "",
    ...(capacity > 0 ? tableLines(columns, rows) : ["  Nothing is counted there."]),
    ...notes(answer, currencies.length - shown.length),
  ];
}

function headingLines({ from, to, coveredSeconds, source }: WaterfallAnswer, now: number): readonly Line[] {
  const { ratio, windowSeconds } = coverageRecord({ from, to, coveredSeconds }, now);
  return [
    ...fold(
      `Where the GPU time went, ${minuteOf(from)} to ${minuteOf(to)} (UTC), from ${plainText(source.name, 200)}`,
      "  ",
    ),
    `Covered: ${ratio >= 1 - 1e-9 ? "100" : (Math.floor(ratio * 10_000) / 100).toFixed(2)} % of the window (${duration(coveredSeconds)} of ${duration(windowSeconds)})`,
  ];
}

function notes({ stages, unpricedGpuSeconds }: WaterfallAnswer, hiddenCurrencies: number): readonly Line[] {
  const hasCosts = Object.keys(stages[0]?.costs ?? {}).length > 0;
  const hours = (unpricedGpuSeconds ?? 0) / secondsPerHour;
  const unpriced =
    unpricedGpuSeconds === null
      ? ["  How much of it has no price is not known."]
      : hasCosts && hours > 0.05
        ? [`  ${hours.toFixed(1)} GPU-hours have no price and are in no cost.`]
        : [];
  const more = hiddenCurrencies > 0 ? [`  ${hiddenCurrencies} more currencies: --output json or csv has all.`] : [];
  const lines = [...(hasCosts ? [] : ["  No price is known for any of it."]), ...(hasCosts ? unpriced : []), ...more];
  return lines.length === 0 || (stages[0]?.gpuSeconds ?? 0) === 0 ? [] : ["", ...lines];
}

/** The cells from one amount to another in a bar that shows all of the capacity. An amount above 0 has at least one cell. */
function bar(from: number, to: number, all: number, cell: string): string {
  if (!(all > 0) || to - from <= 0) return "";
  const begin = Math.min(barWidth - 1, Math.round((Math.max(0, from) / all) * barWidth));
  const end = Math.max(begin + 1, Math.round((to / all) * barWidth));
  return `${" ".repeat(begin)}${cell.repeat(Math.min(barWidth, end) - begin)}`;
}

function share(amount: number, all: number): string {
  return all > 0 ? `${((100 * amount) / all).toFixed(1)} %` : "–";
}
