import type { DatabaseSync } from "node:sqlite";
import { isoTime } from "../../kernel/isoTime.ts";
import { strandedReasons } from "../../model/fragmentation.ts";
import { secondsPerHour } from "./schema.ts";
import { numberIn, textIn } from "./sqliteRow.ts";
import { isBelowZero, strandedColumn } from "./tables.ts";

/**
 * What cannot be in the accounts of capacity, in sentences; at most `most` of each kind. `tolerance`: the rounding error of a
 * sum.
 */
export function wrongCapacity(db: DatabaseSync, tolerance: number, most: number): readonly string[] {
  return [...wrongDomains(db, tolerance, most), ...wrongPlacement(db, tolerance, most), ...wrongStreaks(db, most)];
}

/** A domain allocates no more than it has, and its guarantees are known for no longer than it existed. */
function wrongDomains(db: DatabaseSync, tolerance: number, most: number): readonly string[] {
  return hoursOf(
    db,
    "domain",
    `SELECT hour, domain AS name FROM domain_time
     WHERE ${isBelowZero("domain_time")} OR seconds <= 0
       OR allocated_gpu_seconds > capacity_gpu_seconds + ${tolerance} * (seconds + capacity_gpu_seconds)
       OR guaranteed_seconds > seconds * (1 + ${tolerance})
       OR (guaranteed_gpu_seconds IS NULL) <> (guaranteed_seconds = 0)
     ORDER BY hour, domain LIMIT ${most}`,
  );
}

/** No more is stranded than is free, and the mean is between the least and the most. */
function wrongPlacement(db: DatabaseSync, tolerance: number, most: number): readonly string[] {
  return hoursOf(
    db,
    "pool",
    `SELECT hour, pool AS name FROM placement_time
     WHERE ${isBelowZero("placement_time")} OR seconds <= 0
       OR ${strandedReasons.map(strandedColumn).join(" + ")} > free_gpu_seconds + ${tolerance} * (seconds + free_gpu_seconds)
       OR largest_placeable_gpu_seconds < largest_placeable_min * seconds * (1 - ${tolerance})
       OR largest_placeable_gpu_seconds > largest_placeable_max * seconds * (1 + ${tolerance})
     ORDER BY hour, pool LIMIT ${most}`,
  );
}

function hoursOf(db: DatabaseSync, what: string, sql: string): readonly string[] {
  return db
    .prepare(sql)
    .all()
    .map((row) => {
      const begin = isoTime(numberIn(row, "hour") * secondsPerHour);
      return `the sums of ${what} ${textIn(row, "name")} contradict each other in the hour from ${begin}`;
    });
}

/** Nodes that leave a state before they enter it, or are in two states at once. */
function wrongStreaks(db: DatabaseSync, most: number): readonly string[] {
  const nodesOf = (condition: string): readonly string[] =>
    db
      .prepare(`SELECT node FROM node_streaks ${condition} ORDER BY node LIMIT ${most}`)
      .all()
      .map((row) => textIn(row, "node"));
  return [
    ...nodesOf("WHERE ends < begins").map((node) => `node ${node} ends a state before it begins it`),
    ...nodesOf("WHERE ends IS NULL GROUP BY node HAVING count(*) > 1").map(
      (node) => `node ${node} is in two states at once`,
    ),
  ];
}
