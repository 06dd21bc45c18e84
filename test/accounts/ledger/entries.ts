import {
  type CapacityTime,
  type DomainTime,
  noCapacityTime,
  type PlacementTime,
  type TopologyTime,
} from "../../../exporter/accounts/capacityTime.ts";
import type { SeenFailure } from "../../../exporter/accounts/failureAccount.ts";

import type { HealthTime } from "../../../exporter/accounts/healthTime.ts";
import type { LedgerEntry, RememberedChange } from "../../../exporter/accounts/ledger/ledger.ts";
import type { NodeStreak } from "../../../exporter/accounts/nodeStreakAccount.ts";
import type { Outage } from "../../../exporter/accounts/outageAccount.ts";
import type {
  Account,
  EndedWait,
  NodeTime,
  PoolHour,
  Posting,
  PricesInUse,
  QueueTime,
  SeenEviction,
} from "../../../exporter/accounts/posting.ts";
import type { ServedTime } from "../../../exporter/accounts/servedTime.ts";
import type { GapReason } from "../../../exporter/model/gapReasons.ts";
import type { GpuState } from "../../../exporter/model/gpuStates.ts";
import type { EndedShape } from "../../../exporter/model/podShape.ts";

/** A midnight (UTC), 2026-11-02. */
export const start = 1_793_577_600;

/** Keeps everything for longer than any test looks at. */
export const keepAll = { hourlyDays: 1000, dailyDays: 4000, workloadDays: 4000 };

/** An account of team `a`, where nothing else is said. */
export function account(values: Partial<Account> = {}): Account {
  return {
    pool: "h100",
    nodePool: "gpu",
    capacityType: "on-demand",
    team: "a",
    queue: "a",
    namespace: "a-jobs",
    priorityClass: null,
    state: "active",
    currency: "USD",
    ...values,
  };
}

/** A posting of 30 GPU-seconds in the first hour, where nothing else is said. */
export function posting(values: Partial<Posting> = {}): Posting {
  return {
    hour: start,
    account: account(),
    workload: { kind: "Job", namespace: "a-jobs", name: "train" },
    gpuSeconds: 30,
    estimatedGpuSeconds: 0,
    energyJoules: 9000,
    cost: 0.025,
    ...values,
  };
}

/** Half an hour of a queue that is short by one GPU because of others, where nothing else is said. */
export function queueTime(values: Partial<QueueTime> = {}): QueueTime {
  return {
    hour: start,
    scheduler: "kueue",
    kind: "ClusterQueue",
    queue: "research",
    domain: "h100",
    team: "a",
    seconds: 1800,
    judgedSeconds: 1800,
    allocated: 5400,
    entitled: 7200,
    excess: 0,
    shortfallByBorrowers: 1800,
    shortfallByIdleGap: 0,
    shortfallByLostNode: 0,
    shortfallByNodeToCome: 0,
    shortfallByPastQueues: 0,
    shortfallByPromisedTwice: 0,
    shortfallByIndivisible: 0,
    pending: 3600,
    judgedAllocated: 5400,
    guaranteedSeconds: 1800,
    guaranteed: 7200,
    ...values,
  };
}

/** Half an hour of a domain of 10 GPUs; 6 are allocated and 8 guaranteed, where nothing else is given. */
export function domainTime(values: Partial<DomainTime> = {}): DomainTime {
  return {
    hour: start,
    domain: "h100",
    seconds: 1800,
    capacity: 18_000,
    allocated: 10_800,
    pending: 3600,
    guaranteedSeconds: 1800,
    guaranteed: 14_400,
    ...values,
  };
}

/** Half an hour of a level in which gangs of 8 and 16 fitted, and one of 32 for a third of it, where nothing else is given. */
export function topologyTime(values: Partial<TopologyTime> = {}): TopologyTime {
  return {
    hour: start,
    pool: "h100",
    level: "rack",
    seconds: 1800,
    fitted: [1800, 1800, 600, 0, 0, 0],
    ...values,
  };
}

/** Half an hour of a pool with 4 free GPUs, 1 of them for want of CPU only in name, where nothing else is given. */
export function placementTime(values: Partial<PlacementTime> = {}): PlacementTime {
  return {
    hour: start,
    pool: "h100",
    seconds: 1800,
    free: 7200,
    stranded: { constraint: 0, gpus: 0, cpu: 1800, memory: 0, cpu_and_memory: 0 },
    blocked: 0,
    largestPlaceable: 3600,
    largestPlaceableMin: 2,
    largestPlaceableMax: 2,
    ...values,
  };
}

