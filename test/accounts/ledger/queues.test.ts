import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { checkLedger } from "../../../exporter/accounts/ledger/checkLedger.ts";
import type { LedgerEntry } from "../../../exporter/accounts/ledger/ledger.ts";
import type { LedgerTableQuery, LedgerTableResult } from "../../../exporter/accounts/ledger/ledgerTableQuery.ts";
import { dimensionsOf } from "../../../exporter/accounts/ledger/ledgerTableSources.ts";
import { queryLedgerTable } from "../../../exporter/accounts/ledger/queryLedgerTable.ts";
import { createRetention } from "../../../exporter/accounts/ledger/retention.ts";
import { waitBucket, waitQuantile } from "../../../exporter/accounts/ledger/waitBucket.ts";
import { type QueueTime, queueAmounts } from "../../../exporter/accounts/posting.ts";
import { sizeClassOf } from "../../../exporter/model/sizeClass.ts";
import { checkMerged } from "./checkMerged.ts";
import { endedWait, entry, keepAll, queueTime, seenEviction, start } from "./entries.ts";
import { ledgerOf, question } from "./memoryLedger.ts";

const hour = 3600;

/** Amounts by the values of each group. */
function rowsOf(result: LedgerTableResult): ReadonlyMap<string, Readonly<Record<string, number | null>>> {
  if (!result.ok) throw new Error(result.error);
  return new Map(result.answer.rows.map(({ values, amounts }) => [JSON.stringify(values), amounts] as const));
}

const name = fc.constantFrom("a", "b", "__proto__", 'q"u,o/te', "");
const maybe = fc.option(name, { nil: null });

const times = fc.record({
  queue: name,
  domain: fc.constantFrom("h100", "a100+l4"),
  team: maybe,
  allocated: fc.nat(100),
  entitled: fc.nat(100),
  pending: fc.nat(100),
  judged: fc.boolean(),
});
const waits = fc.record({ queue: maybe, team: maybe, seconds: fc.nat(10_000), gpus: fc.constantFrom(null, 1, 8) });
const evictions = fc.nat(6);

/** Steps of an hour, with some days between them now and then. */
const lives = fc.array(
  fc.record({
    skipped: fc.integer({ min: 0, max: 60 }),
    times: fc.array(times, { maxLength: 4 }),
    waits: fc.array(waits, { maxLength: 3 }),
    evictions: fc.array(evictions, { maxLength: 2 }),
  }),
  { maxLength: 8 },
);

function entriesOf(
  lifecycle: typeof lives extends fc.Arbitrary<infer Lifecycle> ? Lifecycle : never,
): readonly LedgerEntry[] {
  let at = start;
  return lifecycle.map((step) => {
    at += step.skipped * hour;
    const from = at;
    at += hour;
    return entry({
      from,
      to: at,
      postings: [],
      queueTimes: step.times.map(({ judged, allocated, entitled, ...rest }) => {
        const part = judged ? 1 : 0;
        return queueTime({
          ...rest,
          hour: from,
          seconds: 60,
          judgedSeconds: 60 * part,
          allocated,
          entitled: entitled * part,
          excess: Math.max(0, allocated - entitled) * part,
          shortfallByBorrowers: Math.max(0, entitled - allocated) * part,
          shortfallByNodeToCome: 3 * part,
          shortfallByPastQueues: entitled * part,
          shortfallByIndivisible: 2 * part,
          judgedAllocated: allocated * part,
        });
      }),
      waits: step.waits.map((one) => endedWait({ ...one, endedAt: from + 60 })),
      // One key is one eviction: it was always at the same time.
      evictions: step.evictions.map((key) =>
        seenEviction({
          key: `u${key}`,
          at: start + 100 * key,
          team: `t${key % 2}`,
          queue: key === 0 ? null : "q",
          lostGpuSeconds: key === 5 ? null : 60 * key,
          isUpperBound: key % 3 === 0,
        }),
      ),
    });
  });
}

function keyOf(values: Readonly<Record<string, string | null>>, groupBy: readonly string[]): string {
  return JSON.stringify(groupBy.map((dimension) => values[dimension] ?? null));
}

