import type { AccountCounters } from "../../exporter/accounts/counters.ts";
import type { QueueCounters } from "../../exporter/accounts/queueCounters.ts";
import type { Analysis } from "../../exporter/analysis/analysis.ts";
import type { QueueWaiting } from "../../exporter/analysis/waiting/waiting.ts";
import type { EvictedWork, Queueing, QueueView, WaitingGang } from "../../exporter/join/queues/queueing.ts";
import { entriesOf } from "../analysis/entriesOf.ts";
import { queueFairness } from "../queues/judged.ts";
import { gangView, queueView, quotaDomain } from "../queues/queueView.ts";
import { at, device, node, pod, smallMoment } from "./moment.ts";
import { runningTotals } from "./runningTotals.ts";

/** A queue called `search`. */
export const queue = (values: Partial<QueueView>): QueueView => queueView({ name: "search", ...values });

export function waitingGang(values: Partial<WaitingGang>): WaitingGang {
  const { gpus = 8, pods = 1 } = values;
  return gangView({
    namespace: "search",
    name: "big",
    team: "search",
    queue: "search",
    localQueue: "main",
    priorityClass: "high",
    priority: 100,
    since: at - 2520,
    min: pods,
    pods,
    gpus,
    ...values,
  });
}

const needs = { requests: {}, nodeSelector: {}, nodeAffinity: [], tolerations: [] } as const;

const wait = (queueIndex: number | null, domain: number | null, gpusPerPod: number | null, pods = 1) => ({
  queue: queueIndex,
  domain,
  pods,
  createdPods: pods,
  gpusPerPod,
  needs,
});

/** Who holds the GPUs of each pool: pods of one GPU each, by team, namespace and leaf queue. */
const holders = [
  {
    pool: "H100",
    gpus: 96,
    allocated: [
      { team: "search", leaf: 2, gpus: 31 },
      { team: "ads", leaf: 3, gpus: 40 },
      { team: "crawl", leaf: 3, gpus: 9 },
      { team: "vision", leaf: 4, gpus: 16 },
    ],
  },
  {
    pool: "A100",
    gpus: 8,
    allocated: [
      { team: "search", leaf: 6, gpus: 4 },
      { team: "lab", leaf: 7, gpus: 2 },
    ],
  },
  { pool: "L4", gpus: 2, allocated: [{ team: "bulk", leaf: 9, gpus: 1 }] },
] as const;

const names = ["search", "ads", "vision"] as const;

const queues: readonly QueueView[] = [
  queue({ kind: "Scheduler", name: "kueue", isLeaf: false, children: [1], allocated: 96, pending: 24, guaranteed: 80 }),
  queue({
    kind: "Cohort",
    name: "ml-org",
    parent: 0,
    isLeaf: false,
    children: [2, 3, 4],
    allocated: 96,
    pending: 24,
    guaranteed: 80,
  }),
  queue({
    parent: 1,
    team: "search",
    guaranteed: 24,
    limit: 48,
    weight: 2,
    allocated: 31,
    pending: 16,
    reserved: 31,
    gangs: [0],
    teams: [{ team: "search", allocated: 31, pending: 16 }],
  }),
  queue({
    name: "ads",
    parent: 1,
    guaranteed: 16,
    allocated: 49,
    pending: 8,
    reserved: 49,
    gangs: [1, 2],
    teams: [
      { team: "ads", allocated: 40, pending: 8 },
      { team: "crawl", allocated: 9, pending: 0 },
    ],
  }),
  queue({
    name: "vision",
    parent: 1,
    team: "vision",
    guaranteed: 40,
    allocated: 16,
    reserved: 16,
    gangs: [3],
    teams: [{ team: "vision", allocated: 16, pending: 0 }],
  }),
  queue({ kind: "Scheduler", name: "kueue", domain: 1, isLeaf: false, children: [6], allocated: 4, guaranteed: 8 }),
  queue({
    domain: 1,
    parent: 5,
    team: "search",
    guaranteed: 8,
    limit: 8,
    allocated: 4,
    reserved: 4,
    teams: [{ team: "search", allocated: 4, pending: 0 }],
  }),
  queue({
    scheduler: "none",
    kind: "Unqueued",
    name: "unqueued",
    domain: 1,
    team: "lab",
    guaranteed: 2,
    weight: 0,
    zeroWeight: "never",
    allocated: 2,
    teams: [{ team: "lab", allocated: 2, pending: 0 }],
  }),
  queue({
    scheduler: "volcano",
    kind: "Scheduler",
    name: "volcano",
    domain: 2,
    isLeaf: false,
    children: [9],
    allocated: 1,
  }),
  queue({
    scheduler: "volcano",
    kind: "Queue",
    name: "bulk",
    domain: 2,
    parent: 8,
    team: "bulk",
    allocated: 1,
    teams: [{ team: "bulk", allocated: 1, pending: 0 }],
  }),
];

