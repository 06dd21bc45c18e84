import { growthExponent } from "./measure.ts";
import { cpuMs, figure, numberAt, type Results, sizesOf } from "./results.ts";

/** One goal of the exporter's performance. */
export interface Goal {
  readonly id: string;
  readonly text: string;
  readonly limit: number;
  /** Whether the value must stay at or below the limit, or must reach it. */
  readonly is: "at most" | "at least";
  /** Ratios hold on any machine, so the short form checks them as well; figures only count at full size. */
  readonly kind: "ratio" | "figure";
  readonly unit: string;
  /** Reads the value from the results; `NaN`: it was not measured. */
  readonly value: (results: Results) => number;
}

const goal = (
  id: string,
  text: string,
  is: Goal["is"],
  limit: number,
  value: Goal["value"],
  more: Partial<Pick<Goal, "kind" | "unit">> = {},
): Goal => ({ id, text, is, limit, value, kind: "ratio", unit: "x", ...more });

/** The largest size (nodes) at which the cycle was measured; Prometheus and the page were measured at this size, too. */
const largest = (results: Results): number => sizesOf(results, "cycle").at(-1) ?? 0;
const atLargest = (results: Results, question: string): string => `${question}@${largest(results)}`;
const cycleCpu = (results: Results, ...stages: readonly string[]): number =>
  stages.reduce((sum, stage) => sum + cpuMs(results, atLargest(results, "cycle"), stage), 0);

/**
 * CPU milliseconds of a cycle with its part of full collections of garbage, by the key of its answer; the medians of small
 * clusters leave these collections out.
 */
const meanCycle = (key: string, results: Results): number => figure(results, key, "meanCycleCpuMs");

/** A figure of the short form, which runs the cycle and the rules together; `undefined` if they were measured apart. */
const byTurns = (results: Results, name: string): number | undefined =>
  recorded(figureOfAny(results, "cycleAndRules", name));
/** A recorded value; answers that were recorded before a figure existed do not have it. */
const recorded = (value: number): number | undefined => (Number.isNaN(value) ? undefined : value);

const oneRule = "one group_left rule over one metric";
const eightRules = "eight group_left rules";
const figureOfSize = { kind: "figure" } as const;

