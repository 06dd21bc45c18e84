import type { Steps } from "../../kernel/steps.ts";
import { classFinder, type ServingDomain } from "./classFinder.ts";
import type { GangDraft, PartDraft } from "./gangDraft.ts";
import { placedGang } from "./placedGang.ts";
import { type QueueDraft, type QueueForest, sumUpwards } from "./queueDrafts.ts";
import type { NeverReason, WaitingGang, WaitingPart, WaitingPlace } from "./queueing.ts";
import type { QueueingInput } from "./queueingInput.ts";
import { gpusOf } from "./resourceGpus.ts";
import { type Room, roomIn } from "./room.ts";
import { inServingOrder } from "./servingOrder.ts";

/** Where work may wait. */
export interface Places {
  readonly input: QueueingInput;
  readonly forest: QueueForest;
}

const gangsPerStep = 1_000;
const tolerance = 1e-6;

/**
 * Finds for each part of each gang the queue and domain in which it waits, in the order in which queues serve them: the first
 * domain of the part's own order in which its queue has room for it, else the first. What can be admitted is counted as pending
 * of its queue and all above it; `leafOfPod` is told where waiting pods are.
 */
export function* placeGangs(
  drafts: readonly GangDraft[],
  places: Places,
  leafOfPod: Int32Array,
): Steps<readonly WaitingGang[]> {
  const { forest, input } = places;
  const ordered = yield* inServingOrder(drafts, input.cache);
  yield;
  const optionsOf = optionFinder(classFinder(forest.bare));
  const room = roomIn(forest.queues);
  const physical = forest.bare.map((domain) => domain.physical);
  const gangs: WaitingGang[] = [];
  const sharedPlaces = createSharedPlaces();
  for (const [i, draft] of ordered.entries()) {
    if (i % gangsPerStep === gangsPerStep - 1) yield;
    const placing: Placing = { draft, places, room, physical, taken: null, never: draft.never, sharedPlaces };
    const last = draft.kept?.gang?.parts;
    const parts = draft.parts.map((part, k) =>
      placePart(part, optionsOf(part, draft.scheduler), placing, last?.[k] ?? null),
    );
    const gang = placedGang(draft, parts, placing.never, forest.queues);
    const index = gangs.push(gang) - 1;
    for (const [k, part] of parts.entries()) {
      for (const pod of draft.parts[k]?.waiting ?? []) leafOfPod[pod] = part.queue ?? -1;
      if (part.queue !== null) enter(forest.queues, part.queue, index, gang.never === null ? part : null, placing);
    }
  }
  yield;
  sumUpwards(forest.queues, "pending");
  return gangs;
}

