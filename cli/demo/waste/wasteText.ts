import { gpus, plainText } from "../../../exporter/publish/terminal/columns.ts";
import { money } from "../../../exporter/publish/terminal/costText.ts";
import { fold, type Line } from "../../../exporter/publish/terminal/layout.ts";
import type { WastedGpus } from "./wastedWork.ts";

const longestText = 400;

/** Allocated GPUs that are wasted: whose they are, what they cost, why they are so, and what is advised, for a terminal. */
export function wasteLines(wasted: readonly WastedGpus[], allocated: number): readonly Line[] {
  const all = wasted.reduce((sum, one) => sum + one.gpus, 0);
  return [
    `WASTED GPUS (${gpus(all)} of ${gpus(allocated)} allocated)`,
    ...(wasted.length === 0 ? ["  none"] : wasted.flatMap(linesOf)),
  ];
}

function linesOf(one: WastedGpus): readonly Line[] {
  const { state, team, namespace, name, nodes, devices, reasons, advice } = one;
  const where = `on ${nodes.join(", ")}`;
  const which = devices.length === 1 && one.gpus <= 1 ? ` (${devices[0]})` : "";
  return [
    ...fold(
      `  ${state}: ${gpus(one.gpus)} GPUs of ${plainText(`${namespace}/${name}`)} (team ${plainText(team)}) ${where}${which}, ${costsText(one)} an hour`,
      "    ",
    ),
    ...reasons.flatMap((reason) => fold(`    ${plainText(reason, longestText)}`, "    ")),
    ...(advice.length === 0 ? ["    -> nothing is advised"] : []),
    ...advice.flatMap(({ title }) => fold(`    -> ${plainText(title, longestText)}`, "       ")),
  ];
}

/** `8.0 GPU-hours and $ 55.04`. */
const costsText = ({ gpus: amount, costPerHour }: WastedGpus): string =>
  [
    `${gpus(amount)} GPU-hours`,
    ...(costPerHour.size === 0 ? ["an unknown cost"] : []),
    ...[...costPerHour].map(([currency, cost]) => money(cost, currency)),
  ].join(" and ");
