import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import { createSeededDraws } from "../../review/runway/seededDraws.ts";

/** Six weeks until a Saturday: the last entry, and when the reviews of the tests are written. */
export const filled = {
  from: Date.parse("2026-09-28T00:00:00Z") / 1000,
  to: Date.parse("2026-11-07T14:20:00Z") / 1000,
  now: Date.parse("2026-11-07T14:25:30Z") / 1000,
  /** Hours before this day are folded into days. */
  foldedUntil: Date.parse("2026-10-22T00:00:00Z") / 1000,
} as const;

/** What differs between the clusters of a ledger. */
export interface FilledCluster {
  readonly seed: number;
  /** Is before all names but those of teams, queues and priorities. */
  readonly prefix: string;
  /** Of prices; the second is that of some node pools. */
  readonly currencies: readonly [string, ...string[]];
  /** Whether the table of workloads begins two weeks late. */
  readonly hasLateWorkloads: boolean;
}

/** Draws of one ledger, and its rows. */
export interface Filler {
  readonly db: DatabaseSync;
  readonly cluster: FilledCluster;
  /** Evenly from [from, to). */
  amount(from: number, to: number): number;
  /** A whole number from 0 to below `count`. */
  below(count: number): number;
  pick<Value>(values: readonly [Value, ...Value[]]): Value;
  chance(part: number): boolean;
  insert(table: string, row: Readonly<Record<string, SQLInputValue>>): number;
}

/** Teams, one with a name that an object has already. */
export const filledTeams = ["ads", "search", "__proto__", "vision"] as const;
export const filledPools = ["h100", "a100", "l4"] as const;
export const allocated = ["active", "underutilized", "idle", "stalled", "starting", "gang_wait", "unobserved"] as const;
export const unallocated = ["free", "idle_node", "unattributed", "cordoned"] as const;

/** Draws that are the same for the same seed. */
export function createFiller(db: DatabaseSync, cluster: FilledCluster): Filler {
  const { uniform } = createSeededDraws(cluster.seed);
  const below = (count: number): number => Math.floor(uniform() * count);
  return {
    db,
    cluster,
    below,
    amount: (from, to) => from + uniform() * (to - from),
    pick: (values) => values[below(values.length)] ?? values[0],
    chance: (part) => uniform() < part,
    insert: createInserts(db),
  };
}

/** Inserts rows by their columns. */
export function createInserts(db: DatabaseSync): Filler["insert"] {
  const statements = new Map<string, StatementSync>();
  return (table, row) => {
    const names = Object.keys(row).join(", ");
    const places = Object.keys(row).map(() => "?");
    const key = `${table} ${names}`;
    const put =
      statements.get(key) ?? db.prepare(`INSERT OR IGNORE INTO ${table} (${names}) VALUES (${places.join(", ")})`);
    statements.set(key, put);
    return Number(put.run(...Object.values(row)).lastInsertRowid);
  };
}
