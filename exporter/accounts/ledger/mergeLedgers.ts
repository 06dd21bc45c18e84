import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Problem } from "../../model/problem.ts";
import { busyMilliseconds, putInPlace, removeDatabase, removeUnfinished } from "./ledgerFile.ts";
import { ledgerProblem, type OrProblem } from "./ledgerProblem.ts";
import { mergeAdvice } from "./mergeAdvice.ts";
import { chooseSources } from "./mergeChoice.ts";
import { cutCoverage, mergeIntervals, mergeMemory } from "./mergeCoverage.ts";
import { mergeDays, mergeDimensions, mergeHours } from "./mergeRows.ts";
import { attach, type MergeSource, maxMergedLedgers, prepareSource } from "./mergeSources.ts";
import { mergeSpans } from "./mergeSpans.ts";
import { createLedger, damageOf } from "./openForWriting.ts";
import { ledgerMigrations, secondsPerHour } from "./schema.ts";
import { sqliteProblem } from "./sqliteError.ts";
import { numberIn, numberOrNullIn, textIn } from "./sqliteRow.ts";
import { inTransaction } from "./transaction.ts";
import { mergeWithheldOf } from "./withheld.ts";

/** How much of a merged ledger comes from one of the files. */
export interface MergedPart {
  readonly file: string;
  /** Seconds that the file covered in total, and those of them that were taken. */
  readonly coveredSeconds: number;
  readonly takenSeconds: number;
}

export type MergedLedgers = OrProblem<{ readonly parts: readonly MergedPart[] }>;

/**
 * Makes one new ledger from those of several replicas that watched the same cluster. Nothing is ever added up across ledgers:
 * each hour is taken whole from the ledger that covered more of it. Files may be written meanwhile, because each is read as it
 * was at one moment. An existing target is never replaced, and the new file gets its name when it is whole and sound.
 *
 * - An hour: GPU time, pools, nodes, queues, domains, placement, and the intervals come from the ledger that covered more
 *   seconds of it. Where several covered as much, they come from one that counted anything; then from the one that covered more
 *   in all its time; then the order of names made of their contents decides. The order in which files are named never matters.
 * - A day whose hours any of the ledgers has folded: the same rule, for the day.
 * - What is kept by day (workloads, waits, shapes of pods): from the ledger that has all hours of the day, else from the one
 *   that covered more of it. On a day of several ledgers, that is less than the hours contain; workloads that would hold more
 *   than the hours (which only a ledger that contradicts the others has) are taken from the next ledger, or left out.
 * - Evictions: those of the ledger of the hour in which they happened, each key once.
 * - Recommendations: see mergeAdvice.ts. Prices in use and streaks of nodes: see mergeSpans.ts.
 * - What is remembered, and the number of the last entry: those of the ledger that covered the latest moment.
 * - Accounts, workloads and other names: by their content (mergeRows.ts).
 *
 * All of it is SQL between attached files, and no row stays in memory; SQLite's own temporary files take about as much disk as
 * the names do. Older ledgers are read from copies next to the target that are brought up to date.
 */
export function mergeLedgers(files: readonly string[], target: string): MergedLedgers {
  const refused = refuseTarget(files, target);
  if (refused !== null) return { ok: false, problem: refused };
  const unfinished = `${target}.unfinished`;
  const copies = files.map((_, i) => `${target}.source-${i}`);
  try {
    for (const left of [unfinished, ...copies]) removeDatabase(left);
    const sources: MergeSource[] = [];
    for (const [i, file] of files.entries()) {
      const prepared = prepareSource(file, copies[i] ?? `${target}.source`);
      if (!prepared.ok) return prepared;
      sources.push(prepared.source);
    }
    const merged = mergeInto(unfinished, sources);
    if (!merged.ok) return merged;
    const problem = damageOf(unfinished);
    if (problem !== null) return { ok: false, problem };
    putInPlace(unfinished, target);
    return merged;
  } catch (error) {
    return { ok: false, problem: sqliteProblem(error, target, "cannot be written") };
  } finally {
    for (const left of [unfinished, ...copies]) removeUnfinished(left);
  }
}

function refuseTarget(files: readonly string[], target: string): Problem | null {
  if (existsSync(target)) return ledgerProblem("ledger-merge-exists", target, "is there already");
  const folder = path.dirname(target);
  if (!existsSync(folder)) return ledgerProblem("ledger-merge-folder", target, `has no place: ${folder} is no folder`);
  if (files.length <= maxMergedLedgers) return null;
  const many = `cannot be made of ${files.length} ledgers at once; ${maxMergedLedgers} are the most`;
  return ledgerProblem("ledger-merge-many", target, many);
}

function mergeInto(file: string, given: readonly MergeSource[]): MergedLedgers {
  const problem = createLedger(file, ledgerMigrations);
  if (problem !== null) return { ok: false, problem };
  const db = new DatabaseSync(file, { timeout: busyMilliseconds });
  try {
    // An unfinished merge is thrown away, so that nothing must survive a crash, and nothing is rolled back.
    db.exec(
      "PRAGMA main.journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -65536; PRAGMA temp.cache_size = -32768",
    );
    for (const [i, source] of given.entries()) attach(db, source, `given${i}`);
    return inTransaction(db, () => {
      const order = inOrder(db, given);
      const sources = order.map((i) => `given${i}`);
      cutCoverage(db, sources);
      chooseSources(db, sources);
      const stranger = strangers(db, sources);
      if (stranger !== null) {
        const [one, other] = stranger.map((source) => given[order[source] ?? 0]?.file ?? "");
        const found = `has no pool in common with ${one}, in hours that both have counted: they are of different clusters`;
        return { ok: false, problem: ledgerProblem("ledger-merge-clusters", other ?? file, found) };
      }
      write(db, sources);
      return { ok: true, parts: partsOf(db, order, given) };
    });
  } finally {
    db.close();
  }
}

