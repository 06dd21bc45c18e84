import { figure, markdownTable } from "../markdown.ts";
import { barPlot } from "../svg.ts";
import type { AcmeResult } from "./acmeResult.ts";

const published: Readonly<Record<string, readonly [util: string, sm: string]>> = {
  seren: ["99 %", "50 %"],
  kalos: ["98 %", "34 %"],
};
const percents = (value: number, digits: number): string => `${figure(value, digits)} %`;

/** The section of docs/backtest.md about Acme. Pure. */
export function acmeSection({ rows }: AcmeResult): string {
  const table = markdownTable(
    [
      "cluster",
      "median GPU_UTIL (paper)",
      "here",
      "median SM_ACTIVE (paper)",
      "here",
      "GPU_UTIL 0",
      "GPU_UTIL at most 5 %",
      "SM_ACTIVE at most 5 %",
      "idle by all signals",
    ],
    1,
    rows.map(({ cluster, utilZero, utilIdle, smIdle, utilMedian, smMedian }) => [
      cluster,
      published[cluster]?.[0] ?? "–",
      percents(utilMedian, 0),
      published[cluster]?.[1] ?? "–",
      percents(smMedian, 0),
      percents(utilZero, 1),
      percents(utilIdle, 1),
      percents(smIdle, 1),
      `${percents(Math.max(0, utilIdle + smIdle - 100), 1)} to ${percents(Math.min(utilIdle, smIdle), 1)}`,
    ]),
  );
  return `## Acme: how much of it could be idle at most

Trace: distributions of DCGM samples of two clusters of A100 for large language models (Acme, NSDI 2024). There are no series and no pods, so no window can be
played and nothing advised: precision and regret cannot be known. What can be known is how many samples the idle rule could find at most.

    npm run backtest -- acme DIR

${table}

![Samples that look idle](images/backtest-acme.svg)

*Idle by all signals*: Fairlead calls a GPU idle only if every signal is at most 5 %. How two distributions go together is not published; the range is what is possible with any.
GPU_UTIL alone would call fewer samples idle than SM_ACTIVE in both clusters: the difference looks busy and computes next to nothing. The engine is not asked for this section.
`;
}

/** The picture of the section. Pure. */
export const acmePlot = ({ rows }: AcmeResult): string =>
  barPlot(
    "Acme: samples that look idle by one signal, %",
    rows.flatMap(({ cluster, utilIdle, smIdle }) => [
      { name: `${cluster}: GPU_UTIL at most 5 %`, value: utilIdle },
      { name: `${cluster}: SM_ACTIVE at most 5 %`, value: smIdle },
    ]),
    0,
    (value) => figure(value, 1),
  );
