import {
  gpuResources,
  nvidiaDraDriver,
  ownAnnotations,
  podAnnotations,
  podLabels,
} from "../../exporter/model/wellKnown.ts";
import { checkpointed } from "../cluster/lostWork.ts";
import { priorityOf } from "../cluster/scheduler.ts";
import type { SimPod, World } from "../cluster/world.ts";
import { isInService } from "../cluster/xid.ts";
import { serverAddress } from "../pages/servingPage.ts";
import { podGroupName } from "../queues/membership.ts";
import { draDeviceName } from "./dra.ts";
import { annotationsField, type KubeObject, labelsField, timestamp } from "./kubeObject.ts";
import { groupLabel, ownerOfPod, podKindLabels } from "./owners.ts";
import { workloadObjectName } from "./queues/identity.ts";
import { requestedResources } from "./resources.ts";
import { containerName, nodeChoice, tolerations } from "./template.ts";

/** The Pod object of a simulated pod, now. */
export function podObject(world: World, pod: SimPod): KubeObject {
  const { workload } = pod;
  const { spec } = workload;
  const owner = ownerOfPod(pod);
  const amounts = requestedResources(spec.request);
  const claims = usesClaim(pod) ? [{ name: "gpu" }] : null;
  const base = { cpu: `${spec.cpuMilli}m`, memory: `${spec.memoryMiB}Mi` };
  const priority = priorityOf(world, workload);
  return {
    metadata: {
      name: pod.name,
      namespace: spec.namespace,
      uid: pod.uid,
      creationTimestamp: timestamp(pod.createdAt),
      ...labelsField({
        app: workload.name,
        ...podKindLabels(pod),
        ...queueLabels(pod),
        ...groupLabel(pod),
        ...spec.labels,
      }),
      ...annotationsField(annotations(world, pod)),
      ...(owner === null ? {} : { ownerReferences: [owner] }),
    },
    spec: {
      containers: [
        {
          name: containerName(pod.workload),
          image: "registry.example.com/ml/workload:2026.11",
          resources: {
            limits: { memory: base.memory, ...amounts },
            requests: { ...base, ...amounts },
            ...(claims === null ? {} : { claims }),
          },
        },
      ],
      ...(claims === null ? {} : { resourceClaims: [claimOfSpec(pod)] }),
      ...(spec.localStorage === true ? { volumes: [{ name: "scratch", emptyDir: {} }] } : {}),
      ...(pod.node === null ? {} : { nodeName: pod.node.spec.name }),
      ...(isGated(pod) ? { schedulingGates: [{ name: "kueue.x-k8s.io/admission" }] } : {}),
      ...nodeChoice(spec, pod.node?.spec.name),
      restartPolicy: spec.kind === "Deployment" || spec.kind === "Notebook" ? "Always" : "Never",
      schedulerName: schedulerName(pod),
      ...(spec.priorityClass === null ? {} : { priorityClassName: spec.priorityClass }),
      priority,
      preemptionPolicy: "PreemptLowerPriority",
      tolerations,
    },
    status: podStatus(pod),
  };
}

/** Whether a gate holds the pod back: Kueue gates plain pods until they are admitted. */
function isGated({ workload }: SimPod): boolean {
  return workload.system === "kueue" && workload.admittedAt === null;
}

function usesClaim(pod: SimPod): boolean {
  return pod.workload.spec.request.kind === "claim";
}

function claimOfSpec(pod: SimPod): object {
  const { claim } = pod.workload;
  return claim === null
    ? { name: "gpu", resourceClaimTemplateName: `${pod.workload.name}-gpu` }
    : { name: "gpu", resourceClaimName: claim.name };
}

