import { once, oncePer } from "../../kernel/once.ts";
import type { QueueObjectRef } from "../../model/disruption.ts";
import type { Pod } from "../../model/pod.ts";
import type { QueueObjects } from "../../model/queues/queueObjects.ts";
import { byNamespace } from "./byNamespace.ts";
import { type KueueNamespace, kueueNamespaces } from "./kueueNamespaces.ts";
import { kueueOwnerUids } from "./kueueOwners.ts";
import { isFinished } from "./kueueReserved.ts";
import { findObject, type Indexed, indexObjects } from "./objectIndex.ts";
import type { DeclaredGang } from "./queueSystem.ts";

/** The object by which a queue system knows work, and the last checkpoint that it reports. */
export interface FoundQueueObject {
  readonly ref: QueueObjectRef;
  /** Seconds since the epoch; `null` if it reports none. */
  readonly checkpointedAt: number | null;
}

/** Finds the object of a pod, with GPUs in it or not; `owners` nearest first, as far as they could be read. */
export interface QueueObjectFinder {
  /** Whether there is no object to find. */
  readonly isEmpty: boolean;
  readonly find: (pod: Pod, owners: readonly { readonly uid: string }[]) => FoundQueueObject | null;
  /** Its last checkpoint; the same function for all states in which no object reports one. */
  readonly checkpointOf: (pod: Pod, owners: readonly { readonly uid: string }[]) => number | null;
}

/** The finder of the last cycle, and what it was made from. */
export interface QueueObjectFinderCache {
  last: { readonly inputs: readonly unknown[]; readonly finder: QueueObjectFinder } | null;
}

interface Entry extends Indexed, FoundQueueObject {}

const namespaceOf = ({ namespace }: Entry): string => namespace;

const noCheckpoint = (): null => null;

/** The finder is the same object while the Workloads and PodGroups are. They are indexed when someone asks for one. */
export function queueObjectFinder(objects: QueueObjects, cache: QueueObjectFinderCache): QueueObjectFinder {
  const { kueueWorkloads, kaiPodGroups, volcanoPodGroups } = objects;
  const inputs = [kueueWorkloads, kaiPodGroups, volcanoPodGroups] as const;
  const { last } = cache;
  if (last?.inputs.every((input, i) => input === inputs[i]) === true) return last.finder;
  const indices = once(() => byNamespace(entriesOf(objects), namespaceOf, indexObjects));
  const find: QueueObjectFinder["find"] = (pod, owners) => {
    const index = indices()(pod.namespace);
    return (index === undefined ? undefined : findObject(pod, owners, index)) ?? null;
  };
  const reportsOfOne =
    [...kueueNamespaces(objects).values()].some(hasCheckpoint) ||
    [kaiPodGroups, volcanoPodGroups].some((list) => list.some(isCheckpointed));
  const checkpointOf = reportsOfOne
    ? (pod: Pod, owners: readonly { readonly uid: string }[]) => find(pod, owners)?.checkpointedAt ?? null
    : noCheckpoint;
  const finder = { isEmpty: inputs.every((list) => list.length === 0), find, checkpointOf };
  cache.last = { inputs, finder };
  return finder;
}

const isCheckpointed = ({ checkpointedAt }: Pick<FoundQueueObject, "checkpointedAt">): boolean =>
  checkpointedAt !== null;
const hasCheckpoint = oncePer(({ workloads }: KueueNamespace) => workloads.some(isCheckpointed));

/** The reference to the gang with this uid. */
export function refOfGang({ queue, namespace, name, uid }: DeclaredGang): QueueObjectRef | null {
  const { scheduler } = queue;
  if (scheduler === "none") return null;
  return { scheduler, kind: scheduler === "kueue" ? "Workload" : "PodGroup", namespace, name, uid };
}

/** An entry for each object that has not ended. */
function entriesOf({ kueueWorkloads, kaiPodGroups, volcanoPodGroups }: QueueObjects): readonly Entry[] {
  const entries: Entry[] = [];
  for (const workload of kueueWorkloads)
    if (!isFinished(workload)) entries.push(entryOf("kueue", "Workload", workload, kueueOwnerUids(workload)));
  for (const group of kaiPodGroups) entries.push(entryOf("kai", "PodGroup", group, uidsOf(group)));
  for (const group of volcanoPodGroups)
    if (group.phase !== "Completed") entries.push(entryOf("volcano", "PodGroup", group, uidsOf(group)));
  return entries;
}

const uidsOf = ({ owner }: { readonly owner: { readonly uid: string } | null }): readonly string[] =>
  owner === null ? [] : [owner.uid];

function entryOf(
  scheduler: QueueObjectRef["scheduler"],
  kind: QueueObjectRef["kind"],
  object: Pick<QueueObjectRef, "namespace" | "name" | "uid"> & Pick<FoundQueueObject, "checkpointedAt">,
  ownerUids: readonly string[],
): Entry {
  const { namespace, name, uid, checkpointedAt } = object;
  const ref = { scheduler, kind, namespace, name, uid };
  return { namespace, name, uid, ownerUids, queue: { scheduler }, ref, checkpointedAt };
}
