import type { Steps } from "../../kernel/steps.ts";
import type { PoolCapacity } from "./domains.ts";
import { type GangDraft, inQueueOrder, type PartDraft } from "./gangDraft.ts";
import { poolFinder, type ServingPool } from "./pools.ts";
import type { QueueDraft, QueueForest } from "./queueDrafts.ts";
import type { NeverReason, QuotaDomain, WaitingGang, WaitingPart } from "./queueing.ts";
import type { QueueingInput } from "./queueingInput.ts";
import { gpusOf } from "./resourceGpus.ts";
import { type Room, roomIn } from "./room.ts";

/** Where work may wait. */
export interface Places {
  readonly input: QueueingInput;
  readonly forest: QueueForest;
  readonly capacities: ReadonlyMap<string, PoolCapacity>;
  readonly domainOfPool: ReadonlyMap<string, number>;
}

const gangsPerStep = 500;
const tolerance = 1e-6;

/**
 * Finds for each part of each gang the queue and domain in which it waits, in the order in which queues serve them: the first
 * pool of the part's own order in which its queue has room for it, else the first. What can be admitted is counted as pending
 * of its queue and all above it; `leafOfPod` is told where waiting pods are.
 */
export function* placeGangs(
  drafts: readonly GangDraft[],
  places: Places,
  leafOfPod: Int32Array,
): Steps<readonly WaitingGang[]> {
  const { forest, input, capacities } = places;
  const poolsOf = poolFinder(input.pools, capacities);
  const room = roomIn(forest.queues);
  const physical = forest.domains.map((domain) => physicalOf(domain, capacities));
  const gangs: WaitingGang[] = [];
  for (const [i, draft] of [...drafts].sort(inQueueOrder).entries()) {
    if (i % gangsPerStep === gangsPerStep - 1) yield;
    const placing: Placing = { draft, places, room, physical, taken: new Map(), never: draft.never };
    const parts = draft.parts.map((part) => placePart(part, poolsOf(part), placing));
    const { ref, labelledQueue, parts: _, ...rest } = draft;
    const gpus = parts.reduce<number | null>(
      (sum, { pods, gpusPerPod }) => (sum === null || gpusPerPod === null ? null : sum + pods * gpusPerPod),
      0,
    );
    const index = gangs.push({
      ...rest,
      queue: queueName(draft, parts, forest.queues),
      localQueue: ref?.localQueue ?? null,
      pods: parts.reduce((sum, { pods }) => sum + pods, 0),
      gpus,
      parts,
      never: placing.never,
    });
    for (const [k, part] of parts.entries()) {
      for (const pod of draft.parts[k]?.waiting ?? []) leafOfPod[pod] = part.queue ?? -1;
      if (part.queue !== null) enter(forest.queues, part.queue, index - 1, placing.never === null ? part : null, draft);
    }
  }
  return gangs;
}

function physicalOf({ pools }: QuotaDomain, capacities: ReadonlyMap<string, PoolCapacity>): number {
  return pools.reduce((sum, pool) => sum + (capacities.get(pool)?.physical ?? 0), 0);
}

interface Placing {
  readonly draft: GangDraft;
  readonly places: Places;
  readonly room: Room;
  readonly physical: readonly number[];
  /** GPUs of this gang's parts so far, by leaf (or, negative, by domain where no queue takes them). */
  readonly taken: Map<number, number>;
  never: NeverReason | null;
}