/** A node of 8 GPUs that has been cordoned since the start, where nothing else is said. */
export function nodeStreak(values: Partial<NodeStreak> = {}): NodeStreak {
  const node = { node: "n1", nodePool: "gpu", pool: "h100", gpus: 8 };
  return { ...node, state: "cordoned", begins: start, ends: null, ...values };
}

/** A wait of a minute. */
export function endedWait(values: Partial<EndedWait> = {}): EndedWait {
  return {
    queue: "research",
    team: "a",
    priorityClass: "high",
    phase: "start",
    seconds: 60,
    endedAt: start + 10,
    gpus: 8,
    ...values,
  };
}

/** A preemption by another team's work; `key` makes it another one. */
export function seenEviction(values: Partial<SeenEviction["eviction"]> = {}): SeenEviction {
  return {
    eviction: {
      key: "u1@1",
      scheduler: "kueue",
      kind: "Job",
      namespace: "a-jobs",
      name: "train",
      team: "a",
      queue: "research",
      priorityClass: "low",
      at: start + 20,
      reason: "InCohortReclamation",
      isPreemption: true,
      preemptor: { name: "b-jobs/serve", team: "b", queue: "serving" },
      gpus: 8,
      lostGpuSeconds: 28_800,
      isUpperBound: true,
      ...values,
    },
    isEarlier: false,
  };
}

/** What an entry of a test can say. */
export interface EntryParts {
  readonly from?: number;
  readonly to?: number;
  readonly gap?: GapReason | null;
  readonly postings?: readonly Posting[];
  readonly nodeTimes?: readonly NodeTime[];
  readonly healthTimes?: readonly HealthTime[];
  readonly servedTimes?: readonly ServedTime[];
  readonly remembered?: readonly RememberedChange[];
  readonly queueTimes?: readonly QueueTime[];
  readonly waits?: readonly EndedWait[];
  readonly evictions?: readonly SeenEviction[];
  readonly failures?: readonly SeenFailure[];
  readonly prices?: PricesInUse | null;
  readonly endedPods?: readonly EndedShape[];
  readonly capacity?: Partial<CapacityTime>;
  readonly nodeStreaks?: readonly NodeStreak[];
  readonly outages?: readonly Outage[];
}

/** An entry whose control sums are those of its postings; 30 s from `start`, where nothing else is said. */
export function entry(parts: EntryParts = {}): LedgerEntry {
  const { from = start, gap = null, postings = gap === null ? [posting()] : [] } = parts;
  const to = parts.to ?? from + 30;
  return {
    step: {
      interval: { from, to, seconds: to - from, gap },
      postings,
      poolHours: poolHoursOf(postings),
      nodeTimes: parts.nodeTimes ?? [],
      healthTimes: parts.healthTimes ?? [],
      servedTimes: parts.servedTimes ?? [],
      imbalances: [],
      endedPods: parts.endedPods ?? [],
      queueTimes: parts.queueTimes ?? [],
      partialGangs: [],
      capacity: { ...noCapacityTime, ...parts.capacity },
      nodeStreaks: parts.nodeStreaks ?? [],
      outages: parts.outages ?? [],
      waits: parts.waits ?? [],
      evictions: parts.evictions ?? [],
      failures: parts.failures ?? [],
      prices: parts.prices ?? null,
      remembered: [],
    },
    remembered: parts.remembered ?? [],
  };
}

/** Pools' control sums, as the inventory would have them. */
export function poolHoursOf(postings: readonly Posting[]): readonly PoolHour[] {
  const sums = new Map<string, PoolHour>();
  for (const { hour, account: of, gpuSeconds } of postings) {
    const key = `${hour} ${of.pool}`;
    const before = sums.get(key)?.physicalGpuSeconds ?? 0;
    sums.set(key, { hour, pool: of.pool, physicalGpuSeconds: before + gpuSeconds });
  }
  return [...sums.values()];
}

const states: readonly GpuState[] = ["active", "underutilized", "idle", "free"];

/**
 * The n-th cycle of a lifecycle that is the same in every process: whole numbers, so that sums are exact in any order. Its
 * accounts, workloads and hours change from cycle to cycle.
 */
export function cycleEntry(n: number, from: number, rows = 40): LedgerEntry {
  const hour = Math.floor(from / 3600) * 3600;
  const postings = Array.from({ length: rows }, (_, i): Posting => {
    const mixed = (n * 7919 + i * 104_729) % 1009;
    const state = states[mixed % states.length] ?? "active";
    const free = state === "free";
    const currency = [null, "USD", "EUR"][mixed % 3] ?? null;
    const team = free ? null : `team-${mixed % 11}`;
    return {
      hour,
      account: account({ state, team, queue: team, namespace: team, pool: i % 2 === 0 ? "h100" : "a100", currency }),
      workload: free ? null : { kind: "Job", namespace: team ?? "", name: `job-${mixed % 37}` },
      gpuSeconds: 1 + mixed,
      estimatedGpuSeconds: mixed % 3,
      energyJoules: mixed % 5 === 0 ? null : 300 * mixed,
      cost: currency === null ? null : 2 * mixed,
    };
  });
  const remembered = [{ kind: "idle", key: `gpu-${n % 5}`, value: String(n) }];
  const servedTimes = cycleServed(n, from);
  return entry({ from, postings, servedTimes, remembered, ...cycleQueues(n, hour, from), ...cycleCapacity(n, hour) });
}

