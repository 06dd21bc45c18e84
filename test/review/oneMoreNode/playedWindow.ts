import { waitBucket, waitQuantile } from "../../../exporter/accounts/ledger/waitBucket.ts";
import { sizeClassOf } from "../../../exporter/model/sizeClass.ts";
import type { PlayedWindow } from "../../../review/oneMoreNode/replayWithNode.ts";
import { createRandomStream, hashText } from "../../../simulator/random.ts";
import type { Scenario } from "../../../simulator/scenario.ts";
import { growthScenario } from "../../simulator/scenarios/growth.ts";
import { type PlayedWeek, playedWeek } from "../../simulator/truthRecord/playedWeek.ts";

const from = Date.UTC(2026, 0, 5) / 1000;
const nodeGpus = 8;

/** A cluster of 12 to 19 nodes whose work is a quarter to twice as long, and small or large, by its seed. */
function scenarioOf(seed: number): { readonly scenario: Scenario; readonly nodes: number } {
  const nodes = 12 + Math.floor(8 * createRandomStream(hashText("n", seed)).next());
  const random = createRandomStream(hashText("vary", seed));
  const length = 0.25 * 8 ** random.next();
  const tilt = -1 + 2 * random.next();
  const scenario = growthScenario(seed, from);
  const habits = scenario.habits.map((habit, i) => {
    const [shortest, longest] = habit.runSeconds ?? [0, 0];
    return {
      ...habit,
      everySeconds: ((habit.everySeconds ?? 1) * length) / Math.exp(tilt * (i - 1.5) * 0.5),
      runSeconds: [shortest * length, longest * length] as const,
    };
  });
  return { scenario: { ...scenario, habits }, nodes };
}

/** A simulated week as a ledger keeps it. */
export function windowOfSeed(seed: number): PlayedWindow {
  const { scenario, nodes } = scenarioOf(seed);
  return windowOf(playedWeek(scenario, seed, from, nodes, 0));
}

/** The p95 wait of the same week with one node more, seconds. */
export function p95WithNode(seed: number): number {
  const { scenario, nodes } = scenarioOf(seed);
  const waits = playedWeek(scenario, seed, from, nodes, 1)
    .started.map(({ waitSeconds }) => waitSeconds)
    .sort((one, other) => one - other);
  return waits[Math.ceil(0.95 * waits.length) - 1] ?? 0;
}

function windowOf({ hours, started }: PlayedWeek): PlayedWindow {
  const sumOf = (list: PlayedWeek["started"]): number => list.reduce((sum, { waitSeconds }) => sum + waitSeconds, 0);
  const buckets = [...Map.groupBy(started, ({ waitSeconds }) => waitBucket(waitSeconds))].map(([bucket, list]) => ({
    bucket,
    waits: list.length,
    seconds: sumOf(list),
  }));
  return {
    hours: hours.map((hour, i) => ({
      at: from + i * 3600,
      seconds: 3600,
      ...hour,
      guaranteed: null,
      guaranteedSeconds: 0,
    })),
    windowHours: hours.length,
    waits: [...Map.groupBy(started, ({ gpus }) => sizeClassOf(gpus))].map(([sizeClass, list]) => ({
      sizeClass,
      count: list.length,
      seconds: sumOf(list),
    })),
    p95Seconds: waitQuantile(buckets, 0.95),
    nodeGpus,
  };
}
