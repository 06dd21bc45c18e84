import type { Blocked, BlockedWork } from "../../../exporter/analysis/blocked/blocked.ts";
import { findBlocked } from "../../../exporter/analysis/blocked/findBlocked.ts";
import { findFreeCapacities } from "../../../exporter/analysis/freeCapacity/freeCapacities.ts";
import { findGangFreeCapacities } from "../../../exporter/analysis/freeCapacity/gangFreeCapacities.ts";
import type { Queueing, WaitingGang } from "../../../exporter/join/queues/queueing.ts";
import type { Snapshot } from "../../../exporter/join/snapshot.ts";
import { type TestNode, waitingMoment } from "../waiting/waitingBuilder.ts";

/** What is blocked at a moment. */
export function blockedAt(snapshot: Snapshot, since: ReadonlyMap<string, number> = new Map()): Blocked {
  const freeCapacities = findGangFreeCapacities(snapshot, findFreeCapacities(snapshot));
  return findBlocked(snapshot, freeCapacities, since);
}

/** The only gang that waits, if it is blocked. */
export function blockedWork(
  nodes: readonly TestNode[],
  gang: WaitingGang,
  queueing: Partial<Queueing> = {},
): BlockedWork | undefined {
  return blockedAt(waitingMoment(nodes, [gang], queueing)).work[0];
}
