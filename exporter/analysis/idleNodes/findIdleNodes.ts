import type { Config } from "../../config/schema.ts";
import type { Snapshot } from "../../join/snapshot.ts";
import type { Steps } from "../../kernel/steps.ts";
import type { Booking } from "../booking.ts";
import { type IdleNodes, noIdleNodes } from "./idleNodes.ts";

/** The settings that tell idle nodes. */
export type IdleNodeSettings = Pick<Config["idle"], "warmPools">;

/** Finds the idle nodes of a moment; `since` is of the moment before. Pure. */
export function* findIdleNodesInSteps(
  _snapshot: Snapshot,
  _bookings: readonly Booking[],
  _since: ReadonlyMap<string, number>,
  _settings: IdleNodeSettings,
): Steps<IdleNodes> {
  yield;
  return noIdleNodes;
}
