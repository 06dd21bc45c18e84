import { noQueueing } from "../../../simulator/queues/spec.ts";
import { createRandomStream, hashText } from "../../../simulator/random.ts";
import type { Habit, Scenario, Season } from "../../../simulator/scenario.ts";
import { gpuNode, workloadOf } from "../../../simulator/scenarios/parts.ts";

const hour = 3600;
const day = 24 * hour;

const nodes = 48;
const gpusOfNode = 8;

/** What the growing cluster has. */
export const growthGpus = nodes * gpusOfNode;

/** Weeks that are lived before growth is looked at, so that long jobs are there as well. */
const warmupWeeks = 2;

/** What arrives, as a part of the mean demand: many small jobs of hours, few large ones of days. */
const mix = [
  { name: "try", pods: 1, gpus: 1, part: 0.2, runSeconds: [hour, 12 * hour], runTail: 0.9, day: 0.8, weekend: 0.4 },
  { name: "tune", pods: 1, gpus: 2, part: 0.2, runSeconds: [2 * hour, 2 * day], runTail: 1.1, day: 0.6, weekend: 0.5 },
  { name: "train", pods: 1, gpus: 4, part: 0.3, runSeconds: [4 * hour, 5 * day], runTail: 1.1, day: 0.5, weekend: 0.7 },
  { name: "large", pods: 2, gpus: 4, part: 0.3, runSeconds: [6 * hour, 7 * day], runTail: 1.2, day: 0.3, weekend: 0.8 },
] as const;

/**
 * A cluster of 48 nodes and 384 GPUs whose demand grows from week to week, at a rate that depends on the seed: linearly or by
 * compound growth, with days and weekends, and run times with a heavy tail. Nobody is turned away: what finds no GPUs waits.
 */
export function growthScenario(seed: number, since: number): Scenario {
  const random = createRandomStream(hashText("growth", seed));
  const growth = random.next() < 0.5 ? "linear" : "compound";
  const perWeek = 0.015 + 0.03 * random.next();
  const load = 0.22 + 0.12 * random.next();
  const season = { since, growth, perWeek } as const;
  return {
    name: "growth",
    nodes: Array.from({ length: nodes }, (_, i) =>
      gpuNode(`n-${i + 1}`, "H100", gpusOfNode, { kind: "whole" }, { exporter: null }),
    ),
    namespaces: [{ name: "research", team: "research" }],
    priorityClasses: {},
    habits: mix.map((each) => habitOf(each, season, load * growthGpus)),
    placed: [],
    queueing: noQueueing,
    placement: "pack",
    warmupSeconds: warmupWeeks * 7 * day,
    collectionInterval: 365 * day,
    faults: [],
    stepSeconds: hour,
  };
}

function habitOf(
  { name, pods, gpus, part, runSeconds, runTail, day: swing, weekend }: (typeof mix)[number],
  season: Pick<Season, "since" | "growth" | "perWeek">,
  meanGpus: number,
): Habit {
  const [shortest, longest] = runSeconds;
  const request = { kind: "physicalGpus", count: gpus } as const;
  return {
    name,
    workload: workloadOf(
      "Job",
      "research",
      pods,
      request,
      { kind: "constant", level: 0.8 },
      { gang: true, cpuMilli: 1 },
    ),
    initial: 0,
    // So that the mean of GPUs allocated at a factor of 1 is what is asked for.
    everySeconds: (paretoMean(shortest, longest, runTail) * pods * gpus) / (meanGpus * part),
    maxWaiting: Number.POSITIVE_INFINITY,
    runSeconds: [shortest, longest],
    runTail,
    failRatio: 0,
    season: { ...season, day: swing, weekend },
  };
}

/** Mean of a Pareto distribution that is cut at both ends. */
function paretoMean(low: number, high: number, shape: number): number {
  const cut = 1 - (low / high) ** shape;
  return ((shape * low ** shape) / (cut * (shape - 1))) * (low ** (1 - shape) - high ** (1 - shape));
}
