import type { TeamRule } from "../config/schema.ts";
import type { ClusterState, Namespace, OwnerObject } from "../model/cluster.ts";
import type { Pod } from "../model/pod.ts";
import { podLabels } from "../model/wellKnown.ts";
import type { Gangs } from "./gangs.ts";
import { queueOf } from "./queueOf.ts";
import type { PodView, WorkloadView } from "./snapshot.ts";
import { teamOf } from "./teamOf.ts";
import { ownerChainOf, workloadClassOf } from "./workloadOf.ts";

/** What stands where a pod has no priority class. */
export const noPriorityClass = "none";

/** Bound, and not ended: it holds what it was given, used or not. */
export function isHolding(pod: Pod): boolean {
  return pod.nodeName !== null && pod.phase !== "Succeeded" && pod.phase !== "Failed";
}

/** Not bound, and not ended: it waits. */
export function isPending(pod: Pod): boolean {
  return pod.nodeName === null && pod.phase !== "Succeeded" && pod.phase !== "Failed";
}

/** Pods and the workloads they make, by index. */
export interface Subjects {
  readonly pods: readonly PodView[];
  readonly workloads: readonly WorkloadView[];
}

/** What the views of pods are made from. */
export interface SubjectInput {
  readonly state: ClusterState;
  readonly pods: readonly Pod[];
  readonly rules: readonly TeamRule[];
  readonly gangs: Gangs;
  /** Physical GPUs that a pod asks for; `null` when they cannot be known. */
  readonly gpusOf: (pod: Pod, index: number) => number | null;
  readonly pendingSince: (pod: Pod) => number | null;
  /** Pods that telemetry alone names have no uid. */
  readonly named: ReadonlySet<Pod>;
}

const byUid = (owner: OwnerObject) => [owner.uid, owner] as const;

/** Chains may pass through a pod (LeaderWorkerSet): the leader is among the pods, whether it was read as an owner or not. */
function podsThatOwn(state: ClusterState): readonly (readonly [string, OwnerObject])[] {
  const uids = new Set<string>();
  for (const { owner } of [...state.pods, ...state.owners]) if (owner?.kind === "Pod") uids.add(owner.uid);
  if (uids.size === 0) return [];
  return state.pods.filter((pod) => uids.has(pod.uid)).map((pod) => byUid({ apiVersion: "v1", kind: "Pod", ...pod }));
}

/** Ties every pod to its workload, team, queue and priority. */
export function viewSubjects(input: SubjectInput): Subjects {
  const owners = new Map<string, OwnerObject>([...podsThatOwn(input.state), ...input.state.owners.map(byUid)]);
  const namespaces = new Map<string, Namespace>(input.state.namespaces.map((namespace) => [namespace.name, namespace]));
  const workloads = new Map<string, { index: number; view: Omit<WorkloadView, "pods">; pods: number[] }>();
  const pods = input.pods.map((pod, index): PodView => {
    const chain = ownerChainOf(pod, owners);
    const top = chain.owners.at(-1);
    const queue = queueOf(pod, chain.owners);
    const team = teamOf(input.rules, {
      namespace: pod.namespace,
      namespaceObject: namespaces.get(pod.namespace),
      queue,
      podLabels: pod.labels,
      workloadLabels: top?.labels ?? pod.labels,
    });
    const { kind, namespace, name } = chain.workload;
    const key = `${kind}/${namespace}/${name}/${top?.uid ?? ""}/${team}`;
    const workloadClass = workloadClassOf(pod, chain);
    const priorityClass = pod.priorityClassName ?? noPriorityClass;
    const gang = input.gangs.byPod.get(pod.uid) ?? null;
    const workload = workloads.get(key) ?? {
      index: workloads.size,
      view: {
        kind,
        namespace,
        name,
        team,
        queue,
        priorityClass,
        priority: pod.priority,
        workloadClass,
        createdAt: top?.createdAt ?? pod.createdAt,
        gang,
      },
      pods: [],
    };
    workloads.set(key, workload);
    workload.pods.push(index);
    return {
      uid: input.named.has(pod) ? null : pod.uid,
      namespace: pod.namespace,
      name: pod.name,
      node: pod.nodeName,
      status: pod.nodeName === null ? "pending" : "held",
      gpus: input.gpusOf(pod, index),
      team,
      queue,
      priorityClass,
      priority: pod.priority,
      workload: workload.index,
      workloadClass,
      idleOptOut: pod.labels[podLabels.idleOptOut] === "true" || top?.labels[podLabels.idleOptOut] === "true",
      starting: !pod.allContainersStarted,
      boundAt: pod.scheduledAt,
      createdAt: pod.createdAt,
      pendingSince: pod.nodeName === null ? input.pendingSince(pod) : null,
      gang,
    };
  });
  return { pods, workloads: [...workloads.values()].map(({ view, pods: members }) => ({ ...view, pods: members })) };
}
