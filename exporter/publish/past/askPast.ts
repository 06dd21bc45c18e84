import type { AccountsQuery, AccountsResult } from "../../accounts/ledger/accountsQuery.ts";
import type { LedgerTableQuery, LedgerTableResult } from "../../accounts/ledger/ledgerTableQuery.ts";
import { isoTime } from "../../kernel/isoTime.ts";
import type { GpuState } from "../../model/gpuStates.ts";
import { coveredSteps, meanOf, type Past, type PastChart, type Steps } from "./past.ts";

/** What answers questions about the past; without a ledger, nothing does. */
interface PastSource {
  readonly ledger?: (query: AccountsQuery) => Promise<AccountsResult>;
  readonly ledgerTables?: (query: LedgerTableQuery) => Promise<LedgerTableResult>;
}

/** Whose past is asked for. A workload is `KIND/NAMESPACE/NAME`, as the ledger names it. */
interface PastQuestion {
  readonly of: "team" | "queue" | "node" | "workload";
  readonly name: string;
  /** The present time, seconds since the epoch. */
  readonly now: number;
}

const hour = 3600;
const day = 24 * hour;
const days = 7;
/** The most rows of an answer: each hour of the week has a few states. */
const mostRows = 5000;

/** The last day and week of a team, queue, node or workload, from the ledger. */
export async function askPast(source: PastSource, question: PastQuestion): Promise<Past> {
  const { ledger, ledgerTables } = source;
  if (ledger === undefined || ledgerTables === undefined) return withoutLedger(question);
  const { of, name, now } = question;
  if (of === "team") return await accountsPast(ledger, { of, name, now }, ofTeam(now));
  if (of === "queue") return await queuePast(ledgerTables, question);
  if (of === "workload") return await accountsPast(ledger, { of, name, now }, ofWorkload(now));
  return await nodePast(ledgerTables, question);
}

const whatWillBe: Readonly<Record<PastQuestion["of"], string>> = {
  team: "how many GPUs the team held and used in each hour",
  queue: "how many GPUs the queue held, was entitled to and waited for in each hour",
  node: "for how long the node was idle",
  workload: "how much GPU time the workload held and used on each day",
};

function withoutLedger({ of }: PastQuestion): Past {
  return {
    isKnown: false,
    why: `No ledger is kept, so that the past is not known. With one, the last day and week will be here: ${whatWillBe[of]}, from the first full hour on.`,
    nextStep: "Set ledger.path in the configuration.",
  };
}

/** The last week in whole hours; the hour that goes on is left out, because it is not complete. */
function week(now: number): Steps {
  const to = Math.floor(now / hour) * hour;
  return { from: to - days * day, seconds: hour, count: days * 24 };
}

type Answered = Extract<AccountsResult, { ok: true }>["answer"] | Extract<LedgerTableResult, { ok: true }>["answer"];

/** Why an answer has no charts; `null` where it has some. */
function whyNone({ coverage, to, rows }: Answered, { of }: PastQuestion): Past | null {
  if (coverage.coveredSeconds > 0 && rows.length > 0) return null;
  if (coverage.coveredSeconds > 0)
    return { isKnown: false, why: `The ledger has nothing of it in the last ${days} days.`, nextStep: "" };
  return noFullHour({ to }, { of });
}

function noFullHour({ to }: Pick<Answered, "to">, { of }: Pick<PastQuestion, "of">): Past {
  const first = `${isoTime(to + hour).slice(11, 16)} UTC`;
  return {
    isKnown: false,
    why: `The ledger has no full hour yet. From ${first} on there will be ${whatWillBe[of]}.`,
    nextStep: "",
  };
}

/** Sums amounts by step; `at` is the text of the hour or day in which a row begins. */
function byStep(
  rows: readonly { readonly at: string | null; readonly amount: number | null }[],
  steps: Steps,
): number[] {
  const sums = Array.from({ length: steps.count }, () => 0);
  for (const { at, amount } of rows) {
    const index = Math.floor((Date.parse(at ?? "") / 1000 - steps.from) / steps.seconds);
    const sum = sums[index];
    if (sum !== undefined) sums[index] = sum + (amount ?? 0);
  }
  return sums;
}

/** How GPU time of the accounts is asked for and drawn. */
interface AccountsPast {
  readonly steps: Steps;
  readonly by: "hour" | "day";
  /** What is drawn of a step from its GPU-seconds and how many of its seconds are covered; `null`: it is not known. */
  readonly valueOfStep: (gpuSeconds: number, coveredSeconds: number | null) => number | null;
  readonly draw: (series: PastChart["series"]) => Past;
}

async function accountsPast(
  ledger: NonNullable<PastSource["ledger"]>,
  question: PastQuestion & { readonly of: "team" | "workload" },
  { steps, by, valueOfStep, draw }: AccountsPast,
): Promise<Past> {
  const result = await ledger({
    ...window(steps),
    groupBy: [by, "state"],
    where: new Map([[question.of, [question.name]]]),
    limit: mostRows,
  });
  if (!result.ok) return failed(result);
  const { answer } = result;
  const none = whyNone(answer, question);
  if (none !== null) return none;
  const covered = coveredSteps(steps, answer.coverage);
  return draw(allocatedAndActive(answer, steps, (sum, i) => valueOfStep(sum, covered[i] ?? null)));
}