function queueLabels(pod: SimPod): Readonly<Record<string, string>> {
  const { system, admittedAt } = pod.workload;
  const { queue, request } = pod.workload.spec;
  if (queue === null || system === "volcano") return {};
  if (system === "kai") return { [podLabels.kaiQueue]: queue };
  if (system === "kueue") {
    const admitted = { [podLabels.kueueLocalQueue]: queue, [podLabels.kueueClusterQueue]: queue };
    return { [podLabels.kueueQueue]: queue, ...(admittedAt === null ? {} : admitted) };
  }
  if (request.kind === "fraction") return { [podLabels.kaiQueue]: queue };
  return { [podLabels.kueueLocalQueue]: queue, [podLabels.kueueClusterQueue]: queue, [podLabels.kueueQueue]: queue };
}

function annotations(world: World, pod: SimPod): Readonly<Record<string, string>> {
  return {
    ...groupAnnotations(pod),
    ...requestAnnotations(pod),
    ...checkpointAnnotation(world, pod),
    ...scrapeAnnotations(pod),
    ...pod.workload.spec.annotations,
  };
}

function scrapeAnnotations(pod: SimPod): Readonly<Record<string, string>> {
  const address = serverAddress(pod);
  if (address === null) return {};
  return { [podAnnotations.scrape]: "true", [podAnnotations.scrapePort]: String(address.port) };
}

/** The annotation for when the work was last saved. Work that was saved before a restart still counts. */
function checkpointAnnotation(world: World, pod: SimPod): Readonly<Record<string, string>> {
  if (pod.startedAt === null || pod.workload.spec.checkpointSeconds === undefined) return {};
  const saved = checkpointed(world, pod);
  if (saved === 0 && !pod.workload.progress.has(pod.index)) return {};
  return { [ownAnnotations.checkpointedAt]: timestamp(pod.startedAt + saved) };
}

function groupAnnotations(pod: SimPod): Readonly<Record<string, string>> {
  const { spec } = pod.workload;
  const named = queueAnnotations(pod);
  if (spec.kind === "PodGroup") return { ...named, [podAnnotations.kueuePodGroupTotalCount]: String(spec.pods) };
  if (spec.kind === "LeaderWorkerSet") return { ...named, [podAnnotations.lwsSize]: String(spec.pods) };
  return named;
}

function queueAnnotations({ workload }: SimPod): Readonly<Record<string, string>> {
  switch (workload.system) {
    case "kueue":
      return { "kueue.x-k8s.io/workload": workloadObjectName(workload) };
    case "kai":
      return { [podAnnotations.kaiPodGroup]: podGroupName(workload) };
    case "volcano":
      return { [podAnnotations.podGroup]: podGroupName(workload) };
    case null:
      return {};
  }
}

function requestAnnotations(pod: SimPod): Readonly<Record<string, string>> {
  const { request } = pod.workload.spec;
  if (request.kind === "fraction") {
    return {
      [podAnnotations.kaiFraction]: String(request.share),
      [podAnnotations.kaiPodGroup]: `pg-${pod.workload.name}-${pod.workload.uid}`,
      ...(pod.node === null ? {} : { [podAnnotations.kaiReceivedResourceType]: "Fraction" }),
    };
  }
  const [allocation] = pod.allocations;
  if (request.kind === "hami" && allocation !== undefined && pod.node !== null) {
    const device = `${allocation.physicalGpu.uuid},NVIDIA,${request.memoryMiB},${request.corePercent}:;`;
    return {
      [podAnnotations.hamiAllocated]: device,
      [podAnnotations.hamiNode]: pod.node.spec.name,
      "hami.io/bind-phase": "success",
      "hami.io/vgpu-time": String(pod.scheduledAt ?? 0),
    };
  }
  return {};
}

function schedulerName(pod: SimPod): string {
  if (pod.workload.system === "volcano") return "volcano";
  if (pod.workload.system === "kai") return "kai-scheduler";
  if (pod.workload.spec.request.kind === "fraction") return "kai-scheduler";
  return pod.workload.spec.request.kind === "hami" ? "hami-scheduler" : "default-scheduler";
}

