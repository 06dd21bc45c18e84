import type { DatabaseSync } from "node:sqlite";
import { sameMomentSeconds } from "./mergeEntries.ts";
import { secondsPerHour } from "./schema.ts";
import { numberIn, textOrNullIn } from "./sqliteRow.ts";

/**
 * Writes what was covered and the gaps, from the source of each hour; intervals that meet and have the same reason become one.
 */
export function mergeIntervals(db: DatabaseSync): void {
  const insert = db.prepare("INSERT INTO main.intervals (begins, ends, seconds, gap) VALUES (?, ?, ?, ?)");
  const pieces = db.prepare(
    `SELECT p.begins, p.ends, p.seconds, p.gap FROM temp.runs r CROSS JOIN temp.pieces p
     WHERE p.source = r.source AND p.begins >= r.first * ${secondsPerHour} AND p.begins < r.last * ${secondsPerHour}
     ORDER BY p.begins, p.ends`,
  );
  let before: { begins: number; ends: number; seconds: number; gap: string | null } | null = null;
  for (const row of pieces.iterate()) {
    const next = {
      begins: numberIn(row, "begins"),
      ends: numberIn(row, "ends"),
      seconds: numberIn(row, "seconds"),
      gap: textOrNullIn(row, "gap"),
    };
    if (before !== null && before.gap === next.gap && next.begins - before.ends <= sameMomentSeconds) {
      before.ends = next.ends;
      before.seconds += next.seconds;
      continue;
    }
    if (before !== null) insert.run(before.begins, before.ends, before.seconds, before.gap);
    before = next;
  }
  if (before !== null) insert.run(before.begins, before.ends, before.seconds, before.gap);
}

/** Writes what the cycle remembers and the number of its last entry, both from the source that covered the latest moment. */
export function mergeMemory(db: DatabaseSync, sources: readonly string[]): void {
  const row = db
    .prepare(
      "SELECT source, max(ends) AS ends FROM temp.pieces WHERE gap IS NULL GROUP BY source ORDER BY ends DESC, source LIMIT 1",
    )
    .get();
  const name = sources[row === undefined ? 0 : numberIn(row, "source")];
  if (name === undefined) return;
  db.exec(`
    INSERT INTO main.remembered (kind, key, value) SELECT kind, key, value FROM ${name}.remembered;
    UPDATE main.progress SET entry = (SELECT entry FROM ${name}.progress);`);
}
