import { copyFileSync, existsSync, writeFileSync } from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { run } from "../../../cli/run.ts";
import {
  account,
  cycleEntry,
  domainTime,
  endedWait,
  entry,
  nodeStreak,
  placementTime,
  posting,
  queueTime,
  seenEviction,
  start,
} from "../../accounts/ledger/entries.ts";
import { openLedger, temporaryFile } from "../../accounts/ledger/temporaryFolder.ts";
import { captureIo } from "../captureIo.ts";

const hour = 3600;

async function fairlead(...args: readonly string[]) {
  const io = captureIo();
  const code = await run(["ledger", ...args], io);
  return { code, stdout: io.stdout(), stderr: io.stderr() };
}

/** Two hours of two teams, one of them hostile, with a gap between. The ledger is still being written. */
async function liveLedger(): Promise<string> {
  const file = temporaryFile();
  const ledger = await openLedger(file);
  const evil = '=HYPERLINK("http://x")\u001b[2J';
  const rows = (at: number) => [
    posting({ hour: at, gpuSeconds: 7200, energyJoules: 3_600_000 }),
    posting({
      hour: at,
      gpuSeconds: 3600,
      account: account({ state: "idle", currency: null }),
      estimatedGpuSeconds: 1800,
      cost: null,
    }),
    posting({ hour: at, gpuSeconds: 1800, account: account({ team: evil }), energyJoules: null }),
    posting({
      hour: at,
      gpuSeconds: 1800,
      workload: null,
      account: account({ team: null, queue: null, namespace: null, state: "free" }),
    }),
  ];
  ledger.append(entry({ to: start + hour, postings: rows(start) }));
  ledger.append(entry({ from: start + hour + 900, to: start + 2 * hour, postings: rows(start + hour) }));
  await ledger.flush();
  return file;
}

const window = ["--from", "2026-11-02", "--to", "2026-11-02T02:00Z"];

describe("fairlead ledger query", () => {
  test("prints GPU-hours, shares and coverage, for a ledger that is being written", async () => {
    const { code, stdout } = await fairlead("query", await liveLedger(), ...window);
    expect(code).toBe(0);
    expect(stdout).toBe(
      [
        "GPU time from 2026-11-02 00:00 to 2026-11-02 02:00 (UTC): 8.0 GPU-hours",
        "Cost: 0.15 USD (25 % of the time has no price)",
        "Covered: 87.50 % of the window (1 h 45 min of 2 h)",
        "  not covered: 15 min from 2026-11-02 01:00 (too-long)",
        "",
        "  team                    state   GPU-hours  share  estimated  kWh   USD",
        "  a                       active        4.0   50 %        0 %  2.0  0.05",
        "  a                       idle          2.0   25 %       50 %  0.0     –",
        "  –                       free          1.0   13 %        0 %  0.0  0.05",
        '  =HYPERLINK("http://x")  active        1.0   13 %        0 %    –  0.05',
        "",
      ].join("\n"),
    );
  });

  test("chooses and groups as asked", async () => {
    const file = await liveLedger();
    const query = ["query", file, ...window, "--by", "hour", "--where", "team=a", "--where", "state=active"];
    const { stdout } = await fairlead(...query, "--output", "csv");
    expect(stdout).toBe(
      [
        "hour,gpuSeconds,estimatedGpuSeconds,energyJoules,meteredGpuSeconds,pricedGpuSeconds,cost_USD",
        "2026-11-02T00:00:00Z,7200,0,3600000,7200,7200,0.025",
        "2026-11-02T01:00:00Z,7200,0,3600000,7200,7200,0.025",
        "",
      ].join("\r\n"),
    );
    const none = await fairlead("query", file, ...window, "--by", "state", "--where", "team=", "--output", "json");
    expect(JSON.parse(none.stdout)).toMatchObject({
      from: "2026-11-02T00:00:00Z",
      by: ["state"],
      total: 1,
      items: [{ state: "free", gpuSeconds: 3600, energyJoules: 18_000, meteredGpuSeconds: 3600, cost: 0.05 }],
      coverage: { windowSeconds: 7200, coveredSeconds: 6300, ratio: 0.875 },
    });
  });

  test("lets no formula into a spreadsheet", async () => {
    const { stdout } = await fairlead("query", await liveLedger(), ...window, "--by", "team", "--output", "csv");
    expect(stdout).toContain(`"'=HYPERLINK(""http://x"")`);
  });

  test.each([
    [["--by", "pods"], 'cannot group by "pods"', "priorityClass"],
    [["--where", "owner=x"], 'cannot choose by "owner"', "Use some of: pool"],
    [["--where", "state=held_idle"], 'there is no state "held_idle"', "idle"],
    [["--where", "team"], '--where "team" has no value', "team=ads"],
    [["--from", "monday"], '"monday" is not a time', "2026-11-21"],
    [["--from", "2026-11-02T00:30:00Z"], "cuts an hour", "Ask for 2026-11-02T00:00:00Z"],
    [["--from", "2026-11-02", "--to", "2026-11-01"], "before it begins", "later end"],
  ])("refuses %j and says what to do", async (flags, error, nextStep) => {
    const { code, stderr, stdout } = await fairlead("query", await liveLedger(), "--to", "2026-11-03", ...flags);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain(error);
    expect(stderr.split("Next step: ")[1]).toContain(nextStep);
  });

  test("says what is wrong with a file that is not there, or no ledger", async () => {
    const file = temporaryFile();
    expect(await fairlead("query", file)).toMatchObject({ code: 1, stderr: expect.stringContaining("does not exist") });
    writeFileSync(file, "x".repeat(200));
    expect(await fairlead("check", file)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("is not a SQLite file"),
    });
  });
});