function podStatus(pod: SimPod): object {
  const claim = pod.claim;
  const { request } = pod.workload.spec;
  const address = pod.node === null ? null : serverAddress(pod);
  return {
    phase: pod.phase,
    ...(address === null ? {} : { podIP: address.ip }),
    conditions: podConditions(pod),
    ...(pod.startedAt === null && pod.scheduledAt === null ? {} : { startTime: timestamp(pod.scheduledAt ?? 0) }),
    ...(pod.node === null ? {} : { hostIP: "127.0.0.1", containerStatuses: [containerStatus(pod)] }),
    qosClass: "Burstable",
    ...(request.kind === "claim" && claim !== null
      ? { resourceClaimStatuses: [{ name: "gpu", resourceClaimName: claim.name }] }
      : {}),
    ...(request.kind === "extended-resource" && claim !== null
      ? {
          extendedResourceClaimStatus: {
            resourceClaimName: claim.name,
            requestMappings: [
              {
                containerName: containerName(pod.workload),
                resourceName: "nvidia.com/gpu",
                requestName: "container-0-request-0",
              },
            ],
          },
        }
      : {}),
  };
}

function podConditions(pod: SimPod): readonly object[] {
  if (pod.scheduledAt === null) {
    const lastTransitionTime = timestamp(pod.createdAt);
    const message = "no node has enough free GPUs of the kind that the pod asks for";
    return [{ type: "PodScheduled", status: "False", lastTransitionTime, reason: "Unschedulable", message }];
  }
  const bound = timestamp(pod.scheduledAt);
  const scheduled = { type: "PodScheduled", status: "True", lastTransitionTime: bound };
  const running = pod.phase === "Running";
  const lastTransitionTime = timestamp(pod.endedAt ?? pod.startedAt ?? pod.scheduledAt);
  const reason = pod.endedAt !== null ? "PodCompleted" : "ContainersNotReady";
  const readiness = running ? { status: "True", lastTransitionTime } : { status: "False", lastTransitionTime, reason };
  return [
    { type: "Initialized", status: "True", lastTransitionTime: bound },
    { type: "Ready", ...readiness },
    { type: "ContainersReady", ...readiness },
    scheduled,
    ...disrupted(pod),
  ];
}

function disrupted({ disruption }: SimPod): readonly object[] {
  if (disruption === undefined) return [];
  const { at, message } = disruption;
  const reason = disruption.reason ?? "PreemptionByScheduler";
  return [{ type: "DisruptionTarget", status: "True", lastTransitionTime: timestamp(at), reason, message }];
}

function containerStatus(pod: SimPod): object {
  const startedAt = timestamp(pod.startedAt ?? 0);
  const failed = pod.phase === "Failed";
  const terminated = {
    exitCode: failed ? 1 : 0,
    reason: failed ? "Error" : "Completed",
    startedAt,
    finishedAt: timestamp(pod.endedAt ?? 0),
  };
  const state =
    pod.endedAt !== null
      ? { terminated }
      : pod.startedAt !== null
        ? { running: { startedAt } }
        : { waiting: { reason: "ContainerCreating" } };
  const running = pod.phase === "Running";
  const base = { name: containerName(pod.workload), ready: running, started: running, restartCount: 0, state };
  return { ...base, ...gpuHealth(pod) };
}

/**
 * What the kubelet knows about the pod's GPUs from the device plugin or the DRA driver; empty unless one of them is not
 * healthy.
 */
function gpuHealth(pod: SimPod): object {
  const gpus = [...new Set(pod.allocations.map(({ physicalGpu }) => physicalGpu))];
  const { kind } = pod.workload.spec.request;
  const claim = pod.claim ?? pod.workload.claim;
  const isRead = kind === "physicalGpus" || (kind === "claim" && claim !== null);
  if (!isRead || pod.endedAt !== null || gpus.every((gpu) => isInService(gpu))) return {};
  const resources = gpus.map((gpu) => ({
    resourceID: claim === null ? gpu.uuid : `k8s.${nvidiaDraDriver}/claim=${claim.uid}-${draDeviceName(gpu)}`,
    health: isInService(gpu) ? "Healthy" : "Unhealthy",
  }));
  return { allocatedResourcesStatus: [{ name: claim === null ? gpuResources.nvidia : "claim:gpu", resources }] };
}
