import type { WaitingGang } from "../../join/queues/queueing.ts";
import { isSameList } from "../../kernel/isSameList.ts";
import { gpuLikeResource } from "../../model/gpuResource.ts";
import type { KueuePodSet } from "../../model/queues/kueue.ts";
import type { QueueObjects } from "../../model/queues/queueObjects.ts";
import type { RequiredTopology, TopologyObject } from "../../model/topology.ts";
import type { LevelDomains } from "./levels.ts";

/** Levels: pods must be within one domain, whichever of the levels it belongs to. The first is the coarsest. */
export type RequiredLevels = readonly LevelDomains[];

/** What a gang requires of the cluster's topology. */
export interface GangRequirement {
  /** Whether each of its parts is placed by itself (Kueue's pod sets); otherwise the whole gang is in one domain. */
  readonly byPart: boolean;
  /** What each part requires, parallel to `WaitingGang.parts`; `null`: nothing, or nothing that is known. */
  readonly parts: readonly (RequiredLevels | null)[];
}

type RequiringObjects = Pick<
  QueueObjects,
  "kueueWorkloads" | "kueueTopologies" | "kaiPodGroups" | "kaiTopologies" | "volcanoPodGroups"
>;

/**
 * Returns what a waiting gang requires; `null` if it requires no level, or none whose domains are known. Levels that are only
 * preferred, and levels for parts of a pod set, are not required of the whole and so never keep a gang waiting here.
 */
export function createRequirements(
  levels: readonly LevelDomains[],
  objects: RequiringObjects,
): (gang: WaitingGang) => GangRequirement | null {
  if (levels.length === 0) return () => null;
  const required = requiredByUid(objects);
  if (required.size === 0) return () => null;
  return ({ scheduler, uid, parts }) => {
    const asked = required.get(uid);
    if (asked === undefined || !asked.some((one) => one?.scheduler === scheduler)) return null;
    const found = asked.map((one) => (one === null ? null : levelsFor(one, levels, objects)));
    const [first = null] = found;
    const isAlike = found.every((one) => isSameLevels(one, first));
    // Parts are the pod sets that ask for GPUs, in their order; where some are missing it is not known which is which.
    if (!isAlike && found.length !== parts.length) return null;
    const own = parts.map((_, index) => (isAlike ? first : (found[index] ?? null)));
    return own.every((one) => one === null) ? null : { byPart: scheduler === "kueue", parts: own };
  };
}

const isSameLevels = (a: RequiredLevels | null, b: RequiredLevels | null): boolean =>
  a === b || (a !== null && b !== null && isSameList(a, b));

/** What the object of each gang requires, by its uid; of Kueue's Workloads for each pod set that asks for GPUs. */
function requiredByUid({
  kueueWorkloads,
  kaiPodGroups,
  volcanoPodGroups,
}: RequiringObjects): ReadonlyMap<string, readonly (RequiredTopology | null)[]> {
  const found = new Map<string, readonly (RequiredTopology | null)[]>();
  for (const { uid, podSets } of kueueWorkloads)
    if (podSets.some(({ requiredTopology }) => requiredTopology !== undefined))
      found.set(
        uid,
        podSets.filter(asksForGpus).map(({ requiredTopology }) => requiredTopology ?? null),
      );
  for (const { uid, requiredTopology } of [...kaiPodGroups, ...volcanoPodGroups])
    if (requiredTopology !== undefined) found.set(uid, [requiredTopology]);
  return found;
}

const asksForGpus = ({ pod }: KueuePodSet): boolean =>
  Object.entries(pod.requests).some(([resource, amount]) => amount > 0 && gpuLikeResource(resource));

/** The levels whose domains suffice; `null` if none of them is known. */
function levelsFor(
  required: RequiredTopology,
  levels: readonly LevelDomains[],
  objects: RequiringObjects,
): RequiredLevels | null {
  const found = required.scheduler === "volcano" ? tiersFor(required, levels) : labelLevels(required, levels, objects);
  return found.length === 0 ? null : found;
}

/** All tiers up to the highest that is allowed. */
function tiersFor({ tier, level }: RequiredTopology, levels: readonly LevelDomains[]): readonly LevelDomains[] {
  const highest = tier ?? levels.find((one) => one.tier !== undefined && one.name === level)?.tier ?? null;
  return highest === null ? [] : levels.filter((one) => one.tier !== undefined && one.tier <= highest);
}

/** The level of that label or alias in each Topology that has it, or only in the one that is named. */
function labelLevels(
  { scheduler, topology, level }: RequiredTopology,
  levels: readonly LevelDomains[],
  { kueueTopologies, kaiTopologies }: RequiringObjects,
): readonly LevelDomains[] {
  const topologies = scheduler === "kueue" ? kueueTopologies : kaiTopologies;
  return topologies
    .filter(({ name }) => topology === null || name === topology)
    .flatMap((one) => {
      const labels = labelsTo(one, level);
      return levels.find((known) => known.labels.length > 0 && isSameList(known.labels, labels)) ?? [];
    });
}

function labelsTo({ levels }: TopologyObject, level: string | null): readonly string[] {
  const index = levels.findIndex(({ nodeLabel, alias }) => nodeLabel === level || alias === level);
  return levels.slice(0, index + 1).map(({ nodeLabel }) => nodeLabel);
}