const gangs: readonly WaitingGang[] = [
  waitingGang({
    name: "rank-big",
    gpus: 16,
    pods: 2,
    parts: [wait(2, 0, 8, 2)],
    reason: "insufficient unused quota for nvidia.com/gpu in flavor h100, 16 more needed",
  }),
  waitingGang({
    namespace: "ads",
    name: "embed-v4",
    team: "ads",
    queue: "ads",
    priorityClass: "normal",
    priority: 0,
    since: at - 600,
    parts: [wait(3, 0, 8)],
  }),
  waitingGang({
    namespace: "ads",
    name: "odd",
    team: "ads",
    queue: "ads",
    priorityClass: "normal",
    priority: 0,
    since: null,
    gpus: null,
    parts: [wait(3, 0, null)],
  }),
  waitingGang({
    namespace: "vision",
    name: "held-back",
    team: "vision",
    queue: "vision",
    priorityClass: "normal",
    since: at - 86_400,
    never: "paused",
    parts: [wait(4, 0, 8)],
  }),
  waitingGang({
    scheduler: "none",
    kind: "Pod",
    namespace: "stray",
    name: "lost",
    team: "stray",
    queue: null,
    localQueue: null,
    priorityClass: "none",
    since: at - 60,
    gpus: 4,
    parts: [wait(null, null, 4)],
    never: "no-node",
  }),
];

const eviction: EvictedWork = {
  key: "w@1",
  scheduler: "kueue",
  kind: "Job",
  namespace: "ads",
  name: "crawl-42",
  team: "crawl",
  queue: "ads",
  priorityClass: "normal",
  at: at - 900,
  reason: "InCohortReclamation",
  isPreemption: true,
  preemptor: { name: "search/rank-1", team: "search", queue: "search" },
  gpus: 8,
  lostGpuSeconds: 7200,
  isUpperBound: true,
};

const allocated = holders.flatMap(({ pool, allocated: all }) =>
  all.flatMap((one) => Array.from({ length: one.gpus }, () => ({ ...one, pool }))),
);

/** The queues of three domains: two cohort levels on H100, a queue of the same name on A100, and L4, about which nothing is known. */
export const queueing: Queueing = {
  domains: [
    quotaDomain({ capacity: 96 }),
    quotaDomain({ name: "A100", pools: ["A100"], capacity: 8 }),
    quotaDomain({ name: "L4", pools: ["L4"], capacity: 2, unknownBecause: "its nodes cut GPUs differently" }),
  ],
  queues,
  gangs,
  queueOfPod: Int32Array.from(allocated.map(({ leaf }) => leaf)),
  started: [],
  evicted: [eviction],
};

function waiting(values: Partial<QueueWaiting>): QueueWaiting {
  const { oldestSeconds = null, gangs: count = 1 } = values;
  return {
    queue: 2,
    domain: 0,
    priorityClass: "normal",
    gangs: count,
    gpus: {},
    oldestSeconds,
    meanGpuAgeSeconds: oldestSeconds,
    ageBuckets: [
      30,
      60,
      120,
      300,
      600,
      1200,
      1800,
      3600,
      7200,
      14_400,
      28_800,
      86_400,
      172_800,
      604_800,
      Number.POSITIVE_INFINITY,
    ].map((bound) => (oldestSeconds !== null && oldestSeconds <= bound ? 1 : 0)),
    late: 0,
    ...values,
  };
}

function team(name: string, amount: number) {
  return {
    team: name,
    allocated: amount,
    active: amount,
    utilization: 1,
    states: { active: amount },
    estimated: 0,
    idleOptedOut: 0,
    pending: 0,
  };
}

/**
 * A moment with queues whose numbers are all plain: search is entitled to 47 of 96 H100, for its demand stops it below its
 * limit of 48, holds 31, and ads has the other 16. The team stray only waits, and has no pod.
 */
