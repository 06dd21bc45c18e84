import type { WaterfallAnswer } from "../../history/askWaterfall.ts";
import type { WaterfallAmount } from "../../history/waterfall.ts";
import { csvLine, csvNumberCell, csvTextCell } from "../../kernel/csvLine.ts";
import { isoTime } from "../../kernel/isoTime.ts";
import { coverageRecord } from "./coverageRecord.ts";

/** A waterfall as `fairlead waterfall --output json` and `/api/v1/waterfall` give it; described in openapi.json. */
export function waterfallRecord(answer: WaterfallAnswer, now: number) {
  return {
    from: isoTime(answer.from),
    to: isoTime(answer.to),
    source: answer.source,
    coverage: coverageRecord(answer, now),
    unpricedGpuSeconds: answer.unpricedGpuSeconds,
    stages: answer.stages.map(({ drops, ...stage }) => ({
      ...stage,
      drops: drops.map(({ isAllocated, state, ...amount }) => ({ state, allocated: isAllocated, ...amount })),
    })),
  };
}

/** The same as RFC 4180 text: a line for each level and each drop, a column for each currency. */
export function waterfallCsv({ stages }: WaterfallAnswer): string {
  const currencies = [...new Set(stages.flatMap(({ costs }) => Object.keys(costs)))].sort();
  const heading = [
    "level",
    "drop",
    "allocated",
    "gpuSeconds",
    "unpricedGpuSeconds",
    ...currencies.map((name) => `cost_${name}`),
  ];
  const lines = stages.flatMap((stage) => [
    [stage.level, "", "", ...amounts(stage, currencies)],
    ...stage.drops.map((drop) => [stage.level, drop.state, `${drop.isAllocated}`, ...amounts(drop, currencies)]),
  ]);
  const texts = [heading.map(csvTextCell), ...lines];
  return texts.map(csvLine).join("");
}

function amounts(
  { gpuSeconds, unpricedGpuSeconds, costs }: WaterfallAmount,
  currencies: readonly string[],
): readonly string[] {
  return [
    csvNumberCell(gpuSeconds),
    csvNumberCell(unpricedGpuSeconds),
    ...currencies.map((currency) => csvNumberCell(costs[currency] ?? 0)),
  ];
}
