import type { Analysis } from "../analysis/analysis.ts";
import { queueKey, queueName } from "../analysis/fairness/shortSince.ts";
import { domainFinder } from "../join/queues/domainOfNode.ts";
import type { QueueView, WaitingGang } from "../join/queues/queueing.ts";
import type { NodeView, PodView, Snapshot, WorkloadView } from "../join/snapshot.ts";
import { once, oncePer } from "../kernel/once.ts";
import type { PodDisruptionBudget } from "../model/cluster.ts";
import type { KaiPodGroup, KaiQueue } from "../model/queues/kai.ts";
import type { KueueClusterQueue } from "../model/queues/kueue.ts";
import type { VolcanoQueue } from "../model/queues/volcano.ts";
import { nodeIndexes } from "./usage/eachHolding.ts";

/** Finds the things of one moment; each part is made when it is first asked for. Indices are those of the Snapshot. */
export interface MomentIndex {
  readonly analysis: Analysis;
  readonly nodeOf: (name: string) => number | null;
  readonly node: (name: string) => NodeView | undefined;
  /** Indices of the pods on a node (name), ascending. */
  readonly podsOn: (node: string) => readonly number[];
  /** Pods that hold GPUs, by uid. */
  readonly allocated: (uid: string) => PodView | undefined;
  /** The index of the pod with this uid, if it holds anything on this node. */
  readonly holderOn: (node: string, uid: string) => number | undefined;
  /** Indices of the devices that a pod (index) holds in part or whole, ascending. */
  readonly devicesOf: (pod: number) => readonly number[];
  /** Index of the quota domain of the GPUs of a pool on a node; `null`: none. */
  readonly domainOf: (pool: string, node: string) => number | null;
  /**
   * Indices of the workloads to which the waiting pods of a gang belong: first those of its object, then the one with its name.
   */
  readonly workloadsOf: (gang: WaitingGang) => readonly number[];
  /** Indices of the workloads with the kind, namespace and name of a gang. */
  readonly workloadsCalled: (gang: WaitingGang) => readonly number[];
  /** Indices of the gangs whose pods are those of the workload. */
  readonly gangsOf: (workload: WorkloadView) => readonly number[];
  /** Workloads by `kind/namespace/name`, and by the uids of their owners, their queue object and their gang. */
  readonly workloads: (nameOrUid: string) => readonly WorkloadView[];
  /** Indices of the leaf queues with the same scheduler, kind and name (`queueName`), ascending: one for each domain. */
  readonly leavesCalled: (name: string) => readonly number[];
  /** A queue by its `queueKey`. */
  readonly queue: (key: string) => QueueView | undefined;
  /** The disruption budgets of a namespace, whatever they select. */
  readonly budgets: (namespace: string) => readonly PodDisruptionBudget[];
  /** Indices of the pods of a gang, by its id, that hold GPUs. */
  readonly gangMembers: (id: string) => readonly number[];
  /** Indices of the pods that hold GPUs and mount a volume claim, by its `namespace/name`. */
  readonly claimUsers: (claim: string) => readonly number[];
  readonly clusterQueue: (name: string) => KueueClusterQueue | undefined;
  /** Queues of KAI by name: several shards may have queues of the same name. */
  readonly kaiQueues: (name: string) => readonly KaiQueue[];
  readonly kaiGroup: (uid: string) => KaiPodGroup | undefined;
  readonly volcanoQueue: (name: string) => VolcanoQueue | undefined;
}

const none: readonly number[] = [];

