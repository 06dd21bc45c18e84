import type { DatabaseSync } from "node:sqlite";
import { isoDay, isoTime } from "../../kernel/isoTime.ts";
import { type AccountsQuery, isByWorkload } from "./accountsQuery.ts";
import type { LedgerFailure } from "./ledgerQuestion.ts";
import type { LedgerTableQuery } from "./ledgerTableQuery.ts";
import { hoursPerDay, secondsPerDay, secondsPerHour } from "./schema.ts";
import { numberOrNullIn } from "./sqliteRow.ts";

/** The reason why a question cannot be answered as asked. */
export type Refusal = LedgerFailure & { readonly fault: "question" };

/** Refuses a window that does not end after it begins; `null` if the window is good. */
export function refuseEmpty(from: number, to: number): Refusal | null {
  if (from < to) return null;
  return refusal(`the window ends (${isoTime(to)}) before it begins (${isoTime(from)})`, "Give a later end.");
}

/**
 * Refuses a window that begins or ends within a unit that is kept as one sum: an hour, a day once hours are folded, and a day
 * for workloads. `null` if the window is good.
 */
export function refuseWindow(db: DatabaseSync, query: AccountsQuery): Refusal | null {
  const refused = refuseHours(query);
  if (refused !== null) return refused;
  return isByWorkload(query)
    ? refuseForWorkloads(db, query, ", or leave the workload out")
    : refuseForFolded(db, query, "gpu_time");
}

/**
 * Refuses the windows of questions to ledger tables in the same way: the units are an hour, a day once hours are folded, and a
 * day for waits and workloads.
 */
export function refuseLedgerTableWindow(db: DatabaseSync, query: LedgerTableQuery): Refusal | null {
  const { of, from, to } = query;
  const refused = refuseHours(query);
  if (refused !== null || neverFolded.has(of)) return refused;
  if (of === "queues") return refuseForFolded(db, query, "queue_time");
  if (of === "serving") return refuseForWorkloads(db, query, "");
  if (of === "nodes") return refuseForFolded(db, query, "node_time");
  const cutsDay = from % secondsPerDay !== 0 || to % secondsPerDay !== 0;
  return cutsDay ? wholeDays(from, to, "cuts a day, and ended waits are kept by day (UTC)") : null;
}

/** Tables that are always kept by hour, or row by row. */
const neverFolded: ReadonlySet<LedgerTableQuery["of"]> = new Set([
  "evictions",
  "failures",
  "recommendations",
  "domains",
  "placement",
  "topology",
  "nodeStreaks",
  "health",
  "outages",
]);

type Window = Pick<LedgerTableQuery, "from" | "to" | "groupBy">;

function refuseHours({ from, to, groupBy }: Window): Refusal | null {
  const empty = refuseEmpty(from, to);
  if (empty !== null) return empty;
  if (from % secondsPerHour !== 0 || to % secondsPerHour !== 0) {
    return refusal(
      `the window ${isoTime(from)} to ${isoTime(to)} cuts an hour; GPU time is kept by the hour`,
      `Ask for ${isoTime(roundDown(from, secondsPerHour))} to ${isoTime(roundUp(to, secondsPerHour))}.`,
    );
  }
  if (groupBy.includes("day") && groupBy.includes("hour")) {
    return refusal("time can be grouped by day or by hour, not by both", "Leave one of them out.");
  }
  return null;
}

function refuseForFolded(
  db: DatabaseSync,
  { from, to, groupBy }: Window,
  table: "gpu_time" | "queue_time" | "node_time",
): Refusal | null {
  const folded = (begin: number, end: number): boolean =>
    db
      .prepare(`SELECT 1 FROM ${table} WHERE daily = 1 AND hour >= ? AND hour < ? LIMIT 1`)
      .get(begin / secondsPerHour, end / secondsPerHour) !== undefined;
  if (groupBy.includes("hour") && folded(roundDown(from, secondsPerDay), to)) {
    return refusal(
      `the hours of some days since ${isoDay(from)} are folded into days`,
      "Group by day, or begin later; ledger.hourlyDays sets how long hours are kept.",
    );
  }
  const cut = [from, to].find((edge) => {
    const day = roundDown(edge, secondsPerDay);
    return edge !== day && folded(day, day + secondsPerDay);
  });
  return cut === undefined ? null : wholeDays(from, to, `cuts ${isoDay(cut)}, whose hours are folded into the day`);
}

function refuseForWorkloads(db: DatabaseSync, { from, to, groupBy }: Window, otherwise: string): Refusal | null {
  if (groupBy.includes("hour")) {
    return refusal("workloads are kept by day, not by hour", `Group by day${otherwise}.`);
  }
  if (from % secondsPerDay !== 0 || to % secondsPerDay !== 0) {
    return wholeDays(from, to, "cuts a day, and workloads are kept by day (UTC)");
  }
  const first = numberOrNullIn(db.prepare("SELECT min(day) AS first FROM workload_time").get(), "first");
  const end = Math.min(to / secondsPerHour, (first ?? Number.POSITIVE_INFINITY) * hoursPerDay);
  const pruned = db
    .prepare(
      "SELECT 1 FROM gpu_time t JOIN accounts a ON a.id = t.account WHERE t.daily IN (0, 1) AND t.hour >= ? AND t.hour < ? AND a.namespace IS NOT NULL LIMIT 1",
    )
    .get(from / secondsPerHour, end);
  if (pruned === undefined) return null;
  const since = first === null ? "none are kept" : `the oldest are of ${isoDay(first * secondsPerDay)}`;
  return refusal(
    `workloads of ${isoDay(from)} are not kept any more: ${since}`,
    `Begin later${otherwise}; ledger.workloadDays sets how long workloads are kept.`,
  );
}

function wholeDays(from: number, to: number, why: string): Refusal {
  const begin = isoDay(roundDown(from, secondsPerDay));
  const end = isoDay(roundUp(to, secondsPerDay));
  return refusal(`the window ${isoTime(from)} to ${isoTime(to)} ${why}`, `Ask for whole days: ${begin} to ${end}.`);
}

const roundDown = (seconds: number, step: number): number => Math.floor(seconds / step) * step;
const roundUp = (seconds: number, step: number): number => Math.ceil(seconds / step) * step;

/** A refusal with its message and the next step. */
export function refusal(error: string, nextStep: string): Refusal {
  return { ok: false, fault: "question", error, nextStep };
}
