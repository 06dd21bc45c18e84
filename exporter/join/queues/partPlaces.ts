import { classFinder, type ServingDomain } from "./classFinder.ts";
import type { GangDraft, PartDraft } from "./gangDraft.ts";
import type { Headroom } from "./headroom.ts";
import { type Candidate, candidateFinder, type FoundCandidates, type Places } from "./placeCandidates.ts";
import { type PlaceMemory, placeMemory } from "./placeMemory.ts";
import type { NeverReason, WaitingPart } from "./queueing.ts";
import { gpusOf } from "./resourceGpus.ts";
import { optionFinder } from "./servingOptions.ts";
import { createSharedPlaces, type SharedPlaces } from "./sharedPlaces.ts";

const tolerance = 1e-6;

/** Finds where work may wait, in one moment. */
export interface PlaceFinder {
  readonly memory: PlaceMemory;
  readonly places: Places;
  readonly optionsOf: (part: PartDraft, scheduler: string) => readonly ServingDomain[];
  readonly candidatesOf: (options: readonly ServingDomain[], draft: GangDraft) => FoundCandidates;
  readonly headroom: Headroom;
  readonly sharedPlaces: SharedPlaces;
}

/** The finder of a moment. */
export function createPlaceFinder(places: Places, headroom: Headroom): PlaceFinder {
  const memory = placeMemory(places, headroom, places.input.cache.places);
  return {
    memory,
    places,
    optionsOf: optionFinder(classFinder(places.forest.bare), memory),
    candidatesOf: candidateFinder(places, memory),
    headroom,
    sharedPlaces: createSharedPlaces(memory),
  };
}

/** Where one part of a gang may wait. */
export interface PartPlaces {
  readonly part: PartDraft;
  /** Fewest of its pods that the gang needs. */
  readonly fewest: number;
  /** The places that the nodes allow. */
  readonly options: readonly ServingDomain[];
  /** The first option where its queue has a record, and the first of these where the limit allows it. */
  readonly queued: Candidate | null;
  readonly allowed: Candidate | null;
  /** All allowed places with enough GPUs. */
  readonly standing: readonly Candidate[];
  /** Why there is no such place. */
  readonly never: NeverReason | null;
  /** Every gang of its queue that asks for the same has the same places; otherwise its team and namespace decide. */
  readonly isOfQueue: boolean;
}

/** Where a part may wait. `taken`: GPUs of the gang's parts before it, by leaf. */
export function partPlaces(
  part: PartDraft,
  draft: GangDraft,
  finder: PlaceFinder,
  taken: ReadonlyMap<number, number>,
): PartPlaces {
  const { headroom, places } = finder;
  const options = finder.optionsOf(part, draft.scheduler);
  const { candidates, isOfQueue } = finder.candidatesOf(options, draft);
  const fewest = fewestOf(part, draft);
  let allowed: Candidate | null = null;
  // Mostly all of them have enough GPUs: the list is copied only from the first exception on.
  let some: Candidate[] | null = null;
  for (const [n, one] of candidates.entries()) {
    const { option, leaf } = one;
    const least = (option.gpusPerPod ?? 0) * fewest + (taken.get(leaf) ?? 0);
    const isAllowed = least <= (headroom.ever[leaf] ?? 0) + tolerance;
    if (isAllowed) allowed ??= one;
    if (!isAllowed || least > (places.forest.bare[option.domain]?.physical ?? 0) + tolerance)
      some ??= candidates.slice(0, n);
    else some?.push(one);
  }
  const standing = some ?? candidates;
  const queued = candidates[0] ?? null;
  const never = standing.length > 0 ? null : neverOf(draft, places, { options, queued, allowed });
  return { part, fewest, options, queued, allowed, standing, never, isOfQueue };
}

/** The first place in which the queue has headroom for all pods of a part now; `null`: in none. */
export function firstWithRoom(
  { part, standing }: PartPlaces,
  { headroom }: PlaceFinder,
  taken: ReadonlyMap<number, number>,
): Candidate | null {
  for (let n = 0; n < standing.length; n++) {
    const one = standing[n];
    if (one === undefined) continue;
    const gpus = (one.option.gpusPerPod ?? 0) * part.pods;
    if (gpus + (taken.get(one.leaf) ?? 0) <= headroom.now(one.leaf) + tolerance) return one;
  }
  return null;
}

/** A part in the place that was chosen for it. `last`: parts of the last cycle in this place; one that is equal is reused. */
export function waitingPart(
  { part, options, queued, allowed, standing }: PartPlaces,
  chosen: Candidate | null,
  { sharedPlaces, places }: PlaceFinder,
  last: readonly (WaitingPart | undefined)[],
): WaitingPart {
  const [first] = options;
  const [stands] = standing;
  const found = chosen ?? stands ?? allowed ?? queued;
  const queue = found?.leaf ?? null;
  const at: Pick<ServingDomain, "gpusPerPod"> & { readonly domain: number | null } = found?.option ??
    first ?? { domain: null, gpusPerPod: gpusAnywhere(part, places) };
  const { domain, gpusPerPod } = at;
  // Pods and needs are those of the draft, which is the same.
  const same = last.find((one) => one?.queue === queue && one.domain === domain && one.gpusPerPod === gpusPerPod);
  const isOpen = standing.length > 1 || (stands !== undefined && stands.option.classes !== null);
  const open = isOpen ? sharedPlaces(options, standing, (same ?? last[0])?.places) : undefined;
  if (same !== undefined && same.places === open) return same;
  const { pods, needs } = part;
  const waiting: WaitingPart = { queue, domain, pods, createdPods: part.waiting.length, gpusPerPod, needs };
  return open === undefined ? waiting : { ...waiting, places: open };
}

/** Physical GPUs of one pod of a part that no node can take. */
const gpusAnywhere = ({ gpusPerPod, needs }: PartDraft, { input }: Places): number | null =>
  gpusPerPod === undefined ? gpusOf(needs.requests, input.pools) : gpusPerPod;

/** The fewest pods of a part that the gang needs. */
function fewestOf({ pods }: PartDraft, { bound, min, parts }: GangDraft): number {
  let members = bound;
  for (const part of parts) members += part.pods;
  return Math.min(pods, Math.max(1, Math.ceil((pods * min) / members)));
}

/** Why a part has no place with enough GPUs. */
function neverOf(
  { ref }: GangDraft,
  { input }: Places,
  { options, queued, allowed }: Pick<PartPlaces, "options" | "queued" | "allowed">,
): NeverReason | null {
  const isOfSystem = ref !== null && input.systems.some(({ scheduler }) => scheduler === ref.scheduler);
  // Without nodes it is unknown what exists.
  if (options.length === 0) return input.nodes.length === 0 ? null : "no-node";
  if (queued === null) return isOfSystem ? "no-queue" : null;
  return allowed === null ? "above-limit" : "no-node";
}
