// Needed for the goal `queues` (docs/performance.md).

import { isSameList } from "../../kernel/isSameList.ts";
import type { PodNeeds } from "../../model/queues/podNeeds.ts";
import type { ServingDomain } from "./classFinder.ts";
import type { BareDomain } from "./domains.ts";
import type { Headroom } from "./headroom.ts";
import type { FoundCandidates, Places } from "./placeCandidates.ts";
import type { QueueDraft } from "./queueDrafts.ts";
import type { WaitingPlace } from "./queueing.ts";
import type { KnownOptions } from "./servingOptions.ts";

/**
 * Where work may wait, as far as that was looked up. It is the same object from one moment to the next while all that decides it
 * is the same: what is allocated and what waits decide only which of these places has room.
 */
export interface PlaceMemory {
  /** Distinguishes it from all others, for what outlives it. */
  readonly id: symbol;
  /** What nodes offer to pods, by their needs. */
  readonly options: Map<PodNeeds, KnownOptions[]>;
  /** Which of the options a queue has, by its name. */
  readonly candidates: Map<readonly ServingDomain[], Map<string, FoundCandidates>>;
  /** The places of parts that may go to all options, by the first leaf. */
  readonly shared: Map<readonly ServingDomain[], Map<number, readonly WaitingPlace[]>>;
}

/** The memory of the last moment, with what decided it. */
export interface PlaceMemoryCache {
  last: { readonly basis: Basis; readonly memory: PlaceMemory } | null;
}

/** All that decides where work may wait, besides the work. */
interface Basis {
  readonly queues: readonly QueueDraft[];
  readonly ever: Float64Array;
  readonly bare: readonly BareDomain[];
  readonly schedulers: readonly string[];
  readonly hasNodes: boolean;
}

/** Anybody who can create workloads can write any number of needs. */
const mostKept = 10_000;

/** The memory for a moment: that of the moment before, if the same decides. */
export function placeMemory(
  { forest, input }: Places,
  { ever }: Pick<Headroom, "ever">,
  cache: PlaceMemoryCache,
): PlaceMemory {
  const { queues, bare } = forest;
  const schedulers = input.systems.map(({ scheduler }) => scheduler);
  const basis: Basis = { queues, ever, bare, schedulers, hasNodes: input.nodes.length > 0 };
  const { last } = cache;
  const isKept = last !== null && isSameBasis(last.basis, basis) && !isFull(last.memory);
  const memory = isKept ? last.memory : emptyMemory();
  cache.last = { basis, memory };
  return memory;
}

const emptyMemory = (): PlaceMemory => ({
  id: Symbol("places"),
  options: new Map(),
  candidates: new Map(),
  shared: new Map(),
});

const isFull = ({ options, candidates, shared }: PlaceMemory): boolean =>
  Math.max(options.size, candidates.size, shared.size) > mostKept;

function isSameBasis(one: Basis, other: Basis): boolean {
  return (
    one.hasNodes === other.hasNodes &&
    isSameList(one.schedulers, other.schedulers) &&
    one.bare.length === other.bare.length &&
    one.bare.every((domain, i) => isSameDomain(domain, other.bare[i])) &&
    haveSameLeaves(one, other)
  );
}

/** The nodes of its classes, and how many GPUs they have. */
function isSameDomain(one: BareDomain, other: BareDomain | undefined): boolean {
  return (
    other !== undefined &&
    // They are the same list while the domains consist of the same nodes.
    one.classFacts === other.classFacts &&
    one.physical === other.physical &&
    isSameList(one.largestNodes, other.largestNodes)
  );
}

/** Whether the same leaves have the same places in the list, and may ever hold as much. Nothing waits in `Unqueued`. */
function haveSameLeaves(one: Basis, other: Basis): boolean {
  const length = Math.max(one.queues.length, other.queues.length);
  for (let i = 0; i < length; i++) {
    const [a, b] = [one.queues[i], other.queues[i]];
    const isOutside = (queue: QueueDraft | undefined): boolean => queue === undefined || queue.kind === "Unqueued";
    if (isOutside(a) && isOutside(b)) continue;
    if (a === undefined || b === undefined) return false;
    if (a.name !== b.name || a.domain !== b.domain || a.isLeaf !== b.isLeaf || a.scheduler !== b.scheduler)
      return false;
    if (one.ever[i] !== other.ever[i]) return false;
  }
  return true;
}
