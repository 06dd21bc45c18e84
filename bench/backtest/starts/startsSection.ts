import { figure, markdownTable, percent } from "../markdown.ts";
import { barPlot } from "../svg.ts";
import type { StartsResult, StartsRow } from "./startsResult.ts";

/** Between these parts of the starts an 80 % interval counts as calibrated. */
const least = 0.75;
const most = 0.85;
/** With fewer starts, how many were held says nothing. */
const leastStarts = 40;

type Score = StartsRow["first"];

const heldOf = ({ hits, shown }: Pick<Score, "hits" | "shown">): number | null =>
  shown < leastStarts ? null : hits / shown;

/** The part that held; bold where it is not between 75 and 85 %. */
function heldText(score: Pick<Score, "hits" | "shown">): string {
  const held = heldOf(score);
  if (held === null) return "too few";
  return held >= least && held <= most ? percent(held) : `**${percent(held)}**`;
}

/** The section of docs/backtest.md about start times. Pure. */
export function startsSection(result: StartsResult): string {
  const { rows, seeds, arrivals, loads } = result;
  const table = markdownTable(
    [
      "queues",
      "shape",
      "starts",
      "with an interval",
      "held",
      "too early",
      "end over begin",
      "later looks held",
      "last 100 waits held",
    ],
    2,
    rows.map(({ queues, shape, first, later, plain }) => [
      queues,
      shape,
      figure(first.looks),
      percent(first.shown / first.looks),
      heldText(first),
      first.shown < leastStarts ? "–" : percent(first.early / first.shown),
      first.width === null || first.shown < leastStarts ? "–" : figure(first.width, 1),
      heldText(later),
      heldText(plain),
    ]),
  );
  return `## When will it start

Fairlead says for waiting work when it will start: half of the work like it by p50, nine of ten by p90, and one of ten before p10. The interval from p10 to p90 must hold 80 % of the starts; here is how many it held,
on starts that it had not seen. Every place that shows such a time links to this section, and says how often the latest intervals of the same queue and shape have held.

    npm run backtest -- starts DIR

${table}

![Starts that the 80 % interval held](images/backtest-starts.svg)

The replay is the one of production (\`exporter/analysis/startTimes\`): at each look only what had happened by then is known. The first half of the arrivals is history alone, the looks of the later half are scored. *Held*:
of the intervals at the first look, half a minute after the work came; bold where it is not 75 to 85 %. *Later looks*: when it has waited for a minute, two, four and so on. *Last 100 waits*: what p10 and p90 of the last hundred waits of the
same queue and shape would have held, which is what most dashboards show.

Philly's trace has ${figure(arrivals)} arrivals of teams with 500 jobs and more, with their GPUs; how long they ran is not known. It is drawn for each of ${seeds} seeds (log-normal, median 40 minutes, at most a week; median and spread are ours), and so is which
fifth of the jobs has a high priority. The cluster has as many GPUs that its work takes up ${figure(100 * loads[0])} % (first seed) to ${figure(100 * loads[1])} % (last seed) of them. Arrivals come in bursts of up to thousands of jobs, so that one wrong guess of a burst is wrong a thousand times.

- **The line ahead matters**: the same share of the last waits says little about the next ones, because a burst makes its own line.
- **Where it is bold, it does not hold.** Above 85 % the intervals are wider than they need be, below 75 % too narrow. What is shown in production carries its own count for this reason, and is *unknown* once fewer than half of the last intervals of a queue and shape have held.
- Under backfill, priorities and fair sharing others pass in the line, and intervals are wide: their end is tens of times their begin. Such an interval is honest and of little use to plan by.

What it does not show:

- **Policies of real schedulers.** The queues are played by simple rules in one pool without places: no fragmentation, preemption, reclaim or topology.
- **openb** has no queues: each class of service is taken for one. Its waits are those of a scheduler, mostly seconds, from creation to scheduling.
- **Helios** has counts of each minute, not jobs: starts are inferred first come, first served, so that the order in the line is as inferred.
`;
}

/** The picture of the section. Pure. */
export const startsPlot = ({ rows, seeds }: StartsResult): string =>
  barPlot(
    `Starts that the 80 % interval held, percent (Philly: ${seeds} seeds)`,
    rows.flatMap(({ queues, shape, first }) => {
      const held = heldOf(first);
      return held === null ? [] : [{ name: `${queues}: ${shape}`, value: 100 * held }];
    }),
    0,
    (value) => figure(value, 1),
  );
