import type { DatabaseSync } from "node:sqlite";
import { compareText } from "../../kernel/compareText.ts";
import { absentAmounts } from "../posting.ts";
import { filterCondition, groupValue } from "./groupsAndFilters.ts";
import { coverageOf } from "./intervalLog.ts";
import type {
  LedgerTable,
  LedgerTableAmounts,
  LedgerTableQuery,
  LedgerTableResult,
  LedgerTableRow,
} from "./ledgerTableQuery.ts";
import { amountsOf, ledgerTableSources } from "./ledgerTableSources.ts";
import { refuseLedgerTableWindow } from "./queryWindow.ts";
import { numberIn, numberOrNullIn, type SqliteRow } from "./sqliteRow.ts";
import { atOneMoment } from "./transaction.ts";
import { type BucketedWaits, waitQuantile } from "./waitBucket.ts";

/** Answers a question to a ledger table from one moment of the ledger. Groupings and filters are those of `dimensionsOf`. */
export function queryLedgerTable(db: DatabaseSync, query: LedgerTableQuery): LedgerTableResult {
  return atOneMoment(db, () => {
    const refused = refuseLedgerTableWindow(db, query);
    if (refused !== null) return refused;
    const groups = readGroups(db, query);
    const totals = totalsOf(db, query, groups);
    const ranked = [...groups].sort((a, b) => compareTimes(query, a, b) || b.rank - a.rank || compareTexts(a, b));
    const rows: readonly LedgerTableRow[] = ranked
      .slice(0, query.limit)
      .map(({ values, sums }) => ({ values, amounts: finish(query.of, sums) }));
    const { of, from, to, groupBy } = query;
    const coverage = coverageOf(db, from, to);
    const answer = { of, from, to, groupBy, rows, totalRows: groups.length, totals: finish(of, totals), coverage };
    return { ok: true, answer };
  });
}

interface Group {
  readonly values: readonly (string | null)[];
  sums: Sums;
  /** The amount that groups are ordered by; the largest comes first. */
  rank: number;
}

function readGroups(db: DatabaseSync, query: LedgerTableQuery): readonly Group[] {
  const source = ledgerTableSources[query.of];
  const column = (dimension: string): string => source.columns[dimension] ?? "NULL";
  const { condition, values } = filterCondition(query.where, column);
  const selected = query.groupBy.map((dimension, i) => `${column(dimension)} AS g${i}`);
  const grouped = [...query.groupBy.map((_, i) => `g${i}`), ...(source.bucket === undefined ? [] : [source.bucket])];
  const sums = Object.entries(source.sums).map(([name, sql]) => `${sql} AS ${name}`);
  const sql = `
    SELECT count(*) AS counted, ${[...selected, ...sums, ...(source.bucket === undefined ? [] : [`${source.bucket} AS bucket`])].join(", ")}
    FROM ${source.from} WHERE ${source.window} AND ${condition}
    ${grouped.length === 0 ? "" : `GROUP BY ${grouped.join(", ")}`}`;
  const groups = new Map<string, Group>();
  const window = [query.from / source.windowSeconds, query.to / source.windowSeconds];
  for (const row of db.prepare(sql).iterate(...window, ...values)) {
    // Without groups, SQLite returns one row even for no data.
    if (row[source.rank] === null || numberIn(row, "counted") === 0) continue;
    const found = query.groupBy.map((dimension, i) => groupValue(row, `g${i}`, dimension));
    const key = JSON.stringify(found);
    const group = groups.get(key) ?? { values: found, sums: emptySums, rank: 0 };
    groups.set(key, group);
    group.sums = addAmounts(group.sums, amountsIn(row, Object.keys(source.sums), source.bucket !== undefined));
    group.rank += numberIn(row, source.rank);
  }
  return [...groups.values()];
}

/**
 * The sums of all rows. Most sums of groups add up. Costs may be in different currencies, which only the rows contain, and
 * extremes do not add up either.
 */
function totalsOf(db: DatabaseSync, query: LedgerTableQuery, groups: readonly Group[]): Sums {
  const all = ledgerTableSources[query.of].addsUp ? groups : readGroups(db, { ...query, groupBy: [] });
  return all.reduce((sum, group) => addAmounts(sum, group.sums), emptySums);
}

/** The sums of a group by name, and its waits by bucket. */
interface Sums {
  readonly amounts: LedgerTableAmounts;
  readonly buckets: ReadonlyMap<number, BucketedWaits>;
}

/** The sums of no rows. */
const emptySums: Sums = { amounts: {}, buckets: new Map() };

/** The sums of a row. */
function amountsIn(row: SqliteRow, names: readonly string[], hasBucket: boolean): Sums {
  const amounts = Object.fromEntries(names.map((name) => [name, numberOrNullIn(row, name)]));
  if (!hasBucket) return { amounts, buckets: emptySums.buckets };
  const bucket = numberIn(row, "bucket");
  return {
    amounts,
    buckets: new Map([[bucket, { bucket, waits: amounts.waits ?? 0, seconds: amounts.seconds ?? 0 }]]),
  };
}

/** The sums of both; an amount that is unknown in both stays unknown. */
function addAmounts(one: Sums, other: Sums): Sums {
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

/** The amounts of `amountsOf`, which are the sums and the values that are computed from them. */
function finish(of: LedgerTable, { amounts, buckets }: Sums): LedgerTableAmounts {
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
  return Object.fromEntries(amountsOf(of).map((name) => [name, all[name] ?? emptyAmount(name)]));
}

/** An amount for no rows: sums are 0, and amounts of single rows are unknown. */
function emptyAmount(name: string): number | null {
  return [
    "deviationRatio",
    "meanSeconds",
    "meanRepairSeconds",
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
    "promptTokens",
    "generatedTokens",
    "tokensPerGpuHour",
    "costPerMillionTokens",
  ].includes(name)
    ? null
    : 0;
}

function compareTimes({ groupBy }: LedgerTableQuery, a: Group, b: Group): number {
  const i = groupBy.findIndex((dimension) => dimension === "day" || dimension === "hour");
  return i < 0 ? 0 : compareText(a.values[i] ?? "", b.values[i] ?? "");
}

function compareTexts(a: Group, b: Group): number {
  return compareText(JSON.stringify(a.values), JSON.stringify(b.values));
}
