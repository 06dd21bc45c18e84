import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { DomainTime, PlacementTime } from "../../../exporter/accounts/capacityTime.ts";
import { checkLedger } from "../../../exporter/accounts/ledger/checkLedger.ts";
import type { LedgerEntry } from "../../../exporter/accounts/ledger/ledger.ts";
import type { LedgerTableResult } from "../../../exporter/accounts/ledger/ledgerTableQuery.ts";
import { queryLedgerTable } from "../../../exporter/accounts/ledger/queryLedgerTable.ts";
import { queryPools } from "../../../exporter/accounts/ledger/queryPools.ts";
import { createRetention } from "../../../exporter/accounts/ledger/retention.ts";
import { checkMerged } from "./checkMerged.ts";
import { domainTime, entry, keepAll, placementTime, queueTime, start } from "./entries.ts";
import { ledgerOf, question } from "./memoryLedger.ts";

const hour = 3600;
const day = 86_400;

function rowsOf(result: LedgerTableResult): ReadonlyMap<string, Readonly<Record<string, number | null>>> {
  if (!result.ok) throw new Error(result.error);
  return new Map(result.answer.rows.map(({ values, amounts }) => [values.join(" "), amounts] as const));
}

/** Entries of half an hour, some hours apart, each with some domains and pools. */
const lives: fc.Arbitrary<readonly LedgerEntry[]> = fc
  .array(
    fc.record({
      skipped: fc.integer({ min: 0, max: 40 }),
      domains: fc.array(
        fc.record({
          domain: fc.constantFrom("h100", "a100+l4", "__proto__"),
          allocated: fc.nat(50),
          pending: fc.nat(50),
          guaranteed: fc.option(fc.nat(90), { nil: null }),
        }),
        { maxLength: 3 },
      ),
      pools: fc.array(
        fc.record({
          pool: fc.constantFrom("h100", "l4"),
          free: fc.integer({ min: 20, max: 60 }),
          reasons: fc.tuple(fc.nat(4), fc.nat(4), fc.nat(4), fc.nat(4), fc.nat(4)),
          blocked: fc.nat(9),
          largest: fc.nat(8),
        }),
        { maxLength: 3 },
      ),
    }),
    { maxLength: 8 },
  )
  .map((steps) => {
    let at = start;
    return steps.map(({ skipped, domains, pools }) => {
      at += skipped * hour;
      const from = at;
      at += hour / 2;
      const rows = domains.map(({ domain, allocated, pending, guaranteed }) =>
        domainTime({
          hour: Math.floor(from / hour) * hour,
          domain,
          seconds: 10,
          capacity: 1000,
          allocated: 10 * allocated,
          pending: 10 * pending,
          guaranteedSeconds: guaranteed === null ? 0 : 10,
          guaranteed: 10 * (guaranteed ?? 0),
        }),
      );
      const placement = pools.map(({ pool, free, reasons: [constraint, gpus, cpu, memory, both], blocked, largest }) =>
        placementTime({
          hour: Math.floor(from / hour) * hour,
          pool,
          seconds: 10,
          free: 10 * free,
          blocked: 10 * blocked,
          largestPlaceable: 10 * largest,
          stranded: { constraint, gpus, cpu, memory, cpu_and_memory: both },
          largestPlaceableMin: largest,
          largestPlaceableMax: largest,
        }),
      );
      return entry({ from, to: at, postings: [], capacity: { domains: rows, placement } });
    });
  });

const isoDayOf = (seconds: number): string => new Date(1000 * seconds).toISOString().slice(0, 10);
const total = (amounts: readonly number[]): number => amounts.reduce((sum, amount) => sum + amount, 0);

function naiveDomains(rows: readonly DomainTime[]) {
  const guaranteedSeconds = total(rows.map((row) => row.guaranteedSeconds));
  return {
    capacity: total(rows.map((row) => row.capacity)),
    allocated: total(rows.map((row) => row.allocated)),
    pending: total(rows.map((row) => row.pending)),
    guaranteed: guaranteedSeconds > 0 ? total(rows.map((row) => row.guaranteed)) : null,
    guaranteedSeconds,
    seconds: total(rows.map((row) => row.seconds)),
  };
}

