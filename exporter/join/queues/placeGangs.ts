import { classFinder, type ServingDomain } from "./classFinder.ts";
import type { GangDraft, PartDraft } from "./gangDraft.ts";
import { type Headroom, headroomIn } from "./headroom.ts";
import { type Candidate, candidateFinder, type Places } from "./placeCandidates.ts";
import { placedGang } from "./placedGang.ts";
import { type QueueDraft, sumUpwards } from "./queueDrafts.ts";
import type { NeverReason, WaitingGang, WaitingPart, WaitingPlace } from "./queueing.ts";
import { gpusOf } from "./resourceGpus.ts";
import { inServingOrder } from "./servingOrder.ts";
import type { TeamCounts } from "./teamCounts.ts";

const tolerance = 1e-6;

/**
 * Finds for each part of each gang the queue and domain in which it waits, in the order in which queues serve them: the first
 * domain in the part's own order in which its queue has headroom for it, or else the first one. What can be admitted is
 * counted as pending of its queue and all above it; `leafOfPod` is filled with where waiting pods are.
 */
export function placeGangs(
  drafts: readonly GangDraft[],
  places: Places,
  counted: { readonly teams: TeamCounts; readonly leafOfPod: Int32Array },
): readonly WaitingGang[] {
  const { forest, input } = places;
  const ordered = inServingOrder(drafts, input.cache);
  const optionsOf = optionFinder(classFinder(forest.bare));
  const candidatesOf = candidateFinder(places);
  const find = (part: PartDraft, draft: GangDraft): PartOptions => {
    const options = optionsOf(part, draft.scheduler);
    return { options, candidates: candidatesOf(options, draft) };
  };
  const headroom = headroomIn(forest.queues);
  const physical = forest.bare.map((domain) => domain.physical);
  const gangs: WaitingGang[] = [];
  const sharedPlaces = createSharedPlaces();
  for (let i = 0; i < ordered.length; i++) {
    const draft = ordered[i];
    if (draft === undefined) continue;
    const placing: Placing = { draft, places, headroom, physical, taken: null, never: draft.never, sharedPlaces };
    const last = draft.kept?.gang?.parts;
    const parts = draft.parts.map((part, k) => placePart(part, find(part, draft), placing, last?.[k] ?? null));
    const gang = placedGang(draft, parts, placing.never, forest.queues);
    const index = gangs.push(gang) - 1;
    for (let k = 0; k < parts.length; k++) {
      const leaf = parts[k]?.queue ?? -1;
      for (const pod of draft.parts[k]?.waiting ?? []) counted.leafOfPod[pod] = leaf;
      if (leaf >= 0)
        enter(forest.queues, leaf, index, gang.never === null ? (parts[k] ?? null) : null, placing, counted.teams);
    }
  }
  sumUpwards(forest.queues, "pending");
  return gangs;
}

interface Placing {
  readonly draft: GangDraft;
  readonly places: Places;
  readonly headroom: Headroom;
  readonly physical: readonly number[];
  /** GPUs of this gang's parts so far, by leaf; `null`: nothing yet. */
  taken: Map<number, number> | null;
  never: NeverReason | null;
  /** The places of some choices: the same list for all equal choices among the same options. */
  readonly sharedPlaces: (
    options: readonly ServingDomain[],
    standing: readonly Candidate[],
    last: WaitingPart["places"],
  ) => readonly WaitingPlace[];
}

/** Where a part may go by the nodes, and those of the places where its queue has a record. */
interface PartOptions {
  readonly options: readonly ServingDomain[];
  readonly candidates: readonly Candidate[];
}

/** Finds the options of a part; those of parts with the same objects are found once. */
function optionFinder(
  servingOf: ReturnType<typeof classFinder>,
): (part: PartDraft, scheduler: string) => readonly ServingDomain[] {
  const found = new Map<PartDraft["needs"], KnownOptions[]>();
  return (part, scheduler) => {
    const alike = found.get(part.needs) ?? [];
    if (alike.length === 0) found.set(part.needs, alike);
    const known = alike.find((one) => one.scheduler === scheduler && isAlike(one.part, part));
    if (known !== undefined) return known.options;
    const { needs, scopes, gpusPerPod } = part;
    const options = servingOf({ scheduler, needs, scopes, gpusPerPod });
    // Anybody who can create workloads can write many that differ only in their flavors.
    if (alike.length < mostAlike) alike.push({ part, scheduler, options });
    return options;
  };
}

const mostAlike = 20;

interface KnownOptions {
  readonly part: PartDraft;
  readonly scheduler: string;
  readonly options: readonly ServingDomain[];
}

function isAlike({ scopes: one, gpusPerPod }: PartDraft, { scopes: other, gpusPerPod: gpus }: PartDraft): boolean {
  if (gpusPerPod !== gpus) return false;
  if (one === other) return true;
  return one !== null && other !== null && one.length === other.length && one.every((name, i) => name === other[i]);
}

