import path from "node:path";
import { expect } from "vitest";
import { checkLedger } from "../../../exporter/accounts/ledger/checkLedger.ts";
import { coverageOf } from "../../../exporter/accounts/ledger/intervalLog.ts";
import type { LedgerEntry } from "../../../exporter/accounts/ledger/ledger.ts";
import { mergeLedgers } from "../../../exporter/accounts/ledger/mergeLedgers.ts";
import { allAnswers } from "./allAnswers.ts";
import { start } from "./entries.ts";
import { readLedger, writeLedger } from "./replicas.ts";
import { temporaryFolder } from "./temporaryFolder.ts";

export const hours = 30;
export const day = 86_400;
export const window = [start, start + 2 * day] as const;

/** The merged ledger of these, which must be there and in order. */
export function mergedOf(files: readonly string[], name = "merged.db"): string {
  const target = path.join(path.dirname(files[0] ?? ""), name);
  const result = mergeLedgers(files, target);
  if (!result.ok) throw new Error(result.problem.message);
  expect(readLedger(target, checkLedger).wrong).toEqual([]);
  return target;
}

/** The ledgers of so many replicas, in one folder. */
export function ledgersOf(...replicas: readonly (readonly LedgerEntry[])[]): readonly string[] {
  const folder = temporaryFolder();
  return replicas.map((entries, i) => {
    const file = path.join(folder, `replica-${i}.db`);
    writeLedger(file, entries);
    return file;
  });
}

/** The control sums of pools, by hour and pool. */
export const poolHours = (file: string) =>
  readLedger(
    file,
    (db) =>
      new Map(
        db
          .prepare("SELECT hour, pool, physical_gpu_seconds AS s FROM pool_time")
          .all()
          .map((row) => [`${row.hour} ${row.pool}`, row.s] as const),
      ),
  );

/** Covered seconds of each hour. */
export const coveredHours = (file: string): readonly number[] =>
  readLedger(file, (db) =>
    Array.from({ length: hours }, (_, n) => {
      const from = start + 3600 * n;
      return coverageOf(db, from, from + 3600).coveredSeconds;
    }),
  );

/** All that a ledger answers, about the two days of the replicas or another window. */
export const answers = (file: string, from: number = window[0], to: number = window[1]) =>
  readLedger(file, (db) => allAnswers(db, from, to));

/** The node of `replicaEntries` never stopped being idle, whoever saw it. */
export function expectOneStreakAtATime(file: string): void {
  const sql = "SELECT begins, ends FROM node_streaks WHERE node = 'idle' ORDER BY begins";
  const streaks = readLedger(file, (db) => db.prepare(sql).all());
  for (const [i, row] of streaks.slice(1).entries()) {
    expect(streaks[i]?.ends).not.toBeNull();
    expect(Number(streaks[i]?.ends)).toBeLessThanOrEqual(Number(row.begins));
  }
}