const isoDayOf = (seconds: number): string => new Date(1000 * seconds).toISOString().slice(0, 10);

function naiveQueues(entries: readonly LedgerEntry[], { groupBy, where }: LedgerTableQuery) {
  const teams = where.get("team");
  const groups = Map.groupBy(
    entries.flatMap(({ step }) => step.queueTimes).filter((time) => teams === undefined || teams.includes(time.team)),
    (time) => keyOf({ ...textsOf(time), day: isoDayOf(time.hour) }, groupBy),
  );
  return new Map(
    [...groups].map(([key, rows]) => {
      const sum = (amount: (typeof queueAmounts)[number]): number =>
        rows.reduce((total, row) => total + row[amount], 0);
      // Some rows were not judged: what was allocated then is in no deviation.
      const judged = rows
        .filter(({ judgedSeconds }) => judgedSeconds > 0)
        .reduce((all, { allocated }) => all + allocated, 0);
      const deviationRatio = sum("entitled") > 0 ? (judged - sum("entitled")) / sum("entitled") : null;
      const shortfallByAbsentCapacity = rows.reduce(
        (all, row) =>
          all +
          row.shortfallByLostNode +
          row.shortfallByNodeToCome +
          row.shortfallByPastQueues +
          row.shortfallByPromisedTwice,
        0,
      );
      const sums = Object.fromEntries(queueAmounts.map((amount) => [amount, sum(amount)]));
      return [key, { ...sums, shortfallByAbsentCapacity, deviationRatio }];
    }),
  );
}

function textsOf({ scheduler, kind, queue, domain, team }: QueueTime) {
  return { scheduler, kind, queue, domain, team };
}

describe("an answer about queues", () => {
  const groupings = fc.subarray(dimensionsOf("queues").filter((dimension) => dimension !== "hour"));

  test("is what adding up gives, before and after hours are folded", () => {
    fc.assert(
      fc.property(lives, groupings, fc.array(maybe, { maxLength: 2 }), (lifecycle, groupBy, teams) => {
        const entries = entriesOf(lifecycle);
        const db = ledgerOf(entries);
        const where = new Map(teams.length === 0 ? [] : [["team", teams] as const]);
        const query = question("queues", { groupBy, where });
        const wanted = naiveQueues(entries, query);
        expect(rowsOf(queryLedgerTable(db, query))).toEqual(wanted);
        const retention = createRetention(db, { ...keepAll, hourlyDays: 1 });
        while (retention.slice()) expect(rowsOf(queryLedgerTable(db, query))).toEqual(wanted);
        expect(checkLedger(db).wrong).toEqual([]);
        db.close();
      }),
      { seed: 11, numRuns: 100 },
    );
  });

  test("is the same when entries were merged before they were written", () => {
    fc.assert(
      fc.property(lives, (lifecycle) => checkMerged(entriesOf(lifecycle))),
      { seed: 12, numRuns: 100 },
    );
  });

  test("counts hours too, and puts time first, then the largest", () => {
    const db = ledgerOf([
      entry({ queueTimes: [queueTime({ allocated: 1 }), queueTime({ queue: "big", allocated: 9000 })] }),
      entry({ from: start + hour, queueTimes: [queueTime({ hour: start + hour, queue: "late" })] }),
    ]);
    const result = queryLedgerTable(db, question("queues", { groupBy: ["hour", "queue"], limit: 2 }));
    if (!result.ok) throw new Error(result.error);
    expect(result.answer.rows.map(({ values }) => values)).toEqual([
      ["2026-11-02T00:00:00Z", "big"],
      ["2026-11-02T00:00:00Z", "research"],
    ]);
    expect(result.answer).toMatchObject({ totalRows: 3, totals: { allocated: 14_401, entitled: 21_600 } });
  });
});

