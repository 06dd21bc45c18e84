import type { WaitingGang, WaitingPart } from "../../join/queues/queueing.ts";
import type { PodView, WorkloadView } from "../../join/snapshot.ts";
import { mayBeDisrupted } from "../../model/disruption.ts";
import type { ClusterCopy } from "./clusterCopy.ts";

/** Makes a pod of a gang that nobody has created yet; `number`: how many were made before it. */
export function newPod(
  copy: ClusterCopy,
  gang: WaitingGang,
  { workload, number }: { readonly workload: number; readonly number: number },
  part: WaitingPart,
): PodView {
  const { namespace, team, queue, priorityClass, priority } = gang;
  return {
    uid: `${gang.uid}/${number}`,
    namespace,
    team,
    queue,
    priorityClass,
    priority,
    node: null,
    status: "pending",
    gpus: part.gpusPerPod,
    name: `${gang.name}-${number}`,
    workload,
    workloadClass: copy.workloads[workload]?.workloadClass ?? "batch",
    idleOptOut: false,
    starting: true,
    boundAt: null,
    createdAt: copy.analysis.snapshot.at,
    pendingSince: null,
    gang: null,
    needs: part.needs,
    labels: {},
    owner: null,
    disruption: mayBeDisrupted,
    checkpointedAt: null,
  };
}

/** Makes the workload of a gang that has no pods yet. */
export function newWorkload(gang: WaitingGang): WorkloadView {
  const { kind, namespace, name, team, queue, localQueue, priorityClass, priority } = gang;
  return {
    kind,
    namespace,
    name,
    team,
    owner: null,
    queue,
    localQueue,
    priorityClass,
    priority,
    workloadClass: "batch",
    createdAt: null,
    gang: null,
    ownerUids: [],
    owners: [],
    job: null,
    queueObject: null,
    progressUnits: null,
    pods: [],
  };
}