/** The goals for a cluster of 10,000 nodes, 80,000 GPUs and 100,000 pods, in the order of docs/performance.md. */
export const goals: readonly Goal[] = [
  goal(
    "cycle",
    "Whole cycle (receive, parse, join, analyse, account, render): CPU against ONE Prometheus `group_left` rule over ONE metric",
    "at most",
    0.5,
    (r) =>
      byTurns(r, "ratioOfCycleToRule") ??
      meanCycle(atLargest(r, "cycle"), r) / cpuMs(r, atLargest(r, "prometheus"), oneRule),
  ),
  goal(
    "join",
    "Join and aggregate (stages `join` and `analyse`): how many times less CPU than 8 such rules",
    "at least",
    200,
    (r) =>
      byTurns(r, "ratioOfRulesToJoin") ??
      cpuMs(r, atLargest(r, "prometheus"), eightRules) / cycleCpu(r, "join", "analyse"),
  ),
  goal(
    "parse-newlines",
    "Parse a target's page: time against counting the newlines in the same bytes",
    "at most",
    4,
    (r) => figureOfAny(r, "parse", "ratioOfNextPageToNewlines"),
  ),
  goal("parse-npm", "Parse: how many times faster than parse-prometheus-text-format", "at least", 40, (r) =>
    figureOfAny(r, "parse", "ratioOfNpmParserToNextPage"),
  ),
  goal(
    "sync",
    "First sync of pods, with one decoder for all kinds: how many times less CPU than JSON.parse and picking the fields",
    "at least",
    3,
    (r) => numberAt(r.answers, "pods", "syncRatio", "toParseAndPick"),
  ),
  goal(
    "pod-bytes",
    "Memory per pod",
    "at most",
    350,
    (r) => numberAt(r.answers, "pods", "retainedBytesPerPod", "protobuf"),
    {
      ...figureOfSize,
      unit: "bytes",
    },
  ),
  goal(
    "gpu-bytes",
    "Memory per GPU, connection included",
    "at most",
    1200,
    (r) => figure(r, atLargest(r, "cycle"), "bytesPerGpu"),
    {
      ...figureOfSize,
      unit: "bytes",
    },
  ),
  goal("rss", "Resident memory in all", "at most", 512, (r) => figure(r, atLargest(r, "cycle"), "rssMiB"), {
    ...figureOfSize,
    unit: "MiB",
  }),
  goal(
    "first-list",
    "First list of all objects: CPU",
    "at most",
    5800,
    (r) => figure(r, atLargest(r, "cycle"), "firstSyncCpuMs"),
    { ...figureOfSize, unit: "ms" },
  ),
  goal(
    "first-cycle",
    "First cycle, in which every page and every object is new: CPU",
    "at most",
    4000,
    (r) => figure(r, atLargest(r, "cycle"), "firstCycleCpuMs"),
    { ...figureOfSize, unit: "ms" },
  ),
  goal(
    "growth-compute",
    "Growth of compute (all but receiving) from 1,000 to 10,000 nodes: exponent",
    "at most",
    1,
    (r) => exponentOf(r, computeMs),
    {
      ...figureOfSize,
      unit: "",
    },
  ),
  goal("growth-cycle", "Growth of the whole cycle: exponent", "at most", 1, (r) => exponentOf(r, meanCycle), {
    ...figureOfSize,
    unit: "",
  }),
  goal(
    "growth-memory",
    "Growth of the heap: exponent",
    "at most",
    1.1,
    (r) => exponentOf(r, (key) => figure(r, key, "heapMiB")),
    {
      ...figureOfSize,
      unit: "",
    },
  ),
  goal(
    "page-cycle",
    "`/metrics` during cycles: p99 against a static server of the same bytes, asked in turns",
    "at most",
    1.2,
    (r) =>
      figure(r, atLargest(r, "metricsPage"), "metricsP99Ms") / figure(r, atLargest(r, "metricsPage"), "staticP99Ms"),
  ),
  goal(
    "start-cycle",
    "First byte of `/` during cycles: p99",
    "at most",
    50,
    (r) => figure(r, atLargest(r, "metricsPage"), "startFirstByteP99Ms"),
    { ...figureOfSize, unit: "ms" },
  ),
  goal(
    "missed",
    "Missed in 30 cycles as in production: scrapes of `/metrics` that failed or took ten seconds, and cycles that failed",
    "at most",
    0,
    (r) => figureOfAny(r, "scrapes", "scrapesMissed") + figureOfAny(r, "scrapes", "cyclesFailed"),
    { ...figureOfSize, unit: "" },
  ),
  goal(
    "render",
    "Render 100,000 series: how many times less CPU than prom-client (set and metrics())",
    "at least",
    3,
    (r) =>
      recorded(figure(r, "render@1000", "ratioOfPromClientToPage")) ??
      cpuMs(r, "render@1000", "prom-client: set and metrics()") /
        cpuMs(r, "render@1000", "Fairlead: families and page"),
  ),
  goal(
    "queues",
    "Queues: 2,000 in five levels, 50,000 waiting workloads: time of the whole analysis against parsing the DCGM pages of 10,000 nodes",
    "at most",
    1,
    (r) => figureOfAny(r, "queues", "ratioOfQueuesToParse"),
  ),
  goal(
    "placement-scratch",
    "Placement: all measures of 10,000 nodes for 100 shapes from scratch, one second: time against parsing the DCGM pages of the same nodes",
    "at most",
    2,
    (r) => figureOfAny(r, "placement", "ratioOfScratchToParse"),
  ),
  goal(
    "placement-changed",
    "Placement: all measures after 100 pods have changed: time against the same",
    "at most",
    0.05,
    (r) => figureOfAny(r, "placement", "ratioOfChangedToParse"),
  ),
  goal(
    "topology-scratch",
    "Topology: all measures of 10,000 nodes in 556 racks from scratch: time against parsing the DCGM pages of the same nodes",
    "at most",
    0.3,
    (r) => figureOfAny(r, "topology", "ratioOfScratchToParse"),
  ),
  goal(
    "topology-changed",
    "Topology: all measures after 100 pods have changed: time against the same",
    "at most",
    0.05,
    (r) => figureOfAny(r, "topology", "ratioOfChangedToParse"),
  ),
  goal(
    "advice-quiet",
    "Advice (stage `advise`) where next to nothing is to be said, 1 % of the pods changed: time against parsing the DCGM pages of the same nodes",
    "at most",
    0.1,
    (r) => figureOfAny(r, "advice", "ratioOfQuietToParse"),
  ),
  goal(
    "advice-contended",
    "Advice where 50,000 workloads wait, every other queue of 2,000 is owed its share, and work and nodes are idle: time against the same",
    "at most",
    0.5,
    (r) => figureOfAny(r, "advice", "ratioOfContendedToParse"),
  ),
  goal(
    "exposed",
    "Bytes per scrape: how many times fewer than kube-state-metrics for the same objects",
    "at least",
    50,
    (r) => figureOfAny(r, "kubeStateMetrics", "pageRatio"),
    figureOfSize,
  ),
];

export type Verdict = "yes" | "missed" | "not measured";

/** Whether a goal is reached. `slack` below 1: the tolerance of the short form. */
export function verdictOf({ limit, is }: Goal, value: number, slack = 1): Verdict {
  if (!Number.isFinite(value)) return "not measured";
  return (is === "at most" ? value <= limit / slack : value >= limit * slack) ? "yes" : "missed";
}

/**
 * CPU milliseconds of a cycle without `receive and parse`, plus the time that parsing alone takes (question `parse`, per
 * page). The cost of receiving alone cannot be subtracted from that stage, because it depends on the heap that is collected
 * meanwhile.
 */
export function computeMs(key: string, results: Results): number {
  const parse = sizesOf(results, "parse").at(-1);
  const perPage = parse === undefined ? 0 : cpuMs(results, `parse@${parse}`, "a target's next page");
  const nodes = Number(key.split("@")[1]);
  return meanCycle(key, results) - cpuMs(results, key, "receive and parse") + nodes * perPage;
}

function exponentOf(results: Results, value: (key: string, results: Results) => number): number {
  // What a cycle costs in any case hides growth in small clusters.
  const sizes = sizesOf(results, "cycle").filter((nodes) => nodes >= 1000);
  const points = sizes.map((nodes) => ({ x: nodes, y: value(`cycle@${nodes}`, results) }));
  return points.length < 2 ? Number.NaN : growthExponent(points);
}

function figureOfAny(results: Results, question: string, name: string): number {
  const size = sizesOf(results, question).at(-1);
  return size === undefined ? Number.NaN : figure(results, `${question}@${size}`, name);
}
