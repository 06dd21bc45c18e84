import type { DatabaseSync } from "node:sqlite";
import { isoTime } from "../../kernel/isoTime.ts";
import { strandedReasons } from "../../model/fragmentation.ts";
import type { LedgerCoverage } from "./accountsQuery.ts";
import { wrongTopology } from "./checkTopologyTime.ts";
import { coverageOfIntervals, toInterval } from "./intervalLog.ts";
import type { LedgerInterval } from "./ledger.ts";
import { sameMomentSeconds } from "./mergeEntries.ts";
import { hoursPerDay, secondsPerHour } from "./schema.ts";
import { numberIn, numberOrNullIn, type SqliteRow, textIn } from "./sqliteRow.ts";
import { allSumTables, isBelowZero, strandedColumn, sumsOf } from "./tables.ts";

/** What a check of a ledger found; if `wrong` is empty, the accounts are good. */
export interface LedgerCheck {
  /** Problems as sentences; at most `maxFindings` of each kind. */
  readonly wrong: readonly string[];
  readonly rows: {
    readonly hourly: number;
    readonly daily: number;
    readonly workloads: number;
    /** Rows of queues by hour or day, and ended waits and evictions one by one. */
    readonly queues: number;
    readonly waits: number;
    readonly evictions: number;
  };
  readonly intervals: number;
  readonly remembered: number;
  /** The time from the first interval to the end of the last one; `null` in an empty ledger. */
  readonly window: { readonly from: number; readonly to: number } | null;
  readonly coverage: LedgerCoverage | null;
}

const maxFindings = 10;

/** Accounts are balanced when both sides differ by less than this part of the larger side. */
export const closingTolerance = 1e-9;

/** The tolerance for queues is larger, because entitlements are found by bisection and clamping. */
const queueTolerance = 1e-6;

/** Checks the whole of a ledger: SQLite's structures, the accounts, and the record of what was covered. */
export function checkLedger(db: DatabaseSync): LedgerCheck {
  const damage = db
    .prepare(`PRAGMA integrity_check(${maxFindings})`)
    .all()
    .map((row) => textIn(row, "integrity_check"))
    .filter((verdict) => verdict !== "ok");
  if (damage.length > 0) return { ...nothing, wrong: damage.map((line) => `damaged: ${line.replaceAll("\n", " ")}`) };
  const intervals = db.prepare("SELECT begins, ends, seconds, gap FROM intervals ORDER BY id").all().map(toInterval);
  const from = intervals.reduce((least, interval) => Math.min(least, interval.from), Number.POSITIVE_INFINITY);
  const to = intervals.reduce((most, interval) => Math.max(most, interval.to), Number.NEGATIVE_INFINITY);
  const empty = intervals.length === 0;
  return {
    wrong: [
      ...openAccounts(db),
      ...costsWithoutCurrency(db),
      ...openCosts(db),
      ...overcommittedWorkloads(db),
      ...openQueues(db),
      ...wrongDomains(db),
      ...wrongPlacement(db),
      ...wrongTopology(db, maxFindings),
      ...wrongServed(db),
      ...wrongStreaks(db),
      ...orphans(db),
      ...overlaps(intervals),
    ],
    rows: {
      hourly: count(db, "gpu_time WHERE daily = 0"),
      daily: count(db, "gpu_time WHERE daily = 1"),
      workloads: count(db, "workload_time"),
      queues: count(db, "queue_time"),
      waits: count(db, "waits", "coalesce(sum(waits), 0)"),
      evictions: count(db, "evictions"),
    },
    intervals: intervals.length,
    remembered: count(db, "remembered"),
    window: empty ? null : { from, to },
    coverage: empty ? null : coverageOfIntervals(intervals, from, to),
  };
}

/** Rows that break this rule: a sum has a cost exactly where its account or node group has a currency. */
function costsWithoutCurrency(db: DatabaseSync): readonly string[] {
  const links = [
    ["gpu_time", "account", "accounts"],
    ["workload_time", "account", "accounts"],
    ["node_time", "node_group", "node_groups"],
    ["served_time", "served_group", "served_groups"],
  ] as const;
  return links.flatMap(([table, column, dimension]) => {
    const rows = count(
      db,
      `${table} t JOIN ${dimension} d ON d.id = t.${column}
         WHERE (t.cost IS NULL) <> (d.currency IS NULL) OR t.cost < 0`,
    );
    return rows === 0
      ? []
      : [`${rows} rows of ${table} have a cost without a currency, none with one, or less than nothing`];
  });
}

