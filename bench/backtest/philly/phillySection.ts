import { figure, markdownTable, percent } from "../markdown.ts";
import { barPlot } from "../svg.ts";
import type { PhillyResult } from "./phillyResult.ts";

const orOne = ({ mean, half }: { readonly mean: number; readonly half: number }, digits = 0): string =>
  half === 0 ? figure(mean, digits) : `${figure(mean, digits)} ± ${figure(half, digits)}`;

/** The section of docs/backtest.md about Philly. Pure. */
export function phillySection(result: PhillyResult): string {
  const { rows, totalNodeHours, seeds } = result;
  const table = markdownTable(
    [
      "rule",
      "node-hours saved",
      "of all",
      "use of the nodes that are on",
      "wake-ups a day",
      "nodes started a day",
      "node-hours short",
      "idle node-hours left",
    ],
    1,
    rows.map((row) => [
      row.rule,
      orOne(row.savedNodeHours),
      percent(row.savedNodeHours.mean / totalNodeHours),
      percent(row.use),
      figure(row.wakeUpsPerDay, 1),
      figure(row.startedPerDay, 1),
      orOne(row.shortNodeHours, 1),
      figure(row.idleNodeHours),
    ]),
  );
  return `## Philly: nodes that nobody needs for a while

Trace: how many nodes of Microsoft's Philly cluster worked, minute by minute (${figure(result.minutes)} minutes; on average ${percent(result.meanUse)} of the nodes work). Replayed are the two weeks on which the authors of
Helios (Hu et al., SC'21) show their node-saving rule CES, in their steps of ten minutes: ${figure(totalNodeHours)} node-hours, ${figure(result.activeNodeHours)} of them with work.

    npm run backtest -- philly DIR

${table}

![Node-hours saved](images/backtest-philly.svg)

*Short*: nodes that work needed while they were off, each for the ten minutes in which it starts. ${seeds} seeds where it is drawn whether the advice is followed; ± is half of the 95 % interval.
Our advice is \`scale_in\`, asked once an hour; it names at most five nodes at a time that have been idle for an hour.

- **CES is the better rule.** With a good forecast it saves about as much as our advice fully followed and is short for a sixth of the time, because it keeps 20 nodes more than are needed; with yesterday as
  the forecast it saves a tenth less and is short for a fifth. Only with the naive forecast, that all stays as it is, it saves more and is short more. Our advice keeps nothing in reserve: whoever follows it every hour has nodes started again several times a day.
- **An autoscaler that removes nodes after ten minutes saves most** and is short most. Fairlead says nothing where an autoscaler does it: the rows of advice are for clusters without one.
- Carried out four hours late, the advice saves less and is short less: nodes that work again by then stay.

What it does not show:

- **The published saving.** Helios reports up to 13 % for its rule over all its clusters, with gradient-boosted trees as forecast; their model is not part of the trace. The forecasts above are the two simplest, and a perfect one as its bound. The rule itself is
  played with the authors' settings for Philly.
- **Which node works.** The series has counts only. Rules that speak of single nodes (an autoscaler, the oracle, our advice) are played as if work were always on the first nodes that are on: real placement scatters it, so they save less in
  reality. CES speaks of counts and needs that assumption too.
- **Work**: all of it completes as recorded, at most ten minutes late where nodes are short; nothing is done again. Job time and p95 wait cannot be known from counts of nodes, nor can money: no price is known.
`;
}

/** The picture of the section. Pure. */
export const phillyPlot = ({ rows, seeds }: PhillyResult): string =>
  barPlot(
    `Philly, two weeks: node-hours saved (${seeds} seeds where drawn, 95 % intervals)`,
    rows.map(({ rule, savedNodeHours: { mean, half } }) => ({ name: rule, value: mean, half })),
    0,
    (value) => figure(value),
  );
