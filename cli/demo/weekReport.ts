import type { AdviceKind } from "../../exporter/model/recommendation.ts";
import { playWeek, type WeekFigures } from "./simulatedWeek.ts";

/** The same week, with the same seed, played twice. */
export interface WeekPair {
  readonly seed: number;
  readonly without: WeekFigures;
  readonly followed: WeekFigures;
}

/** Seconds for which a need has been open when it is acted on. */
const delaySeconds = 3600;

/** Plays some hours of the week without advice, and with all advice followed. */
export async function playPair(seed: number, hours: number): Promise<WeekPair> {
  const without = await playWeek({ seed, hours, followAfter: null });
  return { seed, without, followed: await playWeek({ seed, hours, followAfter: delaySeconds }) };
}

/** A row of the report: a figure of both plays. */
interface Row {
  readonly name: string;
  readonly of: (figures: WeekFigures) => number;
}

const truth: readonly Row[] = [
  { name: "work finished by jobs, GPU-hours", of: (week) => week.truth.finished },
  { name: "jobs finished", of: (week) => week.truth.finishedJobs },
  { name: "work to be done again, GPU-hours", of: (week) => week.truth.lost },
  { name: "owners who came back and found their work stopped", of: (week) => week.truth.foundStopped },
  { name: "hours that they waited until it ran again", of: (week) => week.truth.waitedHours },
  { name: "busy, GPU-hours", of: (week) => week.truth.busy },
  { name: "paid for and not busy, GPU-hours", of: (week) => week.truth.paidNotBusy },
  { name: "nodes, node-hours", of: (week) => week.truth.nodeHours },
  { name: "blocked, GPU-hours", of: (week) => week.truth.blocked },
  { name: "unfair, GPU-hours", of: (week) => week.truth.unfair },
];

const accounts: readonly Row[] = [
  { name: "active, GPU-hours", of: (week) => week.accounts.active },
  { name: "not active, GPU-hours", of: (week) => week.accounts.notActive },
  { name: "blocked, GPU-hours", of: (week) => week.accounts.blocked },
  { name: "unfair, GPU-hours", of: (week) => week.accounts.unfair },
  { name: "cost of all nodes, USD", of: (week) => week.accounts.cost },
];

/** A change as in `-64 %`; a dash where there was nothing before. */
export function changeWords(before: number, after: number): string {
  const percent = Math.round((after / before - 1) * 100);
  if (!Number.isFinite(percent)) return "–";
  return `${percent > 0 ? "+" : ""}${percent} %`;
}

const whole = (amount: number): string => Math.round(amount).toLocaleString("en-US");

function table(rows: readonly Row[], pairs: readonly WeekPair[]): string {
  const head = ["", ...pairs.map(({ seed }) => `seed ${seed}`), "all"];
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  const cell = (before: number, after: number): string =>
    `${whole(before)} → ${whole(after)} (${changeWords(Math.round(before), Math.round(after))})`;
  const body = rows.map(({ name, of }) => {
    const both = pairs.map(({ without, followed }) => [of(without), of(followed)] as const);
    const all = both.reduce<readonly [number, number]>(([a, b], [c, d]) => [a + c, b + d], [0, 0]);
    return line([name, ...[...both, all].map(([before, after]) => cell(before, after))]);
  });
  return [line(head), line(head.map((_, i) => (i === 0 ? "---" : "---:"))), ...body].join("\n");
}

function plansOf(pairs: readonly WeekPair[]): string {
  const all = new Map<AdviceKind, number>();
  for (const { followed } of pairs)
    for (const [kind, plans] of followed.begun) all.set(kind, (all.get(kind) ?? 0) + plans);
  return [...all]
    .sort(([, a], [, b]) => b - a)
    .map(([kind, plans]) => `${plans} x \`${kind}\``)
    .join(", ");
}

/** The report of some pairs, as `docs/simulated-week.md` has it: the same bytes for the same seeds and hours. */
export function weekReport(pairs: readonly WeekPair[], hours: number): string {
  const sum = (of: (week: WeekFigures) => number): number => pairs.reduce((all, { followed }) => all + of(followed), 0);
  const asked = sum(({ questions }) => questions.asked);
  const agreed = sum(({ questions }) => questions.agreed);
  return `# The simulated week

These are figures of the simulator (simulator/scenarios/advice/week.ts: 36 nodes, 248 GPUs, with the faults that clusters have),
not of a real cluster. Each seed is played twice for ${hours} hours with the same exporter: once nobody follows any advice, once
every recommendation whose need has been open for ${delaySeconds / 60} minutes is carried out: its requests are sent to the simulated API as the
record has them. An owner who is asked agrees only if they will never use their work again. Work goes on arriving in both;
the first number is without advice, the second with it. Arrivals depend on what waits, so that the two weeks diverge: differences
of a few percent, and those of one seed alone, are chance.

    npm run week

Nothing in it depends on the machine: the same seed gives the same bytes.

## What really happened

${table(truth, pairs)}

These numbers come from the simulator itself, not from Fairlead. *Finished* is the work of jobs that ended well, counted once, however
often they began. *To be done again* is what jobs had done since their last checkpoint, or since their start, when their pods were
taken away. Notebooks and tuning jobs are used in spells and pauses as long as those of a real cluster
(simulator/scenarios/pauses.ts). *Paid for and not busy* is all GPUs of existing nodes, minus what they compute; a freed GPU that then
nobody uses changes nothing in it. *Blocked* is what waiting pods ask for although as many GPUs of their model are
free. *Unfair* is what queues lack of their quota and want, while others hold more than theirs.

## By Fairlead's own accounting

${table(accounts, pairs)}

Active and not active are \`fairlead_gpu_seconds_total\`, blocked is \`fairlead_blocked_gpus\` over time, unfair
\`fairlead_queue_shortfall_gpu_seconds_total{cause="by_others"}\` of ClusterQueues, cost \`fairlead_cost_total\` with the prices that
Fairlead brings.

Carried out in all: ${plansOf(pairs)}; ${whole(sum(({ requests }) => requests.sent))} requests, ${sum(({ requests }) => requests.refused)} of them refused by the API. Owners were asked ${asked} times, and ${agreed} of them let their work go.
`;
}
