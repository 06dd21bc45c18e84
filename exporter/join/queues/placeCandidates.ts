import type { ServingDomain } from "./classFinder.ts";
import type { GangDraft } from "./gangDraft.ts";
import type { PlaceMemory } from "./placeMemory.ts";
import type { QueueForest } from "./queueDrafts.ts";
import type { QueueingInput } from "./queueingInput.ts";

/** Where work may wait. */
export interface Places {
  readonly input: QueueingInput;
  readonly forest: QueueForest;
}

/** An option where the queue of a gang has a record. */
export interface Candidate {
  readonly option: ServingDomain;
  readonly leaf: number;
}

/** Candidates, and whether every gang of the same queue has them. */
export interface FoundCandidates {
  readonly candidates: readonly Candidate[];
  readonly isOfQueue: boolean;
}

/** Finds the candidates of a gang; those of gangs of one queue with the same options are found once. */
export function candidateFinder(
  places: Places,
  { candidates: found }: Pick<PlaceMemory, "candidates">,
): (options: readonly ServingDomain[], draft: GangDraft) => FoundCandidates {
  const find = (options: readonly ServingDomain[], draft: GangDraft): readonly Candidate[] => {
    const leaves = leavesOf(draft, options, places);
    return options.flatMap((option, n): readonly Candidate[] => {
      const leaf = leaves[n] ?? null;
      return leaf === null ? [] : [{ option, leaf }];
    });
  };
  return (options, draft) => {
    const { ref, scheduler } = draft;
    // Without a queue of its own, its team and namespace decide. All options belong to one scheduler, where a name is
    // one queue.
    if (ref === null || ref.scheduler !== scheduler) return { candidates: find(options, draft), isOfQueue: false };
    const byQueue = found.get(options) ?? new Map<string, FoundCandidates>();
    if (byQueue.size === 0) found.set(options, byQueue);
    const known = byQueue.get(ref.name);
    if (known !== undefined) return known;
    const isOfQueue = options.some(({ domain }) => ownLeafOf(draft, domain, places) !== null);
    const candidates = { candidates: find(options, draft), isOfQueue };
    if (isOfQueue) byQueue.set(ref.name, candidates);
    return candidates;
  };
}

/** If its own queue exists there, a gang waits in that; a team's queue elsewhere does not count for it. */
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
