import { DatabaseSync } from "node:sqlite";
import fc from "fast-check";
import { expect, test } from "vitest";
import { prepareLedger } from "../../cli/ledgerOutput.ts";
import { createAccounting } from "../../exporter/accounts/accounting.ts";
import { checkLedger } from "../../exporter/accounts/ledger/checkLedger.ts";
import { createEntryWriter } from "../../exporter/accounts/ledger/entryWriter.ts";
import { packEntry } from "../../exporter/accounts/ledger/packedEntry.ts";
import { ledgerMigrations } from "../../exporter/accounts/ledger/schema.ts";
import { configSchema } from "../../exporter/config/schema.ts";
import { emptyMemory } from "../../exporter/join/memory.ts";
import { anyLifecycle, intervalSeconds, lifecycleOf } from "./clusterLifecycle.ts";
import { seenEviction } from "./ledger/entries.ts";
import { temporaryFile } from "./ledger/temporaryFolder.ts";
import { queueMoment } from "./queueMoments.ts";

const start = 1_793_577_600;
const starved = { name: "a", domain: "H100", allocated: 2, pending: 8, entitled: 5 } as const;
const { eviction } = seenEviction({ at: start + 45 });

/** One process: counts 30 s after 30 s into the ledger, and ends. Its counters at the end. */
async function live(file: string, from: number, cycles: number) {
  const config = { ...configSchema.parse({ cluster: "c" }), ledger: { path: file, ...days } };
  const prepared = await prepareLedger(config);
  if (!prepared.ok || prepared.output === null) throw new Error("a ledger is configured");
  const { output } = prepared;
  const accounts = createAccounting({
    intervalSeconds: 30,
    limits: config.limits,
    queues: { ...config.queues, halfLives: [600] },
    remembered: output.remembered,
  });
  const atStart: number[] = [];
  for (let i = 0; i < cycles; i += 1) {
    const at = from + 30 * i;
    const evicted = at >= eviction.at ? [eviction] : [];
    const step = accounts.account(queueMoment({ leaves: [starved], evicted }), { wall: at, monotonic: 30 * i });
    if (i === 0) atStart.push(...accounts.counters().queues.debts.map(({ gpuSeconds }) => gpuSeconds));
    if (step !== null) await output.onStep(step, emptyMemory);
  }
  await output.close();
  return { atStart, queues: accounts.counters().queues };
}

const days = { hourlyDays: 14, dailyDays: 400, workloadDays: 100 };

test("a restart keeps debts, begins totals at 0, and writes no eviction twice", async () => {
  const file = temporaryFile();
  const first = await live(file, start, 41);
  const [debt] = first.queues.debts;
  expect(debt?.ratio).toBeCloseTo(-0.6, 9);
  expect(first.queues.evictions).toMatchObject([{ evictions: 1 }]);

  // The last row was written at most a minute before the end.
  const second = await live(file, start + 1800, 21);
  const away = 600;
  const decayed = (debt?.gpuSeconds ?? 0) * 2 ** (-away / 600);
  expect(second.atStart).toHaveLength(1);
  expect(second.atStart[0]).toBeLessThan(0);
  expect(Math.abs((second.atStart[0] ?? 0) - decayed)).toBeLessThanOrEqual(3 * 60);
  expect(second.queues.totals).toMatchObject([{ queue: "a", allocated: 1200, entitled: 3000 }]);
  expect(second.queues.debts).toMatchObject([{ ratio: null }]);
  expect(second.queues.evictions).toEqual([]);

  const db = new DatabaseSync(file, { readOnly: true });
  expect(checkLedger(db)).toMatchObject({ wrong: [], rows: { evictions: 1 } });
  expect(db.prepare("SELECT sum(allocated_gpu_seconds) AS allocated FROM queue_time").get()).toEqual({
    allocated: 2 * (1200 + 600),
  });
  db.close();
});

test("what a generated cluster's queues have adds up in the ledger", () => {
  const db = new DatabaseSync(":memory:");
  for (const migration of ledgerMigrations) db.exec(migration);
  const writer = createEntryWriter(db);
  let entries = 0;
  fc.assert(
    fc.property(anyLifecycle, ({ state, seed, cycles }) => {
      const limits = { teams: 1000, series: 50_000 };
      const accounts = createAccounting({ intervalSeconds, limits, remembered: [] });
      for (const { analysis, wall, monotonic } of lifecycleOf(state, seed, cycles)) {
        const step = accounts.account(analysis, { wall, monotonic });
        if (step === null) continue;
        entries += 1;
        writer.write(entries, packEntry({ step, remembered: step.remembered }));
      }
    }),
    { numRuns: 60, seed: 20_261_128 },
  );
  const { wrong, rows } = checkLedger(db);
  // Lifecycles follow each other in no order of time.
  expect(wrong.filter((line) => !line.startsWith("the interval from"))).toEqual([]);
  expect(rows.queues).toBeGreaterThan(5);
  db.close();
});
