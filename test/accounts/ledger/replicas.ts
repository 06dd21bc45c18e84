import { DatabaseSync } from "node:sqlite";
import fc from "fast-check";
import { createEntryWriter } from "../../../exporter/accounts/ledger/entryWriter.ts";
import type { LedgerEntry } from "../../../exporter/accounts/ledger/ledger.ts";
import { createLedger } from "../../../exporter/accounts/ledger/openForWriting.ts";
import { packEntry } from "../../../exporter/accounts/ledger/packedEntry.ts";
import { createRetention } from "../../../exporter/accounts/ledger/retention.ts";
import { ledgerMigrations } from "../../../exporter/accounts/ledger/schema.ts";
import { account, cycleEntry, endedWait, keepAll, nodeStreak, posting, seenEviction, start } from "./entries.ts";

/** Writes a whole ledger into a file without a thread; `hourlyDays`: older hours are folded. */
export function writeLedger(file: string, entries: readonly LedgerEntry[], hourlyDays = keepAll.hourlyDays): void {
  const problem = createLedger(file, ledgerMigrations);
  if (problem !== null) throw new Error(problem.message);
  const db = new DatabaseSync(file);
  db.exec("PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY");
  const writer = createEntryWriter(db);
  for (const [i, one] of entries.entries()) writer.write(i + 1, packEntry(one));
  const retention = createRetention(db, { ...keepAll, hourlyDays });
  while (retention.slice());
  db.close();
}

/** Reads a file that nobody writes. */
export function readLedger<Result>(file: string, work: (db: DatabaseSync) => Result): Result {
  const db = new DatabaseSync(file, { readOnly: true });
  try {
    return work(db);
  } finally {
    db.close();
  }
}

/** Seconds of each hour that a replica was up, from its begin. */
export type Uptime = readonly number[];

/** When a replica is up over some hours: whole hours, parts of one, and hours that it was not there. */
export const uptimes = (hours: number): fc.Arbitrary<Uptime> =>
  fc.array(
    fc.oneof(
      { arbitrary: fc.constant(3600), weight: 3 },
      fc.constant(0),
      fc.integer({ min: 1, max: 119 }).map((n) => 30 * n),
    ),
    { minLength: hours, maxLength: hours },
  );

/**
 * What a replica counts in these hours: 8 GPUs for as long as it was up, in states, teams and workloads that are its own to say
 * (`view`), so that every number says from which replica it is. A node is idle all of the time, and one price is used.
 */
export function replicaEntries(uptime: Uptime, view: number): readonly LedgerEntry[] {
  const entries: LedgerEntry[] = [];
  const streakSince = start + 30 * view;
  for (const [n, seconds] of uptime.entries()) {
    if (seconds === 0) continue;
    const hour = start + 3600 * n;
    const { step, ...rest } = cycleEntry(7 * n + view, hour, 6);
    const active = ((n * 13 + view * 5) % 8) + 1;
    const mine = { team: `team-${(n + view) % 3}`, queue: `queue-${view}`, namespace: `ns-${n % 2}` };
    const postings = [
      posting({
        hour,
        account: account({ pool: "b200", ...mine }),
        workload: { kind: "Job", namespace: mine.namespace, name: `job-${n % 5}` },
        gpuSeconds: active * seconds,
        cost: active * seconds,
        energyJoules: null,
      }),
      posting({
        hour,
        account: account({ pool: "b200", state: "free", team: null, queue: null, namespace: null }),
        workload: null,
        gpuSeconds: (8 - active) * seconds,
        cost: (8 - active) * seconds,
      }),
    ];
    const nodes = {
      pool: "b200",
      nodePool: "gpu",
      capacityType: "on-demand",
      state: "ready",
      currency: "USD",
    } as const;
    // Of all that `cycleEntry` makes, what has no cost: `gpu` would cost more than its node.
    const others = step.postings.map((one) => ({ ...one, cost: null, account: { ...one.account, currency: null } }));
    entries.push({
      ...rest,
      step: {
        ...step,
        interval: { from: hour, to: hour + seconds, seconds, gap: null },
        postings: [...postings, ...others],
        poolHours: poolHours([...postings, ...others]),
        nodeTimes: [{ hour, ...nodes, nodeSeconds: seconds, cost: 8 * seconds }],
        nodeStreaks: [nodeStreak({ node: "idle", begins: streakSince })],
        evictions: [seenEviction({ key: `u${n}`, at: hour, gpus: view + 1 })],
        waits: [endedWait({ queue: `queue-${view}`, seconds: 60 * (n + 1), endedAt: hour })],
        prices: { since: hour, prices: [price(n % 9 < 5 ? 2 : 3)] },
      },
    });
  }
  return entries;
}

function poolHours(postings: LedgerEntry["step"]["postings"]) {
  const sums = new Map<string, number>();
  for (const { account: of, gpuSeconds } of postings) sums.set(of.pool, (sums.get(of.pool) ?? 0) + gpuSeconds);
  const hour = postings[0]?.hour ?? start;
  return [...sums].map(([pool, physicalGpuSeconds]) => ({ hour, pool, physicalGpuSeconds }));
}

const price = (perGpuHour: number) => ({
  pool: "b200",
  nodePool: "gpu",
  instanceType: null,
  capacityType: "on-demand" as const,
  currency: "USD",
  basis: "whole-instance" as const,
  source: "file" as const,
  dated: null,
  perGpuHour,
});