function ofTeam(now: number): AccountsPast {
  const steps = week(now);
  return {
    steps,
    by: "hour",
    valueOfStep: (gpuSeconds, coveredSeconds) => meanOf(gpuSeconds, coveredSeconds, steps.seconds),
    draw: (series) => lastDayAndWeek(steps, series),
  };
}

/** How the past of a workload is asked for: by day, because the ledger keeps single workloads by day. */
function ofWorkload(now: number): AccountsPast {
  const to = (Math.floor(now / day) + 1) * day;
  const steps: Steps = { from: to - days * day, seconds: day, count: days };
  return {
    steps,
    by: "day",
    valueOfStep: (gpuSeconds, coveredSeconds) =>
      gpuSeconds === 0 && (coveredSeconds ?? 0) === 0 ? null : gpuSeconds / hour,
    draw: (series) => {
      const chart = (title: string, last: number): PastChart => lastSteps({ steps, series }, "GPU-hours", title, last);
      return {
        isKnown: true,
        charts: [chart("Yesterday and today so far", 2), chart("Last 7 days with today so far, by day", days)],
      };
    },
  };
}

async function queuePast(tables: NonNullable<PastSource["ledgerTables"]>, question: PastQuestion): Promise<Past> {
  const steps = week(question.now);
  const result = await tables({
    of: "queues",
    ...window(steps),
    groupBy: ["hour"],
    where: new Map([["queue", [question.name]]]),
    limit: mostRows,
  });
  if (!result.ok) return failed(result);
  const { answer } = result;
  const none = whyNone(answer, question);
  if (none !== null) return none;
  const covered = coveredSteps(steps, answer.coverage);
  const amounts = (name: string) =>
    byStep(
      answer.rows.map(({ values: [at = null], amounts: all }) => ({ at, amount: all[name] ?? null })),
      steps,
    );
  const judged = amounts("judgedSeconds");
  const means = (name: string) => amounts(name).map((sum, i) => meanOf(sum, covered[i] ?? null, steps.seconds));
  const entitled = means("entitled").map((mean, i) => ((judged[i] ?? 0) > 0 ? mean : null));
  return lastDayAndWeek(steps, [
    { name: "allocated", look: "allocated", values: means("allocated") },
    { name: "entitled", look: "entitled", values: entitled },
    { name: "waiting", look: "waiting", values: means("pending") },
  ]);
}

/** What was allocated, and the part of it that was active, from GPU-seconds by step and state. */
function allocatedAndActive(
  { rows }: Pick<Extract<AccountsResult, { ok: true }>["answer"], "rows">,
  steps: Steps,
  valueOfStep: (gpuSeconds: number, step: number) => number | null,
): PastChart["series"] {
  const active: GpuState = "active";
  const values = (isWanted: (state: string | null | undefined) => boolean) =>
    byStep(
      rows
        .filter(({ values: [, state] }) => isWanted(state))
        .map(({ values: [at = null], gpuSeconds }) => ({ at, amount: gpuSeconds })),
      steps,
    ).map(valueOfStep);
  return [
    { name: "allocated", look: "allocated", values: values(() => true) },
    { name: "active", look: "active", values: values((state) => state === active) },
  ];
}

/** The past of a node. Of single nodes, the ledger keeps only when they were idle, for an hour at least. */
async function nodePast(tables: NonNullable<PastSource["ledgerTables"]>, question: PastQuestion): Promise<Past> {
  const steps = week(question.now);
  const to = steps.from + days * day;
  const one = async (from: number) =>
    await tables({
      of: "nodeStreaks",
      from,
      to,
      groupBy: ["state"],
      where: new Map([["node", [question.name]]]),
      limit: 100,
    });
  const [last, all] = await Promise.all([one(to - day), one(steps.from)]);
  if (!last.ok) return failed(last);
  if (!all.ok) return failed(all);
  if (all.answer.coverage.coveredSeconds === 0) return noFullHour(all.answer, question);
  const chart = (title: string, seconds: number, { rows }: typeof all.answer): PastChart => ({
    title,
    from: to - seconds,
    stepSeconds: seconds,
    unit: "hours",
    series: rows.map(({ values: [state = null], amounts }) => ({
      name: (state ?? "unknown").replaceAll("_", " "),
      look: "waiting",
      values: [(amounts.seconds ?? 0) / hour],
    })),
  });
  return {
    isKnown: true,
    charts: [
      chart("Last day: hours in which it was idle", day, last.answer),
      chart("Last 7 days: hours in which it was idle", days * day, all.answer),
    ],
  };
}

const window = ({ from, seconds, count }: Steps) => ({ from, to: from + seconds * count });

const failed = ({ error, nextStep }: { readonly error: string; readonly nextStep: string }): Past => ({
  isKnown: false,
  why: `The ledger did not answer: ${error}`,
  nextStep,
});

function lastDayAndWeek(steps: Steps, series: PastChart["series"]): Past {
  const chart = (title: string, last: number): PastChart => lastSteps({ steps, series }, "GPUs", title, last);
  return { isKnown: true, charts: [chart("Last day, by hour", 24), chart("Last 7 days, by hour", steps.count)] };
}

function lastSteps(
  { steps, series }: { readonly steps: Steps; readonly series: PastChart["series"] },
  unit: PastChart["unit"],
  title: string,
  last: number,
): PastChart {
  return {
    title,
    from: steps.from + (steps.count - last) * steps.seconds,
    stepSeconds: steps.seconds,
    unit,
    series: series.map((one) => ({ ...one, values: one.values.slice(-last) })),
  };
}
