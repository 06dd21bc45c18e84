import type { Snapshot } from "../join/snapshot.ts";
import type { AccountingEntries } from "./accountingEntries.ts";
import type { Blocked } from "./blocked/blocked.ts";
import type { Fairness, UsageHistory } from "./fairness/fairness.ts";
import type { FreeCapacities } from "./freeCapacity/freeCapacities.ts";
import type { GangFreeCapacities } from "./freeCapacity/gangFreeCapacities.ts";
import type { IdleNodes } from "./idleNodes/findIdleNodes.ts";
import type { Finding } from "./lint/finding.ts";
import type { Placement } from "./placement/poolPlacement.ts";
import type { Prices } from "./prices/prices.ts";
import type { SchedulerView } from "./schedulerViews/schedulerView.ts";
import type { ServerLatency } from "./serving/serverLatency.ts";
import type { Signals } from "./signals/measureSignals.ts";
import type { StateSettings } from "./states.ts";
import type { LevelDomains } from "./topology/levels.ts";
import type { Topology } from "./topology/topology.ts";
import type { PoolTotals, TeamTotals } from "./totals.ts";
import type { Waiting } from "./waiting/waiting.ts";

/** The answers of one moment, from which every output is made. */
export interface Analysis {
  readonly snapshot: Snapshot;
  readonly accountingEntries: AccountingEntries;
  /** The settings that decided on the states of the accounting entries, for simulations. */
  readonly stateSettings: StateSettings;
  /** Teams, ordered by name; `unassigned` is among them when anything is unassigned. */
  readonly teams: readonly TeamTotals[];
  /** Pools, ordered by name. */
  readonly pools: readonly PoolTotals[];
  /** What telemetry shows beside activity, by pool and by team. */
  readonly signals: Signals;
  readonly fairness: Fairness;
  /** Past use that entitlement took into account; `null`: the moment alone counts. */
  readonly history: UsageHistory | null;
  /** Since when leaf queues have been short of their entitlement, seconds since the epoch, by `queueKey`. */
  readonly shortSince: ReadonlyMap<string, number>;
  readonly waiting: Waiting;
  /** What is wrong in the configuration of queues. */
  readonly findings: readonly Finding[];
  readonly schedulerViews: readonly SchedulerView[];
  readonly prices: Prices;
  readonly placement: Placement;
  /** Levels of the cluster's topology with the domains of its nodes, and how often gangs fit into them. */
  readonly levels: readonly LevelDomains[];
  readonly topology: Topology;
  readonly blocked: Blocked;
  readonly idleNodes: IdleNodes;
  /** What nodes have free, and where waiting gangs could go; also for simulations. */
  readonly freeCapacities: FreeCapacities;
  readonly gangFreeCapacities: GangFreeCapacities;
  /** Workloads that serve and have a latency target. */
  readonly latencies: readonly ServerLatency[];
}
