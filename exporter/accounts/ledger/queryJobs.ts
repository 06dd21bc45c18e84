import type { DatabaseSync } from "node:sqlite";
import { bareRecord } from "../../kernel/bareRecord.ts";
import { observedStates, wastedStates } from "../../model/gpuStates.ts";
import type { WorkloadKey } from "../posting.ts";
import type { JobRow, JobsAnswer, JobsQuery, JobsResult } from "./jobsQuery.ts";
import { refuseWindow } from "./queryWindow.ts";
import { secondsPerDay } from "./schema.ts";
import { numberAt, numberIn, numberOrNullAt, numberOrNullIn, textIn, textOrNullIn } from "./sqliteRow.ts";
import { atOneMoment } from "./transaction.ts";
import { readWorkloadProgress } from "./workloadProgress.ts";

const judged: ReadonlySet<string> = new Set(observedStates);
const wasted: ReadonlySet<string> = new Set(wastedStates);

interface Account {
  readonly team: string | null;
  readonly queue: string | null;
  readonly currency: string | null;
  /** Team and queue as one key. */
  readonly holder: string;
  readonly isActive: boolean;
  readonly isJudged: boolean;
  readonly isWasted: boolean;
}

/** Sums of one workload while its rows come in. */
interface Draft {
  readonly id: number;
  gpuSeconds: number;
  active: number;
  judged: number;
  wasted: number;
  readonly costs: Record<string, number>;
  readonly wasteCosts: Record<string, number>;
  readonly byHolder: Map<string, { readonly account: Account; gpuSeconds: number }>;
}

/**
 * Finds the workloads that cost and wasted most, from one moment of the ledger. Workloads are read day by day. However many
 * there are, only those of the day and the best of each list stay in memory, and those that came back stay until all have been
 * read.
 */
export function queryJobs(db: DatabaseSync, query: JobsQuery): JobsResult {
  return atOneMoment(db, () => {
    const { from, to, team, limit } = query;
    const where = team === null ? new Map() : new Map([["team", [team]] as const]);
    const refused = refuseWindow(db, { from, to, where, groupBy: ["workload"], limit });
    return refused ?? { ok: true, answer: answerOf(db, query) };
  });
}

function answerOf(db: DatabaseSync, { from, to, team, limit }: JobsQuery): JobsAnswer {
  const tally = createTally(limit);
  for (const draft of drafts(db, from / secondsPerDay, to / secondsPerDay, team)) tally.add(draft);
  const { count, countByTeam, gpuSeconds, costs, byCost, byWaste } = tally.end();
  const workloads = createNames(db);
  const progressOf = readWorkloadProgress(db);
  const rowOf = (done: Draft): JobRow => {
    const workload = workloads(done.id);
    return { workload, ...finished(done), costPerUnit: progressOf(workload)?.costPerUnit ?? {} };
  };
  const wasteful = byWaste.filter((done) => done.wasted > 0);
  return { count, countByTeam, gpuSeconds, costs, byCost: byCost.map(rowOf), byWaste: wasteful.map(rowOf) };
}

/**
 * Yields every workload with all that it held in [first, end), days since the epoch. Rows come day by day, as they are stored:
 * a workload is finished once the last day on which it was seen has passed.
 */
function* drafts(db: DatabaseSync, first: number, end: number, team: string | null): Generator<Draft, void> {
  const accounts = readAccounts(db, team);
  const lastDayOf = readLastDays(db, first);
  const twins = readTwins(db, first);
  const twice = new Set(twins.values());
  const statement = db.prepare(
    "SELECT day, workload, account, gpu_seconds, cost FROM workload_time WHERE day >= ? AND day < ? ORDER BY day, workload",
  );
  // With millions of rows, objects with named fields would cost a third of the time.
  statement.setReturnArrays(true);
  const open = new Map<number, Draft>();
  let today = first;
  let draft: Draft | undefined;
  for (const row of statement.iterate(first, end)) {
    const day = numberAt(row, 0);
    if (day !== today) {
      for (const [id, one] of open) {
        if (twice.has(id) || (lastDayOf(id) ?? end) >= day) continue;
        open.delete(id);
        yield one;
      }
      today = day;
      draft = undefined;
    }
    const account = accounts.get(numberAt(row, 2));
    if (account === undefined) continue;
    const found = numberAt(row, 1);
    const id = twins.get(found) ?? found;
    if (draft?.id !== id) {
      draft = open.get(id) ?? emptyDraft(id);
      open.set(id, draft);
    }
    addRow(draft, account, numberAt(row, 3), numberOrNullAt(row, 4));
  }
  yield* open.values();
}

/** Adds workloads up, and keeps the best of each list. */
function createTally(limit: number) {
  const byCost = createTop(limit, ({ costs, gpuSeconds, id }) => [largest(costs), gpuSeconds, -id]);
  const byWaste = createTop(limit, ({ wasteCosts, wasted, id }) => [largest(wasteCosts), wasted, -id]);
  const countByTeam = new Map<string, number>();
  const costs = bareRecord<number>();
  let [count, gpuSeconds] = [0, 0];
  return {
    add(done: Draft): void {
      count += 1;
      gpuSeconds += done.gpuSeconds;
      for (const currency in done.costs) add(costs, currency, done.costs[currency] ?? 0);
      for (const name of teamsOf(done)) countByTeam.set(name, (countByTeam.get(name) ?? 0) + 1);
      byCost.offer(done);
      byWaste.offer(done);
    },
    end: () => ({ count, countByTeam, gpuSeconds, costs, byCost: byCost.best(), byWaste: byWaste.best() }),
  };
}

