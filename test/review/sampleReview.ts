import type { Review } from "../../review/document/review.ts";
import { sampleActions } from "./sampleActions.ts";
import { sampleDemand } from "./sampleDemand.ts";
import { sampleNodes } from "./sampleNodes.ts";
import { sampleServing } from "./sampleServing.ts";
import { sampleJobs, sampleTeams, waitsOf } from "./sampleTeams.ts";
import { sampleTopology } from "./sampleTopology.ts";

const labels = ["2026-W42", "2026-W43", "2026-W44", "2026-W45"] as const;
const before = (values: readonly (number | null)[]) => labels.map((label, i) => ({ label, value: values[i] ?? null }));
const usd = (gpuHours: number) => ({ USD: gpuHours * 5.79 });

/** A week of a cluster of 176 GPUs, as an exporter with a ledger would write it. */
export const sampleReview: Review = {
  schemaVersion: 1,
  clusters: ["harbor"],
  team: null,
  writtenAt: "2026-11-16T06:00:12Z",
  source: "ledger",
  window: {
    kind: "week",
    label: "2026-W46",
    from: "2026-11-09T00:00:00Z",
    to: "2026-11-16T00:00:00Z",
    isOver: true,
  },
  coverage: {
    windowSeconds: 604_800,
    coveredSeconds: 602_985,
    ratio: 602_985 / 604_800,
    byCluster: [{ cluster: "harbor", windowSeconds: 604_800, coveredSeconds: 602_985, ratio: 602_985 / 604_800 }],
    gaps: [
      {
        cluster: "harbor",
        from: "2026-11-11T13:10:00Z",
        to: "2026-11-11T13:40:15Z",
        reason: "too-long",
      },
    ],
    gapsLeftOut: 0,
  },
  prices: [
    {
      cluster: "harbor",
      source: "file",
      basis: "whole instance",
      currency: "USD",
      datedFrom: "2026-09-01T00:00:00Z",
      datedTo: "2026-09-01T00:00:00Z",
      pools: ["H100", "A100", "L4"],
    },
  ],
  unpricedGpuHours: 112.4,
  estimatedGpuHours: 260.2,
  unobservedGpuHours: 200,
  periods: [...labels, "2026-W46"].map((label, i) => ({
    label,
    from: new Date(Date.UTC(2026, 9, 12 + 7 * i)).toISOString(),
    to: new Date(Date.UTC(2026, 9, 19 + 7 * i)).toISOString(),
    coverage: 0.997,
    coveredSeconds: 602_985,
    capacity: 29_568,
    allocated: 24_500,
    active: 16_200,
    judged: 23_300,
    pending: 3_120,
    usable: 28_448,
    costs: usd(29_568),
    notAllocatedCosts: usd(5_068),
  })),
  tiles: [
    {
      id: "capacity",
      title: "capacity",
      unit: "GPU-h",
      value: 29_568,
      before: before([28_224, 28_224, 29_400, 29_568]),
      change: 0.0248,
      note: "",
      owner: "platform",
    },
    {
      id: "allocated",
      title: "allocated",
      unit: "ratio",
      value: 0.8286,
      before: before([0.79, null, 0.81, 0.8]),
      change: 0.0286,
      note: "of capacity, to pods that use it or not",
      owner: "platform",
    },
    {
      id: "active",
      title: "utilization",
      unit: "ratio",
      value: 0.695,
      before: before([0.73, 0.72, 0.71, 0.715]),
      change: -0.0238,
      note: "active of what was allocated and observed",
      owner: "teams",
    },
    {
      id: "cost",
      title: "cost",
      unit: "USD",
      value: 171_198.72,
      before: before([163_417, 163_417, 170_226, 171_198.72]),
      change: 0.0248,
      note: "17 % of it was allocated to nobody",
      owner: "who pays",
    },
  ],
  terms: {
    totalGpus: 176.2,
    effectiveGpus: 96.7,
    wastedGpus: 49.6,
    utilization: 0.695,
    schedulingEfficiency: 0.887,
  },
  waterfall: [
    {
      level: "capacity",
      gpuHours: 29_568,
      costs: usd(29_568),
      drops: [
        drop("unavailable", false, 420, "platform"),
        drop("unavailable", true, 200, "platform"),
        drop("cordoned", false, 500, "platform"),
      ],
    },
    {
      level: "ready",
      gpuHours: 28_448,
      costs: usd(28_448),
      drops: [
        { ...drop("free", false, 2_600, "platform"), strandedGpuHours: 1_412 },
        drop("idle_node", false, 1_200, "platform"),
        drop("unattributed", false, 148, "platform"),
      ],
    },
    {
      level: "allocated",
      gpuHours: 24_500,
      costs: usd(24_500),
      drops: [drop("starting", true, 300, "platform"), drop("gang_wait", true, 700, "scheduler")],
    },
    {
      level: "started",
      gpuHours: 23_500,
      costs: usd(23_500),
      drops: [
        drop("unobserved", true, 200, "platform"),
        drop("idle", true, 3_900, "team"),
        drop("underutilized", true, 3_200, "team"),
      ],
    },
    { level: "active", gpuHours: 16_200, costs: usd(16_200), drops: [] },
  ],
  demand: sampleDemand,
  teams: sampleTeams,
  waits: {
    bySize: [
      { queue: null, sizeClass: "1", priorityClass: "high", ...waitsOf(412, 11, 340) },
      { queue: null, sizeClass: "1", priorityClass: "normal", ...waitsOf(2_260, 42, 2_520) },
      { queue: null, sizeClass: "2-7", priorityClass: "normal", ...waitsOf(630, 310, 9_400) },
      { queue: null, sizeClass: "8", priorityClass: "high", ...waitsOf(88, 600, 14_400) },
      { queue: null, sizeClass: "8", priorityClass: "normal", ...waitsOf(141, 5_400, 88_000) },
      { queue: null, sizeClass: "9-63", priorityClass: "high", ...waitsOf(9, 21_000, 190_000) },
      { queue: null, sizeClass: "64+", priorityClass: "normal", ...waitsOf(0, null, null) },
    ],
    byQueue: [
      { queue: "search", sizeClass: null, priorityClass: null, ...waitsOf(901, 1_260, 41_000) },
      { queue: "ads", sizeClass: null, priorityClass: null, ...waitsOf(1_530, 30, 1_900) },
      { queue: "vision", sizeClass: null, priorityClass: null, ...waitsOf(880, 200, 9_000) },
      { queue: "notebooks", sizeClass: null, priorityClass: null, ...waitsOf(229, 8, 60) },
    ],
  },
  serving: sampleServing,
  startTimes: [
    { cluster: "harbor", queue: "vision", sizeClass: "8", starts: 412, intervals: 380, hits: 301 },
    { cluster: "harbor", queue: "vision", sizeClass: "1", starts: 40, intervals: 12, hits: 11 },
  ],
  topology: sampleTopology,
  ...sampleNodes,
  jobs: {
    count: 3_540,
    costs: usd(24_500),
    byCost: sampleJobs,
    byWaste: sampleJobs.toSorted((one, other) => other.wastedGpuHours - one.wastedGpuHours),
  },
  ...sampleActions,
  notes: [{ cluster: "harbor", text: "One of the 4 windows before is not known." }],
};

function drop(
  state: Review["waterfall"][number]["drops"][number]["state"],
  isAllocated: boolean,
  gpuHours: number,
  owner: string,
) {
  return { state, isAllocated, gpuHours, costs: usd(gpuHours), strandedGpuHours: null, owner };
}