/** What three of four workloads served in the n-th cycle: one never counts its tokens, and one is paid in two currencies. */
function cycleServed(n: number, from: number): readonly ServedTime[] {
  const workloads = [n % 4, (n + 1) % 4, (n + 2) % 4];
  return workloads.flatMap((i) => {
    const gpuSeconds = 32 * (i + 1);
    const uncountedGpuSeconds = i === 1 ? gpuSeconds : 0;
    const key = { day: Math.floor(from / 86_400), kind: "Deployment", namespace: "chat", name: `llm-${i}`, team: "a" };
    const tokens = i === 1 ? null : (n * 37) % 1001;
    const nothing = { requests: 0, promptTokens: null, generatedTokens: null };
    const done = { requests: n % 13, promptTokens: tokens, generatedTokens: tokens };
    const currencies = i === 2 ? ["USD", "EUR"] : ["USD"];
    return [
      { ...key, ...done, currency: null, gpuSeconds: 0, uncountedGpuSeconds: 0, cost: null },
      ...currencies.map((currency) => ({ ...key, ...nothing, currency, gpuSeconds, uncountedGpuSeconds, cost: n % 7 })),
    ];
  });
}

/** Queues of the n-th cycle: the same ones for some cycles, an eviction that is seen three times. */
function cycleQueues(n: number, hour: number, from: number) {
  const queueTimes = Array.from({ length: 5 }, (_, i): QueueTime => {
    const allocated = (n * 31 + i * 7) % 101;
    const entitled = (n * 17 + i * 13) % 89;
    return queueTime({
      hour,
      queue: `queue-${(n + i) % 7}`,
      team: i === 0 ? null : `team-${(n + i) % 7}`,
      seconds: 32,
      judgedSeconds: 32,
      allocated,
      entitled,
      excess: Math.max(0, allocated - entitled),
      shortfallByBorrowers: Math.max(0, entitled - allocated),
      shortfallByLostNode: n % 3,
      shortfallByIndivisible: n % 2,
      pending: i,
      judgedAllocated: allocated,
      guaranteedSeconds: i === 1 ? 0 : 32,
      guaranteed: i === 1 ? 0 : 32 * i,
    });
  });
  const waits = Array.from({ length: n % 3 }, (_, i) =>
    endedWait({ queue: `queue-${i}`, seconds: (n * 53 + i) % 4096, endedAt: from, gpus: i === 0 ? null : 2 ** i }),
  );
  const key = Math.floor(n / 3);
  return { queueTimes, waits, evictions: [seenEviction({ key: `u${key}`, at: start + key })] };
}

/** Capacity of the n-th cycle: domains that change now and then, and a node that has the time since which it is idle, and later has none. */
function cycleCapacity(n: number, hour: number) {
  const domains = [0, n % 2].map((i) =>
    domainTime({
      hour,
      domain: `domain-${(n + i) % 3}`,
      seconds: 32,
      capacity: 640,
      allocated: n % 101,
      guaranteedSeconds: i === 0 ? 32 : 0,
      guaranteed: i === 0 ? 320 : 0,
    }),
  );
  const largest = (n * 13) % 9;
  const placement = [
    placementTime({
      hour,
      seconds: 32,
      free: 512,
      stranded: { constraint: n % 3, gpus: n % 5, cpu: 1, memory: n % 2, cpu_and_memory: 2 },
      blocked: n % 7,
      largestPlaceable: 32 * largest,
      largestPlaceableMin: largest,
      largestPlaceableMax: largest,
    }),
  ];
  const begins = start + 10 * Math.floor(n / 4);
  const nodeStreaks = n % 2 === 0 ? [nodeStreak({ begins, ends: n % 4 === 2 ? begins + 7200 : null })] : [];
  const domainPools = [{ domain: `domain-${n % 3}`, pool: "h100" }];
  const poolModels = [{ pool: "h100", model: `model-${n % 2}` }];
  const topology = [
    topologyTime({ hour, level: `level-${n % 2}`, seconds: 32, fitted: [32, 32, n % 33, n % 17, n % 3, 0] }),
  ];
  return { capacity: { domains, placement, topology, domainPools, poolModels }, nodeStreaks };
}
