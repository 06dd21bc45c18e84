/**
 * Measures what looking for advice costs in a cycle (stage `advise`), compared with parsing the DCGM pages of the same nodes.
 * This is done for a cluster that needs no advice, and for one where 50,000 workloads wait, every other one of 2,000 queues is
 * owed its share, workloads and nodes are idle, and queues are configured badly. With fewer nodes, there are fewer queues and
 * less work in proportion.
 *
 *     node --expose-gc bench/advice.ts [--nodes=10000] [--samples=7]
 */
import { type Adviser, createAdviser } from "../exporter/advice/adviser.ts";
import { analyse, analysisSettings } from "../exporter/analysis/analyse.ts";
import type { Analysis } from "../exporter/analysis/analysis.ts";
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
const warmUps = 8;

/** A contender that looks for advice on a cluster, cycle by cycle; joining and analysing are not measured. */
interface Advised extends Contender {
  last(): Advice | null;
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
    cpuSeconds: mainThreadSeconds,
    prepare: next,
    run() {
      if (analysis !== null) last = adviser.advise(analysis);
      adviser.takeChanges();
    },
    last: () => last,
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
  const taken = await compare([parse, quiet, contended], { samples, warmUps, garbage: "young" });
  const cpuOf = (name: string): number => taken.find((one) => one.name === name)?.cpuMs ?? Number.NaN;
  const parseAllPagesMs = (cpuOf("parse") * nodes) / pagesPerRun;
  const toParse = (name: string): number =>
    ratioByRounds(taken, (ms) => ms(name) / ((ms("parse") * nodes) / pagesPerRun));
  const figures = {
    quietMs: cpuOf(quiet.name),
    contendedMs: cpuOf(contended.name),
    parseAllPagesMs,
    ratioOfQuietToParse: toParse(quiet.name),
    ratioOfContendedToParse: toParse(contended.name),
  };
  const open = (contended.last()?.recommendations ?? []).filter(({ state }) => state === "open");
  if (open.length === 0) throw new Error("nothing is advised where queues are starved");
  const notes = [
    `quiet: ${reported(quiet.last())}`,
    `contended: ${reported(contended.last())}`,
    JSON.stringify(figures),
  ];
  return { measurements: taken, figures, notes };
}

await ask("advice", question);