interface Placing {
  readonly draft: GangDraft;
  readonly places: Places;
  readonly room: Room;
  readonly physical: readonly number[];
  /** GPUs of this gang's parts so far, by leaf; `null`: nothing yet. */
  taken: Map<number, number> | null;
  never: NeverReason | null;
  /** The places of some choices: the same list for all that choose the same of the same options. */
  readonly sharedPlaces: (
    options: readonly ServingDomain[],
    standing: readonly Chosen[],
    last: WaitingPart["places"],
  ) => readonly WaitingPlace[];
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
    // Whoever may create workloads may write many that differ in their flavors alone.
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

/** `last`: what it was in the last cycle, which it stays while it says the same. */
function placePart(
  part: PartDraft,
  options: readonly ServingDomain[],
  placing: Placing,
  last: WaitingPart | null,
): WaitingPart {
  const { places, draft } = placing;
  const { pods, needs, gpusPerPod: told } = part;
  const createdPods = part.waiting.length;
  const { queued, allowed, standing, chosen } = chooseOption(part, options, placing);
  const [first] = options;
  const [stands] = standing;
  placing.never ??= neverOf(placing, { options: first, queued, allowed, standing: stands ?? null });
  const found = chosen ?? stands ?? allowed ?? queued;
  if (found !== null) {
    if (draft.parts.length > 1) placing.taken = (placing.taken ?? new Map()).set(found.leaf, found.needed);
    const { domain, gpusPerPod } = found.option;
    const isOpen = standing.length > 1 || standing.some(({ option }) => option.classes !== null);
    const open = isOpen ? placing.sharedPlaces(options, standing, last?.places) : undefined;
    // Pods and needs are those of the draft, which is the same.
    const isSame = last?.queue === found.leaf && last.domain === domain && last.gpusPerPod === gpusPerPod;
    if (isSame && last.places === open) return last;
    const waiting: WaitingPart = { queue: found.leaf, domain, pods, createdPods, gpusPerPod, needs };
    return open === undefined ? waiting : { ...waiting, places: open };
  }
  if (first !== undefined)
    return { queue: null, domain: first.domain, pods, createdPods, gpusPerPod: first.gpusPerPod, needs };
  const gpusPerPod = told === undefined ? gpusOf(needs.requests, places.input.pools) : told;
  return { queue: null, domain: null, pods, createdPods, gpusPerPod, needs };
}

/** The first option where its queue has a record; where the limit allows it; all where so many cards stand; the first with room. */
interface Choice {
  readonly queued: Chosen | null;
  readonly allowed: Chosen | null;
  readonly standing: readonly Chosen[];
  readonly chosen: Chosen | null;
}

function chooseOption(part: PartDraft, options: readonly ServingDomain[], placing: Placing): Choice {
  const { places, physical, room, draft } = placing;
  const fewest = fewestOf(part, draft);
  const leaves = leavesOf(draft, options, places);
  let [queued, allowed, chosen]: (Chosen | null)[] = [null, null, null];
  const standing: Chosen[] = [];
  for (const [n, option] of options.entries()) {
    const leaf = leaves[n] ?? null;
    if (leaf === null) continue;
    const before = placing.taken?.get(leaf) ?? 0;
    const gpus = option.gpusPerPod ?? 0;
    const one: Chosen = { option, leaf, needed: gpus * part.pods + before };
    const least = gpus * fewest + before;
    queued ??= one;
    if (least > room.ever(leaf) + tolerance) continue;
    allowed ??= one;
    if (least > (physical[option.domain] ?? 0) + tolerance) continue;
    standing.push(one);
    if (chosen === null && one.needed <= room.now(leaf) + tolerance) chosen = one;
  }
  return { queued: queued ?? null, allowed: allowed ?? null, standing, chosen: chosen ?? null };
}

/** There may be tens of thousands of gangs, and few ways to choose: the list of the last cycle while it says the same. */
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

interface Chosen {
  readonly option: ServingDomain;
  readonly leaf: number;
  /** With what the parts before it take there. */
  readonly needed: number;
}

/** Of the pods of a part as many as the gang cannot do without. */
function fewestOf({ pods }: PartDraft, { bound, min, parts }: GangDraft): number {
  const members = bound + parts.reduce((sum, part) => sum + part.pods, 0);
  return Math.min(pods, Math.max(1, Math.ceil((pods * min) / members)));
}

/** The first option; of these, where its queue has a record; where the limit allows it; where so many cards stand. */
interface Options {
  readonly options: ServingDomain | undefined;
  readonly queued: Chosen | null;
  readonly allowed: Chosen | null;
  readonly standing: Chosen | null;
}

function neverOf({ places, draft }: Placing, { options, queued, allowed, standing }: Options): NeverReason | null {
  if (standing !== null) return null;
  const { ref } = draft;
  const isOfSystem = ref !== null && places.input.systems.some(({ scheduler }) => scheduler === ref.scheduler);
  // Without nodes nobody knows what there is.
  if (options === undefined) return places.input.nodes.length === 0 ? null : "no-node";
  if (queued === null) return isOfSystem ? "no-queue" : null;
  return allowed === null ? "above-limit" : "no-node";
}

/** Where its own queue is, a gang waits there; a team's queue elsewhere does not answer for it. */
function leavesOf(draft: GangDraft, options: readonly ServingDomain[], places: Places): readonly (number | null)[] {
  const own = options.map(({ domain }) => ownLeafOf(draft, domain, places));
  return own.some((leaf) => leaf !== null) ? own : options.map(({ domain }) => teamLeafOf(draft, domain, places));
}

function ownLeafOf({ ref }: GangDraft, domain: number, { forest }: Places): number | null {
  return ref === null ? null : (forest.leaves[domain]?.get(ref.scheduler)?.get(ref.name) ?? null);
}

function teamLeafOf({ team, namespace }: GangDraft, domain: number, { forest, input }: Places): number | null {
  const here = forest.leaves[domain];
  const teams = input.systems.find((system) => system.leafOf !== null);
  if (!teams?.leafOf) return null;
  return here?.get(teams.scheduler)?.get(teams.leafOf(team, namespace)) ?? null;
}

/** Puts a gang into a leaf; `part` is `null` when it is no demand. */
function enter(
  queues: readonly QueueDraft[],
  leaf: number,
  gang: number,
  part: WaitingPart | null,
  { room, draft: { team } }: Placing,
): void {
  const queue = queues[leaf];
  if (queue === undefined) return;
  if (queue.gangs.at(-1) !== gang) queue.gangs.push(gang);
  const gpus = part === null ? 0 : part.pods * (part.gpusPerPod ?? 0);
  if (gpus === 0) return;
  queue.teams ??= new Map();
  const known = queue.teams.get(team);
  if (known === undefined) queue.teams.set(team, { team, held: 0, pending: gpus });
  else known.pending += gpus;
  queue.pending += gpus;
  room.take(leaf, gpus);
}
