import type { DatabaseSync } from "node:sqlite";
import { capacityAmounts } from "./capacityWriter.ts";
import { closingTolerance } from "./checkLedger.ts";
import { addExcluded, addExcludedNodeTime, sumColumns } from "./entryWriter.ts";
import { mixedDays, sourcesOfDay } from "./mergeChoice.ts";
import { type Dimension, idsOf } from "./mergeDimensions.ts";
import { addExcludedQueueTime, queueSums } from "./queueWriter.ts";
import { hoursPerDay } from "./schema.ts";
import { numberIn } from "./sqliteRow.ts";

/** A table of sums that is kept by the hour, or by day once its hours are folded. */
interface HourTable {
  readonly table: string;
  /** What identifies a row within its hour; `of`: the table whose id it is. */
  readonly key: string;
  readonly of: Dimension | null;
  readonly sums: string;
  /** How rows with the same key are combined: a source may name the same content twice. */
  readonly add: string;
}

const foldable: readonly HourTable[] = [
  { table: "gpu_time", key: "account", of: "accounts", sums: sumColumns, add: addExcluded("gpu_time") },
  { table: "pool_time", key: "pool", of: null, sums: "physical_gpu_seconds", add: "" },
  { table: "node_time", key: "node_group", of: "node_groups", sums: "node_seconds, cost", add: addExcludedNodeTime },
  { table: "queue_time", key: "queue", of: "queues", sums: queueSums.join(", "), add: addExcludedQueueTime },
];

const byHour = {
  domain_time: ["hour", "domain", ...capacityAmounts.domain_time, "guaranteed_gpu_seconds"],
  placement_time: ["hour", "pool", ...capacityAmounts.placement_time, "largest_placeable_min", "largest_placeable_max"],
};

/** Writes the sums of every hour from the source of that hour. */
export function mergeHours(db: DatabaseSync, sources: readonly string[]): void {
  for (const [source, name] of sources.entries()) {
    for (const { table, key, of, sums, add } of foldable) {
      const ids = of === null ? "" : `CROSS JOIN ${idsOf(of)} i ON i.source = ${source} AND i.id = t.${key}`;
      db.exec(`
        INSERT INTO main.${table} (daily, hour, ${key}, ${sums})
        SELECT t.daily, t.hour, ${of === null ? `t.${key}` : "i.merged"}, ${prefixed(sums.split(", "))}
        FROM temp.runs r CROSS JOIN ${name}.${table} t ${ids}
        WHERE r.source = ${source} AND t.daily IN (0, 1) AND t.hour >= r.first AND t.hour < r.last ${add}`);
    }
    for (const [table, columns] of Object.entries(byHour)) {
      db.exec(`
        INSERT INTO main.${table} (${columns.join(", ")}) SELECT ${prefixed(columns)}
        FROM temp.runs r CROSS JOIN ${name}.${table} t
        WHERE r.source = ${source} AND t.hour >= r.first AND t.hour < r.last`);
    }
  }
}

/** Writes daily rows from the source of each day. */
export function mergeDays(db: DatabaseSync, sources: readonly string[]): void {
  const mixed = new Set(mixedDays(db));
  db.exec("CREATE TEMP TABLE workload_days (day INTEGER PRIMARY KEY, source INTEGER NOT NULL)");
  const choose = db.prepare("INSERT INTO temp.workload_days VALUES (?, ?)");
  for (const day of mixed) {
    const source = sourcesOfDay(db, day).find((one) => fits(db, sources[one] ?? "main", day));
    if (source !== undefined) choose.run(day, source);
  }
  for (const [source, name] of sources.entries()) {
    const ids = (dimension: Dimension, column: string): string =>
      `CROSS JOIN ${idsOf(dimension)} ${column}_ids ON ${column}_ids.source = ${source} AND ${column}_ids.id = t.${column}`;
    const ofDays = (table: string): string => `FROM temp.day_runs r CROSS JOIN ${name}.${table} t`;
    const chosen = `r.source = ${source} AND t.day >= r.first AND t.day < r.last`;
    const workloadRows = (from: string, where: string): string => `
      INSERT INTO main.workload_time (day, workload, account, ${sumColumns})
      SELECT t.day, workload_ids.merged, account_ids.merged, ${prefixed(sumColumns.split(", "))}
      ${from} ${ids("workloads", "workload")} ${ids("accounts", "account")} WHERE ${where} ${addExcluded("workload_time")};`;
    db.exec(`
      ${workloadRows(ofDays("workload_time"), `${chosen} AND t.day NOT IN (SELECT day FROM temp.chosen_days WHERE sources > 1)`)}
      ${workloadRows(`FROM temp.workload_days d CROSS JOIN ${name}.workload_time t`, `d.source = ${source} AND t.day = d.day`)}
      INSERT INTO main.waits (day, wait_group, bucket, waits, seconds)
        SELECT t.day, wait_group_ids.merged, t.bucket, t.waits, t.seconds ${ofDays("waits")} ${ids("wait_groups", "wait_group")}
        WHERE ${chosen} ON CONFLICT DO UPDATE SET waits = waits.waits + excluded.waits, seconds = waits.seconds + excluded.seconds;
      INSERT INTO main.pod_shapes (day, shape, pods)
        SELECT t.day, shape_ids.merged, t.pods ${ofDays("pod_shapes")} ${ids("shapes", "shape")}
        WHERE ${chosen} ON CONFLICT DO UPDATE SET pods = pod_shapes.pods + excluded.pods;`);
  }
}

/**
 * Whether the workloads of a source hold no more than was counted on that day: hours may come from several sources, workloads
 * come from one.
 */
function fits(db: DatabaseSync, name: string, day: number): boolean {
  const row = db
    .prepare(
      `SELECT (SELECT coalesce(sum(gpu_seconds), 0) FROM ${name}.workload_time WHERE day = ?1) AS allocated,
        (SELECT coalesce(sum(gpu_seconds), 0) FROM main.gpu_time
          WHERE daily IN (0, 1) AND hour >= ?1 * ${hoursPerDay} AND hour < (?1 + 1) * ${hoursPerDay}) AS counted`,
    )
    .get(day);
  return row === undefined || numberIn(row, "allocated") <= numberIn(row, "counted") * (1 + closingTolerance);
}

const prefixed = (columns: readonly string[]): string => columns.map((column) => `t.${column}`).join(", ");
