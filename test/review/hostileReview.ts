import type { Review } from "../../review/document/review.ts";
import { sampleReview } from "./sampleReview.ts";
import { job, sampleTeams } from "./sampleTeams.ts";

/** Names that would be markup, a formula, a link, a mention or another line in some output. */
export const hostileNames = [
  "<script>alert(1)</script>",
  '"><img src=x onerror=alert(1)>',
  "a|b\nc\r\n| d | e |",
  "=cmd|'/C calc'!A0",
  "@channel <!channel> #1",
  "[click](https://evil.example/x) www.evil.example",
  "`rm -rf` **bold** ~~x~~ \\",
  "\u202Eyad\u0000\u001B[31m red",
  "&lt;b&gt; &amp;",
  "'; --",
  "n".repeat(900),
  "]]> --> </style></svg></table>",
] as const;

const [first] = sampleTeams;
if (first === undefined) throw new Error("no team");

const nameAt = (i: number): string => hostileNames[i % hostileNames.length] ?? "";

/** The sample with such names wherever a cluster or a person can write one. */
export const hostileReview: Review = {
  ...sampleReview,
  clusters: [nameAt(0), nameAt(2), "harbor"],
  window: { ...sampleReview.window, label: "2026-W46" },
  coverage: {
    ...sampleReview.coverage,
    byCluster: [0, 2].map((i) => ({ cluster: nameAt(i), windowSeconds: 604_800, coveredSeconds: 302_400, ratio: 0.5 })),
    gaps: hostileNames.map((name) => ({
      cluster: name,
      from: "2026-11-11T13:10:00Z",
      to: "2026-11-11T13:40:00Z",
      reason: name.slice(0, 100),
    })),
  },
  prices: hostileNames.map((name, i) => ({
    cluster: name,
    source: nameAt(i + 1).slice(0, 100),
    basis: nameAt(i + 2).slice(0, 100),
    currency: nameAt(i).slice(0, 20),
    datedFrom: null,
    datedTo: null,
    pools: [name],
  })),
  tiles: sampleReview.tiles.map((tile, i) => ({
    ...tile,
    title: nameAt(i).slice(0, 100),
    note: nameAt(i + 1).slice(0, 300),
    owner: nameAt(i + 2).slice(0, 100),
  })),
  demand: (sampleReview.demand ?? []).map((one, i) => ({ ...one, domain: nameAt(i), pools: [...hostileNames] })),
  teams: hostileNames.map((team, i) => ({
    ...first,
    team,
    idle: 100 - i,
    costs: { USD: 12.5, [nameAt(i + 1)]: 3 },
    wasteCosts: { USD: 12 - i },
  })),
  waits: {
    bySize: hostileNames.map((name) => ({
      queue: null,
      sizeClass: name.slice(0, 20),
      priorityClass: name,
      count: 1,
      p50Seconds: 3,
      p95Seconds: 4,
      buckets: [],
    })),
    byQueue: hostileNames.map((queue) => ({
      queue,
      sizeClass: null,
      priorityClass: null,
      count: 1,
      p50Seconds: 3,
      p95Seconds: null,
      buckets: [],
    })),
  },
  idleNodes: {
    pools: hostileNames.map((name) => ({
      cluster: name,
      nodePool: name,
      pool: name,
      state: name.slice(0, 40),
      nodeHours: 3,
      reservedNodeHours: 0,
      reservedCosts: {},
      costs: { USD: 2 },
    })),
    streaks: hostileNames.map((name) => ({
      cluster: name,
      node: name,
      nodePool: name,
      pool: name,
      state: name.slice(0, 40),
      begins: "2026-11-11T00:00:00Z",
      ends: null,
      hours: 5,
    })),
  },
  faults: {
    causes: hostileNames.map((name) => ({
      cause: name.slice(0, 40),
      gpuHours: 3,
      costs: { USD: 2 },
      outages: 2,
      repaired: 1,
      meanRepairHours: 4,
    })),
    outages: hostileNames.map((name) => ({
      cluster: name,
      node: name,
      gpu: name,
      pool: name,
      cause: name.slice(0, 40),
      teams: name,
      begins: "2026-11-11T00:00:00Z",
      ends: null,
      gpuHours: 5,
    })),
  },
  fragmentation: (sampleReview.fragmentation ?? []).map((one, i) => ({ ...one, pool: nameAt(i) })),
  startTimes: (sampleReview.startTimes ?? []).map((one, i) => ({ ...one, queue: nameAt(i) })),
  topology: (sampleReview.topology ?? []).map((one, i) => ({ ...one, pool: nameAt(i), level: nameAt(i + 1) })),
  serving: (sampleReview.serving ?? []).flatMap((one) =>
    hostileNames.map((name, i) => ({ ...one, kind: name, namespace: nameAt(i + 1), name, team: name, cluster: name })),
  ),
  jobs: {
    count: 3,
    costs: { USD: 4 },
    byCost: hostileNames.map((name) => ({ ...job(name, name, name, 10, 5, 2), cluster: name })),
    byWaste: hostileNames.map((name) => ({ ...job(name, name, name, 10, 5, 2), cluster: name })),
  },
  runway: (sampleReview.runway ?? []).map((one, i) => ({
    ...one,
    domain: nameAt(i),
    runsOut: { ...one.runsOut, reason: nameAt(i).slice(0, 500) },
  })),
  actions: (sampleReview.actions ?? []).map((one, i) => ({
    ...one,
    title: nameAt(i).slice(0, 500),
    risk: nameAt(i + 1).slice(0, 300),
    owner: nameAt(i + 2).slice(0, 200),
    cluster: nameAt(i),
  })),
  lastActions: (sampleReview.lastActions ?? []).map((one, i) => ({
    ...one,
    title: nameAt(i).slice(0, 500),
    closedBecause: nameAt(i + 1).slice(0, 500),
    whyMeasured: nameAt(i + 2).slice(0, 300),
  })),
  notAdvised: (sampleReview.notAdvised ?? []).map((one, i) => ({
    ...one,
    subject: nameAt(i).slice(0, 300),
    reason: nameAt(i + 1).slice(0, 500),
    cluster: nameAt(i),
  })),
  notes: hostileNames.map((text) => ({ cluster: text, text })),
};