describe("fairlead ledger check", () => {
  test("says that the accounts close, and what there is", async () => {
    const { code, stdout } = await fairlead("check", await liveLedger());
    expect(code).toBe(0);
    expect(stdout).toContain("sound, and the accounts close");
    expect(stdout).toContain("rows: 8 by hour, 0 by day, 3 by day and workload; 0 remembered");
    expect(stdout).toContain("Covered: 87.50 %");
  });

  test.each([
    [
      "a sum that was changed",
      "UPDATE gpu_time SET gpu_seconds = gpu_seconds + 1 WHERE account = 1",
      "pool h100 do not close in the hour from 2026-11-02T00:00:00Z",
    ],
    ["a control sum that is gone", "DELETE FROM pool_time", "physical 0 GPU-seconds"],
    [
      "intervals that overlap",
      `INSERT INTO intervals (begins, ends, seconds) VALUES (${start}, ${start + 30}, 30)`,
      "begins before the one before it ends",
    ],
    ["an account that is gone", "DELETE FROM accounts WHERE id = 2", "name a row of accounts that is not there"],
    [
      "workloads that hold too much",
      "UPDATE workload_time SET gpu_seconds = 1e9",
      "workloads hold more than was counted on 2026-11-02",
    ],
  ])("finds %s", async (_what, sql, found) => {
    const file = await liveLedger();
    const db = new DatabaseSync(file, { timeout: 5000 });
    db.exec(sql);
    db.close();
    const { code, stdout, stderr } = await fairlead("check", file);
    expect(code).toBe(1);
    expect(stdout).toContain("NOT in order");
    expect(stderr).toContain(found);
    expect(stderr).toContain("Next step: ");
  });
});

describe("fairlead ledger backup", () => {
  test("copies a ledger that is being written; the copy is a ledger", async () => {
    const file = await liveLedger();
    const target = path.join(path.dirname(file), "copy.db");
    expect(await fairlead("backup", file, target)).toMatchObject({ code: 0 });
    expect((await fairlead("check", target)).code).toBe(0);
    const [one, other] = [await fairlead("query", file, ...window), await fairlead("query", target, ...window)];
    expect(other.stdout).toBe(one.stdout);
    const restored = await openLedger(target);
    restored.append(cycleEntry(1, start + 3 * hour));
    await restored.flush();
    expect(restored.problems()).toEqual([]);
  });

  test("never replaces a file, and leaves none behind when it fails", async () => {
    const file = await liveLedger();
    const target = `${file}.copy`;
    copyFileSync(file, target);
    expect(await fairlead("backup", file, target)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("is there already"),
    });
    const nowhere = path.join(path.dirname(file), "missing", "copy.db");
    expect(await fairlead("backup", file, nowhere)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("is no folder"),
    });
    expect(existsSync(nowhere)).toBe(false);
  });
});

