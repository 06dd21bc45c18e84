import type { Analysis } from "../../analysis/analysis.ts";
import { queueKey } from "../../analysis/fairness/shortSince.ts";
import type { QueueView } from "../../join/queues/queueing.ts";
import type { NodeView, PodView, WorkloadView } from "../../join/snapshot.ts";

/** What the life of advice looks up in a moment; each part is made when it is first asked for. */
export interface MomentIndex {
  readonly analysis: Analysis;
  /** Pods that hold, by uid. */
  allocated(uid: string): PodView | undefined;
  node(name: string): NodeView | undefined;
  /** By `queueKey`. */
  queue(key: string): QueueView | undefined;
  /** By `kind/namespace/name`, and by the uids of its owners, its queue object and its gang. */
  workloads(nameOrUid: string): readonly WorkloadView[];
}

/** The name by which signs and measures know a workload. */
export const workloadName = ({ kind, namespace, name }: Pick<WorkloadView, "kind" | "namespace" | "name">): string =>
  `${kind}/${namespace}/${name}`;

/** Looks at a moment. */
export function indexMoment(analysis: Analysis): MomentIndex {
  const { snapshot } = analysis;
  const pods = once(() => {
    const byUid = new Map<string, PodView>();
    for (const pod of snapshot.pods) if (pod.uid !== null && pod.status === "allocated") byUid.set(pod.uid, pod);
    return byUid;
  });
  const nodes = once(() => new Map(snapshot.nodes.map((node) => [node.name, node] as const)));
  const queues = once(() => {
    const { domains, queues: all } = snapshot.queueing;
    return new Map(all.map((queue) => [queueKey(queue, domains[queue.domain]?.name ?? ""), queue] as const));
  });
  const workloads = once(() => workloadsByName(snapshot.workloads, snapshot.pods));
  return {
    analysis,
    allocated: (uid) => pods().get(uid),
    node: (name) => nodes().get(name),
    queue: (key) => queues().get(key),
    workloads: (nameOrUid) => workloads().get(nameOrUid) ?? [],
  };
}

function workloadsByName(
  all: readonly WorkloadView[],
  pods: readonly PodView[],
): ReadonlyMap<string, readonly WorkloadView[]> {
  const found = new Map<string, WorkloadView[]>();
  for (const workload of all) {
    const keys = new Set([workloadName(workload), ...workload.ownerUids]);
    if (workload.queueObject !== null) keys.add(workload.queueObject.uid);
    if (workload.gang !== null) keys.add(workload.gang.id);
    const [first] = workload.pods;
    const only = first === undefined ? undefined : pods[first];
    if (workload.pods.length === 1 && only !== undefined && only.uid !== null) keys.add(only.uid);
    for (const key of keys) {
      const known = found.get(key);
      if (known === undefined) found.set(key, [workload]);
      else known.push(workload);
    }
  }
  return found;
}

/** Physical GPUs that a workload's pods hold. */
export function allocatedGpus({ pods }: WorkloadView, all: readonly PodView[]): number {
  return pods.reduce((sum, index) => {
    const pod = all[index];
    return pod?.status === "allocated" ? sum + (pod.gpus ?? 0) : sum;
  }, 0);
}

function once<Result>(make: () => Result): () => Result {
  let made: { readonly result: Result } | null = null;
  return () => {
    made ??= { result: make() };
    return made.result;
  };
}
