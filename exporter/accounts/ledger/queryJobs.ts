import type { DatabaseSync } from "node:sqlite";
import { observedStates, wastedStates } from "../../analysis/booking.ts";
import { bareRecord } from "../../kernel/bareRecord.ts";
import type { WorkloadKey } from "../posting.ts";
import type { JobRow, JobsAnswer, JobsQuery, JobsResult } from "./jobsQuery.ts";
import { refuseWindow } from "./queryWindow.ts";
import { secondsPerDay } from "./schema.ts";
import { numberIn, numberOrNullIn, textIn, textOrNullIn } from "./sqliteRow.ts";

const judged: ReadonlySet<string> = new Set(observedStates);
const wasted: ReadonlySet<string> = new Set(wastedStates);

interface Account {
  readonly team: string | null;
  readonly queue: string | null;
  readonly state: string;
  readonly currency: string | null;
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
 * Finds the workloads that cost and wasted most, from one moment of the ledger. Workloads pass one after the other: only the
 * best of each list stay in memory, however many there are; and those that came back, until all have passed.
 */
export function queryJobs(db: DatabaseSync, query: JobsQuery): JobsResult {
  db.exec("BEGIN");
  try {
    const { from, to, team, limit } = query;
    const where = team === null ? new Map() : new Map([["team", [team]] as const]);
    const refusal = refuseWindow(db, { from, to, where, groupBy: ["workload"], limit });
    if (refusal !== null) return { ok: false, fault: "question", ...refusal };
    return { ok: true, answer: answerOf(db, query) };
  } finally {
    db.exec("COMMIT");
  }
}

function answerOf(db: DatabaseSync, { from, to, team, limit }: JobsQuery): JobsAnswer {
  const accounts = readAccounts(db, team);
  const rows = db
    .prepare(
      `SELECT workload, account, sum(gpu_seconds) AS gpu, sum(cost) AS cost FROM workload_time
       WHERE day >= ? AND day < ? GROUP BY workload, account ORDER BY workload`,
    )
    .iterate(from / secondsPerDay, to / secondsPerDay);
  const byCost = createTop(limit, ({ costs, gpuSeconds }) => [largest(costs), gpuSeconds]);
  const byWaste = createTop(limit, ({ wasteCosts, wasted }) => [largest(wasteCosts), wasted]);
  const countByTeam = new Map<string, number>();
  const costs = bareRecord<number>();
  let [count, gpuSeconds] = [0, 0];
  let draft: Draft | null = null;
  const end = (done: Draft | null): void => {
    if (done === null) return;
    count += 1;
    gpuSeconds += done.gpuSeconds;
    for (const [currency, cost] of Object.entries(done.costs)) add(costs, currency, cost);
    for (const name of new Set([...done.byHolder.values()].map(({ account }) => account.team ?? "")))
      countByTeam.set(name, (countByTeam.get(name) ?? 0) + 1);
    byCost.offer(done);
    byWaste.offer(done);
  };
  const twins = readTwins(db, from / secondsPerDay);
  const returned = new Map<number, Draft>();
  for (const row of rows) {
    const account = accounts.get(numberIn(row, "account"));
    if (account === undefined) continue;
    const id = numberIn(row, "workload");
    const twin = twins.get(id);
    if (twin === undefined && draft?.id !== id) {
      end(draft);
      draft = emptyDraft(id);
    }
    const own = twin === undefined ? draft : (returned.get(twin) ?? emptyDraft(twin));
    if (own === null) continue;
    if (twin !== undefined) returned.set(twin, own);
    addRow(own, account, numberIn(row, "gpu"), numberOrNullIn(row, "cost"));
  }
  end(draft);
  for (const done of returned.values()) end(done);
  const workloads = createNames(db);
  const rowOf = (done: Draft): JobRow => ({ workload: workloads(done.id), ...finished(done) });
  return {
    count,
    countByTeam,
    gpuSeconds,
    costs,
    byCost: byCost.best().map(rowOf),
    byWaste: byWaste
      .best()
      .filter((done) => done.wasted > 0)
      .map(rowOf),
  };
}

/**
 * Workloads that came back after days without GPUs have a row for each time (dimensionIds.ts), and are one job all the same:
 * by the id of each such row, the first of them.
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

/** Accounts by id; of one team alone, where it is named. */
function readAccounts(db: DatabaseSync, team: string | null): ReadonlyMap<number, Account> {
  const condition = team === null ? "1" : "team = ?";
  const rows = db
    .prepare(`SELECT id, team, queue, state, currency FROM accounts WHERE ${condition}`)
    .iterate(...(team === null ? [] : [team]));
  const accounts = new Map<number, Account>();
  for (const row of rows)
    accounts.set(numberIn(row, "id"), {
      team: textOrNullIn(row, "team"),
      queue: textOrNullIn(row, "queue"),
      state: textIn(row, "state"),
      currency: textOrNullIn(row, "currency"),
    });
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
  const { state, currency, team, queue } = account;
  draft.gpuSeconds += gpuSeconds;
  if (state === "active") draft.active += gpuSeconds;
  if (judged.has(state)) draft.judged += gpuSeconds;
  if (wasted.has(state)) draft.wasted += gpuSeconds;
  if (currency !== null && cost !== null) {
    add(draft.costs, currency, cost);
    if (wasted.has(state)) add(draft.wasteCosts, currency, cost);
  }
  const key = JSON.stringify([team, queue]);
  const holder = draft.byHolder.get(key);
  if (holder === undefined) draft.byHolder.set(key, { account, gpuSeconds });
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

/** Keeps the `limit` largest by their ranks, the first rank first; of equal ones, the one that is older in the ledger. */
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

const largest = (costs: Readonly<Record<string, number>>): number => Math.max(0, ...Object.values(costs));

function add(sums: Record<string, number>, name: string, amount: number): void {
  sums[name] = (sums[name] ?? 0) + amount;
}