/** Pools of nodes and hours, of those that are kept for both, in which counted GPUs and nodes differ in cost. */
function openCosts(db: DatabaseSync): readonly string[] {
  return sentences(
    db,
    `WITH counted AS (
         SELECT t.daily, t.hour, a.node_pool, a.currency, sum(t.cost) AS cost
         FROM gpu_time t JOIN accounts a ON a.id = t.account WHERE a.currency IS NOT NULL GROUP BY 1, 2, 3, 4
       ), nodes AS (
         SELECT t.daily, t.hour, g.node_pool, g.currency, sum(t.cost) AS cost
         FROM node_time t JOIN node_groups g ON g.id = t.node_group WHERE g.currency IS NOT NULL GROUP BY 1, 2, 3, 4
       )
       SELECT b.daily AS daily, b.hour AS hour, b.node_pool AS node_pool, b.currency AS currency, b.cost AS counted,
         n.cost AS nodes
       FROM counted b JOIN nodes n USING (daily, hour, node_pool, currency)
       WHERE abs(b.cost - n.cost) > ${closingTolerance} * max(b.cost, n.cost) ORDER BY 2, 3 LIMIT ${maxFindings}`,
    (row, when) =>
      `the costs of node pool ${textIn(row, "node_pool")} do not close in ${when}: counted ${numberIn(row, "counted")}, nodes ${numberIn(row, "nodes")} ${textIn(row, "currency")}`,
  );
}

const nothing: Omit<LedgerCheck, "wrong"> = {
  rows: { hourly: 0, daily: 0, workloads: 0, queues: 0, waits: 0, evictions: 0 },
  intervals: 0,
  remembered: 0,
  window: null,
  coverage: null,
};

/** Pools and hours in which the sum over accounts differs from the pool's control sum. */
function openAccounts(db: DatabaseSync): readonly string[] {
  return sentences(
    db,
    `WITH counted AS (
         SELECT t.daily, t.hour, a.pool, sum(t.gpu_seconds) AS seconds
         FROM gpu_time t JOIN accounts a ON a.id = t.account GROUP BY t.daily, t.hour, a.pool
       ), both AS (
         SELECT coalesce(b.daily, p.daily) AS daily, coalesce(b.hour, p.hour) AS hour, coalesce(b.pool, p.pool) AS pool,
           coalesce(b.seconds, 0) AS counted, coalesce(p.physical_gpu_seconds, 0) AS physical
         FROM counted b FULL JOIN pool_time p ON p.daily = b.daily AND p.hour = b.hour AND p.pool = b.pool
       )
       SELECT * FROM both WHERE abs(counted - physical) > ${closingTolerance} * max(counted, physical)
       ORDER BY hour, pool LIMIT ${maxFindings}`,
    (row, when) =>
      `the accounts of pool ${textIn(row, "pool")} do not close in ${when}: counted ${numberIn(row, "counted")}, physical ${numberIn(row, "physical")} GPU-seconds`,
  );
}

/** Days, of those that are kept for both, on which single workloads have more time than everything that was counted. */
function overcommittedWorkloads(db: DatabaseSync): readonly string[] {
  return db
    .prepare(
      `WITH allocated AS (SELECT day, sum(gpu_seconds) AS seconds FROM workload_time GROUP BY day),
       counted AS (
         SELECT hour / ${hoursPerDay} AS day, sum(gpu_seconds) AS seconds FROM gpu_time GROUP BY hour / ${hoursPerDay}
       )
       SELECT allocated.day AS day, allocated.seconds AS allocated, counted.seconds AS counted
       FROM allocated JOIN counted ON counted.day = allocated.day
       WHERE allocated.seconds > counted.seconds * (1 + ${closingTolerance}) ORDER BY 1 LIMIT ${maxFindings}`,
    )
    .all()
    .map((row) => {
      const day = isoTime(numberIn(row, "day") * hoursPerDay * secondsPerHour).slice(0, 10);
      return `workloads hold more than was counted on ${day}: ${numberIn(row, "allocated")} of ${numberIn(row, "counted")} GPU-seconds`;
    });
}

/**
 * Hours and days of queues that contradict themselves. The GPU time that was allocated in judged time is a part of all
 * allocated GPU time, and equal to it if all time was judged. Minus the entitlement, it is at most the excess, and at least the
 * excess minus all shortfalls, because absent and indivisible capacity is a shortfall beyond the entitlement.
 */
function openQueues(db: DatabaseSync): readonly string[] {
  const slack = `${queueTolerance} * (allocated_gpu_seconds + entitled_gpu_seconds + seconds)`;
  const shortfalls = sumsOf("queue_time")
    .filter((column) => column.startsWith("short_"))
    .map((column) => `coalesce(${column}, 0)`)
    .join(" + ");
  return sentences(
    db,
    `SELECT t.daily AS daily, t.hour AS hour, q.queue AS queue, q.domain AS domain
       FROM queue_time t JOIN queues q ON q.id = t.queue
       WHERE judged_seconds > seconds * (1 + ${closingTolerance}) OR ${isBelowZero("queue_time")}
         OR (guaranteed_gpu_seconds IS NULL) <> (guaranteed_seconds = 0)
         OR judged_allocated_gpu_seconds - allocated_gpu_seconds > ${slack}
         OR (judged_seconds >= seconds * (1 - ${closingTolerance}) AND allocated_gpu_seconds - judged_allocated_gpu_seconds > ${slack})
         OR judged_allocated_gpu_seconds - entitled_gpu_seconds - excess_gpu_seconds > ${slack}
         OR excess_gpu_seconds - judged_allocated_gpu_seconds + entitled_gpu_seconds - (${shortfalls}) > ${slack}
       ORDER BY t.hour, q.queue LIMIT ${maxFindings}`,
    (row, when) =>
      `the sums of queue ${textIn(row, "queue")} in ${textIn(row, "domain")} contradict each other in ${when}`,
  );
}

