import type { DatabaseSync } from "node:sqlite";
import { hoursPerDay, secondsPerHour } from "./schema.ts";
import { numberIn, numberOrNullIn } from "./sqliteRow.ts";

/**
 * The temporary tables of the choice. `runs` contains the source that each hour is taken from, [first, last) in hours since the
 * epoch; `day_runs` contains the same for what is kept by day. The first run begins, and the last one ends, beyond all times.
 * `open_end` is the latest end of something that has not ended according to its source, where another source takes over: the
 * end of the run, or, before a longer silence, the last covered moment.
 */
const tables = `
CREATE TEMP TABLE candidates (
  hour INTEGER NOT NULL, source INTEGER NOT NULL, seconds REAL NOT NULL, counted INTEGER NOT NULL, PRIMARY KEY (hour, source)
) WITHOUT ROWID;
CREATE TEMP TABLE day_candidates (
  day INTEGER NOT NULL, source INTEGER NOT NULL, seconds REAL NOT NULL, counted INTEGER NOT NULL, PRIMARY KEY (day, source)
) WITHOUT ROWID;
CREATE TEMP TABLE folded_days (day INTEGER PRIMARY KEY);
CREATE TEMP TABLE chosen (hour INTEGER PRIMARY KEY, source INTEGER NOT NULL);
CREATE TEMP TABLE chosen_days (day INTEGER PRIMARY KEY, source INTEGER NOT NULL, sources INTEGER NOT NULL);
CREATE TEMP TABLE runs (first INTEGER PRIMARY KEY, last INTEGER NOT NULL, source INTEGER NOT NULL, open_end REAL);
CREATE TEMP TABLE day_runs (first INTEGER PRIMARY KEY, last INTEGER NOT NULL, source INTEGER NOT NULL);
`;

const foldedTables = ["gpu_time", "pool_time", "node_time", "queue_time"];

/** A number of hours that is beyond all hours, on both sides. */
const farHour = 1_000_000_000;

/**
 * The order in which sources are preferred: the one that covered more; then one that counted anything; then the order of the
 * sources.
 */
const order = "seconds DESC, counted DESC, source";

/** Something that has not ended continues over a silence of at most this many seconds, as streaks of nodes do. */
const silenceSeconds = 3600;

/** Chooses the source of each hour and day, from `pieces`. */
export function chooseSources(db: DatabaseSync, sources: readonly string[]): void {
  db.exec(tables);
  db.exec(
    `INSERT INTO temp.candidates SELECT hour, source, sum(CASE WHEN gap IS NULL THEN ends - begins ELSE 0 END), 0
     FROM temp.pieces GROUP BY hour, source`,
  );
  for (const [source, name] of sources.entries()) {
    db.exec(
      `INSERT INTO temp.candidates SELECT DISTINCT hour, ${source}, 0, 1 FROM ${name}.pool_time WHERE true
       ON CONFLICT DO UPDATE SET counted = 1`,
    );
    for (const table of foldedTables)
      db.exec(
        `INSERT OR IGNORE INTO temp.folded_days SELECT DISTINCT hour / ${hoursPerDay} FROM ${name}.${table} WHERE daily = 1`,
      );
  }
  db.exec(
    `INSERT INTO temp.day_candidates SELECT hour / ${hoursPerDay}, source, sum(seconds), sum(counted) FROM temp.candidates GROUP BY 1, 2`,
  );
  chooseHours(db);
  chooseDays(db);
  writeRuns(db, "runs", "SELECT hour AS at, source FROM temp.chosen ORDER BY hour");
  writeRuns(db, "day_runs", "SELECT day AS at, source FROM temp.chosen_days ORDER BY day");
  setOpenEnds(db);
}

/** Chooses the source of each hour. If one of the sources has folded a day, the whole day is taken from its best source. */
function chooseHours(db: DatabaseSync): void {
  const best = (candidates: string, at: string): string =>
    `SELECT ${at}, source FROM (
       SELECT ${at}, source, row_number() OVER (PARTITION BY ${at} ORDER BY ${order}) AS place FROM temp.${candidates}
     ) WHERE place = 1`;
  db.exec(`
    INSERT INTO temp.chosen ${best("candidates", "hour")};
    INSERT INTO temp.chosen_days SELECT day, source, 1 FROM (${best("day_candidates", "day")});
    INSERT OR IGNORE INTO temp.chosen SELECT f.day * ${hoursPerDay}, d.source FROM temp.folded_days f JOIN temp.chosen_days d USING (day);
    UPDATE temp.chosen SET source = (SELECT d.source FROM temp.chosen_days d WHERE d.day = hour / ${hoursPerDay})
      WHERE hour / ${hoursPerDay} IN (SELECT day FROM temp.folded_days JOIN temp.chosen_days USING (day));`);
}

/**
 * Chooses the source of each day's daily rows: the one that all hours of the day come from, or, if they come from several
 * sources, the best source of that day.
 */
function chooseDays(db: DatabaseSync): void {
  db.exec(`
    UPDATE temp.chosen_days SET sources = h.sources, source = CASE WHEN h.sources = 1 THEN h.only_one ELSE chosen_days.source END
    FROM (SELECT hour / ${hoursPerDay} AS day, count(DISTINCT source) AS sources, min(source) AS only_one FROM temp.chosen GROUP BY 1) h
    WHERE h.day = chosen_days.day`);
}

/** Writes the runs. Neighbours of the same source are one run; times that no source knows belong to the run before them. */
function writeRuns(db: DatabaseSync, table: "runs" | "day_runs", chosen: string): void {
  const insert = db.prepare(`INSERT INTO temp.${table} (first, last, source) VALUES (?, ?, ?)`);
  let first = -farHour;
  let source: number | null = null;
  for (const row of db.prepare(chosen).iterate()) {
    const next = numberIn(row, "source");
    if (next === source) continue;
    const at = numberIn(row, "at");
    if (source !== null) {
      insert.run(first, at, source);
      first = at;
    }
    source = next;
  }
  insert.run(first, farHour, source ?? 0);
}

function setOpenEnds(db: DatabaseSync): void {
  const set = db.prepare("UPDATE temp.runs SET open_end = ? WHERE first = ?");
  const coveredTo = db.prepare(
    `SELECT max(ends) AS ends FROM temp.pieces WHERE source = ? AND gap IS NULL AND begins >= ? AND begins < ?`,
  );
  for (const row of db.prepare(`SELECT first, last, source FROM temp.runs WHERE last < ${farHour}`).all()) {
    const first = numberIn(row, "first");
    const end = numberIn(row, "last") * secondsPerHour;
    const ends = numberOrNullIn(coveredTo.get(numberIn(row, "source"), first * secondsPerHour, end), "ends");
    set.run(ends === null || end - ends <= silenceSeconds ? end : ends, first);
  }
}

/** Days whose hours come from several sources, as days since the epoch. */
export function mixedDays(db: DatabaseSync): readonly number[] {
  return db
    .prepare("SELECT day FROM temp.chosen_days WHERE sources > 1 ORDER BY day")
    .all()
    .map((row) => numberIn(row, "day"));
}

/** The sources that know anything about a day; the best comes first. */
export function sourcesOfDay(db: DatabaseSync, day: number): readonly number[] {
  return db
    .prepare(`SELECT source FROM temp.day_candidates WHERE day = ? ORDER BY ${order}`)
    .all(day)
    .map((row) => numberIn(row, "source"));
}
