import type { DatabaseSync } from "node:sqlite";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type AccountDimension,
  type AccountsQuery,
  type AccountsResult,
  accountDimensions,
} from "../../../exporter/accounts/ledger/accountsQuery.ts";
import { checkLedger } from "../../../exporter/accounts/ledger/checkLedger.ts";
import { createEntryWriter } from "../../../exporter/accounts/ledger/entryWriter.ts";
import type { LedgerEntry, LedgerRetention } from "../../../exporter/accounts/ledger/ledger.ts";
import { createLedgerReader } from "../../../exporter/accounts/ledger/ledgerReader.ts";
import { packEntry } from "../../../exporter/accounts/ledger/packedEntry.ts";
import { queryAccounts } from "../../../exporter/accounts/ledger/queryAccounts.ts";
import { createRetention } from "../../../exporter/accounts/ledger/retention.ts";
import type { Posting } from "../../../exporter/accounts/posting.ts";
import { checkMerged } from "./checkMerged.ts";
import { account, entry, keepAll, posting, start } from "./entries.ts";
import { ledgerOf } from "./memoryLedger.ts";
import { totalsOfEntries, totalsOfLedger } from "./naiveTotals.ts";
import { openLedger, temporaryFile } from "./temporaryFolder.ts";

const hour = 3600;
const day = 86_400;

function tidy(db: DatabaseSync, keep: LedgerRetention): void {
  const retention = createRetention(db, keep);
  while (retention.slice()) checkAccounts(db);
}

const checkAccounts = (db: DatabaseSync): void => expect(checkLedger(db).wrong).toEqual([]);

const text = fc.constantFrom("a", "b", "", "__proto__", 'q"u,o/te', "ü");
const some = fc.option(text, { nil: null });

const anyCurrency = fc.constantFrom(null, "USD", "EUR", "__proto__");

const postings = fc.record({
  account: fc.oneof(
    fc
      .record({ team: some, queue: some, namespace: text, priorityClass: some, currency: anyCurrency })
      .map((values) => account({ ...values, state: "active" })),
    fc
      .constantFrom("h100", "a100")
      .map((pool) => account({ pool, state: "free", team: null, queue: null, namespace: null })),
  ),
  name: text,
  gpuSeconds: fc.integer({ min: 1, max: 1000 }),
  estimated: fc.boolean(),
  energyJoules: fc.option(fc.integer({ min: 0, max: 1e6 }), { nil: null }),
});

/** Steps of an hour over several days; some are missing. */
const lives = fc.array(
  fc.record({ skipped: fc.integer({ min: 0, max: 30 }), rows: fc.array(postings, { maxLength: 6 }) }),
  {
    maxLength: 30,
  },
);

type Lifecycle = readonly {
  readonly skipped: number;
  readonly rows: readonly (typeof postings extends fc.Arbitrary<infer Row> ? Row : never)[];
}[];

function entriesOf(lifecycle: Lifecycle): readonly LedgerEntry[] {
  let from = start;
  return lifecycle.map(({ skipped, rows }) => {
    from += hour * (1 + skipped);
    const made = rows.map(
      (row): Posting => ({
        hour: from,
        account: row.account,
        workload:
          row.account.namespace === null ? null : { kind: "Job", namespace: row.account.namespace, name: row.name },
        gpuSeconds: row.gpuSeconds,
        estimatedGpuSeconds: row.estimated ? row.gpuSeconds : 0,
        energyJoules: row.energyJoules,
        cost: row.account.currency === null ? null : row.gpuSeconds * 3,
      }),
    );
    return entry({ from, to: from + hour, postings: made });
  });
}

/** What a posting is grouped by, said without the code under test. */
function groupOf(one: Posting, dimension: AccountDimension): string | null {
  if (dimension === "day") return new Date(one.hour * 1000).toISOString().slice(0, 10);
  if (dimension === "hour") return new Date(one.hour * 1000).toISOString().replace(".000", "");
  if (dimension !== "workload") return one.account[dimension];
  return one.workload === null ? null : `${one.workload.kind}/${one.workload.namespace}/${one.workload.name}`;
}