function naivePlacement(rows: readonly PlacementTime[]) {
  const of = (amount: (row: PlacementTime) => number): number => total(rows.map(amount));
  return {
    free: of((row) => row.free),
    stranded: of(({ stranded: { gpus, cpu, memory, cpu_and_memory: both } }) => gpus + cpu + memory + both),
    strandedConstraint: of((row) => row.stranded.constraint),
    strandedGpus: of((row) => row.stranded.gpus),
    strandedCpu: of((row) => row.stranded.cpu),
    strandedMemory: of((row) => row.stranded.memory),
    strandedCpuAndMemory: of((row) => row.stranded.cpu_and_memory),
    blocked: of((row) => row.blocked),
    largestPlaceableMean: of((row) => row.largestPlaceable) / of((row) => row.seconds),
    largestPlaceableMin: Math.min(...rows.map((row) => row.largestPlaceableMin)),
    largestPlaceableMax: Math.max(...rows.map((row) => row.largestPlaceableMax)),
    seconds: of((row) => row.seconds),
  };
}

describe("answers about quota domains and placement", () => {
  test("are the sums of what was appended, by day and by hour, also after everything else was folded", () => {
    let compared = 0;
    fc.assert(
      fc.property(lives, (entries) => {
        const db = ledgerOf(entries);
        const domains = entries.flatMap(({ step }) => step.capacity.domains);
        const placement = entries.flatMap(({ step }) => step.capacity.placement);
        const byDomain = Map.groupBy(domains, (row) => `${isoDayOf(row.hour)} ${row.domain}`);
        const byPool = Map.groupBy(placement, ({ hour: at, pool }) => `${isoDayOf(at)}T${isoHourOf(at)} ${pool}`);
        const check = (): void => {
          const foundDomains = rowsOf(queryLedgerTable(db, question("domains", { groupBy: ["day", "domain"] })));
          expect(foundDomains).toEqual(new Map([...byDomain].map(([key, rows]) => [key, naiveDomains(rows)])));
          const foundPools = rowsOf(queryLedgerTable(db, question("placement", { groupBy: ["hour", "pool"] })));
          expect(foundPools).toEqual(new Map([...byPool].map(([key, rows]) => [key, naivePlacement(rows)])));
          const all = queryLedgerTable(db, question("placement"));
          if (placement.length > 0) expect(all).toMatchObject({ answer: { totals: naivePlacement(placement) } });
          else expect(all).toMatchObject({ answer: { rows: [], totals: { free: 0, largestPlaceableMin: null } } });
        };
        check();
        const retention = createRetention(db, { ...keepAll, hourlyDays: 1 });
        while (retention.slice());
        check();
        expect(checkLedger(db).wrong).toEqual([]);
        compared += byDomain.size + byPool.size;
      }),
      { numRuns: 60, seed: 20_261_121 },
    );
    expect(compared).toBeGreaterThan(200);
  });

  test("are the same when entries were merged before they were written", () => {
    fc.assert(fc.property(lives, checkMerged), { numRuns: 60, seed: 20_261_122 });
  });

  test("know the pools of domains and the models of pools that were in use since a day", () => {
    const names = (domain: string) => ({
      domainPools: [{ domain, pool: "h100" }],
      poolModels: [{ pool: "h100", model: `of ${domain}` }],
    });
    const db = ledgerOf([
      entry({ capacity: names("old") }),
      entry({ from: start + day, capacity: names("new") }),
      entry({ from: start + 2 * day, capacity: names("new") }),
    ]);
    const ask = (from: number) => {
      const result = queryPools(db, { from, to: start + 9 * day });
      if (!result.ok) throw new Error(result.error);
      return result.answer;
    };
    expect(ask(start).domains.map(({ domain }) => domain)).toEqual(["new", "old"]);
    expect(ask(start + day + hour)).toMatchObject({
      domains: [{ domain: "new", pool: "h100" }],
      models: [{ pool: "h100", model: "of new" }],
    });
    expect(ask(start + 3 * day)).toMatchObject({ domains: [], models: [] });
  });
});

