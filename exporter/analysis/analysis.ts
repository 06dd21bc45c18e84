import type { Snapshot } from "../join/snapshot.ts";
import type { Booking } from "./booking.ts";
import type { Fairness } from "./fairness/fairness.ts";
import type { Finding } from "./lint/finding.ts";
import type { SchedulerView } from "./schedulerViews/schedulerView.ts";
import type { PoolTotals, TeamTotals } from "./totals.ts";
import type { Waiting } from "./waiting/waiting.ts";

/** The answers of one moment: what every face publishes. */
export interface Analysis {
  readonly snapshot: Snapshot;
  readonly bookings: readonly Booking[];
  /** By name; includes `unassigned` when anything is. */
  readonly teams: readonly TeamTotals[];
  /** By name. */
  readonly pools: readonly PoolTotals[];
  readonly fairness: Fairness;
  readonly waiting: Waiting;
  /** What is wrong in the configuration of queues. */
  readonly findings: readonly Finding[];
  readonly schedulerViews: readonly SchedulerView[];
}
