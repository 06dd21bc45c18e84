import type { Blocked, BlockedWork } from "../../../exporter/analysis/blocked/blocked.ts";
import { findBlockedInSteps } from "../../../exporter/analysis/blocked/findBlocked.ts";
import { gangRoomsInSteps } from "../../../exporter/analysis/rooms/gangRooms.ts";
import { roomsInSteps } from "../../../exporter/analysis/rooms/rooms.ts";
import type { Queueing, WaitingGang } from "../../../exporter/join/queues/queueing.ts";
import type { Snapshot } from "../../../exporter/join/snapshot.ts";
import { inOneStep } from "../../../exporter/kernel/steps.ts";
import { type TestNode, waitingMoment } from "../waiting/waitingBuilder.ts";

/** What is blocked at a moment. */
export function blockedAt(snapshot: Snapshot, since: ReadonlyMap<string, number> = new Map()): Blocked {
  const rooms = inOneStep(gangRoomsInSteps(snapshot, inOneStep(roomsInSteps(snapshot))));
  return inOneStep(findBlockedInSteps(snapshot, rooms, since));
}

/** The only gang that waits, if it is blocked. */
export function blockedWork(
  nodes: readonly TestNode[],
  gang: WaitingGang,
  queueing: Partial<Queueing> = {},
): BlockedWork | undefined {
  return blockedAt(waitingMoment(nodes, [gang], queueing)).work[0];
}
