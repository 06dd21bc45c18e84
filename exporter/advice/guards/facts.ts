import type { NodeView, Snapshot } from "../../join/snapshot.ts";
import type { PodDisruptionBudget } from "../../model/cluster.ts";
import type { KaiPodGroup, KaiQueue } from "../../model/queues/kai.ts";
import type { KueueClusterQueue } from "../../model/queues/kueue.ts";
import type { VolcanoQueue } from "../../model/queues/volcano.ts";

/** What guards look up in a Snapshot; each part is computed when it is first asked for. */
export interface GuardFacts {
  node(name: string): NodeView | undefined;
  /** The budgets of a namespace, whatever they select. */
  budgets(namespace: string): readonly PodDisruptionBudget[];
  /** How many pods of a gang, by its id, hold GPUs. */
  gangMembers(id: string): readonly number[];
  /** How many pods that hold GPUs mount a volume claim, by its `namespace/name`. */
  claimUsers(claim: string): readonly number[];
  clusterQueue(name: string): KueueClusterQueue | undefined;
  /** By name: shards may have queues of the same name. */
  kaiQueues(name: string): readonly KaiQueue[];
  kaiGroup(uid: string): KaiPodGroup | undefined;
  volcanoQueue(name: string): VolcanoQueue | undefined;
}

/** Snapshots never change, so that a result stays valid as long as its Snapshot exists. */
const kept = new WeakMap<Snapshot, GuardFacts>();

/** The facts of a Snapshot. Many questions are asked about one moment: what they share is computed once. */
export function factsOf(snapshot: Snapshot): GuardFacts {
  const known = kept.get(snapshot);
  if (known !== undefined) return known;
  const made = makeFacts(snapshot);
  kept.set(snapshot, made);
  return made;
}

function makeFacts(snapshot: Snapshot): GuardFacts {
  const { queueObjects } = snapshot;
  const nodes = once(() => new Map(snapshot.nodes.map((node) => [node.name, node] as const)));
  const budgets = once(() => Map.groupBy(snapshot.podDisruptionBudgets ?? [], ({ namespace }) => namespace));
  const members = once(() => membersOf(snapshot));
  const claims = once(() => usersOfClaims(snapshot));
  const clusterQueues = once(() => byName(queueObjects.kueueClusterQueues));
  const kaiQueues = once(() => Map.groupBy(queueObjects.kaiQueues, ({ name }) => name));
  const kaiGroups = once(() => new Map(queueObjects.kaiPodGroups.map((group) => [group.uid, group] as const)));
  const volcanoQueues = once(() => byName(queueObjects.volcanoQueues));
  return {
    node: (name) => nodes().get(name),
    budgets: (namespace) => budgets().get(namespace) ?? [],
    gangMembers: (id) => members().get(id) ?? [],
    claimUsers: (claim) => claims().get(claim) ?? [],
    clusterQueue: (name) => clusterQueues().get(name),
    kaiQueues: (name) => kaiQueues().get(name) ?? [],
    kaiGroup: (uid) => kaiGroups().get(uid),
    volcanoQueue: (name) => volcanoQueues().get(name),
  };
}

function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | null = null;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

function byName<Item extends { readonly name: string }>(items: readonly Item[]): ReadonlyMap<string, Item> {
  return new Map(items.map((item) => [item.name, item] as const));
}

function usersOfClaims({ pods }: Snapshot): ReadonlyMap<string, readonly number[]> {
  const users = new Map<string, number[]>();
  for (const [index, { namespace, volumeClaims = [], status }] of pods.entries()) {
    if (status !== "allocated") continue;
    for (const name of volumeClaims)
      users.set(`${namespace}/${name}`, [...(users.get(`${namespace}/${name}`) ?? []), index]);
  }
  return users;
}

function membersOf({ pods }: Snapshot): ReadonlyMap<string, readonly number[]> {
  const members = new Map<string, number[]>();
  for (const [index, { gang, status }] of pods.entries()) {
    if (gang === null || status !== "allocated") continue;
    const list = members.get(gang.id);
    if (list === undefined) members.set(gang.id, [index]);
    else list.push(index);
  }
  return members;
}
