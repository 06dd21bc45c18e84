import type { DatabaseSync } from "node:sqlite";
import { isoTime } from "../../kernel/isoTime.ts";
import { gangSizes } from "../../model/topology.ts";
import { secondsPerHour } from "./schema.ts";
import { numberIn, textIn } from "./sqliteRow.ts";
import { fittedColumn, isBelowZero } from "./tables.ts";

/** Sums of seconds agree when they differ by less than this part. */
const tolerance = 1e-9;

/** Hours of levels in which gangs fitted for longer than the level was there, as sentences; at most `most`. */
export function wrongTopology(db: DatabaseSync, most: number): readonly string[] {
  return db
    .prepare(
      `SELECT hour, pool, level FROM topology_time
       WHERE ${isBelowZero("topology_time")} OR seconds <= 0
         OR max(${gangSizes.map(fittedColumn).join(", ")}) > seconds * (1 + ${tolerance})
       ORDER BY hour, pool, level LIMIT ${most}`,
    )
    .all()
    .map((row) => {
      const begin = isoTime(numberIn(row, "hour") * secondsPerHour);
      const what = `the sums of level ${textIn(row, "level")} of pool ${textIn(row, "pool")}`;
      return `${what} contradict each other in the hour from ${begin}`;
    });
}
