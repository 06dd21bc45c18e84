import type { Snapshot } from "../join/snapshot.ts";
import type { Booking } from "./booking.ts";
import type { PoolTotals, TeamTotals } from "./totals.ts";

/** The answers of one moment: what every face publishes. */
export interface Analysis {
  readonly snapshot: Snapshot;
  readonly bookings: readonly Booking[];
  /** By name; includes `unassigned` when anything is. */
  readonly teams: readonly TeamTotals[];
  /** By name. */
  readonly pools: readonly PoolTotals[];
}