export const queueMoment: Analysis = {
  ...smallMoment,
  snapshot: {
    ...smallMoment.snapshot,
    queueing,
    nodes: holders.map(({ pool, gpus }) =>
      node({ name: `${pool}-node`, gpuModels: [pool], pools: [pool], physicalGpus: gpus, allocatableGpus: gpus }),
    ),
    devices: holders.flatMap(({ pool, gpus }) => {
      const first = allocated.findIndex((one) => one.pool === pool);
      const count = allocated.filter((one) => one.pool === pool).length;
      return Array.from({ length: gpus }, (_, i) =>
        device({
          node: `${pool}-node`,
          uuid: `GPU-${pool}-${i}`,
          model: pool,
          pool,
          activity: i < count ? 1 : 0,
          holders:
            i < count
              ? [{ pod: first + i, share: 1, source: "dcgm", estimated: false, activity: 1, idleSince: null }]
              : [],
        }),
      );
    }),
    pods: allocated.map((one, i) =>
      pod({ uid: `u${i}`, namespace: one.team, name: `run-${i}`, team: one.team, node: `${one.pool}-node` }),
    ),
    workloads: [],
    problems: [],
  },
  accountingEntries: entriesOf(
    holders.flatMap(({ pool, gpus }, poolIndex) => {
      const base = holders.slice(0, poolIndex).reduce((sum, one) => sum + one.gpus, 0);
      const first = allocated.findIndex((one) => one.pool === pool);
      const count = allocated.filter((one) => one.pool === pool).length;
      return Array.from({ length: gpus }, (_, i) => ({
        gpus: 1,
        state: i < count ? ("active" as const) : ("free" as const),
        node: `${pool}-node`,
        pool,
        device: base + i,
        pod: i < count ? first + i : null,
        estimated: false,
      }));
    }),
  ),
  teams: [team("ads", 40), team("bulk", 1), team("crawl", 9), team("lab", 2), team("search", 35), team("vision", 16)],
  pools: holders.map(({ pool, gpus, allocated: all }) => {
    const taken = all.reduce((sum, one) => sum + one.gpus, 0);
    return {
      pool,
      gpuModels: [pool],
      nodes: 1,
      physicalGpus: gpus,
      allocated: taken,
      states: { active: taken, free: gpus - taken },
      estimated: 0,
      activity: taken / gpus,
      utilization: 1,
      imbalance: 0,
    };
  }),
  fairness: {
    queues: [
      queueFairness({
        demand: 120,
        entitled: 96,
        shortfall: 16,
        shortfallByBorrowers: 16,
        actionableShortfall: 16,
        excess: 16,
      }),
      queueFairness({
        demand: 120,
        entitled: 96,
        shortfall: 16,
        shortfallByBorrowers: 16,
        actionableShortfall: 16,
        excess: 16,
      }),
      queueFairness({
        demand: 47,
        entitled: 47,
        deviation: -16,
        shortfall: 16,
        shortfallByBorrowers: 16,
        actionableShortfall: 16,
      }),
      queueFairness({ demand: 57, entitled: 33, deviation: 16, excess: 16 }),
      queueFairness({ demand: 16, entitled: 16 }),
      queueFairness({ demand: 4, entitled: 4 }),
      queueFairness({ demand: 4, entitled: 4 }),
      queueFairness({ demand: 2, entitled: 2 }),
      null,
      null,
    ],
    domains: [
      {
        allocated: 96,
        pending: 24,
        entitled: 96,
        excess: 16,
        shortfall: 16,
        idleGap: 0,
        misallocatedRatio: 1 / 6,
        jainIndex: 0.9054855605245002,
        pairs: [{ starved: 2, borrower: 3, gpus: 16 }],
        heldBack: [],
      },
      {
        allocated: 6,
        pending: 0,
        entitled: 6,
        excess: 0,
        shortfall: 0,
        idleGap: 0,
        misallocatedRatio: 0,
        jainIndex: 1,
        pairs: [],
        heldBack: [],
      },
      null,
    ],
    teams: [
      { team: "ads", domain: 0, allocated: 40, pending: 8, entitled: 24, deviation: 16 },
      { team: "crawl", domain: 0, allocated: 9, pending: 0, entitled: 9, deviation: 0 },
      { team: "lab", domain: 1, allocated: 2, pending: 0, entitled: 2, deviation: 0 },
      { team: "search", domain: 0, allocated: 31, pending: 16, entitled: 47, deviation: -16 },
      { team: "search", domain: 1, allocated: 4, pending: 0, entitled: 4, deviation: 0 },
      { team: "vision", domain: 0, allocated: 16, pending: 0, entitled: 16, deviation: 0 },
    ],
  },
  waiting: {
    work: [
      { gang: 0, cause: "quota", ageSeconds: 2520, isLate: true },
      { gang: 1, cause: "capacity", ageSeconds: 600, isLate: false },
      { gang: 2, cause: "unknown", ageSeconds: null, isLate: null },
      { gang: 3, cause: "constraint", ageSeconds: 86_400, isLate: null },
      { gang: 4, cause: "constraint", ageSeconds: 60, isLate: null },
    ],
    queues: [
      waiting({ priorityClass: "high", gpus: { quota: 16 }, oldestSeconds: 2520, late: 1 }),
      waiting({ queue: 3, gangs: 2, gpus: { capacity: 8 }, oldestSeconds: 600 }),
      waiting({ queue: 4, gpus: { constraint: 8 }, oldestSeconds: 86_400 }),
      waiting({ queue: null, domain: null, priorityClass: "none", gpus: { constraint: 4 }, oldestSeconds: 60 }),
    ],
    partialGangs: [
      {
        id: "ads/a",
        owner: "Job ads/a",
        namespace: "ads",
        team: "ads",
        queue: "ads",
        pool: "H100",
        bound: 2,
        min: 4,
        allocatedGpus: 2,
        missingGpus: 2,
        since: at - 400,
        hasLostMember: false,
      },
      {
        id: "vision/b",
        owner: "PyTorchJob vision/b",
        namespace: "vision",
        team: "vision",
        queue: "vision",
        pool: "H100",
        bound: 1,
        min: 4,
        allocatedGpus: 1,
        missingGpus: 3,
        since: at - 500,
        hasLostMember: true,
      },
    ],
    deadlocks: [{ pool: "H100", gangs: ["ads/a", "vision/b"], allocatedGpus: 3, missingGpus: 5, freeGpus: 0 }],
  },
  findings: [
    {
      code: "kueue-cohort-of-one",
      scheduler: "kueue",
      kind: "Cohort",
      name: "solo",
      reason: "only ClusterQueue bulk is in it, so that nothing can be borrowed",
      change: "Put bulk into cohort ml-org, or remove the cohort.",
    },
    {
      code: "kueue-no-reclaim",
      scheduler: "kueue",
      kind: "ClusterQueue",
      name: "search",
      reason: "reclaimWithinCohort is Never, so that what it lent comes back only when others end",
      change: "Set spec.preemption.reclaimWithinCohort: Any.",
    },
  ],
  schedulerViews: [
    ...names.map((name, i) => ({
      scheduler: "kueue" as const,
      number: "kueue-weighted-share" as const,
      kind: "ClusterQueue",
      name,
      shard: "",
      computed: [0, 206, Number.POSITIVE_INFINITY][i] ?? null,
      reported: [0, 206, null][i] ?? null,
    })),
    {
      scheduler: "kueue",
      number: "kueue-admission-usage",
      kind: "LocalQueue",
      name: "search/main",
      shard: "",
      computed: null,
      reported: 12.5,
    },
  ],
};

