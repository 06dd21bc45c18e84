import type { Snapshot } from "../join/snapshot.ts";
import type { Analysis } from "./analysis.ts";
import { bookStates, type StateSettings } from "./states.ts";
import { totalPools, totalTeams } from "./utilization.ts";

/** Asks every question of one Snapshot. Pure. */
export function analyse(snapshot: Snapshot, settings: StateSettings): Analysis {
  const bookings = bookStates(snapshot, settings);
  return { snapshot, bookings, teams: totalTeams(snapshot, bookings), pools: totalPools(snapshot, bookings) };
}
