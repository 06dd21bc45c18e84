import type { LedgerTableQuery, LedgerTableRow } from "../../exporter/accounts/ledger/ledgerTableQuery.ts";
import { type BucketedWaits, waitQuantile } from "../../exporter/accounts/ledger/waitBucket.ts";
import type { Waits } from "../document/parts.ts";
import type { WaitRow } from "../document/use.ts";
import { type Part, part, type ReviewAccounts, type ReviewQuestion } from "./source.ts";

/** Groups of one answer: more than queues x sizes x priorities x buckets of any cluster that this is made for. */
const maxGroups = 1_000_000;
/** Rows of each table; pages show the first ones. */
const mostRows = 100;

/** Waits of a group by bucket, with their percentiles. */
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

/** Asks for ended waits from creation to start, by what waited; the key is the JSON of the values. */
export async function askWaits(
  accounts: ReviewAccounts,
  { days, team }: ReviewQuestion,
  by: readonly ("team" | "queue" | "sizeClass" | "priorityClass")[],
): Promise<Part<readonly { readonly values: readonly (string | null)[]; readonly waits: Waits }[]>> {
  const where = new Map<string, readonly (string | null)[]>([["phase", ["total"]]]);
  if (team !== null) where.set("team", [team]);
  const query: LedgerTableQuery = { of: "waits", ...window(days), groupBy: [...by, "bucket"], where, limit: maxGroups };
  const asked = await accounts.queryLedgerTable(query);
  if (!asked.ok) return asked;
  const groups = Map.groupBy(asked.answer.rows, ({ values }) => JSON.stringify(values.slice(0, -1)));
  return part(
    [...groups.values()].map((rows) => ({
      values: rows[0]?.values.slice(0, -1) ?? [],
      waits: waitsOf(rows.map(bucketOf)),
    })),
  );
}

const window = ({ from, to }: ReviewQuestion["days"]) => ({ from, to });

function bucketOf({ values, amounts }: LedgerTableRow): BucketedWaits {
  return { bucket: Number(values.at(-1)), waits: amounts.waits ?? 0, seconds: amounts.seconds ?? 0 };
}

/** The tables of waits: by size and priority, and by queue. */
export async function askWaitTables(
  accounts: ReviewAccounts,
  question: ReviewQuestion,
): Promise<Part<{ readonly bySize: WaitRow[]; readonly byQueue: WaitRow[] }>> {
  const bySize = await askWaits(accounts, question, ["sizeClass", "priorityClass"]);
  if (!bySize.ok) return bySize;
  const byQueue = await askWaits(accounts, question, ["queue"]);
  if (!byQueue.ok) return byQueue;
  return part({
    bySize: sortedWaits(
      bySize.value.map(({ values, waits }) => ({
        queue: null,
        sizeClass: values[0] ?? null,
        priorityClass: values[1] ?? null,
        ...waits,
      })),
    ),
    byQueue: sortedWaits(
      byQueue.value.map(({ values, waits }) => ({
        queue: values[0] ?? "",
        sizeClass: null,
        priorityClass: null,
        ...waits,
      })),
    ),
  });
}

/** Those with the longest tail first; at most `mostRows`. */
export function sortedWaits(rows: readonly WaitRow[]): WaitRow[] {
  return rows
    .toSorted((one, other) => (other.p95Seconds ?? 0) - (one.p95Seconds ?? 0) || other.count - one.count)
    .slice(0, mostRows);
}
