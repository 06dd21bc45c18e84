import { isSameList } from "../kernel/isSameList.ts";
import type { ClusterState, Namespace, OwnerObject } from "../model/cluster.ts";
import type { Pod } from "../model/pod.ts";
import type { QueueFinders } from "./queues/queueFinders.ts";
import type { QueueObjectFinder } from "./queues/queueObjectFinder.ts";

/** The index of owners, namespaces, queues and checkpoints. It is the same object as long as it yields the same results. */
export interface SubjectIndex extends QueueFinders {
  readonly owners: ReadonlyMap<string, OwnerObject>;
  readonly namespaces: ReadonlyMap<string, Namespace>;
  /** Whether some queue system has objects here: then a name that none of them confirms is not a queue. */
  readonly hasQueues: boolean;
  readonly checkpointOf: QueueObjectFinder["checkpointOf"];
}

/** The index of the last cycle, and what it was made from. */
export interface SubjectIndexCache {
  /** Pods that own other pods, in the form of owners. */
  readonly podsAsOwners: WeakMap<Pod, OwnerObject>;
  last: {
    readonly owners: ClusterState["owners"];
    readonly namespaces: ClusterState["namespaces"];
    readonly podsThatOwn: readonly Pod[];
    readonly finders: QueueFinders;
    readonly checkpointOf: QueueObjectFinder["checkpointOf"];
    readonly index: SubjectIndex;
  } | null;
}

/** Indexes the owners (by uid) and namespaces (by name) of a state. */
export function indexSubjects(
  state: ClusterState,
  finders: QueueFinders,
  checkpointOf: SubjectIndex["checkpointOf"],
  cache: SubjectIndexCache,
): SubjectIndex {
  const { owners, namespaces } = state;
  const owning = podsThatOwn(state);
  const { last } = cache;
  const isSame = last?.owners === owners && last.namespaces === namespaces;
  const findsSame = last?.finders === finders && last.checkpointOf === checkpointOf;
  const hasSame = last?.index.hasQueues === hasQueueObjects(state.queues);
  const hasSameOwners = isSame && isSameList(last.podsThatOwn, owning);
  if (hasSameOwners && findsSame && hasSame) return last.index;
  // If the maps are the same, nothing in them needs to be looked up again.
  const index: SubjectIndex = {
    owners: hasSameOwners
      ? last.index.owners
      : new Map<string, OwnerObject>([
          ...owning.map((pod) => byUid(asOwner(pod, cache.podsAsOwners))),
          ...owners.map(byUid),
        ]),
    namespaces: hasSameOwners
      ? last.index.namespaces
      : new Map(namespaces.map((namespace) => [namespace.name, namespace] as const)),
    ...finders,
    hasQueues: hasQueueObjects(state.queues),
    checkpointOf,
  };
  cache.last = { owners, namespaces, podsThatOwn: owning, finders, checkpointOf, index };
  return index;
}

const hasQueueObjects = ({ kueueClusterQueues, kaiQueues, volcanoQueues }: ClusterState["queues"]): boolean =>
  kueueClusterQueues.length + kaiQueues.length + volcanoQueues.length > 0;

const byUid = (owner: OwnerObject) => [owner.uid, owner] as const;

/** Chains may pass through a pod (LeaderWorkerSet): the leader is among the pods, whether it was read as an owner or not. */
function podsThatOwn({ pods, owners }: ClusterState): readonly Pod[] {
  const uids = new Set<string>();
  for (const { owner } of pods) if (owner?.kind === "Pod") uids.add(owner.uid);
  for (const { owner } of owners) if (owner?.kind === "Pod") uids.add(owner.uid);
  return uids.size === 0 ? [] : pods.filter((pod) => uids.has(pod.uid));
}

function asOwner(pod: Pod, known: WeakMap<Pod, OwnerObject>): OwnerObject {
  const owner = known.get(pod) ?? { apiVersion: "v1", kind: "Pod", job: null, ...pod };
  known.set(pod, owner);
  return owner;
}