/** `last`: the part of the last cycle, which is kept while it is equal. */
function placePart(
  part: PartDraft,
  { options, candidates }: PartOptions,
  placing: Placing,
  last: WaitingPart | null,
): WaitingPart {
  const { places, draft } = placing;
  const { pods, needs, gpusPerPod: reported } = part;
  const createdPods = part.waiting.length;
  const { queued, allowed, standing, chosen } = chooseOption(part, candidates, placing);
  const [first] = options;
  const [stands] = standing;
  placing.never ??= neverOf(placing, { options: first, queued, allowed, standing: stands ?? null });
  const found = chosen ?? stands ?? allowed ?? queued;
  if (found !== null) {
    const { domain, gpusPerPod } = found.option;
    if (draft.parts.length > 1) {
      placing.taken ??= new Map();
      placing.taken.set(found.leaf, (gpusPerPod ?? 0) * pods + (placing.taken.get(found.leaf) ?? 0));
    }
    const isOpen = standing.length > 1 || (stands !== undefined && stands.option.classes !== null);
    const open = isOpen ? placing.sharedPlaces(options, standing, last?.places) : undefined;
    // Pods and needs are those of the draft, which is the same.
    const isSame = last?.queue === found.leaf && last.domain === domain && last.gpusPerPod === gpusPerPod;
    if (isSame && last.places === open) return last;
    const waiting: WaitingPart = { queue: found.leaf, domain, pods, createdPods, gpusPerPod, needs };
    return open === undefined ? waiting : { ...waiting, places: open };
  }
  if (first !== undefined)
    return { queue: null, domain: first.domain, pods, createdPods, gpusPerPod: first.gpusPerPod, needs };
  const gpusPerPod = reported === undefined ? gpusOf(needs.requests, places.input.pools) : reported;
  return { queue: null, domain: null, pods, createdPods, gpusPerPod, needs };
}

/** The first option where its queue has a record; where the limit allows it; all with enough GPUs; the first with headroom. */
interface Choice {
  readonly queued: Candidate | null;
  readonly allowed: Candidate | null;
  readonly standing: readonly Candidate[];
  readonly chosen: Candidate | null;
}

function chooseOption(part: PartDraft, candidates: readonly Candidate[], placing: Placing): Choice {
  const { physical, headroom, draft } = placing;
  const fewest = fewestOf(part, draft);
  let allowed: Candidate | null = null;
  let chosen: Candidate | null = null;
  // Mostly all of them have enough GPUs: the list is copied only from the first exception on.
  let some: Candidate[] | null = null;
  for (let n = 0; n < candidates.length; n++) {
    const one = candidates[n];
    if (one === undefined) continue;
    const { option, leaf } = one;
    const before = placing.taken?.get(leaf) ?? 0;
    const gpus = option.gpusPerPod ?? 0;
    const least = gpus * fewest + before;
    const isAllowed = least <= headroom.ever(leaf) + tolerance;
    if (isAllowed) allowed ??= one;
    if (!isAllowed || least > (physical[option.domain] ?? 0) + tolerance) {
      some ??= candidates.slice(0, n);
      continue;
    }
    some?.push(one);
    if (chosen === null && gpus * part.pods + before <= headroom.now(leaf) + tolerance) chosen = one;
  }
  return { queued: candidates[0] ?? null, allowed, standing: some ?? candidates, chosen };
}

/** There may be tens of thousands of gangs, and few ways to choose: the list of the last cycle is kept while it is equal. */
function createSharedPlaces(): Placing["sharedPlaces"] {
  const known = new Map<readonly ServingDomain[], Map<number, readonly WaitingPlace[]>>();
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

/** The fewest pods of a part that the gang needs. */
function fewestOf({ pods }: PartDraft, { bound, min, parts }: GangDraft): number {
  let members = bound;
  for (const part of parts) members += part.pods;
  return Math.min(pods, Math.max(1, Math.ceil((pods * min) / members)));
}

/** The first option; of these, where its queue has a record; where the limit allows it; where enough GPUs are. */
interface Options {
  readonly options: ServingDomain | undefined;
  readonly queued: Candidate | null;
  readonly allowed: Candidate | null;
  readonly standing: Candidate | null;
}

function neverOf({ places, draft }: Placing, { options, queued, allowed, standing }: Options): NeverReason | null {
  if (standing !== null) return null;
  const { ref } = draft;
  const isOfSystem = ref !== null && places.input.systems.some(({ scheduler }) => scheduler === ref.scheduler);
  // Without nodes it is unknown what exists.
  if (options === undefined) return places.input.nodes.length === 0 ? null : "no-node";
  if (queued === null) return isOfSystem ? "no-queue" : null;
  return allowed === null ? "above-limit" : "no-node";
}

/** Puts a gang into a leaf; `part` is `null` when it is no demand. */
function enter(
  queues: readonly QueueDraft[],
  leaf: number,
  gang: number,
  part: WaitingPart | null,
  { headroom, draft: { team } }: Placing,
  teams: TeamCounts,
): void {
  const queue = queues[leaf];
  if (queue === undefined) return;
  if (queue.gangs.at(-1) !== gang) queue.gangs.push(gang);
  const gpus = part === null ? 0 : part.pods * (part.gpusPerPod ?? 0);
  if (gpus === 0) return;
  teams(leaf, team).pending += gpus;
  queue.pending += gpus;
  headroom.take(leaf, gpus);
}
