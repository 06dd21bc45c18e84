import { configSchema } from "../../exporter/config/schema.ts";
import type { AdviceKind } from "../../exporter/model/recommendation.ts";
import type { Family } from "../../exporter/publish/family.ts";
import { weekScenario } from "../../simulator/scenarios/advice/week.ts";
import { type AdviceFollower, createFollower } from "./followAdvice.ts";
import { type PlayedCluster, playCluster } from "./playCluster.ts";
import { playFully } from "./playFully.ts";
import { createWasteWatch } from "./trueWaste.ts";

/** One play of the simulated week. */
export interface WeekOptions {
  readonly seed: number;
  readonly days: number;
  /** Seconds for which a need must have been open before somebody acts on it; `null`: nobody follows any advice. */
  readonly followAfter: number | null;
}

/** What a play came to: GPU-hours unless the name says otherwise. */
export interface WeekFigures {
  /** By the exporter's own books. */
  readonly books: {
    readonly heldIdle: number;
    readonly idleNodes: number;
    readonly idleNodeHours: number;
    readonly blocked: number;
    readonly unfair: number;
    readonly active: number;
    /** Of all nodes, in USD. */
    readonly cost: number;
    readonly coveredHours: number;
  };
  /** By the simulator's own word. */
  readonly truth: {
    readonly idle: number;
    readonly blocked: number;
    readonly unfair: number;
    readonly busy: number;
    readonly nodeHours: number;
    /** Work that is to be done again because its pods were taken away. */
    readonly lost: number;
  };
  /** Plans that were begun, by kind, and the requests that they took. */
  readonly begun: ReadonlyMap<AdviceKind, number>;
  readonly requests: AdviceFollower["requests"];
}

/** A Monday at noon. */
const startAt = Date.parse("2026-11-16T12:00:00Z") / 1000;
const cycleSeconds = 600;
const hour = 3600;

/** Plays days of the simulated week with the real exporter, and adds up what was wasted. */
export async function playWeek({ seed, days, followAfter }: WeekOptions): Promise<WeekFigures> {
  const scenario = weekScenario();
  const config = configSchema.parse({
    cluster: "week",
    interval: cycleSeconds,
    teams: [{ from: "namespace-label", key: "team" }],
  });
  const cluster = await playCluster({ scenario, seed, startAt, config });
  const wasteOf = createWasteWatch(scenario);
  const follower = followAfter === null ? null : createFollower(cluster.simulator.apiUrl, followAfter);
  const truth = { idle: 0, blocked: 0, unfair: 0, busy: 0, nodeHours: 0 };
  let blocked = 0;
  const lostBefore = cluster.simulator.truth().lostGpuSeconds;
  try {
    await playFully(cluster, 0);
    for (let cycle = 0; cycle < (days * 24 * hour) / cycleSeconds; cycle++) {
      const { advice } = cluster.stack.latest() ?? {};
      await follower?.act(advice?.recommendations ?? [], cluster.simulator.now());
      const waste = wasteOf(cluster.simulator.truth());
      const hours = cycleSeconds / hour;
      truth.idle += waste.idle * hours;
      truth.blocked += waste.blocked * hours;
      truth.unfair += waste.unfair * hours;
      truth.busy += waste.busy * hours;
      truth.nodeHours += waste.nodes * hours;
      await playFully(cluster, cycleSeconds);
      blocked += sumOf(cluster, "fairlead_blocked_gpus") * hours;
    }
    const lost = (cluster.simulator.truth().lostGpuSeconds - lostBefore) / hour;
    return {
      books: { ...booksOf(cluster), blocked },
      truth: { ...truth, lost },
      begun: follower?.begun ?? new Map(),
      requests: follower?.requests ?? { sent: 0, refused: 0 },
    };
  } finally {
    await cluster.stop();
  }
}

function booksOf(cluster: PlayedCluster): Omit<WeekFigures["books"], "blocked"> {
  const hoursOf = (state: string): number => sumOf(cluster, "fairlead_gpu_seconds_total", { state }) / hour;
  return {
    heldIdle: hoursOf("held_idle"),
    idleNodes: hoursOf("idle_node"),
    idleNodeHours: sumOf(cluster, "fairlead_idle_node_seconds_total") / hour,
    unfair:
      sumOf(cluster, "fairlead_queue_shortfall_gpu_seconds_total", { kind: "ClusterQueue", cause: "by_others" }) / hour,
    active: hoursOf("active"),
    cost: sumOf(cluster, "fairlead_cost_total", { currency: "USD" }),
    coveredHours: sumOf(cluster, "fairlead_covered_seconds_total") / hour,
  };
}

/** The sum of the series of a family that have these labels. */
function sumOf({ stack }: PlayedCluster, name: string, labels: Readonly<Record<string, string>> = {}): number {
  const family: Family | undefined = stack.latest()?.families.find((one) => one.name === name);
  if (family === undefined) return 0;
  const wanted = Object.entries(labels).map(([label, value]) => [family.labelNames.indexOf(label), value] as const);
  return family.series
    .filter(({ labelValues }) => wanted.every(([place, value]) => labelValues[place] === value))
    .reduce((sum, { value }) => sum + value, 0);
}
