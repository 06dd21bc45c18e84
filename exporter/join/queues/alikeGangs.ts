import type { GangDraft, PartDraft } from "./gangDraft.ts";
import { type PartPlaces, type PlaceFinder, waitingPart } from "./partPlaces.ts";
import type { Candidate } from "./placeCandidates.ts";
import type { PlaceMemory } from "./placeMemory.ts";
import type { WaitingPart } from "./queueing.ts";
import type { DeclaredPart } from "./queueSystem.ts";

/**
 * Gangs without pods that ask for the same in the same queue: where they may go is found once for all of them, and gangs that
 * wait in the same place share their parts.
 */
export interface AlikeGangs {
  /**
   * The places where they may go, with the id of the memory in which they were looked up; `null`: not looked up yet. It outlives
   * gangs that are gone, so nothing here may lead to the moment in which it was found, or to all that was found with it.
   */
  found: { readonly in: PlaceMemory["id"]; readonly places: PartPlaces } | null;
  /** Their parts with that memory, by the place that was chosen. `before` has those with an earlier one, which may be reused. */
  parts: Map<Candidate | null, readonly WaitingPart[]>;
  before: readonly (readonly WaitingPart[])[];
}

/** What gangs without pods share from one cycle to the next. It changes no answer. */
export interface AlikeGangsCache {
  /** All members of a gang without pods, as they wait, by the list of parts that its object declares. */
  readonly drafts: WeakMap<readonly DeclaredPart[], readonly PartDraft[]>;
  /** What gangs share, by these members, and by the queue and the fewest members. */
  readonly alike: WeakMap<readonly PartDraft[], Map<string, AlikeGangs>>;
}

/** A cache that has seen nothing. */
export const createAlikeGangsCache = (): AlikeGangsCache => ({ drafts: new WeakMap(), alike: new WeakMap() });

/** The limit of entries: queues come and go, and their names with them. */
const mostQueues = 10_000;

/** What a draft shares with those that ask for the same. */
export function alikeGangs(draft: GangDraft, { alike }: AlikeGangsCache): AlikeGangs {
  const { ref, scheduler, parts, min, bound } = draft;
  const byQueue = alike.get(parts) ?? new Map<string, AlikeGangs>();
  if (byQueue.size === 0) alike.set(parts, byQueue);
  if (byQueue.size > mostQueues) byQueue.clear();
  const key = JSON.stringify([scheduler, min, bound, ref?.scheduler ?? null, ref?.name ?? null]);
  const known = byQueue.get(key) ?? { found: null, parts: new Map(), before: [] };
  byQueue.set(key, known);
  return known;
}

/** The parts of a gang for which a place was chosen: the same list for all gangs that wait there and are alike. */
export function partsAtPlace(
  alike: AlikeGangs,
  places: PartPlaces,
  chosen: Candidate | null,
  finder: PlaceFinder,
): readonly WaitingPart[] {
  if (alike.found?.in !== finder.memory.id) {
    alike.found = { in: finder.memory.id, places };
    alike.before = [...alike.parts.values()];
    alike.parts = new Map();
  }
  const known = alike.parts.get(chosen);
  if (known !== undefined) return known;
  const part = waitingPart(
    places,
    chosen,
    finder,
    alike.before.map(([one]) => one),
  );
  const parts = alike.before.find(([one]) => one === part) ?? [part];
  alike.parts.set(chosen, parts);
  return parts;
}
