import type { Device, Holding } from "../join/snapshot.ts";

/**
 * Whether nothing shows that a device (or any that an estimated holding may be on) works: no signal of it is above the idle
 * threshold now, or it has no signal. A pod that computes does not wait for the rest of its gang, even if the gang looks
 * incomplete.
 */
export function isQuiet({ idleSince }: Holding, { idleNow }: Device): boolean {
  return idleNow === null || idleSince !== null;
}
