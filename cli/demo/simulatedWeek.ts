import { configSchema } from "../../exporter/config/schema.ts";
import type { AdviceKind } from "../../exporter/model/recommendation.ts";
import type { Family } from "../../exporter/publish/family.ts";
import { weekScenario } from "../../simulator/scenarios/advice/week.ts";
import type { Truth } from "../../simulator/truth.ts";
import { askOwner } from "./askOwner.ts";
import { type AdviceFollower, createFollower } from "./followAdvice.ts";
import { type MemoryPlay, playInMemory } from "./playInMemory.ts";
import { trueWaste } from "./trueWaste.ts";

/** One play of the simulated week. */
export interface WeekOptions {
  readonly seed: number;
  readonly hours: number;
  /** Seconds for which a need must have been open before someone acts on it; `null`: nobody follows any advice. */
  readonly followAfter: number | null;
}

/** The results of a play, in GPU-hours unless the name says otherwise. */
export interface WeekFigures {
  /** The figures of the exporter's own accounting. */
  readonly accounts: {
    /** GPU time on all nodes that existed, in all states but `active`. */
    readonly notActive: number;
    readonly active: number;
    readonly blocked: number;
    readonly unfair: number;
    /** The cost of all nodes, in USD. */
    readonly cost: number;
    readonly coveredHours: number;
  };
  /** The figures that the simulator itself knows. */
  readonly truth: {
    /** The work of jobs that ended well: what they were to run, each counted once. */
    readonly finished: number;
    readonly finishedJobs: number;
    /** Work that is to be done again because its pods were taken away. */
    readonly lost: number;
    readonly busy: number;
    readonly paidNotBusy: number;
    readonly blocked: number;
    readonly unfair: number;
    readonly nodeHours: number;
    /** How often someone came back to work that had been stopped, and the hours until it ran again. */
    readonly foundStopped: number;
    readonly waitedHours: number;
  };
  /** Plans that were begun, by kind, the requests that they took, and what owners were asked. */
  readonly begun: ReadonlyMap<AdviceKind, number>;
  readonly requests: AdviceFollower["requests"];
  readonly questions: AdviceFollower["questions"];
}

/** The start of the play: a Monday at noon. */
const startAt = Date.parse("2026-11-16T12:00:00Z") / 1000;
const cycleSeconds = 600;
const hour = 3600;

/** Plays hours of the simulated week with the real exporter, and adds up what was done and what was wasted. */
export async function playWeek({ seed, hours, followAfter }: WeekOptions): Promise<WeekFigures> {
  const scenario = weekScenario();
  const config = configSchema.parse({
    cluster: "week",
    interval: cycleSeconds,
    teams: [{ from: "namespace-label", key: "team" }],
  });
  const play = await playInMemory({ scenario, seed, startAt, config });
  const { cluster } = play;
  const outside = { write: play.write, ask: (target: string) => askOwner(cluster, target) };
  const follower = followAfter === null ? null : createFollower(outside, followAfter);
  const sums = { busy: 0, paidNotBusy: 0, blocked: 0, unfair: 0, nodeHours: 0 };
  const before = cluster.truth();
  let blocked = 0;
  try {
    await play.step(0);
    for (let cycle = 0; cycle < (hours * hour) / cycleSeconds; cycle++) {
      await follower?.act(play.stack.latest()?.advice.recommendations ?? [], cluster.now());
      const { nodes, ...waste } = trueWaste(scenario, cluster.truth());
      const length = cycleSeconds / hour;
      sums.busy += waste.busy * length;
      sums.paidNotBusy += waste.paidNotBusy * length;
      sums.blocked += waste.blocked * length;
      sums.unfair += waste.unfair * length;
      sums.nodeHours += nodes * length;
      await play.step(cycleSeconds);
      blocked += sumOf(play, "fairlead_blocked_gpus") * length;
    }
    return {
      accounts: { ...accountsOf(play), blocked },
      truth: { ...sums, ...doneBetween(before, cluster.truth()) },
      begun: follower?.begun ?? new Map(),
      requests: follower?.requests ?? { sent: 0, refused: 0 },
      questions: follower?.questions ?? { asked: 0, agreed: 0 },
    };
  } finally {
    await play.stop();
  }
}

function doneBetween(before: Truth, after: Truth) {
  return {
    finished: (after.finished.gpuSeconds - before.finished.gpuSeconds) / hour,
    finishedJobs: after.finished.workloads - before.finished.workloads,
    lost: (after.lostGpuSeconds - before.lostGpuSeconds) / hour,
    foundStopped: after.foundStopped.length - before.foundStopped.length,
    waitedHours: (after.ownerWaitSeconds - before.ownerWaitSeconds) / hour,
  };
}

function accountsOf(play: MemoryPlay): Omit<WeekFigures["accounts"], "blocked"> {
  const active = sumOf(play, "fairlead_gpu_seconds_total", { state: "active" }) / hour;
  return {
    active,
    notActive: sumOf(play, "fairlead_gpu_seconds_total") / hour - active,
    unfair:
      sumOf(play, "fairlead_queue_shortfall_gpu_seconds_total", { kind: "ClusterQueue", cause: "by_others" }) / hour,
    cost: sumOf(play, "fairlead_cost_total", { currency: "USD" }),
    coveredHours: sumOf(play, "fairlead_covered_seconds_total") / hour,
  };
}

/** The sum of the series of a family that have these labels. */
function sumOf({ stack }: MemoryPlay, name: string, labels: Readonly<Record<string, string>> = {}): number {
  const family: Family | undefined = stack.latest()?.families.find((one) => one.name === name);
  if (family === undefined) return 0;
  const wanted = Object.entries(labels).map(([label, value]) => [family.labelNames.indexOf(label), value] as const);
  return family.series
    .filter(({ labelValues }) => wanted.every(([place, value]) => labelValues[place] === value))
    .reduce((sum, { value }) => sum + value, 0);
}
