import type { DatabaseSync } from "node:sqlite";
import type { WorkloadKey } from "../posting.ts";
import {
  createExportAccounts,
  type ExportAccount,
  type ExportAccounts,
  type ExportGroup,
  readPriceFacts,
} from "./exportAccounts.ts";
import { type ExportQuery, type ExportRow, exportStep } from "./exportQuery.ts";
import { secondsPerDay, secondsPerHour } from "./schema.ts";
import { numberIn, numberOrNullIn, type SqliteRow, textIn } from "./sqliteRow.ts";
import { readWorkloadProgress } from "./workloadProgress.ts";

/**
 * Reads the rows of an export one after the other, in the order of time; only one period's accounts are in memory. The totals
 * are those of the ledger: what an account has beyond its workloads becomes rows without a workload. That is everything where
 * nobody held the GPUs or workloads are no longer kept. Run it within one transaction.
 */
export function* exportRows(db: DatabaseSync, query: ExportQuery): Generator<ExportRow, void> {
  const accounts = createExportAccounts(db, query);
  const priceFacts = readPriceFacts(db, query);
  const progressOf = readWorkloadProgress(db);
  const sums = db.prepare(
    `SELECT account, ${summed} FROM gpu_time WHERE daily IN (0, 1) AND hour >= ? AND hour < ? GROUP BY account`,
  );
  const step = exportStep(query.granularity);
  for (let from = query.from; from < query.to; from += step) {
    const to = from + step;
    accounts.tidy();
    const rowsOf = function* (groups: Sums<ExportGroup>, workload: WorkloadKey | null): Generator<ExportRow, void> {
      const progress = workload === null ? null : progressOf(workload);
      for (const [group, amounts] of groups) {
        const cost = group.currency === null ? null : amounts.cost;
        const costPerProgressUnit = progress?.costPerUnit[group.currency ?? ""] ?? null;
        const made = { progressUnits: progress?.madeUnits ?? null, costPerProgressUnit };
        yield { from, to, ...group, ...amounts, cost, workload, ...priceFacts(group, from, to), ...made };
      }
    };
    const accounted: Sums<ExportAccount> = new Map();
    for (const row of sums.iterate(from / secondsPerHour, to / secondsPerHour)) {
      const account = accounts.of(numberIn(row, "account"));
      add(accounted, account, amountsIn(row, account));
    }
    const left = new Map(accounted);
    if (query.granularity === "day") {
      for (const { workload, groups } of allocatedOn(db, from / secondsPerDay, accounts, left)) {
        yield* rowsOf(groups, workload);
      }
    }
    const rest: Sums<ExportGroup> = new Map();
    for (const [account, amounts] of left) {
      const isNoise = amounts.gpuSeconds <= noise * (accounted.get(account)?.gpuSeconds ?? 0);
      if (!isNoise) add(rest, account.group, amounts);
    }
    yield* rowsOf(rest, null);
  }
}

/** The GPU time that each workload held on a day; it is subtracted from `left`. */
function* allocatedOn(
  db: DatabaseSync,
  day: number,
  accounts: ExportAccounts,
  left: Sums<ExportAccount>,
): Generator<{ readonly workload: WorkloadKey | null; readonly groups: Sums<ExportGroup> }, void> {
  const allocated = db.prepare(
    `SELECT t.workload AS workload, t.account AS account, t.gpu_seconds AS gpu, t.estimated_gpu_seconds AS estimated,
       t.energy_joules AS energy, t.cost AS cost, w.kind AS kind, w.namespace AS namespace, w.name AS name
     FROM workload_time t JOIN workloads w ON w.id = t.workload WHERE t.day = ? ORDER BY t.workload, t.account`,
  );
  let current = -1;
  let workload: WorkloadKey | null = null;
  let groups: Sums<ExportGroup> = new Map();
  for (const row of allocated.iterate(day)) {
    if (numberIn(row, "workload") !== current) {
      yield { workload, groups };
      groups = new Map();
      current = numberIn(row, "workload");
      workload = { kind: textIn(row, "kind"), namespace: textIn(row, "namespace"), name: textIn(row, "name") };
    }
    const account = accounts.of(numberIn(row, "account"));
    const amounts = amountsIn(row, account);
    add(groups, account.group, amounts);
    const rest = left.get(account);
    if (rest !== undefined) left.set(account, less(rest, amounts));
  }
  yield { workload, groups };
}

/** A difference below this part of the sum is caused by rounding. */
const noise = 1e-9;

const summed =
  "sum(gpu_seconds) AS gpu, sum(estimated_gpu_seconds) AS estimated, sum(energy_joules) AS energy, sum(cost) AS cost";

interface Amounts {
  readonly gpuSeconds: number;
  readonly activeGpuSeconds: number;
  readonly estimatedGpuSeconds: number;
  readonly energyJoules: number | null;
  readonly cost: number;
}

type Sums<Key> = Map<Key, Amounts>;

function amountsIn(row: SqliteRow, { isActive }: ExportAccount): Amounts {
  const gpuSeconds = numberIn(row, "gpu");
  return {
    gpuSeconds,
    activeGpuSeconds: isActive ? gpuSeconds : 0,
    estimatedGpuSeconds: numberIn(row, "estimated"),
    energyJoules: numberOrNullIn(row, "energy"),
    cost: numberOrNullIn(row, "cost") ?? 0,
  };
}

function add<Key>(sums: Sums<Key>, key: Key, amounts: Amounts): void {
  const before = sums.get(key);
  sums.set(key, before === undefined ? amounts : combined(before, amounts, 1));
}

/** A sum minus a part of it, never below 0. */
function less(sum: Amounts, part: Amounts): Amounts {
  return combined(sum, part, -1);
}

function combined(one: Amounts, other: Amounts, sign: 1 | -1): Amounts {
  const of = (a: number, b: number): number => Math.max(0, a + sign * b);
  const unknown = one.energyJoules === null && other.energyJoules === null;
  return {
    gpuSeconds: of(one.gpuSeconds, other.gpuSeconds),
    activeGpuSeconds: of(one.activeGpuSeconds, other.activeGpuSeconds),
    estimatedGpuSeconds: of(one.estimatedGpuSeconds, other.estimatedGpuSeconds),
    energyJoules: unknown ? null : of(one.energyJoules ?? 0, other.energyJoules ?? 0),
    cost: of(one.cost, other.cost),
  };
}
