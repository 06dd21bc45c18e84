import type { DatabaseSync } from "node:sqlite";
import type { StoredWithheld } from "../../model/storedAdvice.ts";

const columns = "id, begins, ends, kind, subject, why, reason";

/** The most such rows in an entry that waits. */
const mostWaiting = 1000;

/** Writes why needs were not served. */
export function createWithheldWriter(db: DatabaseSync) {
  const put = db.prepare(`INSERT OR REPLACE INTO withheld_advice (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?)`);
  return {
    write(withheld: readonly StoredWithheld[]): void {
      for (const { id, begins, ends, kind, subject, why, reason } of withheld)
        put.run(id, begins, ends, kind, subject, why, reason);
    },
  };
}

/** Merges those of waiting entries: the last report of each row. */
export function mergeWithheld(
  earlier: readonly StoredWithheld[],
  later: readonly StoredWithheld[],
): readonly StoredWithheld[] {
  if (later.length === 0) return earlier;
  const last = new Map([...earlier, ...later].map((one) => [`${one.id} ${one.begins}`, one] as const));
  return [...last.values()].slice(-mostWaiting);
}

/** Writes the rows of replicas: each saw the same for itself, and queries add up time and not rows. */
export function mergeWithheldOf(db: DatabaseSync, sources: readonly string[]): void {
  for (const name of sources)
    db.exec(
      `INSERT INTO main.withheld_advice (${columns}) SELECT ${columns} FROM ${name}.withheld_advice WHERE true
       ON CONFLICT DO UPDATE SET ends = max(ends, excluded.ends)`,
    );
}
