import { createPageReader } from "../exporter/sources/dcgm/pageReader.ts";
import { createPageMaker } from "./dcgmPages.ts";
import type { Contender } from "./measure.ts";

/** Pages that `parseContender` parses in one run; their time is scaled to all nodes. */
export const pagesPerRun = 500;

/**
 * Parsing the DCGM pages of nodes with eight GPUs, in two rounds by turns: what other work is compared with. `cpuSeconds` as in
 * `Contender`, where not the whole process is to be counted.
 */
export function parseContender(cpuSeconds?: NonNullable<Contender["cpuSeconds"]>): Contender {
  const maker = createPageMaker(8);
  const pages = [0, 1].map((round) => Array.from({ length: pagesPerRun }, (_, target) => maker.page(target, round)));
  const readers = Array.from({ length: pagesPerRun }, (_, target) =>
    createPageReader({ target: `t${target}`, node: `n${target}`, origin: "exporter", splitsByHost: false }),
  );
  let round = 0;
  return {
    name: "parse",
    // One takes less than ten milliseconds, what it is compared with up to some hundred.
    iterations: 10,
    ...(cpuSeconds === undefined ? {} : { cpuSeconds }),
    run: () => {
      for (const [target, page] of (pages[round % 2] ?? []).entries()) readers[target]?.read(page, round);
      round += 1;
    },
  };
}
