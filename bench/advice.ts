/**
 * Measures what looking for advice costs in a cycle (stage `advise`), compared with parsing the DCGM pages of the same nodes.
 * This is done for a cluster that needs no advice, and for one where 50,000 workloads wait, every other one of 2,000 queues is
 * owed its share, workloads and nodes are idle, and queues are configured badly. With fewer nodes, there are fewer queues and
 * less work in proportion. A large cluster is searched in several cycles: a sample is all cycles of one search, and each of them
 * counts with their mean, not with their median.
 *
 *     node --expose-gc bench/advice.ts [--nodes=10000] [--samples=7]
 */
import { type Adviser, createAdviser } from "../exporter/advice/adviser.ts";
import { turnsOf } from "../exporter/advice/turns.ts";
import { analyse, analysisSettings } from "../exporter/analysis/analyse.ts";
import type { Analysis } from "../exporter/analysis/analysis.ts";
import { findSickGpus } from "../exporter/analysis/health/findSickGpus.ts";
import { createPlacementCache } from "../exporter/analysis/placement/measurePlacement.ts";
import { configSchema } from "../exporter/config/schema.ts";
import { join } from "../exporter/join/join.ts";
import { createJoinCache } from "../exporter/join/joinCache.ts";
import { emptyMemory, type Memory } from "../exporter/join/memory.ts";
import { withFindings } from "../exporter/join/remember.ts";
import type { Advice } from "../exporter/model/recommendation.ts";
import { createAdvisedFleet } from "./advisedFleet.ts";
import { timeOfCycle } from "./fleetState.ts";
import { type Contender, compare, ratioByRounds } from "./measure.ts";
import { pagesPerRun, parseContender } from "./parsedPages.ts";
import { mainThreadSeconds } from "./processCpu.ts";
import { type Answer, ask, type QuestionOptions } from "./question.ts";

/** Seconds between two cycles: long enough that idle work has been idle for long enough after a few cycles. */
const interval = 300;
const config = configSchema.parse({
  cluster: "bench",
  interval,
  idle: { batchSeconds: 600 },
  advice: { idleNodeMinutes: 15, usageHours: 0.1 },
});
/** Cycles before the first that is measured: advice is shown when three searches have found it. */
const warmUpSearches = 4;
const fewestWarmUps = 8;

/** A contender that looks for advice on a cluster, cycle by cycle; joining and analysing are not measured. */
interface Advised extends Contender {
  last(): Advice | null;
  /** The most that one cycle took since this was called last, milliseconds of CPU time. */
  takeLongestMs(): number;
  /** Whether anything was found that could be advised, shown or not yet shown. */
  hasFound(): boolean;
}

function advised(name: string, nodes: number, kind: "quiet" | "contended"): Advised {
  const fleet = createAdvisedFleet(nodes, kind);
  const settings = analysisSettings(config);
  const joinCache = createJoinCache();
  const placementCache = createPlacementCache();
  const adviser: Adviser = createAdviser(config.advice, interval);
  let memory: Memory = emptyMemory;
  let cycle = 0;
  let analysis: Analysis | null = null;
  let last: Advice | null = null;
  let advisedSeconds = 0;
  let longestSeconds = 0;
  let hasFound = false;
  /** This is done as the cycle does it (exporter/cycle.ts). */
  function next(): void {
    const at = timeOfCycle(0) + cycle * interval;
    cycle += 1;
    const joined = join(fleet.state(at), memory, config, at, joinCache);
    const { shortSince, blockedSince, idleNodeSince } = memory;
    analysis = analyse(joined.snapshot, { ...settings, placementCache, shortSince, blockedSince, idleNodeSince });
    memory = withFindings(
      joined.memory,
      {
        shortSince: analysis.shortSince,
        blockedSince: analysis.blocked.since,
        idleNodeSince: analysis.idleNodes.since,
      },
      joinCache,
    );
    fleet.step();
  }
  return {
    name,
    iterations: turnsOf(nodes),
    cpuSeconds: () => advisedSeconds,
    run() {
      next();
      const from = mainThreadSeconds();
      if (analysis !== null) last = adviser.advise(analysis);
      adviser.takeChanges();
      const seconds = mainThreadSeconds() - from;
      advisedSeconds += seconds;
      longestSeconds = Math.max(longestSeconds, seconds);
      // Publishing, which comes next in a cycle, finds the GPUs that need care: a search that goes on later finds them known.
      if (analysis !== null) findSickGpus(analysis.snapshot);
      hasFound ||=
        last?.recommendations.some(({ state }) => state === "open") === true ||
        last?.withheld.some(({ why }) => why === "standing") === true;
    },
    last: () => last,
    takeLongestMs() {
      const longest = longestSeconds * 1000;
      longestSeconds = 0;
      return longest;
    },
    hasFound: () => hasFound,
  };
}

/** Words about how many open recommendations there are of each kind, and what was withheld. */
function reported(advice: Advice | null): string {
  const open = (advice?.recommendations ?? []).filter(({ state }) => state === "open");
  const byKind = [...Map.groupBy(open, ({ kind }) => kind)].map(([kind, found]) => `${kind} ${found.length}`);
  const withheld = [...Map.groupBy(advice?.withheld ?? [], ({ kind, why }) => `${kind} ${why}`)];
  return `${byKind.join(", ") || "nothing"} (withheld: ${withheld.map(([name, found]) => `${name} ${found.length}`).join(", ") || "nothing"})`;
}

async function question({ nodes, samples, progress }: QuestionOptions): Promise<Answer> {
  progress("making pages, nodes and queues");
  const parse = parseContender(mainThreadSeconds);
  const quiet = advised("advise, quiet", nodes, "quiet");
  const contended = advised("advise, contended", nodes, "contended");
  progress("measuring");
  const warmUps = Math.max(warmUpSearches, Math.ceil(fewestWarmUps / turnsOf(nodes)));
  await compare([parse, quiet, contended], { samples: warmUps, warmUps: 0, garbage: "young" });
  for (const one of [quiet, contended]) one.takeLongestMs();
  const taken = await compare([parse, quiet, contended], { samples, warmUps: 0, garbage: "young" });
  const cpuOf = (name: string): number => taken.find((one) => one.name === name)?.cpuMs ?? Number.NaN;
  const parseAllPagesMs = (cpuOf("parse") * nodes) / pagesPerRun;
  const toParse = (name: string): number =>
    ratioByRounds(taken, (ms) => ms(name) / ((ms("parse") * nodes) / pagesPerRun));
  const figures = {
    quietMs: cpuOf(quiet.name),
    contendedMs: cpuOf(contended.name),
    quietLongestCycleMs: quiet.takeLongestMs(),
    contendedLongestCycleMs: contended.takeLongestMs(),
    cyclesPerSearch: turnsOf(nodes),
    parseAllPagesMs,
    ratioOfQuietToParse: toParse(quiet.name),
    ratioOfContendedToParse: toParse(contended.name),
  };
  if (!contended.hasFound()) throw new Error("nothing is advised where queues are starved");
  const notes = [
    `quiet: ${reported(quiet.last())}`,
    `contended: ${reported(contended.last())}`,
    JSON.stringify(figures),
  ];
  return { measurements: taken, figures, notes };
}

await ask("advice", question);
