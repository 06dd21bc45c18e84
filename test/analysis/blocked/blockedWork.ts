import type { Blocked, BlockedWork } from "../../../exporter/analysis/blocked/blocked.ts";
import { findBlocked } from "../../../exporter/analysis/blocked/findBlocked.ts";
import { findGangRooms } from "../../../exporter/analysis/rooms/gangRooms.ts";
import { findRooms } from "../../../exporter/analysis/rooms/rooms.ts";
import type { Queueing, WaitingGang } from "../../../exporter/join/queues/queueing.ts";
import type { Snapshot } from "../../../exporter/join/snapshot.ts";
import { type TestNode, waitingMoment } from "../waiting/waitingBuilder.ts";

/** What is blocked at a moment. */
export function blockedAt(snapshot: Snapshot, since: ReadonlyMap<string, number> = new Map()): Blocked {
  const rooms = findGangRooms(snapshot, findRooms(snapshot));
  return findBlocked(snapshot, rooms, since);
}

/** The only gang that waits, if it is blocked. */
export function blockedWork(
  nodes: readonly TestNode[],
  gang: WaitingGang,
  queueing: Partial<Queueing> = {},
): BlockedWork | undefined {
  return blockedAt(waitingMoment(nodes, [gang], queueing)).work[0];
}