describe("an answer about waits", () => {
  test("counts them by day and gives mean, p50 and p95 to within a fifth", () => {
    fc.assert(
      fc.property(lives, (lifecycle) => {
        const entries = entriesOf(lifecycle);
        const db = ledgerOf(entries);
        const all = entries.flatMap(({ step }) => step.waits);
        const groups = Map.groupBy(all, ({ endedAt, queue, gpus }) =>
          JSON.stringify([isoDayOf(endedAt), queue, sizeClassOf(gpus)]),
        );
        const found = rowsOf(queryLedgerTable(db, question("waits", { groupBy: ["day", "queue", "sizeClass"] })));
        expect([...found.keys()].sort()).toEqual([...groups.keys()].sort());
        for (const [key, rows] of groups) {
          const seconds = rows.map((wait) => wait.seconds).sort((a, b) => a - b);
          const mean = seconds.reduce((sum, one) => sum + one, 0) / seconds.length;
          const { waits: count, meanSeconds, p50Seconds, p95Seconds } = found.get(key) ?? {};
          expect([count, meanSeconds]).toEqual([seconds.length, expect.closeTo(mean, 6)]);
          expectNear(p50Seconds, seconds[Math.ceil(0.5 * seconds.length) - 1]);
          expectNear(p95Seconds, seconds[Math.ceil(0.95 * seconds.length) - 1]);
        }
        db.close();
      }),
      { seed: 13, numRuns: 100 },
    );
  });

  test("of none is none", () => {
    const result = queryLedgerTable(ledgerOf([entry()]), question("waits"));
    expect(result).toMatchObject({ ok: true, answer: { rows: [], totals: { waits: 0, p50Seconds: null } } });
  });
});

function expectNear(found: number | null | undefined, wanted: number | undefined): void {
  expect(found).toBeGreaterThanOrEqual((wanted ?? 0) / 1.19 - 1);
  expect(found).toBeLessThanOrEqual((wanted ?? 0) * 1.19 + 1);
}

test("buckets of waits are in the order of the waits, and a quantile is always one of their means", () => {
  const seconds = fc.double({ min: 0, max: 1e9, noNaN: true });
  fc.assert(
    fc.property(seconds, seconds, fc.double({ min: 0, max: 1, noNaN: true }), (a, b, quantile) => {
      const [short, long] = [Math.min(a, b), Math.max(a, b)];
      expect(waitBucket(short)).toBeLessThanOrEqual(waitBucket(long));
      const buckets = [short, long].map((one) => ({ bucket: waitBucket(one), waits: 1, seconds: one }));
      expect([short, long, (short + long) / 2]).toContain(waitQuantile(buckets, quantile));
    }),
    { seed: 14, numRuns: 300 },
  );
  expect(waitQuantile([], 0.5)).toBeNull();
});

describe("an answer about evictions", () => {
  test("has each once, however many processes saw it", () => {
    const first = seenEviction({ key: "1", lostGpuSeconds: 100, isUpperBound: true });
    const second = seenEviction({
      key: "2",
      lostGpuSeconds: 50,
      isUpperBound: false,
      preemptor: null,
      isPreemption: false,
    });
    const third = seenEviction({ key: "3", lostGpuSeconds: null, gpus: null, reason: "NodeFailures" });
    const db = ledgerOf([
      entry({ evictions: [first, second] }),
      entry({ from: start + 30, evictions: [first, third] }),
    ]);
    const rows = rowsOf(queryLedgerTable(db, question("evictions", { groupBy: ["reason"] })));
    expect([...rows]).toEqual([
      [
        '["InCohortReclamation"]',
        {
          evictions: 2,
          preemptions: 1,
          gpus: 16,
          lostGpuSeconds: 150,
          upperBoundGpuSeconds: 100,
          unknownLost: 0,
        },
      ],
      [
        '["NodeFailures"]',
        { evictions: 1, preemptions: 1, gpus: null, lostGpuSeconds: null, upperBoundGpuSeconds: 0, unknownLost: 1 },
      ],
    ]);
    const by = { groupBy: ["day", "workload", "preemptorQueue"], where: new Map([["preemptorQueue", [null]]]) };
    const [only] = rowsOf(queryLedgerTable(db, question("evictions", by)));
    expect(only).toEqual(['["2026-11-02","Job/a-jobs/train",null]', expect.objectContaining({ evictions: 1 })]);
    expect(queryLedgerTable(db, question("evictions"))).toMatchObject({
      ok: true,
      answer: { totals: { evictions: 3 } },
    });
  });
});
