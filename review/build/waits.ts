import type { LedgerTableRow } from "../../exporter/accounts/ledger/ledgerTableQuery.ts";
import { type BucketedWaits, waitQuantile } from "../../exporter/accounts/ledger/waitBucket.ts";
import type { Waits } from "../document/parts.ts";
import type { WaitRow } from "../document/use.ts";
import { askTable, type Part, part, type ReviewAccounts, type ReviewQuestion } from "./source.ts";

/** The most rows of each table; pages show only the first ones. */
const mostRows = 100;

/** Adds up the waits of a group by bucket, and finds their percentiles. */
export function waitsOf(buckets: readonly BucketedWaits[]): Waits {
  const sums = new Map<number, BucketedWaits>();
  for (const { bucket, waits, seconds } of buckets) {
    const before = sums.get(bucket);
    sums.set(bucket, { bucket, waits: (before?.waits ?? 0) + waits, seconds: (before?.seconds ?? 0) + seconds });
  }
  const list = [...sums.values()].sort((one, other) => one.bucket - other.bucket);
  return {
    count: list.reduce((sum, { waits }) => sum + waits, 0),
    p50Seconds: waitQuantile(list, 0.5),
    p95Seconds: waitQuantile(list, 0.95),
    buckets: list,
  };
}

/** Asks for ended waits from creation to start, grouped by `by`; `values` has the values of a group in that order. */
export async function askWaits(
  accounts: ReviewAccounts,
  { days, team }: ReviewQuestion,
  by: readonly ("team" | "queue" | "sizeClass" | "priorityClass")[],
): Promise<Part<readonly { readonly values: readonly (string | null)[]; readonly waits: Waits }[]>> {
  const where = new Map<string, readonly (string | null)[]>([["phase", ["total"]]]);
  if (team !== null) where.set("team", [team]);
  const asked = await askTable(accounts, days, "waits", [...by, "bucket"], where);
  if (!asked.ok) return asked;
  const groups = Map.groupBy(asked.value, ({ values }) => JSON.stringify(values.slice(0, -1)));
  return part(
    [...groups.values()].map((rows) => ({
      values: rows[0]?.values.slice(0, -1) ?? [],
      waits: waitsOf(rows.map(bucketOf)),
    })),
  );
}

function bucketOf({ values, amounts }: LedgerTableRow): BucketedWaits {
  return { bucket: Number(values.at(-1)), waits: amounts.waits ?? 0, seconds: amounts.seconds ?? 0 };
}

/** The tables of waits: by size and priority, and by queue. */
export async function askWaitTables(
  accounts: ReviewAccounts,
  question: ReviewQuestion,
): Promise<Part<{ readonly bySize: WaitRow[]; readonly byQueue: WaitRow[] }>> {
  const sizes = await askWaits(accounts, question, ["sizeClass", "priorityClass"]);
  if (!sizes.ok) return sizes;
  const queues = await askWaits(accounts, question, ["queue"]);
  if (!queues.ok) return queues;
  const bySize = sizes.value.map(({ values: [sizeClass = null, priorityClass = null], waits }) => ({
    queue: null,
    sizeClass,
    priorityClass,
    ...waits,
  }));
  const byQueue = queues.value.map(({ values: [queue], waits }) => ({
    queue: queue ?? "",
    sizeClass: null,
    priorityClass: null,
    ...waits,
  }));
  return part({ bySize: sortedWaits(bySize), byQueue: sortedWaits(byQueue) });
}

/** Sorts waits, those with the longest p95 first, and keeps at most `mostRows`. */
export function sortedWaits(rows: readonly WaitRow[]): WaitRow[] {
  return rows
    .toSorted((one, other) => (other.p95Seconds ?? 0) - (one.p95Seconds ?? 0) || other.count - one.count)
    .slice(0, mostRows);
}