function placePart(part: PartDraft, serving: readonly ServingPool[], placing: Placing): WaitingPart {
  const { places, physical, room, taken, draft } = placing;
  const options = serving.flatMap(({ pool, gpusPerPod }) => {
    const domain = places.domainOfPool.get(pool);
    if (domain === undefined) return [];
    return [{ domain, gpusPerPod, own: ownLeafOf(draft, domain, places), leaf: leafOf(draft, domain, places) }];
  });
  // Where its own queue is, it waits there; a team's queue elsewhere does not answer for it.
  const isPlaced = options.some(({ own }) => own !== null);
  const queued = options.filter(({ own, leaf }) => (isPlaced ? own : leaf) !== null);
  const [firstAllowed] = options;
  const needed = (option: { readonly gpusPerPod: number | null; readonly leaf: number | null }, pods: number) =>
    (option.gpusPerPod ?? 0) * pods + (taken.get(option.leaf ?? -1) ?? 0);
  const fewest = fewestOf(part, draft);
  const allowed = queued.filter((one) => needed(one, fewest) <= room.ever(one.leaf ?? -1) + tolerance);
  const standing = allowed.filter((one) => needed(one, fewest) <= (physical[one.domain] ?? 0) + tolerance);
  const chosen =
    standing.find((one) => needed(one, part.pods) <= room.now(one.leaf ?? -1) + tolerance) ??
    standing[0] ??
    allowed[0] ??
    queued[0] ??
    firstAllowed;
  placing.never ??= neverOf(placing, { options, queued, allowed, standing });
  const { pods, needs, gpusPerPod: told } = part;
  if (chosen === undefined) {
    const gpusPerPod = told === undefined ? gpusOf(needs.requests, places.input.pools) : told;
    return { queue: null, domain: null, pods, gpusPerPod, needs };
  }
  const { domain, leaf, gpusPerPod } = chosen;
  if (leaf !== null) taken.set(leaf, needed(chosen, pods));
  return { queue: leaf, domain, pods, gpusPerPod, needs };
}

/** Of the pods of a part as many as the gang cannot do without. */
function fewestOf({ pods }: PartDraft, { bound, min, parts }: GangDraft): number {
  const members = bound + parts.reduce((sum, part) => sum + part.pods, 0);
  return Math.min(pods, Math.max(1, Math.ceil((pods * min) / members)));
}

interface Options {
  readonly options: readonly unknown[];
  /** Of these, where its queue has a record; of these, where the limit allows it; of these, where so many cards stand. */
  readonly queued: readonly unknown[];
  readonly allowed: readonly unknown[];
  readonly standing: readonly unknown[];
}

function neverOf({ places, draft }: Placing, { options, queued, allowed, standing }: Options): NeverReason | null {
  const { ref } = draft;
  const isOfSystem = ref !== null && places.input.systems.some(({ scheduler }) => scheduler === ref.scheduler);
  // Without nodes nobody knows what there is.
  if (options.length === 0) return places.input.nodes.length === 0 ? null : "no-node";
  if (queued.length === 0) return isOfSystem ? "no-queue" : null;
  if (allowed.length === 0) return "above-limit";
  return standing.length === 0 ? "no-node" : null;
}

function ownLeafOf({ ref }: GangDraft, domain: number, { forest }: Places): number | null {
  return ref === null ? null : (forest.leaves[domain]?.get(ref.scheduler)?.get(ref.name) ?? null);
}

function leafOf(draft: GangDraft, domain: number, places: Places): number | null {
  const own = ownLeafOf(draft, domain, places);
  if (own !== null) return own;
  const { forest, input } = places;
  const { team, namespace } = draft;
  const here = forest.leaves[domain];
  const teams = input.systems.find((system) => system.leafOf !== null);
  if (!teams?.leafOf) return null;
  return here?.get(teams.scheduler)?.get(teams.leafOf(team, namespace)) ?? null;
}

/** The queue as its users know it; a team's where teams stand for queues. */
function queueName(
  { ref, labelledQueue }: GangDraft,
  parts: readonly WaitingPart[],
  queues: readonly QueueDraft[],
): string | null {
  if (ref !== null && ref.name !== "") return ref.name;
  const [leaf] = parts.map(({ queue }) => queue).filter((queue) => queue !== null);
  return labelledQueue ?? (leaf === undefined ? null : (queues[leaf]?.name ?? null));
}

/** Puts a gang into a leaf; `part` is `null` when it is no demand. */
function enter(
  queues: readonly QueueDraft[],
  leaf: number,
  gang: number,
  part: WaitingPart | null,
  { team }: GangDraft,
): void {
  const queue = queues[leaf];
  if (queue === undefined) return;
  if (queue.gangs.at(-1) !== gang) queue.gangs.push(gang);
  const gpus = part === null ? 0 : part.pods * (part.gpusPerPod ?? 0);
  if (gpus === 0) return;
  const known = queue.teams.get(team);
  if (known === undefined) queue.teams.set(team, { team, held: 0, pending: gpus });
  else known.pending += gpus;
  for (let next: number | null = leaf; next !== null; next = queues[next]?.parent ?? null) {
    const above = queues[next];
    if (above !== undefined) above.pending += gpus;
  }
}