/** The day on which each workload was last seen, by id, for those that were seen since a day. */
function readLastDays(db: DatabaseSync, since: number): (id: number) => number | undefined {
  const range =
    db.prepare("SELECT min(id) AS first, max(id) AS last FROM workloads WHERE last_day >= ?").get(since) ?? {};
  const first = numberOrNullIn(range, "first") ?? 0;
  const days = new Int32Array((numberOrNullIn(range, "last") ?? 0) - first + 1);
  const statement = db.prepare("SELECT id, last_day FROM workloads WHERE last_day >= ?");
  statement.setReturnArrays(true);
  for (const row of statement.iterate(since)) days[numberAt(row, 0) - first] = numberAt(row, 1);
  return (id) => days[id - first];
}

/**
 * Maps the id of each row of a workload that has several to the first of them. Workloads that came back after days without GPUs
 * have a row for each time (dimensionIds.ts), but are one job.
 */
function readTwins(db: DatabaseSync, since: number): ReadonlyMap<number, number> {
  const sameName = "OVER (PARTITION BY kind, namespace, name)";
  const rows = db
    .prepare(
      `SELECT id, first FROM (SELECT id, min(id) ${sameName} AS first, count(*) ${sameName} AS rows FROM workloads
       WHERE last_day >= ?) WHERE rows > 1`,
    )
    .iterate(since);
  const twins = new Map<number, number>();
  for (const row of rows) twins.set(numberIn(row, "id"), numberIn(row, "first"));
  return twins;
}

/** Reads accounts by id; if a team is named, only its accounts. */
function readAccounts(db: DatabaseSync, only: string | null): ReadonlyMap<number, Account> {
  const condition = only === null ? "1" : "team = ?";
  const rows = db
    .prepare(`SELECT id, team, queue, state, currency FROM accounts WHERE ${condition}`)
    .iterate(...(only === null ? [] : [only]));
  const accounts = new Map<number, Account>();
  for (const row of rows) {
    const state = textIn(row, "state");
    const [team, queue] = [textOrNullIn(row, "team"), textOrNullIn(row, "queue")];
    accounts.set(numberIn(row, "id"), {
      team,
      queue,
      holder: JSON.stringify([team, queue]),
      currency: textOrNullIn(row, "currency"),
      isActive: state === "active",
      isJudged: judged.has(state),
      isWasted: wasted.has(state),
    });
  }
  return accounts;
}

const emptyDraft = (id: number): Draft => ({
  id,
  gpuSeconds: 0,
  active: 0,
  judged: 0,
  wasted: 0,
  costs: bareRecord<number>(),
  wasteCosts: bareRecord<number>(),
  byHolder: new Map(),
});

function addRow(draft: Draft, account: Account, gpuSeconds: number, cost: number | null): void {
  const { currency, isWasted } = account;
  draft.gpuSeconds += gpuSeconds;
  if (account.isActive) draft.active += gpuSeconds;
  if (account.isJudged) draft.judged += gpuSeconds;
  if (isWasted) draft.wasted += gpuSeconds;
  if (currency !== null && cost !== null) {
    add(draft.costs, currency, cost);
    if (isWasted) add(draft.wasteCosts, currency, cost);
  }
  const holder = draft.byHolder.get(account.holder);
  if (holder === undefined) draft.byHolder.set(account.holder, { account, gpuSeconds });
  else holder.gpuSeconds += gpuSeconds;
}

function finished({ gpuSeconds, active, judged: seen, wasted: lost, costs, wasteCosts, byHolder }: Draft) {
  const [first] = [...byHolder.values()].sort((one, other) => other.gpuSeconds - one.gpuSeconds);
  return {
    team: first?.account.team ?? null,
    queue: first?.account.queue ?? null,
    gpuSeconds,
    activeGpuSeconds: active,
    judgedGpuSeconds: seen,
    wastedGpuSeconds: lost,
    costs,
    wasteCosts,
  };
}

/**
 * Keeps the `limit` largest by their ranks, where the first rank counts most. Of equal ones, the one that is older in the
 * ledger is kept.
 */
function createTop(limit: number, ranksOf: (draft: Draft) => readonly number[]) {
  const kept: { readonly draft: Draft; readonly ranks: readonly number[] }[] = [];
  const isBefore = (one: readonly number[], other: readonly number[]): boolean => {
    const i = one.findIndex((rank, at) => rank !== other[at]);
    return i >= 0 && (one[i] ?? 0) > (other[i] ?? 0);
  };
  return {
    offer(draft: Draft): void {
      const ranks = ranksOf(draft);
      const last = kept[limit - 1];
      if (last !== undefined && !isBefore(ranks, last.ranks)) return;
      const at = kept.findIndex((one) => isBefore(ranks, one.ranks));
      kept.splice(at < 0 ? kept.length : at, 0, { draft, ranks });
      if (kept.length > limit) kept.pop();
    },
    best: (): readonly Draft[] => kept.map(({ draft }) => draft),
  };
}

function createNames(db: DatabaseSync): (id: number) => WorkloadKey {
  const statement = db.prepare("SELECT kind, namespace, name FROM workloads WHERE id = ?");
  return (id) => {
    const row = statement.get(id) ?? {};
    return { kind: textIn(row, "kind"), namespace: textIn(row, "namespace"), name: textIn(row, "name") };
  };
}

/** Every team that held anything under this workload; the empty text stands for no team. */
const teamsOf = ({ byHolder }: Draft): ReadonlySet<string> =>
  new Set([...byHolder.values()].map(({ account }) => account.team ?? ""));

const largest = (costs: Readonly<Record<string, number>>): number => Math.max(0, ...Object.values(costs));

function add(sums: Record<string, number>, name: string, amount: number): void {
  sums[name] = (sums[name] ?? 0) + amount;
}
