import type { ClusterState, NodeRequests, OwnerObject } from "../../../exporter/model/cluster.ts";
import type { ClusterNode } from "../../../exporter/model/node.ts";
import type { Pod } from "../../../exporter/model/pod.ts";
import type { TelemetryPage } from "../../../exporter/model/telemetry.ts";
import { gpuResources, podAnnotations, podLabels } from "../../../exporter/model/wellKnown.ts";
import { type GpuModelName, gpuModels } from "../../../simulator/gpuModels.ts";
import { emptyState } from "../../emptyState.ts";
import { barePod, longAgo, readyNode } from "../objects.ts";
import { blankReading, claimantOf, pageOfNode } from "../readings.ts";
import { milliOf } from "./openbTrace.ts";
import type { PackedNode, Packing, Task } from "./packing.ts";

/** A moment of a replay: who runs where, and who waits. */
export interface PackedMoment {
  readonly packing: Packing;
  readonly tasks: ReadonlyMap<number, Task>;
  readonly waiting: readonly Task[];
  /** Since when each task runs or waits, seconds since the epoch, by id. */
  readonly since: ReadonlyMap<number, number>;
  /** Seconds since the epoch. */
  readonly at: number;
}

const namespace = "openb";

/** The name of the pod of a task; a pod that was evicted keeps it here, though a ReplicaSet would make a new one. */
export const podName = ({ id }: Task): string => `task-${id}`;

/** The task that a pod stands for; `null` for any other name. */
export const taskOfPod = (name: string): number | null => {
  const id = /^task-(\d+)$/.exec(name)?.[1];
  return id === undefined ? null : Number(id);
};

/**
 * The cluster as the API and the exporters of a cluster with KAI would show it: parts of a GPU are fractions with a reservation
 * pod that names the GPU. Tasks without GPUs only count in what their nodes have left. Pure.
 */
export function clusterOf({ packing, tasks, waiting, since, at }: PackedMoment): ClusterState {
  const pods: Pod[] = [];
  const owners: OwnerObject[] = [];
  const requests = new Map<string, NodeRequests>();
  const telemetry: TelemetryPage[] = [];
  const add = (task: Task, node: PackedNode | null, gpus: readonly number[]): void => {
    const owner = ownerOf(task, at);
    owners.push(owner);
    pods.push(podOf(task, owner, node, gpus, since.get(task.id) ?? at));
  };
  for (const node of packing.nodes) {
    const claimants = new Map<number, string>();
    const shared = new Set<number>();
    for (const id of node.tasks) {
      const task = tasks.get(id);
      const gpus = packing.places.get(id)?.gpus ?? [];
      if (task === undefined || task.gpus === 0) continue;
      add(task, node, gpus);
      for (const gpu of gpus)
        if (isPart(task)) shared.add(gpu);
        else claimants.set(gpu, podName(task));
    }
    for (const gpu of shared) pods.push(reservationOf(node, gpu, at));
    requests.set(node.node.name, {
      pods: node.tasks.size,
      cpuMilli: node.node.cpuMilli - node.cpuMilli,
      memoryBytes: (node.node.memoryMiB - node.memoryMiB) * mebibyte,
    });
    telemetry.push(pageOf(node, claimants, shared, at));
  }
  for (const task of waiting) if (task.gpus > 0) add(task, null, []);
  return {
    ...emptyState,
    nodes: packing.nodes.map((node) => nodeOf(node, at)),
    pods,
    owners,
    namespaces: [{ name: namespace, labels: { team: namespace }, annotations: {} }],
    requestsByNode: requests,
    telemetry,
  };
}

const mebibyte = 2 ** 20;
const isPart = (task: Task): boolean => milliOf(task) < 1000;
const uuidOf = (node: PackedNode, gpu: number): string => `GPU-${node.node.name}-${gpu}`;
const groupOf = (node: PackedNode, gpu: number): string => `${node.node.name}-${gpu}`;

function productOf(model: string): string {
  const named = Object.keys(gpuModels).find((name): name is GpuModelName => name === model);
  return named === undefined ? model : gpuModels[named].product;
}

const nodeOf = ({ node, isCordoned }: PackedNode, at: number): ClusterNode => ({
  ...readyNode(node.name, node.gpus, productOf(node.model), at),
  unschedulable: isCordoned,
  allocatableCpuMilli: node.cpuMilli,
  allocatableMemoryBytes: node.memoryMiB * mebibyte,
});

/** Every task has a controller of its own that makes its pod again. */
function ownerOf(task: Task, at: number): OwnerObject {
  return {
    apiVersion: "apps/v1",
    kind: "ReplicaSet",
    namespace,
    name: `set-${task.id}`,
    uid: `uid-set-${task.id}`,
    labels: {},
    annotations: {},
    owner: null,
    createdAt: at - longAgo,
    job: null,
  };
}

function podOf(task: Task, owner: OwnerObject, node: PackedNode | null, gpus: readonly number[], since: number): Pod {
  const [gpu] = gpus;
  const group =
    isPart(task) && node !== null && gpu !== undefined ? { [podLabels.kaiGpuGroup]: groupOf(node, gpu) } : {};
  return {
    ...barePod(podName(task), namespace, node?.node.name ?? null, since),
    schedulerName: isPart(task) ? "kai-scheduler" : "default-scheduler",
    labels: { ...group, [podLabels.workloadClass]: task.qos === "LS" ? "serving" : "batch" },
    annotations: isPart(task) ? { [podAnnotations.kaiFraction]: String(task.gpuMilli / 1000) } : {},
    owner: { apiVersion: owner.apiVersion, kind: owner.kind, name: owner.name, uid: owner.uid },
    cpuMilli: task.cpuMilli,
    memoryBytes: task.memoryMiB * mebibyte,
    gpu: {
      resources: isPart(task) ? {} : { [gpuResources.nvidia]: task.gpus },
      claims: [],
      extendedResourceClaim: null,
    },
  };
}

function reservationOf(node: PackedNode, gpu: number, at: number): Pod {
  return {
    ...barePod(`gpu-reservation-${groupOf(node, gpu)}`, "kai-resource-reservation", node.node.name, at - longAgo),
    labels: { [podLabels.kaiGpuGroup]: groupOf(node, gpu) },
    annotations: { [podAnnotations.kaiReservedGpu]: uuidOf(node, gpu) },
    gpu: { resources: { [gpuResources.nvidia]: 1 }, claims: [], extendedResourceClaim: null },
  };
}

/** The page of a node's exporter: GPUs that someone has are busy, the others are not. */
function pageOf(
  node: PackedNode,
  claimants: ReadonlyMap<number, string>,
  shared: ReadonlySet<number>,
  at: number,
): TelemetryPage {
  const devices = node.freeMilli.map((_, gpu) => {
    const holder = claimants.get(gpu);
    const activity = holder !== undefined || shared.has(gpu) ? 0.9 : 0;
    const named = holder === undefined ? [] : [claimantOf(namespace, holder)];
    return { ...blankReading(uuidOf(node, gpu), activity), claimants: named };
  });
  return pageOfNode(node.node.name, devices, at);
}
