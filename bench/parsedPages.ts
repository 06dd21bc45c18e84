import { createPageReader } from "../exporter/sources/dcgm/pageReader.ts";
import { createPageMaker } from "./dcgmPages.ts";
import type { Contender } from "./measure.ts";

/** The number of pages that `parseContender` parses in one run; the time is scaled to all nodes. */
export const pagesPerRun = 500;

/**
 * Makes a contender that parses the DCGM pages of nodes with eight GPUs, from two rounds by turns. Other work is compared with
 * it. `cpuSeconds`: as in `Contender`, if not the whole process is to be counted.
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
    // One iteration takes less than ten milliseconds; what it is compared with takes up to several hundred.
    iterations: 10,
    ...(cpuSeconds === undefined ? {} : { cpuSeconds }),
    run: () => {
      for (const [target, page] of (pages[round % 2] ?? []).entries()) readers[target]?.read(page, round);
      round += 1;
    },
  };
}
