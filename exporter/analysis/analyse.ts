import type { Config } from "../config/schema.ts";
import type { Snapshot } from "../join/snapshot.ts";
import type { Analysis } from "./analysis.ts";
import { findBlocked } from "./blocked/findBlocked.ts";
import type { UsageHistory } from "./fairness/fairness.ts";
import { judgeFairness } from "./fairness/judgeFairness.ts";
import { shortSince } from "./fairness/shortSince.ts";
import { findFreeCapacities } from "./freeCapacity/freeCapacities.ts";
import { findGangFreeCapacities } from "./freeCapacity/gangFreeCapacities.ts";
import { findIdleNodes, type IdleNodeSettings } from "./idleNodes/findIdleNodes.ts";
import { findings } from "./lint/findings.ts";
import {
  createPlacementCache,
  measurePlacement,
  type PlacementCache,
  type PlacementSettings,
} from "./placement/measurePlacement.ts";
import type { PriceCache } from "./prices/priceNodes.ts";
import { type PriceSettings, priceNodes } from "./prices/priceNodes.ts";
import { schedulerViews } from "./schedulerViews/schedulerViews.ts";
import { type LatencySettings, measureLatencies } from "./serving/serverLatency.ts";
import { measureSignals, type SignalSettings } from "./signals/measureSignals.ts";
import { accountStates, type StateSettings } from "./states.ts";
import { type ConfiguredLevel, findLevels, type LevelsCache } from "./topology/levels.ts";
import { measureTopology } from "./topology/measureTopology.ts";
import { findTopologyBlocks } from "./topology/topologyBlocks.ts";
import { typicalRequestOf } from "./topology/typicalRequestOf.ts";
import { totalPools, totalTeams } from "./utilization.ts";
import { explainWaiting, type WaitSettings } from "./waiting/explainWaiting.ts";

/** What the answers depend on besides the moment itself. */
export interface AnalysisSettings
  extends StateSettings,
    WaitSettings,
    PriceSettings,
    IdleNodeSettings,
    PlacementSettings,
    SignalSettings,
    LatencySettings {
  /** Past use of queues, for entitlement that takes it into account; without it, the moment alone counts. */
  readonly history?: UsageHistory | null;
  /** Since when queues have been short, as the previous moment found it; without it, every shortfall begins now. */
  readonly shortSince?: ReadonlyMap<string, number>;
  readonly blockedSince?: ReadonlyMap<string, number>;
  readonly idleNodeSince?: ReadonlyMap<string, number>;
  /** Results kept from one moment to the next; without it everything is measured anew. */
  readonly placementCache?: PlacementCache;
  readonly priceCache?: PriceCache;
  readonly levelsCache?: LevelsCache;
  /** Levels of the topology that are configured, the coarsest first; absent: none. */
  readonly topologyLevels?: readonly ConfiguredLevel[];
}

const nothing: ReadonlyMap<string, number> = new Map();
const noLevels: readonly ConfiguredLevel[] = [];

/** Returns the settings of a configuration. */
export function analysisSettings({
  idle,
  queues,
  prices,
  placement,
  gpu,
  serving,
}: Pick<Config, "idle" | "queues" | "prices" | "placement" | "gpu" | "serving">): AnalysisSettings {
  return {
    idleBatchSeconds: idle.batchSeconds,
    idleServingSeconds: idle.servingSeconds,
    waitTargets: queues.waitTargets,
    warmPools: idle.warmPools,
    basis: prices.basis,
    staleDays: prices.staleDays,
    targetWorkload: placement.targetWorkload,
    topologyLevels: placement.topologyLevels,
    ended: null,
    power: gpu.power,
    latencyTargets: serving.latencyTargets,
  };
}

/** Answers every question about one Snapshot. Pure. */
export function analyse(snapshot: Snapshot, settings: AnalysisSettings): Analysis {
  const { history = null, idleBatchSeconds, idleServingSeconds, warmPools } = settings;
  const { accountingEntries, uses } = accountStates(snapshot, settings);
  const teams = totalTeams(snapshot, accountingEntries);
  const pools = totalPools(snapshot, accountingEntries);
  const signals = measureSignals(snapshot, settings);
  const fairness = judgeFairness(snapshot.queueing, history);
  const cache = settings.placementCache ?? createPlacementCache();
  const freeCapacities = findFreeCapacities(snapshot, cache.freeCapacities);
  const gangFreeCapacities = findGangFreeCapacities(snapshot, freeCapacities);
  const { topologyLevels = noLevels, levelsCache } = settings;
  const levels = findLevels(snapshot.nodes, topologyLevels, snapshot.queueObjects, levelsCache);
  const topologyBlocks = findTopologyBlocks(snapshot, gangFreeCapacities, levels);
  const waiting = explainWaiting(snapshot, settings, gangFreeCapacities, topologyBlocks);
  const found = findings(snapshot, history);
  const plugin = snapshot.schedulerSettings.volcano?.plugin ?? "proportion";
  const views = schedulerViews(snapshot, plugin, history);
  const prices = priceNodes(snapshot, settings, settings.priceCache);
  const placement = measurePlacement(snapshot, settings, cache, freeCapacities);
  const blocked = findBlocked(snapshot, gangFreeCapacities, settings.blockedSince ?? nothing, topologyBlocks);
  const idleNodes = findIdleNodes(snapshot, uses, settings.idleNodeSince ?? nothing, settings);
  return {
    snapshot,
    accountingEntries,
    stateSettings: { idleBatchSeconds, idleServingSeconds, warmPools },
    teams,
    pools,
    signals,
    fairness,
    history,
    shortSince: shortSince(snapshot.queueing, fairness, settings.shortSince ?? nothing, snapshot.at),
    waiting,
    findings: found,
    schedulerViews: views,
    prices,
    placement,
    levels,
    topology: measureTopology(freeCapacities, levels, typicalRequestOf(placement.pools)),
    blocked,
    idleNodes,
    freeCapacities,
    gangFreeCapacities,
    latencies: measureLatencies(snapshot, settings),
  };
}