function naiveAnswer(entries: readonly LedgerEntry[], query: AccountsQuery): ReadonlyMap<string, readonly unknown[]> {
  const byWorkload = query.groupBy.includes("workload") || query.where.has("workload");
  const groups = new Map<string, Posting[]>();
  for (const one of entries.flatMap(({ step }) => step.postings)) {
    if (one.hour < query.from || one.hour >= query.to || (byWorkload && one.workload === null)) continue;
    const chosen = [...query.where].every(([filter, allowed]) => allowed.includes(groupOf(one, filter)));
    if (!chosen) continue;
    const key = JSON.stringify(query.groupBy.map((dimension) => groupOf(one, dimension)));
    groups.set(key, [...(groups.get(key) ?? []), one]);
  }
  const sum = (rows: readonly Posting[], of: (one: Posting) => number): number =>
    rows.reduce((s, one) => s + of(one), 0);
  return new Map(
    [...groups].map(([key, rows]) => {
      const metered = rows.filter((one) => one.energyJoules !== null);
      const energy = metered.length === 0 ? null : sum(metered, (one) => one.energyJoules ?? 0);
      const sums = [sum(rows, (one) => one.gpuSeconds), sum(rows, (one) => one.estimatedGpuSeconds), energy];
      const priced = rows.filter(({ account: { currency } }) => currency !== null);
      const costs = Object.entries(Object.groupBy(priced, ({ account: { currency } }) => currency ?? ""))
        .map(([currency, ofIt = []]) => [currency, sum(ofIt, ({ cost }) => cost ?? 0)] as const)
        .sort();
      const cost = costs.length === 1 ? costs[0]?.[1] : null;
      const pricedSeconds = sum(priced, (one) => one.gpuSeconds);
      return [key, [...sums, sum(metered, (one) => one.gpuSeconds), pricedSeconds, costs, cost]] as const;
    }),
  );
}

function rowsOf(result: AccountsResult): ReadonlyMap<string, readonly unknown[]> {
  if (!result.ok) throw new Error(result.error);
  return new Map(
    result.answer.rows.map((row) => [
      JSON.stringify(row.values),
      [
        row.gpuSeconds,
        row.estimatedGpuSeconds,
        row.energyJoules,
        row.meteredGpuSeconds,
        row.pricedGpuSeconds,
        [...row.costs].sort(),
        row.cost,
      ],
    ]),
  );
}

const question = (values: Partial<AccountsQuery> = {}): AccountsQuery => ({
  from: start,
  to: start + 60 * day,
  groupBy: [],
  where: new Map(),
  limit: 1_000_000,
  ...values,
});

describe("an answer", () => {
  const groupings = fc.subarray(accountDimensions.filter((dimension) => dimension !== "hour"));

  test("is what adding up the postings gives, for every grouping, filter and window of days", () => {
    fc.assert(
      fc.property(lives, groupings, fc.array(some, { maxLength: 2 }), fc.nat(20), (lifecycle, groupBy, teams, skip) => {
        const entries = entriesOf(lifecycle);
        const db = ledgerOf(entries);
        const where = new Map(teams.length === 0 ? [] : [["team", teams] as const]);
        const query = question({ from: start + skip * day, groupBy, where });
        expect(rowsOf(queryAccounts(db, query))).toEqual(naiveAnswer(entries, query));
        checkAccounts(db);
        db.close();
      }),
      { seed: 1, numRuns: 150 },
    );
  });

  test("by hour is what adding up gives, for every window of hours", () => {
    fc.assert(
      fc.property(lives, fc.nat(200), fc.integer({ min: 1, max: 400 }), (lifecycle, skip, length) => {
        const entries = entriesOf(lifecycle);
        const db = ledgerOf(entries);
        const from = start + skip * hour;
        const query = question({ from, to: from + length * hour, groupBy: ["hour", "pool"] });
        expect(rowsOf(queryAccounts(db, query))).toEqual(naiveAnswer(entries, query));
        db.close();
      }),
      { seed: 2, numRuns: 100 },
    );
  });

  test("by day is the same before and after hours are folded, at every step of it", () => {
    fc.assert(
      fc.property(lives, groupings, (lifecycle, groupBy) => {
        const entries = entriesOf(lifecycle);
        const db = ledgerOf(entries);
        const query = question({ groupBy });
        const before = rowsOf(queryAccounts(db, query));
        const retention = createRetention(db, { ...keepAll, hourlyDays: 2 });
        while (retention.slice()) expect(rowsOf(queryAccounts(db, query))).toEqual(before);
        const last = entries.at(-1)?.step.interval.to ?? start;
        const oldest = db.prepare("SELECT min(hour) * 3600 AS hour FROM gpu_time WHERE daily = 0").get();
        if (oldest?.hour != null) expect(Number(oldest.hour)).toBeGreaterThanOrEqual(Math.floor(last / day - 2) * day);
        expect(rowsOf(queryAccounts(db, query))).toEqual(before);
        checkAccounts(db);
        db.close();
      }),
      { seed: 3, numRuns: 100 },
    );
  });

  test("is the same when entries were merged before they were written", () => {
    fc.assert(
      fc.property(lives, (lifecycle) => checkMerged(entriesOf(lifecycle))),
      { seed: 4, numRuns: 100 },
    );
  });
});