/** Hours of domains that allocate more than they have, or know their guarantees for longer than they existed. */
function wrongDomains(db: DatabaseSync): readonly string[] {
  return sentences(
    db,
    `SELECT hour, domain AS name FROM domain_time
     WHERE ${isBelowZero("domain_time")} OR seconds <= 0
       OR allocated_gpu_seconds > capacity_gpu_seconds + ${queueTolerance} * (seconds + capacity_gpu_seconds)
       OR guaranteed_seconds > seconds * (1 + ${queueTolerance})
       OR (guaranteed_gpu_seconds IS NULL) <> (guaranteed_seconds = 0)
     ORDER BY hour, domain LIMIT ${maxFindings}`,
    (row, when) => `the sums of domain ${textIn(row, "name")} contradict each other in ${when}`,
  );
}

/** Hours of pools with more stranded than free GPUs, or with a mean that is not between the least and the most. */
function wrongPlacement(db: DatabaseSync): readonly string[] {
  return sentences(
    db,
    `SELECT hour, pool AS name FROM placement_time
     WHERE ${isBelowZero("placement_time")} OR seconds <= 0
       OR ${strandedReasons.map(strandedColumn).join(" + ")} > free_gpu_seconds + ${queueTolerance} * (seconds + free_gpu_seconds)
       OR largest_placeable_gpu_seconds < largest_placeable_min * seconds * (1 - ${queueTolerance})
       OR largest_placeable_gpu_seconds > largest_placeable_max * seconds * (1 + ${queueTolerance})
     ORDER BY hour, pool LIMIT ${maxFindings}`,
    (row, when) => `the sums of pool ${textIn(row, "name")} contradict each other in ${when}`,
  );
}

/** Rows in which the GPU time with uncounted tokens is more than all GPU time. */
function wrongServed(db: DatabaseSync): readonly string[] {
  const rows = count(
    db,
    `served_time WHERE ${isBelowZero("served_time")} OR uncounted_gpu_seconds > gpu_seconds * (1 + ${closingTolerance})`,
  );
  return rows === 0 ? [] : [`${rows} rows of served_time contradict themselves or are less than nothing`];
}

/** Nodes that leave a state before they enter it, or are in two states at once. */
function wrongStreaks(db: DatabaseSync): readonly string[] {
  const nodesOf = (condition: string): readonly string[] =>
    db
      .prepare(`SELECT node FROM node_streaks ${condition} ORDER BY node LIMIT ${maxFindings}`)
      .all()
      .map((row) => textIn(row, "node"));
  return [
    ...nodesOf("WHERE ends < begins").map((node) => `node ${node} ends a state before it begins it`),
    ...nodesOf("WHERE ends IS NULL GROUP BY node HAVING count(*) > 1").map(
      (node) => `node ${node} is in two states at once`,
    ),
    ...db
      .prepare(`SELECT node FROM outages WHERE ends < begins OR gpus <= 0 ORDER BY node LIMIT ${maxFindings}`)
      .all()
      .map((row) => `an outage of node ${textIn(row, "node")} ends before it begins, or is of no GPU`),
  ];
}

/** Sums that name an account, a workload or another dimension that does not exist. */
function orphans(db: DatabaseSync): readonly string[] {
  return allSumTables.flatMap(({ name, keys }) =>
    Object.entries(keys).flatMap(([column, target]) => {
      if (target === null) return [];
      const missing = count(db, `${name} WHERE ${column} NOT IN (SELECT id FROM ${target})`);
      return missing === 0 ? [] : [`${missing} rows of ${name} name a row of ${target} that is not there`];
    }),
  );
}

/** Intervals that begin before an earlier one ends. They may do so only after a clock was set back. */
function overlaps(intervals: readonly LedgerInterval[]): readonly string[] {
  const found: string[] = [];
  let end = Number.NEGATIVE_INFINITY;
  for (const interval of intervals) {
    if (interval.gap === "clock-jump") end = interval.to;
    else {
      if (interval.from < end - sameMomentSeconds) {
        found.push(
          `the interval from ${isoTime(interval.from)} begins before the one before it ends (${isoTime(end)})`,
        );
      }
      end = Math.max(end, interval.to);
    }
  }
  return found.slice(0, maxFindings);
}

/**
 * The rows of a statement as sentences; `when` is the hour, or the day (if the row is `daily`), that begins with the row's
 * `hour`.
 */
function sentences(db: DatabaseSync, sql: string, say: (row: SqliteRow, when: string) => string): readonly string[] {
  return db
    .prepare(sql)
    .all()
    .map((row) => {
      const begin = isoTime(numberIn(row, "hour") * secondsPerHour);
      return say(row, `the ${row.daily === 1 ? "day" : "hour"} from ${begin}`);
    });
}

function count(db: DatabaseSync, what: string, of = "count(*)"): number {
  return numberOrNullIn(db.prepare(`SELECT ${of} AS n FROM ${what}`).get(), "n") ?? 0;
}
