import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { drawJobs } from "../../../../bench/backtest/starts/phillyArrivals.ts";
import { playQueues, policies } from "../../../../bench/backtest/starts/playQueues.ts";
import { startsResultSchema } from "../../../../bench/backtest/starts/startsResult.ts";
import { startsStudy } from "../../../../bench/backtest/starts/startsStudy.ts";
import { readStartsTraces } from "../../../../bench/backtest/starts/startsTrace.ts";
import { traces } from "../../../e2e/openbTrace.ts";

const kept = startsResultSchema.parse(
  JSON.parse(readFileSync(fileURLToPath(new URL("../../../../docs/backtest/starts.json", import.meta.url)), "utf8")),
);

const heldOf = (queues: RegExp): readonly number[] =>
  kept.rows
    .filter((row) => queues.test(row.queues) && row.first.shown >= 40)
    .map(({ first }) => first.hits / first.shown);

describe("intervals of start times, on starts that they had not seen", () => {
  it.each([[/, first come, first served$/], [/, backfill$/], [/, priorities and backfill$/], [/^openb/]])(
    "hold 75 to 85 %% for every shape: %s",
    (queues) => {
      const parts = heldOf(queues);
      expect(parts.length).toBeGreaterThan(0);
      for (const held of parts) {
        expect(held).toBeGreaterThan(0.75);
        expect(held).toBeLessThan(0.85);
      }
    },
  );

  const missing = ["philly", "openb", "helios-earth"].find((name) => !existsSync(`${traces}/${name}`));
  if (missing !== undefined)
    process.stdout.write(`skipped: no ${missing} trace; set FAIRLEAD_TRACES to the folder that holds it\n`);

  it.skipIf(missing !== undefined)("are what the kept result says: openb and Helios, look by look", () => {
    const { openb, helios } = readStartsTraces(traces);
    const own = startsStudy({ arrivals: [], openb, helios }, { seeds: 0, progress: () => undefined });
    expect(own.rows).toEqual(kept.rows.filter(({ queues }) => !queues.startsWith("Philly")));
  });
});

describe("the queues that are played", () => {
  const jobs = drawJobs(
    Array.from({ length: 400 }, (_, i) => ({
      queue: i % 3 === 0 ? "a" : "b",
      arrives: i * 60,
      gpus: [1, 2, 8, 16][i % 4] ?? 1,
    })),
    1,
  );

  it.each(policies)("start each job once, not before it came, and never more than there are GPUs: %s", (policy) => {
    const starts = playQueues(jobs, policy, 0.9);
    expect(starts.length).toBe(jobs.length);
    expect(starts.every(({ since, startedAt }) => startedAt >= since)).toBe(true);
    const key = (one: { gpus: number; queue: string }, at: number) => `${one.queue} ${at} ${one.gpus}`;
    expect(starts.map((one) => key(one, one.since)).sort()).toEqual(jobs.map((one) => key(one, one.arrives)).sort());
  });

  it("serve strictly by arrival where that is the policy, and small jobs earlier with backfill", () => {
    const fifo = playQueues(jobs, "first come, first served", 6).toSorted((a, b) => a.since - b.since);
    expect(fifo.every(({ startedAt }, i) => startedAt >= (fifo[i - 1]?.startedAt ?? 0))).toBe(true);
    const backfilled = playQueues(jobs, "backfill", 6).toSorted((a, b) => a.since - b.since);
    expect(backfilled.every(({ startedAt }, i) => startedAt >= (backfilled[i - 1]?.startedAt ?? 0))).toBe(false);
  });
});
