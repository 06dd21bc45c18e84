import type { Snapshot } from "../join/snapshot.ts";
import { inOneStep, type Steps } from "../kernel/steps.ts";
import type { Analysis } from "./analysis.ts";
import { noFairness } from "./fairness/fairness.ts";
import { bookStates, type StateSettings } from "./states.ts";
import { totalPools, totalTeams } from "./utilization.ts";
import { noWaiting } from "./waiting/waiting.ts";

/** Asks every question of one Snapshot. Pure. */
export function analyse(snapshot: Snapshot, settings: StateSettings): Analysis {
  return inOneStep(analyseInSteps(snapshot, settings));
}

/** `analyse` with pauses. */
export function* analyseInSteps(snapshot: Snapshot, settings: StateSettings): Steps<Analysis> {
  const bookings = yield* bookStates(snapshot, settings);
  yield;
  const teams = yield* totalTeams(snapshot, bookings);
  yield;
  const pools = yield* totalPools(snapshot, bookings);
  return {
    snapshot,
    bookings,
    teams,
    pools,
    fairness: noFairness,
    waiting: noWaiting,
    findings: [],
    schedulerViews: [],
  };
}
