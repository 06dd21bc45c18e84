import type { DatabaseSync } from "node:sqlite";
import type { PastStart } from "../../analysis/startTimes/startTimes.ts";
import { pastStartsIn, startKind } from "../startAccount.ts";
import type { LedgerResult } from "./ledgerQuestion.ts";
import { textIn } from "./sqliteRow.ts";

/** A question about the starts of waiting work that are remembered. */
export interface StartsQuery {
  /** Starts up to this moment, seconds since the epoch. */
  readonly to: number;
}

/** The starts, the oldest first. */
export interface StartsAnswer {
  readonly starts: readonly PastStart[];
}

/** An answer, or the reason why there is none. */
export type StartsResult = LedgerResult<StartsAnswer>;

/** Lists the starts that the ledger remembers: the last 20,000, of all queues. */
export function queryStarts(db: DatabaseSync, { to }: StartsQuery): StartsResult {
  const rows = db
    .prepare("SELECT kind, key, value FROM remembered WHERE kind = ?")
    .all(startKind)
    .map((row) => ({ kind: textIn(row, "kind"), key: textIn(row, "key"), value: textIn(row, "value") }));
  return { ok: true, answer: { starts: pastStartsIn(rows).filter(({ startedAt }) => startedAt < to) } };
}
