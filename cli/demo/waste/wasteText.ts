import { gpus, plainText } from "../../../exporter/publish/terminal/columns.ts";
import { money } from "../../../exporter/publish/terminal/costText.ts";
import { fold, type Line, layOut, type Terminal } from "../../../exporter/publish/terminal/layout.ts";
import type { WastedGpus, WastedWork } from "./wastedWork.ts";

const longestText = 400;

/** Allocated GPUs that are wasted: whose they are, what they cost, why they are so, and what is advised, for a terminal. */
export const wasteText = (work: WastedWork, terminal: Terminal): string => layOut(wasteLines(work), terminal);

function wasteLines({ wasted, allocated }: WastedWork): readonly Line[] {
  const all = wasted.reduce((sum, one) => sum + one.gpus, 0);
  const costs = new Map<string, number>();
  for (const { costPerHour } of wasted)
    for (const [currency, cost] of costPerHour) costs.set(currency, (costs.get(currency) ?? 0) + cost);
  const hourly = `${gpus(all)} GPU-hours${costs.size === 0 ? "" : ` and ${costsText(costs)}`} an hour`;
  return [
    ...fold(`WASTED GPUS: ${gpus(all)} of ${gpus(allocated)} that are allocated, ${hourly}`, "  "),
    ...wasted.flatMap(linesOf),
  ];
}

function linesOf(one: WastedGpus): readonly Line[] {
  const { state, reasons, team, workload, costPerHour, explained, advice } = one;
  const amount = `${gpus(one.gpus)} ${one.gpus === 1 ? "GPU" : "GPUs"}`;
  const why = reasons.length === 0 ? "" : ` (${reasons.join(", ")})`;
  const cost = costPerHour.size === 0 ? "no price is known" : `${costsText(costPerHour)} an hour`;
  return [
    ...fold(`  ${state}${why}: ${amount} of ${plainText(workload)} (team ${plainText(team)}), ${cost}`, "    "),
    ...explained.flatMap((sentence) => fold(`    ${plainText(sentence, longestText)}`, "    ")),
    ...(advice.length === 0 ? ["    -> nothing is advised"] : []),
    ...advice.flatMap((title) => fold(`    -> ${plainText(title, longestText)}`, "       ")),
  ];
}

const costsText = (costs: ReadonlyMap<string, number>): string =>
  [...costs].map(([currency, cost]) => money(cost, currency)).join(" and ");
