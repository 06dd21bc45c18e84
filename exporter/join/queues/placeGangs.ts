import { type AlikeGangs, partsAtPlace } from "./alikeGangs.ts";
import type { GangDraft, PartDraft } from "./gangDraft.ts";
import { type Headroom, headroomIn } from "./headroom.ts";
import { createPlaceFinder, firstWithRoom, type PlaceFinder, partPlaces, waitingPart } from "./partPlaces.ts";
import type { Places } from "./placeCandidates.ts";
import { placedGang } from "./placedGang.ts";
import { type QueueDraft, sumUpPending } from "./queueDrafts.ts";
import type { NeverReason, WaitingGang, WaitingPart } from "./queueing.ts";
import { inServingOrder } from "./servingOrder.ts";
import type { TeamCounts } from "./teamCounts.ts";

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
  const { queues } = places.forest;
  const headroom = headroomIn(queues);
  const finder = createPlaceFinder(places, headroom);
  const gangs: WaitingGang[] = [];
  for (const draft of inServingOrder(drafts, places.input.cache)) {
    const { parts, never } = placeParts(draft, finder);
    const gang = placedGang(draft, parts, never, queues);
    const index = gangs.push(gang) - 1;
    for (let k = 0; k < parts.length; k++) {
      const part = parts[k] ?? null;
      const leaf = part?.queue ?? -1;
      // What is kept has no pods.
      if (draft.kept === undefined) settlePods(draft.parts[k], leaf, counted.leafOfPod);
      if (leaf === -1) continue;
      const queue = queues[leaf];
      if (queue !== undefined && queue.gangs.at(-1) !== index) queue.gangs.push(index);
      if (never === null && part !== null) addDemand(queue, leaf, part, draft.team, headroom, counted.teams);
    }
  }
  sumUpPending(queues);
  return gangs;
}

function settlePods(part: PartDraft | undefined, leaf: number, leafOfPod: Int32Array): void {
  for (const pod of part?.waiting ?? []) leafOfPod[pod] = leaf;
}

interface PlacedParts {
  readonly parts: readonly WaitingPart[];
  readonly never: NeverReason | null;
}

const nothingTaken: ReadonlyMap<number, number> = new Map();

function placeParts(draft: GangDraft, finder: PlaceFinder): PlacedParts {
  const { kept, parts: drafts } = draft;
  if (kept !== undefined && drafts.length === 1) return placeAlike(draft, kept.alike, finder);
  // GPUs of the parts so far, by leaf.
  const taken = new Map<number, number>();
  let { never } = draft;
  const parts = drafts.map((part, k) => {
    const places = partPlaces(part, draft, finder, taken);
    never ??= places.never;
    const waiting = waitingPart(places, firstWithRoom(places, finder, taken), finder, [kept?.gang?.parts[k]]);
    const { queue, pods, gpusPerPod } = waiting;
    if (queue !== null) taken.set(queue, (gpusPerPod ?? 0) * pods + (taken.get(queue) ?? 0));
    return waiting;
  });
  return { parts, never };
}

/** Gangs that ask for the same differ only in what is left where they may go when it is their turn. */
function placeAlike(draft: GangDraft, alike: AlikeGangs, finder: PlaceFinder): PlacedParts {
  const known = alike.found?.in === finder.memory.id ? alike.found : null;
  const [part] = draft.parts;
  const places = known?.places ?? (part === undefined ? null : partPlaces(part, draft, finder, nothingTaken));
  if (places === null) return { parts: [], never: draft.never };
  const chosen = firstWithRoom(places, finder, nothingTaken);
  const never = draft.never ?? places.never;
  if (!places.isOfQueue) return { parts: [waitingPart(places, chosen, finder, [draft.kept?.gang?.parts[0]])], never };
  return { parts: partsAtPlace(alike, places, chosen, finder), never };
}

/** What can be admitted is demand of its queue. */
function addDemand(
  queue: QueueDraft | undefined,
  leaf: number,
  { pods, gpusPerPod }: WaitingPart,
  team: string,
  headroom: Headroom,
  teams: TeamCounts,
): void {
  const gpus = pods * (gpusPerPod ?? 0);
  if (queue === undefined || gpus === 0) return;
  teams.of(leaf, team).pending += gpus;
  queue.pending += gpus;
  headroom.take(leaf, gpus);
}
