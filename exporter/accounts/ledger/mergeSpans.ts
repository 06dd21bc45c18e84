import type { DatabaseSync, SQLOutputValue } from "node:sqlite";
import { sameMomentSeconds } from "./mergeEntries.ts";
import { secondsPerHour } from "./schema.ts";
import { numberIn, numberOrNullIn, type SqliteRow } from "./sqliteRow.ts";

const from = `r.first * ${secondsPerHour}`;
const to = `r.last * ${secondsPerHour}`;

/** A time that is later than all that is counted, seconds since the epoch. */
const endOfTime = 1e13;

/** A table of rows that last from `begins` to `ends` (NULL if they have not ended). */
interface SpanTable {
  readonly table: "price_log" | "node_streaks" | "outages";
  /** Rows that agree in these columns can continue one another. */
  readonly same: readonly string[];
  /** The other columns: a span in several parts takes the last known value. */
  readonly others: readonly string[];
  /** The column that distinguishes the rows of one source. */
  readonly order: string;
  /** A span continues over at most this much time that nobody covered (seconds). */
  readonly silence: number;
  /** The latest end of a span that has not ended according to its source, where another source takes over. */
  readonly openEnd: string;
}

const spanTables: readonly SpanTable[] = [
  {
    table: "price_log",
    same: ["pool", "node_pool", "instance_type", "capacity_type", "currency", "basis", "source", "per_gpu_hour"],
    others: ["dated"],
    order: "id",
    silence: Number.POSITIVE_INFINITY,
    openEnd: to,
  },
  {
    table: "node_streaks",
    same: ["node", "state"],
    others: ["node_pool", "pool", "gpus"],
    order: "begins",
    silence: 3600,
    openEnd: "r.open_end",
  },
  {
    table: "outages",
    same: ["node", "gpu"],
    others: ["node_pool", "pool", "cause", "gpus", "teams"],
    order: "begins",
    silence: 3600,
    openEnd: "r.open_end",
  },
];

/**
 * Writes prices in use, streaks of nodes and outages: from each source come the parts within its runs, cut at their edges. A
 * part is joined to the same span of the next source if no covered time is between them, so that a node is in one streak at a
 * time, and a price is used once.
 */
export function mergeSpans(db: DatabaseSync, sources: readonly string[]): void {
  db.exec("CREATE TEMP TABLE covered (begins REAL PRIMARY KEY, ends REAL NOT NULL) WITHOUT ROWID");
  db.exec("INSERT OR IGNORE INTO temp.covered SELECT begins, ends FROM main.intervals WHERE gap IS NULL");
  for (const table of spanTables) {
    cutSpans(db, sources, table);
    joinSpans(db, table);
    db.exec("DROP TABLE temp.parts; DROP TABLE temp.spans");
  }
}

function cutSpans(
  db: DatabaseSync,
  sources: readonly string[],
  { table, same, others, order, openEnd }: SpanTable,
): void {
  const columns = [...same, ...others];
  db.exec(
    `CREATE TEMP TABLE parts (${columns.map((one) => `c_${one}`).join(", ")}, part_begins, part_ends, was_cut, is_cut, place)`,
  );
  for (const [source, name] of sources.entries()) {
    db.exec(`
      INSERT INTO temp.parts
      SELECT ${columns.map((one) => `t.${one}`).join(", ")}, max(t.begins, ${from}),
        CASE WHEN t.ends IS NOT NULL THEN min(t.ends, ${to}) WHEN r.open_end IS NOT NULL THEN max(t.begins, ${from}, ${openEnd}) END,
        t.begins < ${from}, coalesce(t.ends > ${to}, r.open_end IS NOT NULL), t.${order}
      FROM ${name}.${table} t CROSS JOIN temp.runs r
        ON r.first >= (SELECT max(x.first) FROM temp.runs x WHERE x.first <= t.begins / ${secondsPerHour})
          AND r.first <= coalesce(t.ends, ${endOfTime}) / ${secondsPerHour}
      WHERE r.source = ${source} AND t.begins < ${to} AND (t.begins >= ${from} OR t.ends IS NULL OR t.ends > ${from})`);
  }
}

interface Part {
  readonly row: SqliteRow;
  readonly begins: number;
  readonly ends: number | null;
  readonly isCut: boolean;
  readonly others: readonly (SQLOutputValue | undefined)[];
}

function joinSpans(db: DatabaseSync, { table, same, others, silence }: SpanTable): void {
  const columns = [...same, ...others];
  db.exec(`CREATE TEMP TABLE spans (${columns.join(", ")}, begins, ends, place)`);
  const insert = db.prepare(`INSERT INTO temp.spans VALUES (${columns.map(() => "?").join(", ")}, ?, ?, ?)`);
  const lastCovered = db.prepare("SELECT ends FROM temp.covered WHERE begins < ? ORDER BY begins DESC LIMIT 1");
  const isCoveredBetween = (begin: number, end: number): boolean => {
    if (end - begin <= sameMomentSeconds) return false;
    const row = lastCovered.get(end);
    return row !== undefined && numberIn(row, "ends") > begin;
  };
  const put = ({ row, begins, ends, others: last }: Part): void => {
    const values = [...same.map((one) => row[`c_${one}`]), ...last].map((value) => value ?? null);
    insert.run(...values, begins, ends, numberIn(row, "place"));
  };
  const names = same.map((one) => `c_${one}`);
  let before: Part | null = null;
  for (const row of db.prepare(`SELECT * FROM temp.parts ORDER BY ${names.join(", ")}, part_begins, place`).iterate()) {
    const begins = numberIn(row, "part_begins");
    const isCut = numberIn(row, "is_cut") === 1;
    const own = others.map((one) => row[`c_${one}`]);
    const next: Part = { row, begins, ends: numberOrNullIn(row, "part_ends"), isCut, others: own };
    const isSame = before !== null && names.every((name) => before?.row[name] === row[name]);
    const end: number | null = before?.ends ?? null;
    const goesOn =
      before !== null &&
      isSame &&
      end !== null &&
      (before.isCut || numberIn(row, "was_cut") === 1) &&
      begins >= end &&
      begins - end <= silence &&
      !isCoveredBetween(end, begins);
    if (before !== null && goesOn) {
      const last: Part["others"] = before.others;
      before = {
        row: before.row,
        begins: before.begins,
        ends: next.ends,
        isCut,
        others: own.map((value, i) => value ?? last[i]),
      };
    } else {
      if (before !== null) put(before);
      before = next;
    }
  }
  if (before !== null) put(before);
  const sets = [...columns, "begins", "ends"].join(", ");
  db.exec(
    `INSERT OR IGNORE INTO main.${table} (${sets}) SELECT ${sets} FROM temp.spans ORDER BY begins, place, ${same.join(", ")}`,
  );
}
