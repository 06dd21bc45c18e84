import type { LevelFit } from "../../analysis/topology/topology.ts";
import { gpus, plainText } from "./columns.ts";

/**
 * Writes what fits into the domains of a level: `in one rack: 9 gangs of 8 GPUs, 4 of 16; 3 of 33 domains wholly free; 12.0 GPUs
 * free that no gang can use`. Sizes that no empty domain could take are left out.
 */
export function levelText({ level, domains, freeDomains, gangs, unusableGpus, nodesOutside }: LevelFit): string {
  const possible = gangs.filter(({ possibleSlots }) => possibleSlots > 0);
  const sizes = possible.map(({ gpus: size, slots }, index) =>
    index === 0 ? `${slots} gangs of ${size} GPUs` : `${slots} of ${size}`,
  );
  const fits = sizes.length === 0 ? "no gang would fit, even if all were free" : sizes.join(", ");
  const parts = [`in one ${plainText(level, 60)}: ${fits}`, `${freeDomains} of ${domains.length} wholly free`];
  if (unusableGpus !== null && unusableGpus > 1e-6) parts.push(`expected unusable ${gpus(unusableGpus)}`);
  if (nodesOutside > 0) parts.push(`${nodesOutside} ${nodesOutside === 1 ? "node" : "nodes"} without the label`);
  return parts.join("; ");
}
