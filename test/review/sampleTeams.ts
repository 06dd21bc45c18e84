import type { TeamRow } from "../../review/document/use.ts";
import type { Job } from "../../review/document/waste.ts";

/** Ended waits with these percentiles; buckets as a ledger would keep them. */
export const waitsOf = (count: number, p50Seconds: number | null, p95Seconds: number | null) => ({
  count,
  p50Seconds,
  p95Seconds,
  buckets: count === 0 ? [] : [{ bucket: 12, waits: count, seconds: count * (p50Seconds ?? 0) }],
});

type Numbers = readonly [
  allocated: number,
  active: number,
  idle: number,
  underutilized: number,
  entitled: number | null,
  deviation: number | null,
];

function team(
  name: string,
  [allocated, active, idle, underutilized, entitled, deviation]: Numbers,
  more: Partial<TeamRow> = {},
): TeamRow {
  const judged = allocated * 0.97;
  return {
    team: name,
    allocated,
    active,
    judged,
    idle,
    stalled: 0,
    underutilized,
    whole: allocated * 0.98,
    entitled,
    deviation,
    utilization: judged > 0 ? Math.min(1, active / judged) : null,
    shortByOthers: deviation !== null && deviation < 0 ? -deviation * 0.8 : 0,
    shortByIdleGap: deviation !== null && deviation < 0 ? -deviation * 0.2 : 0,
    shortByLostNode: 0,
    shortByNodeToCome: 0,
    shortByPastQueues: 0,
    shortByPromisedTwice: 0,
    shortByIndivisible: 0,
    waits: waitsOf(880, 200, 9_000),
    evictions: 3,
    lostToEvictions: 21.4,
    lostToFailures: 8.5,
    costs: { USD: allocated * 5.79 },
    wasteCosts: { USD: (idle + underutilized) * 5.79 },
    jobs: 880,
    budgets: [],
    ...more,
  };
}

/** Teams in an order that no page keeps. */
export const sampleTeams: TeamRow[] = [
  team("search", [5_208, 4_553, 60, 420, 8_064, -2_856], {
    waits: waitsOf(901, 1_260, 41_000),
    budgets: [
      {
        cluster: "harbor",
        month: "2026-11",
        currency: "USD",
        perMonth: 160_000,
        spent: 61_200,
        forecast: { low: 121_000, mid: 128_400, high: 136_100 },
      },
    ],
  }),
  team("ads", [8_232, 3_746, 2_352, 1_980, 5_376, 2_856], {
    waits: waitsOf(1_530, 30, 1_900),
    evictions: 0,
    lostToEvictions: 0,
    lostToFailures: 0,
    budgets: [
      {
        cluster: "harbor",
        month: "2026-11",
        currency: "USD",
        perMonth: 150_000,
        spent: 102_300,
        forecast: { low: null, mid: 214_000, high: null },
      },
    ],
  }),
  team("vision", [9_720, 7_600, 810, 560, 9_720, 0.02]),
  team("notebooks", [1_092, 151, 672, 220, 1_092, 0], { waits: waitsOf(229, 8, 60) }),
  team("", [248, 150, 6, 20, null, null], {
    waits: null,
    evictions: null,
    lostToEvictions: null,
    lostToFailures: null,
    jobs: null,
    costs: {},
    wasteCosts: {},
  }),
];

/** A workload that allocated and wasted so many GPU-hours. */
export function job(
  teamName: string,
  kind: string,
  name: string,
  gpuHours: number,
  activeGpuHours: number,
  wastedGpuHours: number,
): Job {
  return {
    cluster: "harbor",
    kind,
    namespace: teamName,
    name,
    team: teamName,
    queue: teamName,
    gpuHours,
    activeGpuHours,
    wastedGpuHours,
    utilization: gpuHours > 0 ? activeGpuHours / gpuHours : null,
    costs: { USD: gpuHours * 5.79 },
    wasteCosts: { USD: wastedGpuHours * 5.79 },
    costPerUnit: {},
  };
}

export const sampleJobs: Job[] = [
  job("vision", "PyTorchJob", "train-9-with-a-name-that-is-longer-than-most-of-them", 2_688, 2_410, 120),
  job("ads", "RayCluster", "embed-v3", 2_100, 880, 1_120),
  job("search", "Job", "rank-7", 1_344, 1_260, 40),
  job("ads", "Deployment", "ranker-serving", 1_344, 410, 820),
  job("vision", "PyTorchJob", "train-8", 1_210, 1_100, 60),
  job("ads", "Notebook", "notebook-big", 1_180, 40, 1_120),
  job("search", "Job", "rank-8", 980, 900, 30),
  job("vision", "Job", "eval-7", 640, 310, 200),
  job("ads", "Job", "crawl-42", 560, 300, 190),
  job("notebooks", "Notebook", "lee", 168, 0.04, 166),
];
