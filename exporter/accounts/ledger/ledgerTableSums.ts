import { absentAmounts } from "../posting.ts";
import { type LedgerTable, type LedgerTableAmounts, ledgerTableAmounts } from "./ledgerTableQuery.ts";
import { numberIn, numberOrNullIn, type SqliteRow } from "./sqliteRow.ts";
import { type BucketedWaits, waitQuantile } from "./waitBucket.ts";

/** What a group adds up to: sums by name, and its waits by bucket. */
export interface Sums {
  readonly amounts: LedgerTableAmounts;
  readonly buckets: ReadonlyMap<number, BucketedWaits>;
}

/** Of nothing. */
export const emptySums: Sums = { amounts: {}, buckets: new Map() };

/** The sums of a row. */
export function amountsIn(row: SqliteRow, names: readonly string[], hasBucket: boolean): Sums {
  const amounts = Object.fromEntries(names.map((name) => [name, numberOrNullIn(row, name)]));
  if (!hasBucket) return { amounts, buckets: emptySums.buckets };
  const bucket = numberIn(row, "bucket");
  return {
    amounts,
    buckets: new Map([[bucket, { bucket, waits: amounts.waits ?? 0, seconds: amounts.seconds ?? 0 }]]),
  };
}

/** The sums of both; what neither knows stays unknown. */
export function addAmounts(one: Sums, other: Sums): Sums {
  const names = new Set([...Object.keys(one.amounts), ...Object.keys(other.amounts)]);
  const amounts = Object.fromEntries(
    [...names].map((name) => [name, plus(one.amounts[name] ?? null, other.amounts[name] ?? null)]),
  );
  if (other.buckets.size === 0) return { amounts, buckets: one.buckets };
  const buckets = new Map(one.buckets);
  for (const [bucket, { waits, seconds }] of other.buckets) {
    const before = buckets.get(bucket);
    buckets.set(bucket, { bucket, waits: (before?.waits ?? 0) + waits, seconds: (before?.seconds ?? 0) + seconds });
  }
  return { amounts, buckets };
}

function plus(a: number | null, b: number | null): number | null {
  return a === null ? b : b === null ? a : a + b;
}

/** The amounts of `ledgerTableAmounts`: sums, and what follows from them. */
export function finish(of: LedgerTable, { amounts, buckets }: Sums): LedgerTableAmounts {
  const all: Record<string, number | null> = { ...amounts };
  if (of === "queues") {
    const { entitled, judgedAllocated } = amounts;
    all.deviationRatio = (entitled ?? 0) > 0 ? ((judgedAllocated ?? 0) - (entitled ?? 0)) / (entitled ?? 0) : null;
    all.shortfallByAbsentCapacity = Object.values(absentAmounts)
      .map((name) => amounts[name] ?? null)
      .reduce(plus, null);
  }
  if (of === "waits") {
    const waits = amounts.waits ?? 0;
    const list = [...buckets.values()];
    all.meanSeconds = waits > 0 ? (amounts.seconds ?? 0) / waits : null;
    all.p50Seconds = waitQuantile(list, 0.5);
    all.p95Seconds = waitQuantile(list, 0.95);
  }
  return Object.fromEntries(ledgerTableAmounts[of].map((name) => [name, all[name] ?? emptyAmount(name)]));
}

/** Of nothing, sums are 0; what is known of single rows only is unknown. */
function emptyAmount(name: string): number | null {
  return [
    "deviationRatio",
    "meanSeconds",
    "p50Seconds",
    "p95Seconds",
    "gpus",
    "lostGpuSeconds",
    "cost",
    "measuredGpus",
    "measuredLostGpuHours",
    "guaranteed",
    "shortfallByAbsentCapacity",
    ...Object.values(absentAmounts),
    "shortfallByIndivisible",
    "gpuSeconds",
    "longestSeconds",
    "longestBegins",
    "longestEnds",
    "longestGpus",
    "largestPlaceableMean",
    "largestPlaceableMin",
    "largestPlaceableMax",
  ].includes(name)
    ? null
    : 0;
}
