import { figure, markdownTable, percent, ranged } from "../markdown.ts";
import { barPlot } from "../svg.ts";
import type { HeliosResult } from "./heliosResult.ts";

const orOne = (estimate: { readonly mean: number; readonly half: number }): string =>
  estimate.half === 0 ? figure(estimate.mean) : ranged(estimate, 0);

/** The section of docs/backtest.md about Helios Earth. Pure. */
export function heliosSection({ counts, teams, jobs, seeds, rows, sensitivity }: HeliosResult): string {
  const table = markdownTable(
    [
      "rule",
      "pending GPU-hours that started earlier",
      "of all",
      "GPU-hours of waiting saved",
      "work done again, GPU-hours",
      "jobs taken back",
      "lenders short, GPU-hours",
      "mean wait, h",
      "p95 wait, h",
      "offered",
    ],
    1,
    rows.map((row) => [
      row.rule,
      orOne(row.earlierHours),
      percent(row.earlierHours.mean / counts.pendingHours),
      orOne(row.savedHours),
      figure(row.lostHours),
      figure(row.evictions),
      figure(row.lenderShortHours),
      figure(row.meanWaitHours, 2),
      figure(row.p95WaitHours, 1),
      row.offered === null ? "–" : figure(row.offered, 1),
    ]),
  );
  const varied = markdownTable(
    ["jobs are inferred so", "rule", "jobs", "started earlier", "waiting saved", "work done again"],
    2,
    sensitivity.map((row) => [
      row.inference,
      row.rule,
      figure(row.jobs),
      percent(row.earlierHours / counts.pendingHours),
      percent(row.savedHours / counts.pendingHours),
      figure(row.lostHours),
    ]),
  );
  return `## Helios Earth: quotas of teams that nobody may borrow

Trace: ${teams} teams of the cluster Earth (Hu et al., SC'21), each with a quota of its own, minute by minute in May 2020: ${figure(counts.gpus)} GPUs, ${percent(counts.allocated)} allocated,
${figure(counts.idleHours)} GPU-hours idle and ${figure(counts.pendingHours)} pending. For ${percent(counts.onlyElsewhere, 0)} of these, GPUs were idle at that minute, but only in other teams.

    npm run backtest -- helios DIR

The trace has counts, not jobs. ${figure(jobs)} waits are inferred from them: more pending GPUs than the minute before are jobs that came, fewer are jobs that started, first come, first served; all jobs of a team run as long as its mean
(running GPUs over those that begin, by Little's law). Under each rule jobs that wait start on GPUs that are idle in other teams, and go on with their own from the minute in which they started as recorded.
With *reclaim*, Kueue's rule, a lender takes its GPUs back when it needs them, the newest borrowers first, and their work begins anew. The advice is \`change_quota\`, looked at once a day from static quotas on: it raises the
limits of borrowing of queues in one cohort; whether one is followed is drawn (${seeds} seeds; ± is half of the 95 % interval).

${table}

![Waiting saved](images/backtest-helios.svg)

*Started earlier* counts the whole recorded wait of a job that started at all earlier for good; *saved* only the time by which it did. What was taken back counts as work done again and not as saved.

- **The setting beats the advice.** Borrowing with reclaim for everyone, which is a line in each queue, saves more than our advice about single queues, which raises each limit by what waits at that moment and no more, and comes once a day.
- **Reclaim costs**: much of what is borrowed is taken back before it ends. If nothing is taken back, waits all but vanish, at the price of lenders that wait for their own GPUs. An oracle that borrows only what stays idle shows that nearly all
  waiting could go without either.
- That one lender must serve the whole job hardly matters.

How much depends on how jobs are inferred:

${varied}

What it does not show:

- **Jobs.** What comes and starts within a minute is not seen, nor who cancelled. Runs are means of a team: the sums change with them (above), and the longer jobs run the more is taken back.
- **Where GPUs are.** Idle GPUs of other teams are taken to fit; nodes, gangs over several nodes and fragments are not in the trace. Job time is wait and run, and runs do not change but for what is done again.
- **What ends earlier** frees nothing more here: everything else stays as recorded, so that savings are understated. Completed work is the same under every rule. Money is not in the trace, nor are checkpoints: what is taken back is repeated from its start.
- Idle node-hours: teams have GPUs, not nodes, in the trace.
`;
}

/** The picture of the section. Pure. */
export const heliosPlot = ({ rows, counts, seeds }: HeliosResult): string =>
  barPlot(
    `Helios Earth: GPU-hours of waiting saved of ${figure(counts.pendingHours)} (${seeds} seeds where drawn)`,
    rows.map(({ rule, savedHours: { mean, half } }) => ({ name: rule, value: mean, half })),
    0,
    (value) => figure(value),
  );
