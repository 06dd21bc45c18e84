import type { Config } from "../config/schema.ts";
import type { Snapshot } from "../join/snapshot.ts";
import { inOneStep, type Steps } from "../kernel/steps.ts";
import type { Analysis } from "./analysis.ts";
import { findBlockedInSteps } from "./blocked/findBlocked.ts";
import type { UsageHistory } from "./fairness/fairness.ts";
import { judgeFairnessInSteps } from "./fairness/judgeFairness.ts";
import { shortSince } from "./fairness/shortSince.ts";
import { findIdleNodesInSteps, type IdleNodeSettings } from "./idleNodes/findIdleNodes.ts";
import { findingsInSteps } from "./lint/findings.ts";
import {
  createPlacementCache,
  measurePlacementInSteps,
  type PlacementCache,
  type PlacementSettings,
} from "./placement/measurePlacement.ts";
import type { PriceCache } from "./prices/priceCache.ts";
import { type PriceSettings, priceNodesInSteps } from "./prices/priceNodes.ts";
import { gangRoomsInSteps } from "./rooms/gangRooms.ts";
import { roomsInSteps } from "./rooms/rooms.ts";
import { schedulerViewsInSteps } from "./schedulerViews/schedulerViews.ts";
import { bookStates, type StateSettings } from "./states.ts";
import { totalPools, totalTeams } from "./utilization.ts";
import { explainWaitingInSteps, type WaitSettings } from "./waiting/explainWaiting.ts";

/** What the answers depend on beside the moment itself. */
export interface AnalysisSettings
  extends StateSettings,
    WaitSettings,
    PriceSettings,
    IdleNodeSettings,
    PlacementSettings {
  /** Past use of queues, for entitlement that takes it into account; without it, the moment alone counts. */
  readonly history?: UsageHistory | null;
  /** What the last moment found; without it, whoever is short is so since now. */
  readonly shortSince?: ReadonlyMap<string, number>;
  readonly blockedSince?: ReadonlyMap<string, number>;
  readonly idleNodeSince?: ReadonlyMap<string, number>;
  /** Kept from one moment to the next; without it everything is measured anew. */
  readonly placementCache?: PlacementCache;
  readonly priceCache?: PriceCache;
}

const nothing: ReadonlyMap<string, number> = new Map();

/** The settings of a configuration. */
export function analysisSettings({
  idle,
  queues,
  prices,
  placement,
}: Pick<Config, "idle" | "queues" | "prices" | "placement">): AnalysisSettings {
  return {
    idleBatchSeconds: idle.batchSeconds,
    idleServingSeconds: idle.servingSeconds,
    waitTargets: queues.waitTargets,
    warmPools: idle.warmPools,
    basis: prices.basis,
    staleDays: prices.staleDays,
    targetWorkload: placement.targetWorkload,
    ended: null,
  };
}

/** Asks every question of one Snapshot. Pure. */
export function analyse(snapshot: Snapshot, settings: AnalysisSettings): Analysis {
  return inOneStep(analyseInSteps(snapshot, settings));
}

/** `analyse` with pauses. */
export function* analyseInSteps(snapshot: Snapshot, settings: AnalysisSettings): Steps<Analysis> {
  const { history = null, idleBatchSeconds, idleServingSeconds, warmPools } = settings;
  const { bookings, uses } = yield* bookStates(snapshot, settings);
  yield;
  const teams = yield* totalTeams(snapshot, bookings);
  yield;
  const pools = yield* totalPools(snapshot, bookings);
  yield;
  const fairness = yield* judgeFairnessInSteps(snapshot.queueing, history);
  yield;
  const cache = settings.placementCache ?? createPlacementCache();
  const rooms = yield* roomsInSteps(snapshot, cache.rooms);
  yield;
  const gangRooms = yield* gangRoomsInSteps(snapshot, rooms);
  yield;
  const waiting = yield* explainWaitingInSteps(snapshot, gangRooms, settings);
  yield;
  const found = yield* findingsInSteps(snapshot, history);
  yield;
  const plugin = snapshot.schedulerSettings.volcano?.plugin ?? "proportion";
  const views = yield* schedulerViewsInSteps(snapshot, plugin, history);
  yield;
  const prices = yield* priceNodesInSteps(snapshot, settings, settings.priceCache);
  yield;
  const placement = yield* measurePlacementInSteps(snapshot, rooms, settings, cache);
  yield;
  const blocked = yield* findBlockedInSteps(snapshot, gangRooms, settings.blockedSince ?? nothing);
  yield;
  const idleNodes = yield* findIdleNodesInSteps(snapshot, uses, settings.idleNodeSince ?? nothing, settings);
  yield;
  return {
    snapshot,
    bookings,
    stateSettings: { idleBatchSeconds, idleServingSeconds, warmPools },
    teams,
    pools,
    fairness,
    history,
    shortSince: shortSince(snapshot.queueing, fairness, settings.shortSince ?? nothing, snapshot.at),
    waiting,
    findings: found,
    schedulerViews: views,
    prices,
    placement,
    blocked,
    idleNodes,
    rooms,
    gangRooms,
  };
}
