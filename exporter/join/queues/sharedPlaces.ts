import type { ServingDomain } from "./classFinder.ts";
import type { Candidate } from "./placeCandidates.ts";
import type { PlaceMemory } from "./placeMemory.ts";
import type { WaitingPart, WaitingPlace } from "./queueing.ts";

/**
 * Finds the places of some choices: the same list for all equal choices among the same options. `last`: the places of the last
 * cycle.
 */
export type SharedPlaces = (
  options: readonly ServingDomain[],
  standing: readonly Candidate[],
  last: WaitingPart["places"],
) => readonly WaitingPlace[];

/** There may be tens of thousands of gangs, and few ways to choose: the list of the last cycle is kept while it is equal. */
export function createSharedPlaces({ shared: known }: Pick<PlaceMemory, "shared">): SharedPlaces {
  return (options, standing, last) => {
    const made = () => standing.map(({ option, leaf }): WaitingPlace => ({ ...option, queue: leaf }));
    const [first] = standing;
    if (first === undefined || standing.length < options.length) return lastIfSame(made(), last);
    const byLeaf = known.get(options) ?? new Map<number, readonly WaitingPlace[]>();
    if (byLeaf.size === 0) known.set(options, byLeaf);
    const found = byLeaf.get(first.leaf);
    if (found !== undefined && found === last) return found;
    const places = lastIfSame(found ?? made(), last);
    byLeaf.set(first.leaf, places);
    return places;
  };
}

function lastIfSame(places: readonly WaitingPlace[], last: WaitingPart["places"]): readonly WaitingPlace[] {
  if (last === undefined || last.length !== places.length) return places;
  const isSame = last.every(({ queue, domain, classes, gpusPerPod }, i) => {
    const other = places[i];
    if (other === undefined || queue !== other.queue || domain !== other.domain) return false;
    return gpusPerPod === other.gpusPerPod && String(classes) === String(other.classes);
  });
  return isSame ? last : places;
}
