import { createAdviser } from "../../exporter/advice/adviser.ts";
import { analyse, analysisSettings } from "../../exporter/analysis/analyse.ts";
import { configSchema } from "../../exporter/config/schema.ts";
import { join } from "../../exporter/join/join.ts";
import { createJoinCache } from "../../exporter/join/joinCache.ts";
import { emptyMemory, type Memory } from "../../exporter/join/memory.ts";
import { withFindings } from "../../exporter/join/remember.ts";
import type { ClusterState } from "../../exporter/model/cluster.ts";
import { type AdviceKind, adviceKinds, type Recommendation } from "../../exporter/model/recommendation.ts";

/** The engine of one cluster, asked moment after moment. */
export interface Engine {
  /** The open recommendations of a moment; `at` is in seconds since the epoch. */
  advise(state: ClusterState, at: number): readonly Recommendation[];
  /** Takes in that nobody will carry out a recommendation, as a person reports it. */
  dismiss(id: string, at: number): void;
}

/**
 * The engine that runs in production, called as a cycle calls it: what was read is joined, analysed and advised on, and what it
 * found is remembered for the next moment. The settings are the defaults, but only `kinds` are asked for
 * (`advice.disabledKinds`), and one look is enough (`advice.standingCycles`), because a replay looks only once in a while.
 */
export function productionEngine(kinds: readonly AdviceKind[]): Engine {
  const disabledKinds = adviceKinds.filter((kind) => !kinds.includes(kind));
  const config = configSchema.parse({
    cluster: "backtest",
    interval: longestInterval,
    advice: { disabledKinds, standingCycles: 1 },
    prices: { table: false },
  });
  const settings = analysisSettings(config);
  const adviser = createAdviser(config.advice, config.interval);
  const cache = createJoinCache();
  let memory: Memory = emptyMemory;
  let isFirst = true;
  const analysed = (state: ClusterState, at: number) => {
    const joined = join(state, memory, config, at, cache);
    const { shortSince, blockedSince, idleNodeSince } = memory;
    const analysis = analyse(joined.snapshot, { ...settings, shortSince, blockedSince, idleNodeSince });
    memory = withFindings(
      joined.memory,
      {
        shortSince: analysis.shortSince,
        blockedSince: analysis.blocked.since,
        idleNodeSince: analysis.idleNodes.since,
      },
      cache,
    );
    return analysis;
  };
  return {
    advise(state, at) {
      // The replay begins in a cluster that has been as it is for a while: what is blocked was so before.
      if (isFirst) analysed(state, at - lookSeconds);
      isFirst = false;
      return adviser.advise(analysed(state, at)).recommendations.filter((one) => one.state === "open");
    },
    dismiss(id, at) {
      adviser.dismiss(id, "backtest", "nobody carries it out", at);
    },
  };
}

/** Seconds between two looks at the advice. */
export const lookSeconds = 3600;
/** The longest interval that the configuration allows, seconds. */
const longestInterval = 600;
