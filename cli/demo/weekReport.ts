import type { WeekFigures } from "./simulatedWeek.ts";

/** The same week twice, of one seed. */
export interface WeekPair {
  readonly seed: number;
  readonly without: WeekFigures;
  readonly followed: WeekFigures;
}

/** A row of the report: a figure of both plays. */
interface Row {
  readonly name: string;
  readonly of: (figures: WeekFigures) => number;
}

const books: readonly Row[] = [
  { name: "held and idle, GPU-hours", of: (week) => week.books.heldIdle },
  { name: "idle on nodes that nobody uses, GPU-hours", of: (week) => week.books.idleNodes },
  { name: "idle nodes, node-hours", of: (week) => week.books.idleNodeHours },
  { name: "blocked, GPU-hours", of: (week) => week.books.blocked },
  { name: "unfair, GPU-hours", of: (week) => week.books.unfair },
  { name: "active, GPU-hours", of: (week) => week.books.active },
  { name: "cost of all nodes, USD", of: (week) => week.books.cost },
];

const truth: readonly Row[] = [
  { name: "idle, GPU-hours", of: (week) => week.truth.idle },
  { name: "blocked, GPU-hours", of: (week) => week.truth.blocked },
  { name: "unfair, GPU-hours", of: (week) => week.truth.unfair },
  { name: "busy, GPU-hours", of: (week) => week.truth.busy },
  { name: "nodes, node-hours", of: (week) => week.truth.nodeHours },
  { name: "work to be done again, GPU-hours", of: (week) => week.truth.lost },
];

/** `-64 %`; a dash where there was nothing before. */
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
  const all = new Map<string, number>();
  for (const { followed } of pairs)
    for (const [kind, plans] of followed.begun) all.set(kind, (all.get(kind) ?? 0) + plans);
  return [...all]
    .sort(([, a], [, b]) => b - a)
    .map(([kind, plans]) => `${plans} x \`${kind}\``)
    .join(", ");
}

/** The report of some pairs, as `docs/simulated-week.md` has it. */
export function weekReport(pairs: readonly WeekPair[], days: number, delayMinutes: number): string {
  const sent = pairs.reduce((sum, { followed }) => sum + followed.requests.sent, 0);
  const refused = pairs.reduce((sum, { followed }) => sum + followed.requests.refused, 0);
  return `# The simulated week

These are figures of the simulator (simulator/scenarios/advice/week.ts: 36 nodes, 248 GPUs, with the faults that clusters have),
not of a real cluster. Each seed is played twice for ${days} days with the same exporter: once nobody follows any advice, once
every recommendation whose need has been open for ${delayMinutes} minutes is carried out, its requests sent to the simulated API as they
stand in the record. Work goes on arriving in both; the first number is without advice, the second with it.

    npm run week

## By Fairlead's own books

${table(books, pairs)}

\`held and idle\` and \`active\` are \`fairlead_gpu_seconds_total\`, idle nodes \`fairlead_idle_node_seconds_total\`, blocked is
\`fairlead_blocked_gpus\` over time, unfair \`fairlead_queue_shortfall_gpu_seconds_total{cause="by_others"}\` of ClusterQueues, cost
\`fairlead_cost_total\` with the prices that Fairlead brings.

## By the simulator's own word

${table(truth, pairs)}

Idle: held by work that did nothing for half an hour, or on nodes that nobody uses. Blocked: asked for by pods that wait although as
many cards of their model are free. Unfair: what queues lack of their quota and want, while others hold more than theirs.

Carried out in all: ${plansOf(pairs)}; ${whole(sent)} requests, ${refused} of them refused by the API.
`;
}