describe("fairlead ledger query about money", () => {
  async function withPrices(): Promise<string> {
    const file = temporaryFile();
    const ledger = await openLedger(file);
    const group = { hour: start, pool: "h100", nodePool: "gpu", capacityType: "spot" } as const;
    ledger.append(
      entry({
        to: start + hour,
        nodeTimes: [
          { ...group, state: "ready", nodeSeconds: 7200, currency: "USD", cost: 41.5 },
          { ...group, state: "idle_unallocated", nodeSeconds: 3600, currency: "EUR", cost: 20 },
          { ...group, state: "idle_unallocated", nodeSeconds: 1800, currency: null, cost: null },
        ],
        postings: [posting({ cost: 41.5 })],
        prices: {
          since: start + 600,
          prices: [
            {
              pool: "h100",
              nodePool: "=cmd()",
              instanceType: "p5.48xlarge",
              capacityType: "spot",
              currency: "USD",
              basis: "whole-instance",
              source: "file",
              dated: start,
              perGpuHour: 5.1875,
            },
          ],
        },
      }),
    );
    await ledger.flush();
    return file;
  }

  test("prints node-hours by state and their cost, and adds up no different currencies", async () => {
    const file = await withPrices();
    const { code, stdout } = await fairlead("query", file, "--of", "nodes", ...window);
    expect(code).toBe(0);
    expect(stdout).toMatch(/gpu +h100 +spot +ready +USD +2\.0 +2\.0 +41\.50/);
    expect(stdout).toMatch(/gpu +h100 +spot +idle_unallocated +– +0\.5 +0\.0 +–/);
    expect(stdout).toContain("in all: node-hours 3.5, with a price 3.0, cost –");
    const idle = ["--of", "nodes", "--by", "state", "--where", "currency=EUR", ...window, "--output", "json"];
    expect(JSON.parse((await fairlead("query", file, ...idle)).stdout)).toMatchObject({
      items: [{ state: "idle_unallocated", nodeSeconds: 3600, cost: 20 }],
      totals: { cost: 20 },
    });
  });

  test("lists the prices that were used", async () => {
    const file = await withPrices();
    const table = await fairlead("query", file, "--of", "prices", ...window);
    expect(table.stdout).toMatch(
      /h100 +=cmd\(\) +p5\.48xlarge +spot +5\.1875 USD +whole-instance +file +2026-11-02 +2026-11-02 00:10 +now/,
    );
    const csv = await fairlead("query", file, "--of", "prices", ...window, "--output", "csv");
    expect(csv.stdout.split("\r\n")).toEqual([
      "pool,nodePool,instanceType,capacityType,currency,basis,source,perGpuHour,dated,begins,ends",
      "h100,'=cmd(),p5.48xlarge,spot,USD,whole-instance,file,5.1875,2026-11-02,2026-11-02T00:10:00Z,",
      "",
    ]);
    const none = await fairlead("query", file, "--of", "prices", "--where", "currency=EUR", "--output", "json");
    expect(JSON.parse(none.stdout)).toMatchObject({ total: 0, items: [] });
    expect(await fairlead("query", file, "--of", "prices", "--by", "pool")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("each is a row"),
    });
    expect(await fairlead("query", file, "--of", "prices", "--where", "team=a")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("Use some of: pool"),
    });
  });
});