function write(db: DatabaseSync, sources: readonly string[]): void {
  mergeDimensions(db, sources);
  mergeIntervals(db);
  mergeHours(db, sources);
  mergeDays(db, sources);
  mergeSpans(db, sources);
  mergeAdvice(db, sources);
  mergeWithheldOf(db, sources);
  mergeEvents(db, sources, "evictions");
  mergeEvents(db, sources, "failures");
  mergeMemory(db, sources);
}

/** The order of the ledgers. The first one is preferred where two covered as much, and also for what none of them knows. */
function inOrder(db: DatabaseSync, given: readonly MergeSource[]): readonly number[] {
  const ids = new Map<number, string>();
  const idOf = (i: number): string => {
    const known = ids.get(i) ?? contentId(db, `given${i}`);
    ids.set(i, known);
    return known;
  };
  const seconds = given.map((_, i) => {
    return (
      numberOrNullIn(
        db.prepare(`SELECT coalesce(sum(ends - begins), 0) AS s FROM given${i}.intervals WHERE gap IS NULL`).get(),
        "s",
      ) ?? 0
    );
  });
  return given
    .map((_, i) => i)
    .sort((a, b) => (seconds[b] ?? 0) - (seconds[a] ?? 0) || (idOf(a) < idOf(b) ? -1 : idOf(a) > idOf(b) ? 1 : 0));
}

const batch = 1000;

/**
 * A hexadecimal name for the content of an attached ledger: the same content has the same name, wherever the file is. Reads the
 * whole ledger.
 */
function contentId(db: DatabaseSync, name: string): string {
  const hash = createHash("sha256");
  const tables = db
    .prepare(`SELECT name FROM ${name}.sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name`)
    .all()
    .map((row) => textIn(row, "name"));
  for (const table of tables) {
    const columns = db
      .prepare(`SELECT name FROM pragma_table_info(?, ?) ORDER BY cid`)
      .all(table, name)
      .map((row) => textIn(row, "name"));
    const rows = db.prepare(`SELECT ${columns.join(", ")} FROM ${name}.${table} ORDER BY ${columns.join(", ")}`);
    rows.setReturnArrays(true);
    hash.update(`${table}\n`);
    let text = "";
    let n = 0;
    for (const row of rows.iterate()) {
      text += `${JSON.stringify(row)}\n`;
      n += 1;
      if (n % batch !== 0) continue;
      hash.update(text);
      text = "";
    }
    hash.update(text);
  }
  return hash.digest("hex");
}

/**
 * Two sources that counted GPUs in the same hours and have no pool in common there; `null` if there are none. A ledger does
 * not record which cluster it belongs to, so two clusters with the same GPU models cannot be distinguished.
 */
function strangers(db: DatabaseSync, sources: readonly string[]): readonly [number, number] | null {
  for (const [i, one] of sources.entries()) {
    for (const [j, other] of sources.entries()) {
      if (j <= i) continue;
      const row = db
        .prepare(
          `SELECT count(*) AS hours, coalesce(sum(EXISTS (
             SELECT 1 FROM ${one}.pool_time a JOIN ${other}.pool_time b ON b.pool = a.pool AND b.daily = 0 AND b.hour = h.hour
             WHERE a.daily = 0 AND a.hour = h.hour)), 0) AS alike
           FROM (SELECT DISTINCT hour FROM ${one}.pool_time WHERE daily = 0
             INTERSECT SELECT DISTINCT hour FROM ${other}.pool_time WHERE daily = 0) h`,
        )
        .get();
      if (row !== undefined && numberIn(row, "hours") > 0 && numberIn(row, "alike") === 0) return [i, j];
    }
  }
  return null;
}

/** Writes events that have a key, for which it does not matter which ledger saw them. */
function mergeEvents(db: DatabaseSync, sources: readonly string[], table: "evictions" | "failures"): void {
  for (const [source, name] of sources.entries()) {
    db.exec(`
      INSERT OR IGNORE INTO main.${table} SELECT t.* FROM temp.runs r CROSS JOIN ${name}.${table} t
      WHERE r.source = ${source} AND t.at >= r.first * ${secondsPerHour} AND t.at < r.last * ${secondsPerHour}`);
  }
}

function partsOf(db: DatabaseSync, order: readonly number[], given: readonly MergeSource[]): readonly MergedPart[] {
  const seconds = db.prepare(
    `SELECT (SELECT coalesce(sum(ends - begins), 0) FROM temp.pieces WHERE source = ?1 AND gap IS NULL) AS covered,
       (SELECT coalesce(sum(p.ends - p.begins), 0) FROM temp.runs r CROSS JOIN temp.pieces p
         WHERE r.source = ?1 AND p.source = ?1 AND p.gap IS NULL
           AND p.begins >= r.first * ${secondsPerHour} AND p.begins < r.last * ${secondsPerHour}) AS taken`,
  );
  return given.map(({ file }, i) => {
    const row = seconds.get(order.indexOf(i));
    if (row === undefined) return { file, coveredSeconds: 0, takenSeconds: 0 };
    return { file, coveredSeconds: numberIn(row, "covered"), takenSeconds: numberIn(row, "taken") };
  });
}
