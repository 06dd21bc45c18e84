// Needed for the goal `advice-quiet` (docs/performance.md).

import type { Snapshot } from "../../join/snapshot.ts";
import { placesBefore, type WorkName } from "./workPlaces.ts";

/** When each workload of the last moment is looked at again. */
export interface WorkTurns {
  /** The number of the last moment. */
  readonly turn: number;
  /** The workloads of the last moment. */
  readonly order: readonly WorkName[];
  /** For each of them, the number of the moment in which it is due. */
  readonly due: Int32Array;
}

/** The turns of a moment. What is due is looked at: new work at once. */
export interface PresentTurns {
  /** What the next moment has to know: complete once `again` was called for all that is looked at. */
  readonly kept: WorkTurns;
  /** For each workload, its index in the moment before; -1: it is new. */
  readonly before: Int32Array;
  /** Whether all workloads are the same as before, and each at the same index. */
  readonly areSame: boolean;
  /** Indices of the workloads that are looked at now, ascending. */
  readonly looked: readonly number[];
  /** Says in how many moments a workload is looked at again. Work that was new is spread over these moments. */
  again(place: number, moments: number): void;
}

/** The turns before any moment. */
export const noTurns: WorkTurns = { turn: 0, order: [], due: new Int32Array() };

/** The turns of one more moment. */
export function nextTurns(last: WorkTurns | undefined, { workloads }: Pick<Snapshot, "workloads">): PresentTurns {
  const { turn: lastTurn, order, due: lastDue } = last ?? noTurns;
  const turn = lastTurn + 1;
  const before = placesBefore(order, workloads);
  const areSame = order.length === workloads.length && before.every((old, place) => old === place);
  const due = areSame ? lastDue.slice() : before.map((old) => lastDue[old] ?? turn);
  const again = (place: number, moments: number): void => {
    due[place] = turn + ((before[place] ?? -1) < 0 ? 1 + (place % moments) : moments);
  };
  return { kept: { turn, order: workloads, due }, before, areSame, looked: dueAt(due, turn), again };
}

function dueAt(due: Int32Array, turn: number): readonly number[] {
  const found: number[] = [];
  for (let place = 0; place < due.length; place += 1) if ((due[place] ?? 0) <= turn) found.push(place);
  return found;
}

/** What was known of each workload in the moment before, in the order of this one. */
export function knownBefore<Known>(
  last: readonly (Known | undefined)[],
  { before, areSame }: PresentTurns,
): (Known | undefined)[] {
  if (areSame) return last.slice();
  const known: (Known | undefined)[] = new Array(before.length);
  for (let place = 0; place < before.length; place += 1) {
    const old = before[place] ?? -1;
    known[place] = old < 0 ? undefined : last[old];
  }
  return known;
}