/** The index of a moment; all callers share one. */
export const momentIndex = oncePer((analysis: Analysis): MomentIndex => {
  const { snapshot } = analysis;
  const { nodes, pods, workloads, queueing, queueObjects } = snapshot;
  const nodeByName = () => nodeIndexes(nodes);
  const podsByNode = once(() => Map.groupBy(pods.keys(), (i) => pods[i]?.node ?? ""));
  const podByUid = once(() => podsByUid(pods));
  const devicesByPod = once(() => devicesOfPods(snapshot));
  const domainByPool = once(() => domainFinder(queueing.domains));
  // This is grouped by name alone: there may be tens of thousands, and building a longer key for each would take the longest.
  const workloadsByName = once(() => Map.groupBy(workloads.keys(), (i) => workloads[i]?.name ?? ""));
  const workloadsByObject = once(() =>
    Map.groupBy(
      [...workloads.keys()].filter((i) => workloads[i]?.queueObject != null),
      (i) => workloads[i]?.queueObject?.uid ?? "",
    ),
  );
  const workloadsByKey = once(() => workloadsByKeys(snapshot));
  const gangsByName = once(() => Map.groupBy(queueing.gangs.keys(), (i) => queueing.gangs[i]?.name ?? ""));
  const gangsByUid = once(() => Map.groupBy(queueing.gangs.keys(), (i) => queueing.gangs[i]?.uid ?? ""));
  const queueByKey = once(() => {
    const { domains, queues } = queueing;
    return new Map(queues.map((queue) => [queueKey(queue, domains[queue.domain]?.name ?? ""), queue] as const));
  });
  const leavesByName = once(() => {
    const { queues } = queueing;
    const leaves = [...queues.keys()].filter((i) => queues[i]?.isLeaf === true);
    return Map.groupBy(leaves, (i) => nameOfQueue(queues[i]));
  });
  const budgets = once(() => Map.groupBy(snapshot.podDisruptionBudgets ?? [], ({ namespace }) => namespace));
  const allocated = once(() => [...pods.keys()].filter((i) => pods[i]?.status === "allocated"));
  const gangMembers = once(() => Map.groupBy(allocated(), (i) => pods[i]?.gang?.id));
  const claimUsers = once(() => usersOfClaims(snapshot, allocated()));
  const clusterQueues = once(() => byName(queueObjects.kueueClusterQueues));
  const kaiQueues = once(() => Map.groupBy(queueObjects.kaiQueues, ({ name }) => name));
  const kaiGroups = once(() => new Map(queueObjects.kaiPodGroups.map((group) => [group.uid, group] as const)));
  const volcanoQueues = once(() => byName(queueObjects.volcanoQueues));
  return {
    analysis,
    nodeOf: (name) => nodeByName().get(name) ?? null,
    node: (name) => nodes[nodeByName().get(name) ?? -1],
    podsOn: (node) => podsByNode().get(node) ?? none,
    allocated: (uid) => podByUid().get(uid),
    holderOn: (node, uid) => holderOn(snapshot, nodes[nodeByName().get(node) ?? -1], uid),
    devicesOf: (pod) => devicesByPod()[pod] ?? none,
    domainOf: (pool, node) => domainByPool()(pool, node),
    workloadsCalled: (gang) => (workloadsByName().get(gang.name) ?? none).filter((i) => isCalled(workloads[i], gang)),
    workloadsOf(gang) {
      const named = (workloadsByName().get(gang.name) ?? none).find((i) => isCalled(workloads[i], gang));
      const own = workloadsByObject().get(gang.uid) ?? none;
      return named === undefined || own.includes(named) ? own : [...own, named];
    },
    gangsOf(workload) {
      const named = (gangsByName().get(workload.name) ?? none).filter((i) => isCalled(queueing.gangs[i], workload));
      const { queueObject } = workload;
      const own = queueObject === null ? none : (gangsByUid().get(queueObject.uid) ?? none);
      return own.length === 0 ? named : [...new Set([...own, ...named])];
    },
    workloads: (nameOrUid) => workloadsByKey().get(nameOrUid) ?? [],
    leavesCalled: (name) => leavesByName().get(name) ?? none,
    queue: (key) => queueByKey().get(key),
    budgets: (namespace) => budgets().get(namespace) ?? [],
    gangMembers: (id) => gangMembers().get(id) ?? none,
    claimUsers: (claim) => claimUsers().get(claim) ?? none,
    clusterQueue: (name) => clusterQueues().get(name),
    kaiQueues: (name) => kaiQueues().get(name) ?? [],
    kaiGroup: (uid) => kaiGroups().get(uid),
    volcanoQueue: (name) => volcanoQueues().get(name),
  };
});