const isoHourOf = (seconds: number): string => new Date(1000 * seconds).toISOString().slice(11, 19).concat("Z");

describe("the guarantee of a queue", () => {
  test("is unknown where it never was known, and of the known time elsewhere", () => {
    const db = ledgerOf([
      entry({
        queueTimes: [queueTime({ queue: "a" }), queueTime({ queue: "b", guaranteedSeconds: 0, guaranteed: 0 })],
      }),
      entry({ from: start + 30, queueTimes: [queueTime({ queue: "a", guaranteedSeconds: 0, guaranteed: 0 })] }),
      entry({ from: start + 60, queueTimes: [queueTime({ queue: "a", guaranteedSeconds: 600, guaranteed: 1200 })] }),
    ]);
    const found = rowsOf(queryLedgerTable(db, question("queues", { groupBy: ["queue"] })));
    expect(found.get("a")).toMatchObject({ guaranteed: 8400, guaranteedSeconds: 2400, seconds: 5400 });
    expect(found.get("b")).toMatchObject({ guaranteed: null, guaranteedSeconds: 0, seconds: 1800 });
    expect(checkLedger(db).wrong).toEqual([]);
  });
});

describe("what is past its time", () => {
  test("is pruned, with the names that nothing uses any more", () => {
    const names = (domain: string) => ({
      domains: [domainTime({ domain })],
      placement: [placementTime()],
      domainPools: [{ domain, pool: "h100" }],
      poolModels: [{ pool: "h100", model: domain }],
    });
    const later = start + 30 * day;
    const at = (to: number, capacity: ReturnType<typeof names>) => ({
      ...capacity,
      domains: capacity.domains.map((row) => ({ ...row, hour: to })),
      placement: capacity.placement.map((row) => ({ ...row, hour: to })),
    });
    const db = ledgerOf([
      entry({ to: start + hour, capacity: names("old") }),
      entry({ from: later - 9 * day, to: later - 9 * day + hour, capacity: at(later - 9 * day, names("kept")) }),
      entry({ from: later, to: later + hour, capacity: at(later, names("new")) }),
    ]);
    const retention = createRetention(db, { hourlyDays: 5, dailyDays: 10, workloadDays: 10 });
    while (retention.slice()) expect(checkLedger(db).wrong).toEqual([]);
    const counts = ["domain_time", "placement_time", "domain_pools", "pool_models"].map(
      (table) => db.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.n,
    );
    expect(counts).toEqual([2, 2, 2, 2]);
  });
});

describe("a check finds", () => {
  test.each([
    ["UPDATE domain_time SET allocated_gpu_seconds = capacity_gpu_seconds + 1", "the sums of domain h100 contradict"],
    ["UPDATE domain_time SET pending_gpu_seconds = -1", "the sums of domain h100 contradict"],
    ["UPDATE domain_time SET guaranteed_gpu_seconds = NULL", "the sums of domain h100 contradict"],
    ["UPDATE domain_time SET guaranteed_seconds = 3600", "the sums of domain h100 contradict"],
    ["UPDATE placement_time SET stranded_memory_gpu_seconds = 7200", "the sums of pool h100 contradict"],
    ["UPDATE placement_time SET largest_placeable_min = 3", "the sums of pool h100 contradict"],
    ["UPDATE placement_time SET largest_placeable_max = 1", "the sums of pool h100 contradict"],
    ["UPDATE placement_time SET blocked_gpu_seconds = -1", "the sums of pool h100 contradict"],
    ["UPDATE queue_time SET guaranteed_gpu_seconds = NULL", "the sums of queue research in h100 contradict"],
  ])("%s", (sql, wrong) => {
    const capacity = { domains: [domainTime()], placement: [placementTime()] };
    const db = ledgerOf([entry({ to: start + 1800, capacity, queueTimes: [queueTime()] })]);
    expect(checkLedger(db).wrong).toEqual([]);
    db.exec(sql);
    expect(checkLedger(db).wrong).toEqual([expect.stringContaining(wrong)]);
  });
});
