import type { DatabaseSync } from "node:sqlite";
import { adviceColumns } from "./adviceWriter.ts";
import { secondsPerHour } from "./schema.ts";
import { numberIn, numberOrNullIn, textIn } from "./sqliteRow.ts";

interface Lifecycle {
  readonly source: number;
  readonly firstSeen: number;
  /** The time at which it closed; for a lifecycle that is open, `endOfTime`. */
  readonly ends: number;
}

/**
 * Writes recommendations. Each replica advises for itself: the same advice has the same id in all of them, and begins and ends
 * some seconds earlier or later. A lifecycle counts if its source was chosen for any of its hours. If lifecycles of the same id
 * overlap, the one counts whose source covered more of the time that they span together, because that source saw what became of
 * the advice.
 */
export function mergeAdvice(db: DatabaseSync, sources: readonly string[]): void {
  db.exec("CREATE TEMP TABLE lives (id TEXT NOT NULL, source INTEGER NOT NULL, first_seen REAL NOT NULL, closed REAL)");
  const columns = adviceColumns.join(", ");
  for (const [source, name] of sources.entries()) {
    db.exec(`
      INSERT INTO temp.lives SELECT id, ${source}, first_seen, closed FROM ${name}.recommendations t
      WHERE EXISTS (
        SELECT 1 FROM temp.runs r WHERE r.source = ${source} AND t.first_seen < r.last * ${secondsPerHour}
          AND (t.first_seen >= r.first * ${secondsPerHour} OR t.closed > r.first * ${secondsPerHour} OR t.closed IS NULL)
      )`);
  }
  const puts = sources.map((name) =>
    db.prepare(
      `INSERT OR IGNORE INTO main.recommendations (${columns}) SELECT ${columns} FROM ${name}.recommendations WHERE id = ? AND first_seen = ?`,
    ),
  );
  const covered = db.prepare(
    `SELECT coalesce(sum(min(ends, ?2) - max(begins, ?1)), 0) AS seconds FROM temp.pieces
     WHERE source = ?3 AND gap IS NULL AND ends > ?1 AND begins < ?2 AND begins >= ?1 - ${secondsPerHour}`,
  );
  const put = (id: string, lives: readonly Lifecycle[]): void => {
    const begin = Math.min(...lives.map((lifecycle) => lifecycle.firstSeen));
    const end = Math.max(...lives.map((lifecycle) => lifecycle.ends));
    const seconds = (source: number): number => {
      return numberOrNullIn(covered.get(begin, end, source), "seconds") ?? 0;
    };
    const present = [...new Set(lives.map((lifecycle) => lifecycle.source))].sort((a, b) => a - b);
    const [first = 0, ...rest] = present;
    const best = rest.reduce((most, source) => (seconds(source) > seconds(most) ? source : most), first);
    for (const lifecycle of lives) if (lifecycle.source === best) puts[best]?.run(id, lifecycle.firstSeen);
  };
  let id: string | null = null;
  let together: Lifecycle[] = [];
  let end = Number.NEGATIVE_INFINITY;
  for (const row of db.prepare("SELECT * FROM temp.lives ORDER BY id, first_seen, source").iterate()) {
    const next = textIn(row, "id");
    const firstSeen = numberIn(row, "first_seen");
    if (id !== null && (next !== id || firstSeen >= end)) {
      put(id, together);
      together = [];
      end = Number.NEGATIVE_INFINITY;
    }
    id = next;
    const closed = numberOrNullIn(row, "closed");
    const ends = closed ?? endOfTime;
    together.push({ source: numberIn(row, "source"), firstSeen, ends });
    end = Math.max(end, ends);
  }
  if (id !== null) put(id, together);
}

/** A time that is later than all others: open advice has no end yet. */
const endOfTime = 1e15;
