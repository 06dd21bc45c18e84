import type { DatabaseSync } from "node:sqlite";
import { type AdviceKind, type AdviceState, adviceKinds, adviceStates } from "../../model/recommendation.ts";
import type { StoredAdvice } from "../../model/storedAdvice.ts";
import { numberIn, numberOrNullIn, type SqliteRow, textIn } from "./sqliteRow.ts";
import { placesFor } from "./tables.ts";

/** When a process begins, it reads advice that closed within this many days of the last entry. */
const daysRead = 30;
/** The most recommendations that are read; if there are more, only those that were first seen last. */
const mostRead = 1000;

/** The columns of the table `recommendations`. */
export const adviceColumns = [
  "id",
  "first_seen",
  "kind",
  "state",
  "closed",
  "title",
  "from_team",
  "for_team",
  "queue",
  "pool",
  "gained_gpus_worst",
  "gained_gpus_best",
  "lost_gpu_hours",
  "measured_gpus",
  "measured_lost_gpu_hours",
  "record",
] as const;

/** Writes recommendations: one row for each lifecycle, as it is now. */
export function createAdviceWriter(db: DatabaseSync) {
  const put = db.prepare(
    `INSERT OR REPLACE INTO recommendations (${adviceColumns.join(", ")}) VALUES (${placesFor(adviceColumns)})`,
  );
  return {
    write(advice: readonly StoredAdvice[]): void {
      for (const one of advice) {
        const { id, firstSeenAt, kind, state, closedAt, title, fromTeam, forTeam, queue, pool } = one;
        const identity = [id, firstSeenAt, kind, state, closedAt, title, fromTeam, forTeam, queue, pool];
        const effect = [one.gainedGpusWorst, one.gainedGpusBest, one.lostGpuHours];
        put.run(...identity, ...effect, one.measuredGpus, one.measuredLostGpuHours, one.record);
      }
    },
  };
}

/**
 * Reads open advice, dismissed advice (a dismissal may last for years), and advice that closed lately. Kinds that this version
 * does not know are left out.
 */
export function readAdvice(db: DatabaseSync): readonly StoredAdvice[] {
  return db
    .prepare(
      `SELECT ${adviceColumns.join(", ")} FROM recommendations
       WHERE closed IS NULL OR state = 'dismissed'
         OR closed >= (SELECT max(closed) FROM recommendations) - ${daysRead} * 86400
       ORDER BY closed IS NULL DESC, state = 'dismissed' DESC, first_seen DESC, id LIMIT ${mostRead}`,
    )
    .all()
    .flatMap((row) => adviceIn(row) ?? []);
}

/** The advice in a row of `recommendations`; `null` for a kind or state that this version does not know. */
export function adviceIn(row: SqliteRow): StoredAdvice | null {
  const kind = textIn(row, "kind");
  const state = textIn(row, "state");
  if (!isKind(kind) || !isState(state)) return null;
  return {
    id: textIn(row, "id"),
    firstSeenAt: numberIn(row, "first_seen"),
    kind,
    state,
    closedAt: numberOrNullIn(row, "closed"),
    title: textIn(row, "title"),
    fromTeam: textIn(row, "from_team"),
    forTeam: textIn(row, "for_team"),
    queue: textIn(row, "queue"),
    pool: textIn(row, "pool"),
    gainedGpusWorst: numberIn(row, "gained_gpus_worst"),
    gainedGpusBest: numberIn(row, "gained_gpus_best"),
    lostGpuHours: numberIn(row, "lost_gpu_hours"),
    measuredGpus: numberOrNullIn(row, "measured_gpus"),
    measuredLostGpuHours: numberOrNullIn(row, "measured_lost_gpu_hours"),
    record: textIn(row, "record"),
  };
}

const isKind = (text: string): text is AdviceKind => adviceKinds.some((kind) => kind === text);
const isState = (text: string): text is AdviceState => adviceStates.some((state) => state === text);

/**
 * Merges the advice of two entries: the last report of each lifecycle is kept, and if there are too many, only the latest ones.
 */
export function mergeAdvice(earlier: readonly StoredAdvice[], later: readonly StoredAdvice[]): readonly StoredAdvice[] {
  if (later.length === 0) return earlier;
  const last = new Map<string, StoredAdvice>();
  for (const one of [...earlier, ...later]) last.set(`${one.id} ${one.firstSeenAt}`, one);
  return [...last.values()].slice(-mostRead);
}