const key = { scheduler: "kueue", kind: "ClusterQueue", queue: "search", domain: "H100", team: "search" } as const;

const counters: QueueCounters = {
  totals: [
    {
      ...key,
      judgedSeconds: 30,
      allocated: 930,
      entitled: 1410,
      excess: 0,
      shortfallByBorrowers: 480,
      shortfallByIdleGap: 0,
      shortfallByLostNode: 0,
      shortfallByNodeToCome: 60,
      shortfallByPastQueues: 0,
      shortfallByPromisedTwice: 30,
      shortfallByIndivisible: 15,
      pending: 480,
      judgedAllocated: 930,
    },
    {
      ...key,
      queue: "ads",
      team: "",
      judgedSeconds: 30,
      allocated: 1470,
      entitled: 990,
      excess: 480,
      shortfallByBorrowers: 0,
      shortfallByIdleGap: 0,
      shortfallByLostNode: 0,
      shortfallByNodeToCome: 0,
      shortfallByPastQueues: 0,
      shortfallByPromisedTwice: 0,
      shortfallByIndivisible: 0,
      pending: 240,
      judgedAllocated: 1470,
    },
  ],
  absent: [
    { ...key, owner: "node_to_come", gpuSeconds: 60 },
    { ...key, owner: "promised_twice", gpuSeconds: 30 },
  ],
  debts: [
    { ...key, halfLifeSeconds: 3600, gpuSeconds: -478.5, ratio: -0.25 },
    { ...key, halfLifeSeconds: 86_400, gpuSeconds: -480, ratio: null },
  ],
  waits: [
    {
      queue: "search",
      priorityClass: "high",
      phase: "admission",
      buckets: [0, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2],
      sumSeconds: 2560,
      count: 2,
    },
  ],
  evictions: [
    {
      queue: "ads",
      team: "crawl",
      reason: "InCohortReclamation",
      preemptorQueue: "search",
      evictions: 1,
      lostGpuSeconds: 7200,
    },
  ],
  partialGangGpuSeconds: [{ pool: "H100", gpuSeconds: 90 }],
};

/** Running totals of that process, those of queues by hand. */
export function queueTotals(): AccountCounters {
  return { ...runningTotals(queueMoment), queues: counters };
}
