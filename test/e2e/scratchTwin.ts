import type { MemoryPlay } from "../../cli/demo/playInMemory.ts";
import { createAccounting } from "../../exporter/accounts/accounting.ts";
import { createAdviser } from "../../exporter/advice/adviser.ts";
import { analyse, analysisSettings } from "../../exporter/analysis/analyse.ts";
import type { Analysis } from "../../exporter/analysis/analysis.ts";
import { collect } from "../../exporter/collect.ts";
import type { Config } from "../../exporter/config/schema.ts";
import { join } from "../../exporter/join/join.ts";
import { createJoinCache } from "../../exporter/join/joinCache.ts";
import { emptyMemory, type Memory } from "../../exporter/join/memory.ts";
import { withFindings } from "../../exporter/join/remember.ts";
import { buildFamilies } from "../../exporter/publish/families.ts";
import type { Family } from "../../exporter/publish/family.ts";

/** What the twin found in a cycle. */
export interface ScratchAnswers {
  readonly analysis: Analysis;
  /** All families of the page but those on Fairlead's own health. */
  readonly families: readonly Family[];
}

/**
 * A twin of the exporter's cycle that keeps nothing from one cycle to the next but what decides the answers: the memory of the
 * join, the accounts, and the advice that is open. It reads what the sources of a play know.
 */
export function createScratchTwin({ stack, cluster }: MemoryPlay, config: Config): () => ScratchAnswers {
  const accounts = createAccounting({
    intervalSeconds: config.interval,
    limits: config.limits,
    queues: config.queues,
    co2GramsPerKwh: config.cost.co2GramsPerKwh,
  });
  const adviser = createAdviser(config.advice, config.interval);
  let memory: Memory = emptyMemory;
  return () => {
    const at = cluster.now();
    const { sources, serving } = stack.dcgm;
    const state = collect(
      stack.kubernetes.read(),
      sources.map((source) => source.read()),
      stack.prices.read(),
      serving.map((source) => source.read()),
    );
    const cache = createJoinCache();
    const joined = join(state, memory, config, at, cache);
    const analysis = analyse(joined.snapshot, {
      ...analysisSettings(config),
      history: accounts.usageHistory(),
      shortSince: memory.shortSince,
      blockedSince: memory.blockedSince,
      idleNodeSince: memory.idleNodeSince,
      ended: accounts.endedShapes(),
    });
    accounts.account(analysis, { wall: at, monotonic: cluster.monotonic() });
    memory = withFindings(
      joined.memory,
      {
        shortSince: analysis.shortSince,
        blockedSince: analysis.blocked.since,
        idleNodeSince: analysis.idleNodes.since,
      },
      cache,
    );
    const advice = adviser.advise(
      analysis,
      sources.flatMap((source) => source.problems()),
    );
    adviser.takeChanges();
    const { families } = buildFamilies({
      analysis,
      health: stack.health(),
      limits: { ...config.limits, cost: config.cost, topRecommendations: config.advice.topSeries },
      accounts: accounts.counters(),
      budgets: stack.budgets.latest(),
      advice,
    });
    return { analysis, families };
  };
}
