import type { ClusterState, Namespace, OwnerObject } from "../model/cluster.ts";
import type { Pod } from "../model/pod.ts";

/** Where owners and namespaces are looked up. It is the same object as long as it finds the same. */
export interface SubjectIndex {
  readonly owners: ReadonlyMap<string, OwnerObject>;
  readonly namespaces: ReadonlyMap<string, Namespace>;
}

/** The index of the last cycle, and what it was made from. */
export interface SubjectIndexCache {
  /** Pods that own others, as owners. */
  readonly podsAsOwners: WeakMap<Pod, OwnerObject>;
  last: {
    readonly owners: ClusterState["owners"];
    readonly namespaces: ClusterState["namespaces"];
    readonly podsThatOwn: readonly Pod[];
    readonly index: SubjectIndex;
  } | null;
}

/** Indexes the owners (by uid) and namespaces (by name) of a state. */
export function indexSubjects(state: ClusterState, cache: SubjectIndexCache): SubjectIndex {
  const { owners, namespaces } = state;
  const owning = podsThatOwn(state);
  const { last } = cache;
  if (last?.owners === owners && last.namespaces === namespaces && sameList(last.podsThatOwn, owning))
    return last.index;
  const index: SubjectIndex = {
    owners: new Map<string, OwnerObject>([
      ...owning.map((pod) => byUid(asOwner(pod, cache.podsAsOwners))),
      ...owners.map(byUid),
    ]),
    namespaces: new Map(namespaces.map((namespace) => [namespace.name, namespace] as const)),
  };
  cache.last = { owners, namespaces, podsThatOwn: owning, index };
  return index;
}

const byUid = (owner: OwnerObject) => [owner.uid, owner] as const;

/** Chains may pass through a pod (LeaderWorkerSet): the leader is among the pods, whether it was read as an owner or not. */
function podsThatOwn({ pods, owners }: ClusterState): readonly Pod[] {
  const uids = new Set<string>();
  for (const { owner } of pods) if (owner?.kind === "Pod") uids.add(owner.uid);
  for (const { owner } of owners) if (owner?.kind === "Pod") uids.add(owner.uid);
  return uids.size === 0 ? [] : pods.filter((pod) => uids.has(pod.uid));
}

function asOwner(pod: Pod, known: WeakMap<Pod, OwnerObject>): OwnerObject {
  const owner = known.get(pod) ?? { apiVersion: "v1", kind: "Pod", ...pod };
  known.set(pod, owner);
  return owner;
}

function sameList(one: readonly unknown[], other: readonly unknown[]): boolean {
  return one.length === other.length && one.every((item, i) => item === other[i]);
}