describe("fairlead ledger query --of", () => {
  async function withQueues(): Promise<string> {
    const file = temporaryFile();
    const ledger = await openLedger(file);
    ledger.append(
      entry({
        to: start + hour,
        queueTimes: [queueTime(), queueTime({ queue: "=cmd()\u001b[2J", team: null, entitled: 0, excess: 5400 })],
        waits: [endedWait(), endedWait({ seconds: 7200, phase: "admission" })],
        evictions: [seenEviction()],
        capacity: { domains: [domainTime()], placement: [placementTime()] },
        nodeStreaks: [nodeStreak({ ends: start + 5400 })],
      }),
    );
    await ledger.flush();
    return file;
  }

  test("queues prints what they allocated and were entitled to", async () => {
    const { code, stdout } = await fairlead("query", await withQueues(), "--of", "queues", ...window);
    expect(code).toBe(0);
    expect(stdout.split("\n").slice(0, 1)).toEqual([
      "GPU-hours of queues from 2026-11-02 00:00 to 2026-11-02 02:00 (UTC)",
    ]);
    expect(stdout).toContain("research");
    expect(stdout).toMatch(/research +h100 +1\.5 +2\.0 +-25 % +0\.5 +0\.0 +0\.0 +0\.0 +1\.0/);
    expect(stdout).toMatch(/=cmd\(\) +h100 +1\.5 +0\.0 +– /);
    expect(stdout).not.toContain("\u001b");
  });

  test("waits prints quantiles, by whole days", async () => {
    const file = await withQueues();
    const days = ["--from", "2026-11-02", "--to", "2026-11-03"];
    const { stdout } = await fairlead("query", file, "--of", "waits", "--by", "phase,sizeClass", ...days);
    expect(stdout).toMatch(/admission +8 +1 +2 h +2 h +2 h/);
    expect(stdout).toMatch(/start +8 +1 +1 min +1 min +1 min/);
    const refused = await fairlead("query", file, "--of", "waits", "--from", "2026-11-02", "--to", "2026-11-02T02:00Z");
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("Ask for whole days") });
  });

  test("domains, placement and nodeStreaks print what was there, how it lay free, and which nodes did not move", async () => {
    const file = await withQueues();
    const domains = await fairlead("query", file, "--of", "domains", ...window);
    expect(domains.stdout).toContain("GPU-hours of quota domains from");
    expect(domains.stdout).toMatch(/h100 +5\.0 +3\.0 +1\.0 +4\.0\n/);
    const placement = await fairlead("query", file, "--of", "placement", ...window);
    expect(placement.stdout).toMatch(/h100 +2\.0 +0\.5 +0\.0 +2 +2\.0 +2\n/);
    const streaks = await fairlead("query", file, "--of", "nodeStreaks", ...window);
    expect(streaks.stdout).toMatch(
      /n1 +gpu +h100 +cordoned +1 +1\.5 +12\.0 +1 h 30 min +2026-11-02 00:00 +2026-11-02 01:30\n/,
    );
    const refused = await fairlead("query", file, "--of", "nodeStreaks", "--where", "state=ready");
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("idle_unallocated, idle_allocated, cordoned"),
    });
  });

  test("evictions as data and for spreadsheets", async () => {
    const file = await withQueues();
    const json = await fairlead("query", file, "--of", "evictions", ...window, "--output", "json");
    expect(JSON.parse(json.stdout)).toMatchObject({
      of: "evictions",
      by: ["queue", "reason"],
      items: [{ queue: "research", reason: "InCohortReclamation", evictions: 1, lostGpuSeconds: 28_800 }],
      coverage: { ratio: 0.5 },
    });
    const csv = await fairlead("query", file, "--of", "queues", "--by", "queue,team", ...window, "--output", "csv");
    const [heading, first] = csv.stdout.split("\r\n");
    expect(heading).toBe(
      "queue,team,allocated,entitled,excess,shortfallByBorrowers,shortfallByIdleGap,pending,deviationRatio,judgedSeconds,seconds,guaranteed,guaranteedSeconds,judgedAllocated,shortfallByAbsentCapacity,shortfallByLostNode,shortfallByNodeToCome,shortfallByPastQueues,shortfallByPromisedTwice,shortfallByIndivisible",
    );
    expect(first?.startsWith("'=cmd()")).toBe(true);
  });

  test.each([
    [["--of", "queues", "--by", "pool"], 'cannot group queues by "pool"', "Use some of: day, hour, scheduler"],
    [["--of", "waits", "--where", "phase=never"], 'there is no phase "never"', "admission, start"],
    [["--of", "evictions", "--where", "pool=h100"], 'cannot choose evictions by "pool"', "scheduler, queue"],
  ])("%s is refused with what can be asked", async (args, error, nextStep) => {
    const { code, stderr } = await fairlead("query", await withQueues(), ...args);
    expect(code).toBe(1);
    expect(stderr).toContain(error);
    expect(stderr).toContain(nextStep);
  });
});
