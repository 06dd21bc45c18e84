import type { DatabaseSync } from "node:sqlite";
import { closingTolerance } from "./checkLedger.ts";
import { mixedDays, sourcesOfDay } from "./mergeChoice.ts";
import { hoursPerDay } from "./schema.ts";
import { numberIn } from "./sqliteRow.ts";
import { addToExisting, allSumTables, type Dimension, dimensions } from "./tables.ts";

/** The table that maps a row of a source to the row of the merged ledger that it has become: (source, id) -> merged. */
const idsOf = (dimension: Dimension): string => `temp.ids_${dimension}`;

/**
 * Writes the dimension tables: one row for each content, whose last use is the last use in any source. Sources may have several
 * rows of the same content; their sums are added up, as queries do. CROSS JOIN keeps SQLite from taking the tables in another
 * order, which has no index.
 */
export function mergeDimensions(db: DatabaseSync, sources: readonly string[]): void {
  for (const [table, columns] of Object.entries(dimensions)) {
    const names = columns.join(", ");
    const content = `json_array(${columns.map((column) => `t.${column}`).join(", ")})`;
    db.exec(`
      CREATE TEMP TABLE found (id INTEGER PRIMARY KEY, content TEXT NOT NULL UNIQUE, last_day INTEGER NOT NULL);
      CREATE TEMP TABLE ids_${table} (
        source INTEGER NOT NULL, id INTEGER NOT NULL, merged INTEGER NOT NULL, PRIMARY KEY (source, id)
      ) WITHOUT ROWID;`);
    for (const [source, name] of sources.entries()) {
      db.exec(`
        INSERT INTO temp.found (content, last_day) SELECT ${content}, t.last_day FROM ${name}.${table} t WHERE true ORDER BY t.id
          ON CONFLICT (content) DO UPDATE SET last_day = max(found.last_day, excluded.last_day);
        INSERT INTO temp.ids_${table} SELECT ${source}, t.id, f.id FROM ${name}.${table} t CROSS JOIN temp.found f ON f.content = ${content};
        INSERT OR IGNORE INTO main.${table} (id, ${names}, last_day)
          SELECT i.merged, ${columns.map((column) => `t.${column}`).join(", ")}, 0
          FROM ${name}.${table} t CROSS JOIN temp.ids_${table} i ON i.source = ${source} AND i.id = t.id;`);
    }
    db.exec(`
      UPDATE main.${table} SET last_day = (SELECT f.last_day FROM temp.found f WHERE f.id = ${table}.id);
      DROP TABLE temp.found;`);
  }
}

/**
 * Adds the rows of a source that `where` selects, as `t`, among the hours or days of `chosen`. Ids of the source become those
 * of the merged ledger. A source may name the same content twice, so rows with the same key are combined.
 */
function addRows(
  db: DatabaseSync,
  { name, source }: NamedSource,
  { name: table, ...described }: (typeof allSumTables)[number],
  chosen: string,
  where: string,
): void {
  const { keptBy, keys, sums } = described;
  const periods = keptBy === "folded" ? ["daily", "hour"] : [keptBy];
  const joins = Object.entries(keys).flatMap(([key, of]) =>
    of === null
      ? []
      : [`CROSS JOIN ${idsOf(of)} ${key}_ids ON ${key}_ids.source = ${source} AND ${key}_ids.id = t.${key}`],
  );
  const values = Object.entries(keys).map(([key, of]) => (of === null ? `t.${key}` : `${key}_ids.merged`));
  db.exec(`
    INSERT INTO main.${table} (${[...periods, ...Object.keys(keys), ...Object.keys(sums)].join(", ")})
    SELECT ${[...prefixed(periods), ...values, ...prefixed(Object.keys(sums))].join(", ")}
    FROM ${chosen} CROSS JOIN ${name}.${table} t ${joins.join(" ")} WHERE ${where} ${addToExisting(table, described)}`);
}

/** An attached ledger: its number, and the name under which it is attached. */
interface NamedSource {
  readonly source: number;
  readonly name: string;
}

/** Writes the sums of every hour from the source of that hour. */
export function mergeHours(db: DatabaseSync, sources: readonly string[]): void {
  for (const [source, name] of sources.entries()) {
    for (const table of allSumTables) {
      if (table.keptBy === "day") continue;
      const daily = table.keptBy === "folded" ? "t.daily IN (0, 1) AND" : "";
      const where = `r.source = ${source} AND ${daily} t.hour >= r.first AND t.hour < r.last`;
      addRows(db, { source, name }, table, "temp.runs r", where);
    }
  }
}

/** Writes daily rows from the source of each day. */
export function mergeDays(db: DatabaseSync, sources: readonly string[]): void {
  db.exec("CREATE TEMP TABLE workload_days (day INTEGER PRIMARY KEY, source INTEGER NOT NULL)");
  const choose = db.prepare("INSERT INTO temp.workload_days VALUES (?, ?)");
  for (const day of mixedDays(db)) {
    const source = sourcesOfDay(db, day).find((one) => fits(db, sources[one] ?? "main", day));
    if (source !== undefined) choose.run(day, source);
  }
  for (const [source, name] of sources.entries()) {
    for (const table of allSumTables) {
      if (table.keptBy !== "day") continue;
      const ofDay = `r.source = ${source} AND t.day >= r.first AND t.day < r.last`;
      const isMixed = "t.day IN (SELECT day FROM temp.chosen_days WHERE sources > 1)";
      const hasWorkloads = table.name === "workload_time";
      addRows(db, { source, name }, table, "temp.day_runs r", hasWorkloads ? `${ofDay} AND NOT ${isMixed}` : ofDay);
      if (hasWorkloads)
        addRows(db, { source, name }, table, "temp.workload_days d", `d.source = ${source} AND t.day = d.day`);
    }
  }
}

/**
 * Whether the workloads of a source hold no more than was counted on that day: hours may come from several sources, while
 * workloads come from one.
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

const prefixed = (columns: readonly string[]): readonly string[] => columns.map((column) => `t.${column}`);
