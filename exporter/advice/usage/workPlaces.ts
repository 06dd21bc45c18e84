// Needed for the goal `advice-quiet` (docs/performance.md).

import type { WorkloadView } from "../../join/snapshot.ts";
import { workloadName } from "../momentIndex.ts";

/** What identifies a workload from one moment to the next. */
export type WorkName = Pick<WorkloadView, "kind" | "namespace" | "name">;

/** How far from its place a workload is looked for before it is looked up by its name. */
const mostMoved = 8;

interface Found {
  /** Weak: a moment that held on to the one before would hold on to all of them. */
  readonly last: WeakRef<readonly WorkName[]>;
  readonly places: Int32Array;
}

const known = new WeakMap<readonly WorkName[], Found>();

/**
 * For each workload of a moment, its index among those of the moment before; -1 if it is new. No two of them are the same one of
 * before. Nearly all of them follow each other as before, a few places further on, so that hardly any name is looked up. All
 * who ask about one moment share the answer.
 */
export function placesBefore(last: readonly WorkName[], now: readonly WorkName[]): Int32Array {
  const before = known.get(now);
  if (before?.last.deref() === last) return before.places;
  const places = findPlaces(last, now);
  known.set(now, { last: new WeakRef(last), places });
  return places;
}

function findPlaces(last: readonly WorkName[], now: readonly WorkName[]): Int32Array {
  const places = new Int32Array(now.length).fill(-1);
  const isSeen = new Uint8Array(last.length);
  const away: number[] = [];
  let shift = 0;
  for (let place = 0; place < now.length; place += 1) {
    const one = now[place];
    if (one === undefined) continue;
    const next = place + shift;
    const isThere = last[next] === one && isSeen[next] === 0;
    const before = isThere ? next : nearby(last, next, one, isSeen);
    if (before < 0) {
      away.push(place);
      continue;
    }
    places[place] = before;
    isSeen[before] = 1;
    shift = before - place;
  }
  if (away.length === 0 || !isSeen.includes(0)) return places;
  const byName = new Map<string, number>();
  for (const [before, one] of last.entries()) if (isSeen[before] === 0) byName.set(workloadName(one), before);
  for (const place of away) {
    const one = now[place];
    if (one === undefined) continue;
    const name = workloadName(one);
    places[place] = byName.get(name) ?? -1;
    byName.delete(name);
  }
  return places;
}

function nearby(last: readonly WorkName[], at: number, one: WorkName, isSeen: Uint8Array): number {
  for (let by = 0; by <= mostMoved; by += 1) {
    if (isSeen[at + by] === 0 && isSameWork(last[at + by], one)) return at + by;
    if (isSeen[at - by] === 0 && isSameWork(last[at - by], one)) return at - by;
  }
  return -1;
}

/** A view that nothing has changed is the same object, so that most names are not looked at. */
const isSameWork = (one: WorkName | undefined, other: WorkName): boolean =>
  one === other ||
  (one !== undefined && one.name === other.name && one.namespace === other.namespace && one.kind === other.kind);
