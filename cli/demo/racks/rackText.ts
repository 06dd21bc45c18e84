import { duration, gpus, left, plainText, right, tableLines } from "../../../exporter/publish/terminal/columns.ts";
import { fold, type Line, layOut, type Terminal } from "../../../exporter/publish/terminal/layout.ts";
import { type BlockedGang, type RackView, shownSizes } from "./rackSlots.ts";

const longestText = 400;

/** The slots of all racks, and the gangs that wait for one with what is advised, for a terminal. */
export const rackText = (view: RackView, terminal: Terminal): string => layOut(rackLines(view), terminal);

function rackLines({ level, racks, blocked }: RackView): readonly Line[] {
  const free = racks.reduce((sum, { freeGpus }) => sum + freeGpus, 0);
  const columns = [
    left("rack"),
    ...["nodes", "whole free", "free GPUs", ...shownSizes.map((size) => `slots of ${size}`)].map(right),
  ];
  const rows = racks.map(({ rack, nodes, wholeFreeNodes, freeGpus, slots }) => [
    plainText(rack, 24),
    `${nodes}`,
    `${wholeFreeNodes}`,
    gpus(freeGpus),
    ...slots.map((count) => `${count}`),
  ]);
  return [
    ...fold(`RACKS by ${plainText(level)}: ${gpus(free)} GPUs are free`, "  "),
    ...tableLines(columns, rows),
    ...blocked.flatMap(blockedLines),
  ];
}

function blockedLines({ name, gpus: amount, ageSeconds, level, advice }: BlockedGang): readonly Line[] {
  const asked = amount === null ? "" : ` (${gpus(amount)} GPUs)`;
  const age = ageSeconds === null ? "" : ` for ${duration(ageSeconds)}`;
  const where = level === null ? "the topology" : `one domain of ${plainText(level)}`;
  return [
    ...fold(`  ${plainText(name)}${asked} waits${age}, cause topology: it has to be in ${where}`, "    "),
    ...(advice.length === 0 ? ["    -> nothing is advised"] : []),
    ...advice.flatMap((title) => fold(`    -> ${plainText(title, longestText)}`, "       ")),
  ];
}
