import type { CapacityTime } from "../exporter/accounts/capacityTime.ts";
import type { Ledger } from "../exporter/accounts/ledger/ledger.ts";
import { openSqliteLedger } from "../exporter/accounts/ledger/sqliteLedger.ts";
import { type NodeStreak, nodeStreakStates } from "../exporter/accounts/nodeStreakAccount.ts";
import type { Account, Posting, WorkloadKey } from "../exporter/accounts/posting.ts";
import type { GpuState } from "../exporter/model/gpuStates.ts";
import { createRandomStream } from "../simulator/random.ts";

/** The fleet has 10,000 nodes of 8 GPUs in six pools. */
const gpus = 80_000;
const pools = ["h100", "h200", "a100", "l40s", "b200", "a10"];
const nodePools = ["a", "b", "c", "d"];
const teams = 500;
/** The number of combinations of team, namespace, queue, pool, node pool and priority that are in use; each has five states. */
const holders = 2000;
const allocatedStates: readonly GpuState[] = ["active", "underutilized", "idle", "starting", "unobserved"];
const unallocatedStates: readonly GpuState[] = ["free", "idle_node", "unattributed", "cordoned", "unavailable"];
/** The number of workloads that run on a day, and in an hour of it. Each is in three states in the course of a day. */
export const workloadsADay = 20_000;
const workloadsAnHour = 5000;
export const statesOfWorkload = 3;
const weeks = 13;
/**
 * The number of last days that are kept by the hour. Each day before is counted in one step, because its rows are the same when
 * folded.
 */
const hourlyDays = 14;
/** The beginning of the quarter, a Monday, in days since the epoch. */
export const firstDay = 20_600;
export const days = weeks * 7;

const random = createRandomStream(13);
const allocatedAccounts = Array.from({ length: holders }, (_, i) =>
  allocatedStates.map((state): Account => {
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
const unallocatedAccounts = pools.flatMap((pool) =>
  nodePools.flatMap((nodePool) =>
    unallocatedStates.map((state): Account => {
      const none = { team: null, queue: null, namespace: null, priorityClass: null };
      return { pool, nodePool: `${pool}-${nodePool}`, capacityType: "on-demand", ...none, state, currency: "USD" };
    }),
  ),
);

function workloadOf(day: number, i: number): { readonly key: WorkloadKey; readonly accounts: readonly Account[] } {
  const accounts = allocatedAccounts[i % holders] ?? [];
  const namespace = accounts[0]?.namespace ?? "";
  return { key: { kind: "Job", namespace, name: `train-experiment-${day}-${i}` }, accounts };
}

/** Postings of this many workloads and of unallocated GPUs over a step. */
export function postings(
  hour: number,
  day: number,
  workloads: number,
  firstWorkload: number,
  seconds: number,
): Posting[] {
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
  for (const account of unallocatedAccounts)
    add(account, null, ((0.1 * gpus * seconds) / unallocatedAccounts.length) * random.next());
  return made;
}

/** How many nodes of 10,000 are idle, cordoned or not ready for an hour or longer on a day. */
const streaksADay = 3000;

/** Capacity by the hour; every pool is a domain of its own. */
function capacity(from: number, to: number): CapacityTime {
  const hours = Array.from({ length: Math.ceil((to - from) / 3600) }, (_, i) => from + 3600 * i);
  const seconds = Math.min(3600, to - from);
  const ofPool = (gpus * seconds) / pools.length;
  const used = (): number => 0.8 + 0.2 * random.next();
  return {
    domains: hours.flatMap((hour) =>
      pools.map((domain) => ({
        hour: Math.floor(hour / 3600) * 3600,
        domain,
        seconds,
        capacity: ofPool,
        allocated: ofPool * used(),
        pending: 0.1 * ofPool * random.next(),
        guaranteedSeconds: seconds,
        guaranteed: 0.9 * ofPool,
      })),
    ),
    placement: hours.flatMap((hour) =>
      pools.map((pool) => ({
        hour: Math.floor(hour / 3600) * 3600,
        pool,
        seconds,
        free: 0.1 * ofPool,
        stranded: { constraint: 0, gpus: 0.02 * ofPool, cpu: 0.01 * ofPool, memory: 0, cpu_and_memory: 0 },
        blocked: 0.02 * ofPool,
        largestPlaceable: 8 * seconds,
        largestPlaceableMin: 8,
        largestPlaceableMax: 8,
      })),
    ),
    topology: [],
    domainPools: pools.map((pool) => ({ domain: pool, pool })),
    poolModels: pools.map((pool) => ({ pool, model: pool })),
  };
}

/** The streaks of nodes that end between two times; every tenth of them continues. */
function nodeStreaks(from: number, to: number): readonly NodeStreak[] {
  return Array.from({ length: Math.round((streaksADay * (to - from)) / 86_400) }, (_, i) => {
    const node = Math.floor(random.next() * 10_000);
    const pool = pools[node % pools.length] ?? "";
    const until = to - Math.round(random.next() * (to - from));
    const begins = until - 3600 - Math.round(random.next() * 20 * 3600);
    return {
      node: `node-${node}`,
      nodePool: `${pool}-${nodePools[node % nodePools.length]}`,
      pool,
      gpus: 8,
      begins,
      state: nodeStreakStates[i % nodeStreakStates.length] ?? "cordoned",
      ends: i % 10 === 0 ? null : until,
    };
  });
}

/** Appends what is counted over a step to the ledger. In a single cycle, the streak of no node ends. */
export function append(ledger: Ledger, from: number, to: number, made: readonly Posting[], isCycle = false): void {
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
      healthTimes: [],
      servedTimes: [],
      imbalances: [],
      endedPods: [],
      queueTimes: [],
      partialGangs: [],
      capacity: capacity(from, to),
      nodeStreaks: isCycle ? [] : nodeStreaks(from, to),
      outages: [],
      waits: [],
      evictions: [],
      failures: [],
      prices: null,
      remembered: [],
    },
    remembered: [],
  });
}

/** Accounts the whole quarter. Returns its end, in seconds since the epoch. */
export async function fillQuarter(ledger: Ledger): Promise<number> {
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

/** Opens the ledger in a file, with the retention of the quarter. Throws if it cannot be opened. */
export async function openQuarter(file: string): Promise<Ledger> {
  const opened = await openSqliteLedger({ file, retention: { hourlyDays, dailyDays: 400, workloadDays: 100 } });
  if (!opened.ok) throw new Error(opened.problem.message);
  return opened.ledger;
}
