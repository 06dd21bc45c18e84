/** What does a whole cycle cost at this size, stage by stage, and how much memory does the exporter need? */
import { monitorEventLoopDelay, PerformanceObserver } from "node:perf_hooks";
import { setTimeout as wait } from "node:timers/promises";
import { startFleet } from "./fleet/fleet.ts";
import { gpusPerNode, podsPerNode } from "./fleet/layout.ts";
import { collectGarbage, type Measurement, median, ownCpuSeconds, type Sample, summary } from "./measure.ts";
import { mainThreadSeconds } from "./processCpu.ts";
import { assertWhole, createProduct, type Product, wholeOf } from "./product.ts";
import { ask } from "./question.ts";
import { sumByTeam } from "./teamSums.ts";

/** From then on cycles cost what they cost for weeks: compiled code is warm, and what is kept is in the old generation. */
const warmUps = 12;
/** The cycles that are run before the first measured one, after all garbage was collected for the figures of memory. */
const uncounted = 3;
/**
 * Measured cycles for each sample that is asked for. Garbage is collected when Node thinks fit, as in production, which is once
 * in some cycles: the mean over them has its part of that, while their median has none.
 */
const cyclesPerSample = 2;
/** How often the sums of the eight rules are made; the median counts. */
const teamSums = 15;
const latencyCycles = 3;
const latencyCycleSeconds = 10;
const delayResolutionMs = 5;

await ask("cycle", async ({ nodes, samples, helpers, progress }) => {
  const fleet = await startFleet(nodes);
  for (const pid of fleet.pids) helpers.add(pid);
  const product = createProduct(fleet);
  const empty = allocatedBytes();
  progress("first list of all objects");
  const sync = await product.sync();
  const withObjects = allocatedBytes();
  progress(`first cycles, after ${(sync.wallMs / 1000).toFixed(1)} s of listing`);
  const firstOthersFrom = otherThreadsSeconds();
  const firstStages = await product.cycle();
  const firstOtherThreadsMs = (otherThreadsSeconds() - firstOthersFrom) * 1000;
  const first = wholeOf(firstStages);
  for (let done = 1; done < warmUps; done += 1) await product.cycle();
  assertWhole(product, nodes);
  const withPages = allocatedBytes();
  progress("measured cycles");
  for (let done = 0; done < uncounted; done += 1) await product.cycle();
  const cycles: ReadonlyMap<string, Sample>[] = [];
  const otherThreadsFrom = otherThreadsSeconds();
  for (let done = 0; done < cyclesPerSample * samples; done += 1) cycles.push(await product.cycle());
  const otherThreadsMs = ((otherThreadsSeconds() - otherThreadsFrom) * 1000) / cycles.length;
  const teamSumsMs = sumsOfTeamsMs(product);
  progress("cycles under a stop watch for the event loop");
  const delay = await longestDelays(product);
  const { rss } = process.memoryUsage();
  const figures = {
    firstSyncCpuMs: sync.cpuMs,
    firstSyncWallMs: sync.wallMs,
    firstCycleCpuMs: first.cpuMs,
    firstReceiveCpuMs: firstStages.get("receive and parse")?.cpuMs ?? Number.NaN,
    firstOtherThreadsCpuMs: firstOtherThreadsMs,
    otherThreadsCpuMs: otherThreadsMs,
    teamSumsCpuMs: teamSumsMs,
    meanCycleCpuMs: cycles.reduce((sum, stages) => sum + wholeOf(stages).cpuMs, 0) / cycles.length,
    ...delay,
    rssMiB: rss / 2 ** 20,
    peakRssMiB: process.resourceUsage().maxRSS / 1024,
    heapMiB: process.memoryUsage().heapUsed / 2 ** 20,
    bytesPerPod: (withObjects - empty) / (nodes * podsPerNode),
    bytesPerGpu: (withPages - withObjects) / (nodes * gpusPerNode),
    pageBytes: product.stack.latest()?.page.length ?? 0,
  };
  await product.stop();
  fleet.stop();
  return { measurements: byStage(cycles), figures };
});

function byStage(cycles: readonly ReadonlyMap<string, Sample>[]): readonly Measurement[] {
  const names = [...(cycles[0]?.keys() ?? [])];
  const stages = names.map((name) =>
    summary(
      name,
      1,
      cycles.flatMap((stages) => stages.get(name) ?? []),
    ),
  );
  return [...stages, summary("whole cycle", 1, cycles.map(wholeOf))];
}

/**
 * Measures the longest time for which the event loop was blocked in a few cycles, and the longest pause for garbage collection.
 * The exporter's own timers read the pages here, spread over the interval as in production.
 */
async function longestDelays(product: Product): Promise<Readonly<Record<string, number>>> {
  await product.stack.dcgm.start();
  let gcPauseMaxMs = 0;
  const observer = new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) gcPauseMaxMs = Math.max(gcPauseMaxMs, duration);
  });
  observer.observe({ entryTypes: ["gc"] });
  const histogram = monitorEventLoopDelay({ resolution: delayResolutionMs });
  histogram.enable();
  let longestStageMs = 0;
  for (let done = 0; done < latencyCycles; done += 1) {
    await wait(latencyCycleSeconds * 1000);
    for (const [name, { wallMs }] of await product.cycle("own")) {
      if (name !== "watch") longestStageMs = Math.max(longestStageMs, wallMs);
    }
  }
  histogram.disable();
  observer.disconnect();
  return {
    eventLoopDelayMaxMs: Math.max(0, histogram.max / 1e6 - delayResolutionMs),
    eventLoopDelayP99Ms: Math.max(0, histogram.percentile(99) / 1e6 - delayResolutionMs),
    gcPauseMaxMs,
    longestStageWallMs: longestStageMs,
  };
}

/** CPU seconds so far of all threads but the main one: they mark and move what is alive, and compile. */
function otherThreadsSeconds(): number {
  return ownCpuSeconds() - mainThreadSeconds();
}

/** Milliseconds that the main thread takes for the sums of the eight rules over what the last cycle joined. */
function sumsOfTeamsMs({ stack }: Product): number {
  const snapshot = stack.latest()?.analysis.snapshot;
  if (snapshot === undefined) return Number.NaN;
  const times: number[] = [];
  for (let done = 0; done < teamSums; done += 1) {
    const from = mainThreadSeconds();
    const teams = sumByTeam(snapshot).size;
    times.push((mainThreadSeconds() - from) * 1000);
    if (teams === 0) throw new Error("no team holds a GPU");
  }
  return median(times);
}

function allocatedBytes(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
