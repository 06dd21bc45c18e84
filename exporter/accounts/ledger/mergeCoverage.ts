import type { DatabaseSync } from "node:sqlite";
import { sameMomentSeconds } from "./mergeEntries.ts";
import { secondsPerHour } from "./schema.ts";
import { numberIn, textOrNullIn } from "./sqliteRow.ts";

/**
 * `pieces` contains what each source covered, and its gaps, cut at the hours. Pieces of one source never overlap, even where
 * its clock was set back. The union of what a source covered is what `coverageOf` counts.
 */
const piecesTable = `
CREATE TEMP TABLE pieces (
  source INTEGER NOT NULL, begins REAL NOT NULL, ends REAL NOT NULL, hour INTEGER NOT NULL, seconds REAL NOT NULL, gap TEXT
);
`;

const piecesIndex = "CREATE INDEX temp.pieces_at ON pieces (source, begins)";

interface Part {
  readonly begins: number;
  readonly ends: number;
  /** Counted seconds, by a clock that is never set; they may differ from the length of the part. */
  readonly seconds: number;
  readonly gap: string | null;
}

/** Writes the pieces of all sources; `sources` are the names under which their files are attached. */
export function cutCoverage(db: DatabaseSync, sources: readonly string[]): void {
  db.exec(piecesTable);
  db.exec(piecesIndex);
  const insert = db.prepare(
    "INSERT INTO temp.pieces (source, begins, ends, hour, seconds, gap) VALUES (?, ?, ?, ?, ?, ?)",
  );
  const overlapping = db.prepare(
    `SELECT begins, ends FROM temp.pieces
     WHERE source = ? AND gap IS NULL AND begins >= ? AND begins < ? AND ends > ? ORDER BY begins`,
  );
  for (const [source, name] of sources.entries()) {
    const add = (part: Part): void => {
      for (const { begins, ends, seconds, gap } of cutAtHours(part))
        insert.run(source, begins, ends, Math.floor(begins / secondsPerHour), seconds, gap);
    };
    for (const part of inTurn(db, name, "gap IS NULL")) add(part);
    for (const part of inTurn(db, name, "gap IS NOT NULL")) {
      let at = part.begins;
      // A gap can contain a covered piece only if the clock was set back.
      const covered = overlapping.all(source, part.begins - secondsPerHour, part.ends, part.begins);
      for (const row of covered) {
        add(partOf(part, at, numberIn(row, "begins")));
        at = Math.max(at, numberIn(row, "ends"));
      }
      add(partOf(part, at, part.ends));
    }
  }
}

/** Intervals of one kind in the order of time, each without the parts that earlier ones have. */
function* inTurn(db: DatabaseSync, name: string, kind: string): Generator<Part> {
  const rows = db.prepare(
    `SELECT begins, ends, seconds, gap FROM ${name}.intervals WHERE ${kind} AND ends > begins ORDER BY begins, ends, id`,
  );
  let at = Number.NEGATIVE_INFINITY;
  for (const row of rows.iterate()) {
    const part = {
      begins: numberIn(row, "begins"),
      ends: numberIn(row, "ends"),
      seconds: numberIn(row, "seconds"),
      gap: textOrNullIn(row, "gap"),
    };
    if (part.ends <= at) continue;
    yield partOf(part, Math.max(at, part.begins), part.ends);
    at = part.ends;
  }
}

function* cutAtHours(part: Part): Generator<Part> {
  for (let at = part.begins; at < part.ends; ) {
    const edge = (Math.floor(at / secondsPerHour) + 1) * secondsPerHour;
    const end = Math.min(edge, part.ends);
    yield partOf(part, at, end);
    at = end;
  }
}

function partOf(part: Part, begins: number, ends: number): Part {
  if (begins === part.begins && ends === part.ends) return part;
  return { ...part, begins, ends, seconds: (part.seconds * (ends - begins)) / (part.ends - part.begins) };
}

/**
 * Writes the covered intervals and the gaps, from the source of each hour; intervals that meet and have the same reason become
 * one.
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
