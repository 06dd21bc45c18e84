import type { WaitingPart, WaitingPlace } from "./queueing.ts";

/** The fields of a place that decide whether a part is served there. */
export type PlaceAmount = Pick<WaitingPart, "queue" | "gpusPerPod">;

/**
 * A part as it is in the first of its places that serves it, so that it may go to no other: where it is counted comes first,
 * then the order of its queue. It is the part itself where it has no choice; `null`: no place serves it.
 */
export function firstPlaceOf(part: WaitingPart, isServed: (place: PlaceAmount) => boolean): WaitingPart | null {
  const { places = [] } = part;
  if (places.length <= 1) return isServed(part) ? part : null;
  if (isServed(part)) return partAt(part, places.find((place) => isSame(place, part)) ?? places[0]);
  const found = places.find((place) => !isSame(place, part) && isServed(place));
  return found === undefined ? null : partAt(part, found);
}

/** A part as it would wait in one of the records of its queue; `null`: it may not go there. */
export function partIn(part: WaitingPart, queue: number): WaitingPart | null {
  return firstPlaceOf(part, (place) => place.queue === queue);
}

/** The classes of its domain (by index) to which a part may go where it is; `null`: all. */
export function classesOf(part: WaitingPart): readonly number[] | null {
  return part.places?.find((place) => isSame(place, part))?.classes ?? null;
}

const isSame = (one: PlaceAmount, other: PlaceAmount): boolean =>
  one.queue === other.queue && one.gpusPerPod === other.gpusPerPod;

function partAt(part: WaitingPart, place: WaitingPlace | undefined): WaitingPart {
  if (place === undefined) return part;
  const { queue, domain, gpusPerPod } = place;
  return { ...part, queue, domain, gpusPerPod, places: [place] };
}
