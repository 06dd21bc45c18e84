import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { performance } from "node:perf_hooks";
import type { AccountDimension } from "../exporter/accounts/ledger/accountsQuery.ts";
import { checkLedger } from "../exporter/accounts/ledger/checkLedger.ts";
import type { Ledger } from "../exporter/accounts/ledger/ledger.ts";
import { openToQuery } from "../exporter/accounts/ledger/openToQuery.ts";
import { queryAccounts } from "../exporter/accounts/ledger/queryAccounts.ts";
import { openSqliteLedger } from "../exporter/accounts/ledger/sqliteLedger.ts";
import type { Account, Posting, WorkloadKey } from "../exporter/accounts/posting.ts";
import type { GpuState } from "../exporter/analysis/booking.ts";
import { createRandomStream } from "../simulator/random.ts";

// How large the ledger of a large cluster becomes in a quarter, and how long it takes to write a cycle and to answer.
// Run: node bench/ledgerSize.ts

/** 10,000 nodes of 8 GPUs in six pools. */
const gpus = 80_000;
const pools = ["h100", "h200", "a100", "l40s", "b200", "a10"];
const nodePools = ["a", "b", "c", "d"];
const teams = 500;
/** Combinations of team, namespace, queue, pool, node pool and priority that are in use; each has five states. */
const holders = 2000;
const heldStates: readonly GpuState[] = ["active", "underused", "held_idle", "starting", "unobserved"];
const unheldStates: readonly GpuState[] = ["free", "idle_node", "unattributed", "cordoned", "unavailable"];
/** Workloads that run on a day, and in an hour of it. Each is in three states in the course of a day. */
const workloadsADay = 20_000;
const workloadsAnHour = 5000;
const statesOfWorkload = 3;
const weeks = 13;
/** The last days are kept by the hour. The days before are booked in one step each: folded, they are the same rows. */
const hourlyDays = 14;
const firstDay = 20_600;
const days = weeks * 7;

const random = createRandomStream(13);
const heldAccounts = Array.from({ length: holders }, (_, i) =>
  heldStates.map((state): Account => {
    const team = `team-${i % teams}`;
    return {
      pool: pools[i % pools.length] ?? "",
      nodePool: `${pools[i % pools.length]}-${nodePools[i % nodePools.length]}`,
      capacityType: i % 5 === 0 ? "spot" : "on-demand",
      team,
      queue: `${team}-queue`,
      namespace: `${team}-${["train", "batch", "serving", "dev"][Math.floor(i / teams)]}`,
      priorityClass: i % 3 === 0 ? "high" : "standard",
      state,
      currency: "USD",
    };
  }),
);
const unheldAccounts = pools.flatMap((pool) =>
  nodePools.flatMap((nodePool) =>
    unheldStates.map((state): Account => {
      const none = { team: null, queue: null, namespace: null, priorityClass: null };
      return { pool, nodePool: `${pool}-${nodePool}`, capacityType: "on-demand", ...none, state, currency: "USD" };
    }),
  ),
);

function workloadOf(day: number, i: number): { readonly key: WorkloadKey; readonly accounts: readonly Account[] } {
  const accounts = heldAccounts[i % holders] ?? [];
  const namespace = accounts[0]?.namespace ?? "";
  return { key: { kind: "Job", namespace, name: `train-experiment-${day}-${i}` }, accounts };
}

/** Postings of so many workloads over a step, and of what nobody holds. */
function postings(hour: number, day: number, workloads: number, firstWorkload: number, seconds: number): Posting[] {
  const made: Posting[] = [];
  const add = (account: Account, workload: WorkloadKey | null, gpuSeconds: number): void => {
    const energyJoules = gpuSeconds * (100 + 500 * random.next());
    made.push({ hour, account, workload, gpuSeconds, estimatedGpuSeconds: 0, energyJoules, cost: gpuSeconds / 1200 });
  };
  const share = (0.9 * gpus * seconds) / (workloads * statesOfWorkload);
  for (let i = 0; i < workloads; i += 1) {
    const { key, accounts } = workloadOf(day, (firstWorkload + i) % workloadsADay);
    for (let k = 0; k < statesOfWorkload; k += 1) {
      const account = accounts[k < 2 ? k : 2 + (i % 3)];
      if (account !== undefined) add(account, key, share * (0.5 + random.next()));
    }
  }
  for (const account of unheldAccounts)
    add(account, null, ((0.1 * gpus * seconds) / unheldAccounts.length) * random.next());
  return made;
}