test("an entry that is written a second time under its number is not counted again", () => {
  const db = ledgerOf([entry()]);
  createEntryWriter(db).write(1, packEntry(entry()));
  expect(totalsOfLedger(db)).toEqual(totalsOfEntries([entry()]));
});

describe("what is past its time", () => {
  const old = entry({ from: start, to: start + hour });
  const later = entry({
    from: start + 30 * day,
    to: start + 30 * day + hour,
    postings: [posting({ hour: start + 30 * day, workload: { kind: "Job", namespace: "b", name: "new" } })],
  });
  const count = (db: DatabaseSync, table: string) => db.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.n;

  test("is pruned, with the names that nothing uses any more", () => {
    const db = ledgerOf([old, later]);
    tidy(db, { hourlyDays: 5, dailyDays: 10, workloadDays: 10 });
    expect(totalsOfLedger(db)).toEqual(totalsOfEntries([later]));
    expect(
      ["gpu_time", "workload_time", "pool_time", "workloads", "accounts"].map((table) => count(db, table)),
    ).toEqual([1, 1, 1, 1, 1]);
    // The gap between the two is still known: it reaches into the time that is kept.
    expect(db.prepare("SELECT gap FROM intervals ORDER BY id").all()).toEqual([{ gap: "too-long" }, { gap: null }]);
  });

  test("workloads can go before the rest, and a question about them says so", () => {
    const db = ledgerOf([old, later]);
    tidy(db, { ...keepAll, workloadDays: 10 });
    expect(queryAccounts(db, question({ groupBy: ["workload"] }))).toMatchObject({
      ok: false,
      error: expect.stringContaining("workloads of 2026-11-02 are not kept any more: the oldest are of 2026-12-02"),
    });
    expect(queryAccounts(db, question({ from: start + 30 * day, groupBy: ["workload"] }))).toMatchObject({ ok: true });
  });

  test("a clock that was wrong for a moment makes nothing be forgotten", () => {
    const wrong = start + 5000 * day;
    const db = ledgerOf([old, entry({ from: wrong, postings: [posting({ hour: wrong })] })]);
    tidy(db, { hourlyDays: 5, dailyDays: 10, workloadDays: 10 });
    expect(count(db, "gpu_time")).toBe(2);
  });
});

describe("a window that cuts what is kept is refused", () => {
  const db = ledgerOf([
    entry({ from: start, to: start + hour }),
    entry({ from: start + 20 * day, to: start + 20 * day + hour }),
  ]);
  tidy(db, { ...keepAll, hourlyDays: 14 });

  test.each([
    ["half an hour", question({ from: start + 1800 }), "cuts an hour", "Ask for 2026-11-02T00:00:00Z"],
    ["half a folded day", question({ from: start + hour }), "cuts 2026-11-02", "whole days: 2026-11-02 to"],
    ["the hours of a folded day", question({ groupBy: ["hour"] }), "are folded into days", "Group by day"],
    ["half a day of workloads", question({ from: start + hour, groupBy: ["workload"] }), "cuts a day", "whole days"],
    ["workloads by hour", question({ groupBy: ["hour", "workload"] }), "by day, not by hour", "Group by day"],
    ["nothing", question({ to: start }), "before it begins", "later end"],
    ["days and hours", question({ groupBy: ["day", "hour"] }), "not by both", "Leave one"],
  ])("%s", (_what, query, error, nextStep) => {
    expect(queryAccounts(db, query)).toMatchObject({
      ok: false,
      fault: "question",
      error: expect.stringContaining(error),
      nextStep: expect.stringContaining(nextStep),
    });
  });
});

test("the reader answers from its own thread while the ledger is written, and says why when it cannot", async () => {
  const file = temporaryFile();
  const reader = createLedgerReader(file);
  expect(await reader.query(question())).toMatchObject({
    ok: false,
    fault: "ledger",
    error: `ledger ${file} does not exist`,
  });
  await reader.close();
  const ledger = await openLedger(file);
  ledger.append(entry());
  await ledger.flush();
  const second = createLedgerReader(file);
  expect(await second.query(question())).toMatchObject({ ok: true, answer: { totals: { gpuSeconds: 30 } } });
  ledger.append(entry({ from: start + 30 }));
  await ledger.flush();
  const answers = await Promise.all(Array.from({ length: 12 }, () => second.query(question())));
  expect(answers.slice(0, 8)).toEqual(Array(8).fill(expect.objectContaining({ ok: true })));
  expect(answers.slice(8)).toEqual(Array(4).fill(expect.objectContaining({ ok: false, fault: "ledger" })));
  expect(answers[0]).toMatchObject({ answer: { totals: { gpuSeconds: 60 }, coverage: { coveredSeconds: 60 } } });
  await second.close();
});