const nameOfQueue = (queue: QueueView | undefined): string => (queue === undefined ? "" : queueName(queue));

function podsByUid(pods: readonly PodView[]): ReadonlyMap<string, PodView> {
  const found = new Map<string, PodView>();
  for (const pod of pods) if (pod.uid !== null && pod.status === "allocated") found.set(pod.uid, pod);
  return found;
}

function holderOn({ devices, pods }: Snapshot, node: NodeView | undefined, uid: string): number | undefined {
  for (const device of node?.devices ?? [])
    for (const { pod } of devices[device]?.holders ?? []) if (pods[pod]?.uid === uid) return pod;
  return undefined;
}

type Called = Pick<WorkloadView, "kind" | "namespace" | "name">;

/** The name by which signs and measures know a workload: `kind/namespace/name`. */
export const workloadName = ({ kind, namespace, name }: Called): string => `${kind}/${namespace}/${name}`;

/** The name of a pod or workload in sentences: `namespace/name`. */
export const fullName = ({ namespace, name }: Pick<Called, "namespace" | "name">): string => `${namespace}/${name}`;

const isCalled = (one: Called | undefined, { kind, namespace, name }: Called): boolean =>
  one?.name === name && one.namespace === namespace && one.kind === kind;

function byName<Item extends { readonly name: string }>(items: readonly Item[]): ReadonlyMap<string, Item> {
  return new Map(items.map((item) => [item.name, item] as const));
}

function devicesOfPods({ pods, devices }: Snapshot): readonly (readonly number[] | undefined)[] {
  const found: (number[] | undefined)[] = new Array(pods.length).fill(undefined);
  for (let i = 0; i < devices.length; i += 1) {
    for (const { pod } of devices[i]?.holders ?? []) {
      const own = found[pod];
      if (own === undefined) found[pod] = [i];
      else if (own[own.length - 1] !== i) own.push(i);
    }
  }
  return found;
}

function usersOfClaims({ pods }: Snapshot, allocated: readonly number[]): ReadonlyMap<string, readonly number[]> {
  const users = new Map<string, number[]>();
  for (const index of allocated) {
    const { namespace = "", volumeClaims = [] } = pods[index] ?? {};
    for (const name of volumeClaims) addTo(users, `${namespace}/${name}`, index);
  }
  return users;
}

function workloadsByKeys({ workloads, pods }: Snapshot): ReadonlyMap<string, readonly WorkloadView[]> {
  const found = new Map<string, WorkloadView[]>();
  /** All keys of a workload follow each other, so that one that has a key already is the last there. */
  const add = (key: string, workload: WorkloadView): void => {
    const known = found.get(key);
    if (known === undefined) found.set(key, [workload]);
    else if (known[known.length - 1] !== workload) known.push(workload);
  };
  for (const workload of workloads) {
    add(workloadName(workload), workload);
    for (const uid of workload.ownerUids) add(uid, workload);
    if (workload.queueObject !== null) add(workload.queueObject.uid, workload);
    if (workload.gang !== null) add(workload.gang.id, workload);
    const only = workload.pods.length === 1 ? pods[workload.pods[0] ?? -1] : undefined;
    if (only !== undefined && only.uid !== null) add(only.uid, workload);
  }
  return found;
}

function addTo<Item>(lists: Map<string, Item[]>, key: string, item: Item): void {
  const known = lists.get(key);
  if (known === undefined) lists.set(key, [item]);
  else known.push(item);
}