function append(ledger: Ledger, from: number, to: number, made: readonly Posting[]): void {
  const sums = new Map<string, number>();
  for (const { account, gpuSeconds } of made) sums.set(account.pool, (sums.get(account.pool) ?? 0) + gpuSeconds);
  const hour = made[0]?.hour ?? 0;
  const poolHours = [...sums].map(([pool, physicalGpuSeconds]) => ({ hour, pool, physicalGpuSeconds }));
  const interval = { from, to, seconds: to - from, gap: null };
  ledger.append({
    step: {
      interval,
      postings: made,
      poolHours,
      nodeTimes: [],
      imbalances: [],
      endedPods: [],
      queueTimes: [],
      partialGangs: [],
      waits: [],
      evictions: [],
      prices: null,
      remembered: [],
    },
    remembered: [],
  });
}

async function fill(ledger: Ledger): Promise<number> {
  let at = firstDay * 86_400;
  for (let day = 0; day < days; day += 1) {
    const byHour = day >= days - hourlyDays;
    const steps = byHour ? 24 : 1;
    for (let step = 0; step < steps; step += 1) {
      const end = at + 86_400 / steps;
      const workloads = byHour ? workloadsAnHour : workloadsADay;
      append(ledger, at, end, postings(at, day, workloads, Math.floor((step * workloadsADay) / 24), end - at));
      at = end;
      await ledger.flush();
    }
  }
  return at;
}

const say = (text: string): void => void process.stdout.write(`${text}\n`);
const seconds = (since: number): string => ((performance.now() - since) / 1000).toFixed(2);
const folder = mkdtempSync(path.join(tmpdir(), "fairlead-ledger-bench-"));
const file = path.join(folder, "ledger.db");
const retention = { hourlyDays, dailyDays: 400, workloadDays: 100 };

async function open(): Promise<Ledger> {
  const opened = await openSqliteLedger({ file, retention });
  if (!opened.ok) throw new Error(opened.problem.message);
  return opened.ledger;
}

try {
  const began = performance.now();
  const filled = await open();
  const at = await fill(filled);
  await filled.close();
  const bytes = readdirSync(folder).reduce((sum, name) => sum + statSync(path.join(folder, name)).size, 0);
  say(`filled in ${seconds(began)} s: ${days} days, ${(bytes / 1e6).toFixed(0)} MB`);

  const reopened = performance.now();
  const ledger = await open();
  say(`open with check of the whole file: ${seconds(reopened)} s`);
  for (const rows of [10_000, 50_000]) {
    const hour = at + (rows === 10_000 ? 0 : 3600);
    const times: { readonly blocked: number; readonly written: number }[] = [];
    for (let cycle = 0; cycle < 8; cycle += 1) {
      const from = hour + 30 * cycle;
      const made = postings(hour, days, Math.min(workloadsADay, Math.round(rows / statesOfWorkload)), 0, 30);
      const before = performance.now();
      append(ledger, from, from + 30, made);
      const blocked = performance.now() - before;
      await ledger.flush();
      times.push({ blocked, written: performance.now() - before });
    }
    const [first] = times;
    const later = times.slice(1);
    const median = (values: readonly number[]): string =>
      ([...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0).toFixed(0);
    say(
      `append of ${rows} postings: first of the hour ${first?.written.toFixed(0)} ms, later ${median(later.map((t) => t.written))} ms; of which the cycle's own thread ${median(later.map((t) => t.blocked))} ms`,
    );
  }
  await ledger.close();

  const reading = openToQuery(file);
  if (!reading.ok) throw new Error(reading.problem.message);
  const { db } = reading;
  const end = (firstDay + days) * 86_400;
  const questions: readonly (readonly [string, number, readonly AccountDimension[]])[] = [
    ["per team and state, a week", 7, ["team", "state"]],
    ["per pool and state by day, 13 weeks", days, ["day", "pool", "state"]],
    ["per team and state, 13 weeks", days, ["team", "state"]],
    ["workloads, a week", 7, ["workload"]],
  ];
  for (const [name, length, groupBy] of questions) {
    const before = performance.now();
    const result = queryAccounts(db, { from: end - length * 86_400, to: end, groupBy, where: new Map(), limit: 20 });
    if (!result.ok) throw new Error(result.error);
    say(`${name}: ${seconds(before)} s, ${result.answer.totalRows} groups`);
  }
  const before = performance.now();
  const check = checkLedger(db);
  say(`check: ${seconds(before)} s, ${check.wrong.length} wrong; rows ${JSON.stringify(check.rows)}`);
  for (const { name, size } of tableSizes()) say(`  ${name}: ${(size / 1e6).toFixed(0)} MB`);
  db.close();

  function tableSizes(): readonly { readonly name: string; readonly size: number }[] {
    try {
      return db
        .prepare("SELECT name, sum(pgsize) AS size FROM dbstat GROUP BY name ORDER BY 2 DESC LIMIT 5")
        .all()
        .map((row) => ({ name: String(row.name), size: Number(row.size) }));
    } catch {
      return [];
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
