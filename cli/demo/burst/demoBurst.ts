import type { Analysis } from "../../../exporter/analysis/analysis.ts";
import { configSchema } from "../../../exporter/config/schema.ts";
import {
  type BurstPolicy,
  burstHistory,
  burstPolicies,
  burstScenario,
  burstTimes,
} from "../../../simulator/scenarios/burst.ts";
import type { Truth } from "../../../simulator/truth.ts";
import type { ExitCode, Io } from "../../io.ts";
import { playCluster } from "../playCluster.ts";
import { createBurstWatch, type PolicyFigures } from "./burstFigures.ts";
import { burstText } from "./burstTable.ts";

/** Plays one burst under three policies, and prints what the exporter saw of each in one table. */
export async function demoBurst(seed: number, io: Io): Promise<ExitCode> {
  const onPolicy = (policy: string): void => io.err(`fairlead: playing seven hours under ${policy} ...\n`);
  io.out(`${burstText(await playBurst({ seed, onPolicy }), io.terminal)}`);
  return 0;
}

/** Seconds between two cycles of the exporter. */
const cycleSeconds = 60;
/** A Monday morning, so that the same seed gives the same figures on any day. */
const startAt = Date.parse("2026-11-16T08:00:00Z") / 1000;

/** One moment of a play. */
interface BurstCycle {
  readonly policy: BurstPolicy;
  /** Seconds after the start of the play. */
  readonly seconds: number;
  readonly truth: Truth;
  readonly analysis: Analysis;
}

interface BurstOptions {
  readonly seed: number;
  /** Called before each play. */
  readonly onPolicy?: (policy: BurstPolicy) => void;
  /** Called after each cycle, with the true state of the simulated cluster and with what the exporter found. */
  readonly onCycle?: (cycle: BurstCycle) => void;
}

/** Plays the burst under each policy, one after the other, with an exporter of its own that watches it over HTTP. */
export async function playBurst(options: BurstOptions): Promise<readonly PolicyFigures[]> {
  const figures: PolicyFigures[] = [];
  for (const policy of burstPolicies) {
    options.onPolicy?.(policy);
    figures.push(await playPolicy(policy, options));
  }
  return figures;
}

async function playPolicy(policy: BurstPolicy, { seed, onCycle }: BurstOptions): Promise<PolicyFigures> {
  const scenario = burstScenario(policy);
  const config = configSchema.parse({
    cluster: scenario.name,
    interval: cycleSeconds,
    teams: [{ from: "namespace-label", key: "team" }],
    advice: { enabled: false },
    // What a scheduler does on purpose is not unfair: each policy is judged by its own rules.
    queues: policy === "time-based-fairshare" ? { history: { enabled: true, ...burstHistory } } : {},
  });
  const cluster = await playCluster({
    scenario,
    seed,
    startAt,
    config,
    // Evictions are reported some seconds late, by the clock of their reader, which must therefore follow the play.
    hurriedApi: true,
    isApiInOrder: true,
  });
  const watch = createBurstWatch();
  try {
    for (let seconds = 0; seconds <= burstTimes.end; seconds += cycleSeconds) {
      await cluster.step(seconds === 0 ? 0 : cycleSeconds);
      const [analysis, publication] = [cluster.stack.cycle.latest(), cluster.stack.latest()];
      if (analysis === null || publication === null) throw new Error("a cycle was not completed");
      watch.look(analysis, publication.families);
      onCycle?.({ policy, seconds, truth: cluster.simulator.truth(), analysis });
    }
    return watch.figures(policy);
  } finally {
    await cluster.stop();
  }
}
