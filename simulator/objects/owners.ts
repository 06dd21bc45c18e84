import { podLabels } from "../../exporter/model/wellKnown.ts";
import type { SimPod, Workload } from "../cluster/world.ts";
import { nameSuffix, uuidFrom } from "../random.ts";
import { type KindedObject, labelsField, type OwnerReference, timestamp } from "./kubeObject.ts";
import { podTemplateOf } from "./template.ts";

/** The object that directly controls a pod; `null` for bare pods. */
export function ownerOfPod(pod: SimPod): OwnerReference | null {
  const chain = chainOf(pod.workload, pod.index);
  return chain.at(-1) ?? null;
}

/** The object that people know a workload by; `null` for bare pods. */
export function topOwnerOf(workload: Workload): OwnerReference | null {
  return chainOf(workload, 0)[0] ?? null;
}

/** The owners from the top owner down to the one that controls pod `index`. */
function chainOf(workload: Workload, index: number): readonly OwnerReference[] {
  const { name } = workload;
  switch (workload.spec.kind) {
    case "Pod":
    case "PodGroup":
      return [];
    case "Job":
      return [reference("batch/v1", "Job", name, workload.uid)];
    case "JobSet":
      return [
        reference("jobset.x-k8s.io/v1alpha2", "JobSet", name, workload.uid),
        reference("batch/v1", "Job", `${name}-workers-0`, uuidFrom(`job/${workload.uid}`)),
      ];
    case "PyTorchJob":
      return [reference("kubeflow.org/v1", "PyTorchJob", name, workload.uid)];
    case "Deployment": {
      const replicaSet = `${name}-${nameSuffix(workload.uid, 9)}`;
      return [
        reference("apps/v1", "Deployment", name, workload.uid),
        reference("apps/v1", "ReplicaSet", replicaSet, uuidFrom(`rs/${workload.uid}`)),
      ];
    }
    case "StatefulSet":
      return [reference("apps/v1", "StatefulSet", name, workload.uid)];
    case "Notebook":
      return [
        reference("kubeflow.org/v1", "Notebook", name, workload.uid),
        reference("apps/v1", "StatefulSet", name, uuidFrom(`sts/${workload.uid}`)),
      ];
    case "LeaderWorkerSet":
      return leaderWorkerChain(workload, index);
  }
}

/** The owners of a pod of a LeaderWorkerSet. The chain of a worker passes through the leader's pod. */
function leaderWorkerChain(workload: Workload, index: number): readonly OwnerReference[] {
  const { name, uid } = workload;
  const leader = workload.pods[0];
  const top = [
    reference("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", name, uid),
    reference("apps/v1", "StatefulSet", name, uuidFrom(`sts/${uid}`)),
  ];
  if (index === 0 || leader === undefined) return top;
  return [
    ...top,
    reference("v1", "Pod", leader.name, leader.uid),
    reference("apps/v1", "StatefulSet", `${name}-0`, uuidFrom(`sts-workers/${uid}`)),
  ];
}

function reference(apiVersion: string, kind: string, name: string, uid: string): OwnerReference {
  return { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true };
}

/**
 * All owner objects of a workload, each with its own owner. Pods in a chain are left out, because they are published as pods.
 */
export function ownerObjects(workload: Workload): readonly KindedObject[] {
  const objects = new Map<string, KindedObject>();
  for (let index = 0; index < workload.spec.pods; index++) {
    const chain = chainOf(workload, index);
    chain.forEach((owner, position) => {
      if (owner.kind !== "Pod") objects.set(owner.uid, ownerObject(workload, owner, chain[position - 1]));
    });
  }
  return [...objects.values()];
}

function ownerObject(workload: Workload, self: OwnerReference, owner: OwnerReference | undefined): KindedObject {
  const { spec } = workload;
  const queue = owner === undefined && spec.queue !== null ? { [podLabels.kueueQueue]: spec.queue } : {};
  return {
    kind: self.kind,
    object: {
      metadata: {
        name: self.name,
        namespace: spec.namespace,
        uid: self.uid,
        creationTimestamp: timestamp(workload.createdAt),
        ...labelsField({ app: workload.name, ...queue, ...spec.labels }),
        ...(owner === undefined ? {} : { ownerReferences: [owner] }),
      },
      spec: ownerSpec(workload, self.kind),
      status: ownerStatus(workload, self.kind),
    },
  };
}

