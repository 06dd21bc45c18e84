import type { Review } from "../../review/document/review.ts";
import { sampleReview } from "./sampleReview.ts";

const inTwo = (costs: Readonly<Record<string, number>>): Record<string, number> => ({
  ...costs,
  EUR: (costs.USD ?? 0) * 0.31,
});

/** Part of the cluster is paid in another currency. */
export const twoCurrencies: Review = {
  ...sampleReview,
  waterfall: sampleReview.waterfall.map((stage) => ({
    ...stage,
    costs: inTwo(stage.costs),
    drops: stage.drops.map((drop) => ({ ...drop, costs: inTwo(drop.costs) })),
  })),
  teams: sampleReview.teams.map((team) => ({
    ...team,
    costs: inTwo(team.costs),
    wasteCosts: inTwo(team.wasteCosts),
  })),
};

/** One team asked: what is of the whole cluster is not there. */
export const ofOneTeam: Review = {
  ...sampleReview,
  team: "ads",
  tiles: sampleReview.tiles.filter(({ id }) => id !== "capacity"),
  teams: sampleReview.teams.filter(({ team }) => team === "ads"),
  terms: { ...sampleReview.terms, totalGpus: null, schedulingEfficiency: null },
  waterfall: sampleReview.waterfall.map((stage) => ({
    ...stage,
    drops: stage.drops.filter(({ isAllocated }) => isAllocated),
  })),
  demand: null,
  idleNodes: null,
  fragmentation: null,
  startTimes: null,
  topology: null,
  faults: null,
  runway: null,
  notAdvised: null,
};

/** A metrics server was asked, which knows no more. */
export const fromPrometheus: Review = {
  ...sampleReview,
  source: "prometheus",
  unpricedGpuHours: null,
  estimatedGpuHours: null,
  demand: null,
  waits: null,
  idleNodes: null,
  fragmentation: null,
  startTimes: null,
  topology: null,
  faults: null,
  serving: null,
  jobs: null,
  runway: null,
  actions: null,
  lastActions: null,
  notAdvised: null,
  trackRecords: null,
};

/** Nothing of the window is counted. */
export const notCovered: Review = {
  ...sampleReview,
  coverage: { ...sampleReview.coverage, coveredSeconds: 0, ratio: 0, byCluster: [] },
};

/** Three clusters together. */
export const merged: Review = {
  ...sampleReview,
  source: "merged",
  clusters: ["harbor", "mill", "quarry"],
  coverage: {
    ...sampleReview.coverage,
    byCluster: ["harbor", "mill", "quarry"].map((cluster, i) => ({
      cluster,
      windowSeconds: 604_800,
      coveredSeconds: 604_800 - 1000 * i,
      ratio: 1 - i / 605,
    })),
  },
};