/** The status of an owner. A Job reports its failed pods once there are any. */
function ownerStatus({ failed, fails, endedTime, pods }: Workload, kind: string): object {
  if (kind !== "Job" || failed === 0) return {};
  const active = pods.filter(({ endedAt }) => endedAt === null).length;
  if (endedTime === null || !fails) return { active, failed };
  const reason = "BackoffLimitExceeded";
  const message = "Job has reached the specified backoff limit";
  return { failed, conditions: [{ type: "Failed", status: "True", reason, message }] };
}

function ownerSpec(workload: Workload, kind: string): object {
  const { pods, gang, backoffLimit = 6, onDisruption } = workload.spec;
  const { suspended, stopped } = workload;
  switch (kind) {
    case "Job":
      return {
        parallelism: pods,
        completions: pods,
        // Pods that work alone take whatever is left to do, so they need no index.
        completionMode: gang ? "Indexed" : "NonIndexed",
        backoffLimit,
        suspend: suspended,
        ...(onDisruption === undefined ? {} : { podFailurePolicy: { rules: [failureRule(onDisruption)] } }),
      };
    case "JobSet":
      return {
        ...(suspended ? { suspend: true } : {}),
        replicatedJobs: [{ name: "workers", replicas: 1, template: { spec: { parallelism: pods } } }],
      };
    case "PyTorchJob":
      return {
        ...(suspended ? { runPolicy: { suspend: true } } : {}),
        pytorchReplicaSpecs: { Master: { replicas: 1 }, ...(pods > 1 ? { Worker: { replicas: pods - 1 } } : {}) },
      };
    case "LeaderWorkerSet":
      return {
        replicas: stopped ? 0 : 1,
        leaderWorkerTemplate: { size: pods, workerTemplate: podTemplateOf(workload) },
      };
    case "Notebook":
      return { template: podTemplateOf(workload) };
    default:
      return {
        replicas: stopped ? 0 : pods,
        selector: { matchLabels: { app: workload.name } },
        template: podTemplateOf(workload),
      };
  }
}

function failureRule(action: string): object {
  return { action, onPodConditions: [{ type: "DisruptionTarget", status: "True" }] };
}

const indexLabel = ({ workload, index }: SimPod): Readonly<Record<string, string>> =>
  workload.spec.gang ? { [podLabels.jobIndex]: String(index) } : {};

/** Labels that the owner's controller puts on its pods. */
export function podKindLabels(pod: SimPod): Readonly<Record<string, string>> {
  const { workload, index } = pod;
  const { name } = workload;
  switch (workload.spec.kind) {
    case "Job":
      return { [podLabels.jobName]: name, [podLabels.jobNameLegacy]: name, ...indexLabel(pod) };
    case "JobSet":
      return {
        [podLabels.jobSetName]: name,
        "jobset.sigs.k8s.io/replicatedjob-name": "workers",
        "jobset.sigs.k8s.io/job-index": "0",
        [podLabels.jobName]: `${name}-workers-0`,
        [podLabels.jobNameLegacy]: `${name}-workers-0`,
        ...indexLabel(pod),
      };
    case "PyTorchJob":
      return {
        [podLabels.trainingJobName]: name,
        [podLabels.trainingOperatorName]: "pytorchjob-controller",
        "training.kubeflow.org/replica-type": index === 0 ? "master" : "worker",
        "training.kubeflow.org/replica-index": String(Math.max(0, index - 1)),
      };
    case "LeaderWorkerSet":
      return {
        [podLabels.lwsName]: name,
        [podLabels.lwsGroupIndex]: "0",
        [podLabels.lwsWorkerIndex]: String(index),
      };
    case "Notebook":
      return { "notebook-name": name, statefulset: name, "apps.kubernetes.io/pod-index": String(index) };
    case "StatefulSet":
      return { "apps.kubernetes.io/pod-index": String(index) };
    case "Deployment":
      return { "pod-template-hash": nameSuffix(workload.uid, 9) };
    case "PodGroup":
      return { [podLabels.kueuePodGroup]: name, "kueue.x-k8s.io/managed": "true" };
    case "Pod":
      return {};
  }
}

/** KAI's label that ties a fractional pod to the reservation pod of its GPU. */
export function groupLabel(pod: SimPod): Readonly<Record<string, string>> {
  const { request } = pod.workload.spec;
  if (request.kind !== "fraction" || pod.endedAt !== null) return {};
  const group = pod.allocations[0]?.physicalGpu.reservation?.group;
  return group === undefined ? {} : { [podLabels.kaiGpuGroup]: group };
}
