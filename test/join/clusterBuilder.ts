import type {
  AllocatedDevice,
  ClusterState,
  Namespace,
  ObjectKind,
  OwnerObject,
  ResourceClaim,
  ResourceSlice,
  SliceDevice,
} from "../../exporter/model/cluster.ts";
import type { JobLimits } from "../../exporter/model/disruption.ts";
import type { ClusterNode } from "../../exporter/model/node.ts";
import type { GpuDemand, OwnerRef, Pod } from "../../exporter/model/pod.ts";
import { noPrices } from "../../exporter/model/prices.ts";
import { toleratesAll } from "../../exporter/model/queues/nodeMatch.ts";
import { noQueueObjects, unknownSchedulerSettings } from "../../exporter/model/queues/queueObjects.ts";
import type { DeviceReading, TelemetryClaimant, TelemetryPage } from "../../exporter/model/telemetry.ts";

/** The moment of most tests; long after everything was created. */
export const now = 1_800_000_000;
const dayAgo = now - 86_400;
export const gibibyte = 1024 ** 3;

export const everyKind: ReadonlySet<ObjectKind> = new Set([
  "nodes",
  "pods",
  "namespaces",
  "priorityClasses",
  "podDisruptionBudgets",
  "horizontalPodAutoscalers",
  "scaledObjects",
  "verticalPodAutoscalers",
  "resourceClaims",
  "resourceSlices",
  "owners",
]);

/** A ready, schedulable node that has existed for a day; no GPU unless `capacity` or labels say so. */
export function node(name: string, parts: Partial<ClusterNode> = {}): ClusterNode {
  return {
    name,
    uid: `uid-${name}`,
    bootId: `boot-${name}`,
    createdAt: dayAgo,
    labels: {},
    annotations: {},
    taints: [],
    unschedulable: false,
    ready: true,
    readyChangedAt: dayAgo,
    capacity: {},
    allocatable: parts.capacity ?? {},
    allocatableCpuMilli: 96_000,
    allocatableMemoryBytes: 1024 * gibibyte,
    providerId: "",
    ...parts,
  };
}

/** Labels of GPU Feature Discovery for whole GPUs. */
export function gfdLabels(count: number, product = "NVIDIA-H100-80GB-HBM3"): Record<string, string> {
  return { "nvidia.com/gpu.product": product, "nvidia.com/gpu.count": String(count), "nvidia.com/gpu.replicas": "1" };
}

/** A node with whole GPUs behind the device plugin and GFD. */
export function gpuNode(name: string, physicalGpus: number, parts: Partial<ClusterNode> = {}): ClusterNode {
  return node(name, { labels: gfdLabels(physicalGpus), capacity: { "nvidia.com/gpu": physicalGpus }, ...parts });
}

type PodParts = Partial<Omit<Pod, "gpu">> & { readonly gpu?: Partial<GpuDemand> };

/** A pod that has run for two hours on `nodeName`; it asks for nothing unless `gpu` says so. */
export function pod(name: string, nodeName: string | null, parts: PodParts = {}): Pod {
  const { gpu, ...rest } = parts;
  return {
    uid: `uid-${rest.namespace ?? "research"}-${name}`,
    namespace: "research",
    name,
    nodeName,
    phase: nodeName === null ? "Pending" : "Running",
    createdAt: now - 7200,
    scheduledAt: nodeName === null ? null : now - 7200,
    allContainersStarted: nodeName !== null,
    gated: false,
    priority: 0,
    priorityClassName: null,
    schedulerName: "default-scheduler",
    nodeSelector: {},
    nodeAffinity: [],
    tolerations: toleratesAll,
    labels: {},
    annotations: {},
    owner: null,
    cpuMilli: 1000,
    memoryBytes: gibibyte,
    hasLocalStorage: false,
    gpu: { resources: {}, claims: [], extendedResourceClaim: null, ...gpu },
    ...rest,
  };
}

/** A pod that asks the device plugin for `amount` of `resource`. */
export function gpuPod(
  name: string,
  nodeName: string | null,
  amount: number,
  parts: PodParts = {},
  resource = "nvidia.com/gpu",
): Pod {
  return pod(name, nodeName, { ...parts, gpu: { resources: { [resource]: amount }, ...parts.gpu } });
}

/** A pod that uses claims of its namespace. */
export function claimingPod(name: string, nodeName: string | null, ...claimNames: string[]): Pod {
  return pod(name, nodeName, { gpu: { claims: claimNames.map((claimName) => ({ claimName })) } });
}

/** What a row says about a pod in the namespace of `pod()`. */
export function claimant(name: string, parts: Partial<TelemetryClaimant> = {}): TelemetryClaimant {
  return {
    namespace: "research",
    pod: name,
    podUid: null,
    container: null,
    slots: 1,
    processUtil: null,
    processMemoryBytes: null,
    claim: null,
    ...parts,
  };
}

/** A whole GPU's reading without any signal. */
export function bareReading(uuid: string, parts: Partial<DeviceReading> = {}): DeviceReading {
  return {
    uuid,
    gpuInstance: null,
    profile: null,
    migUuid: null,
    modelName: "NVIDIA H100 80GB HBM3",
    gpuIndex: null,
    gpuUtil: null,
    grEngineActive: null,
    smActive: null,
    dramActive: null,
    tensorActive: null,
    pipeActive: null,
    memoryCopyUtil: null,
    movedBytesPerSecond: null,
    encoderUtil: null,
    decoderUtil: null,
    memoryUsedBytes: null,
    memoryTotalBytes: null,
    powerWatts: null,
    powerLimitWatts: null,
    clockEventReasons: null,
    energyJoules: null,
    temperatureCelsius: null,
    lastXid: null,
    rowRemapPending: null,
    rowRemapFailure: null,
    dcgmHealth: null,
    virtualSlots: 0,
    claimants: [],
    ...parts,
  };
}

/** A whole GPU that is busy for the part `activity`, on which rows name the pods `pods`. */
export function reading(uuid: string, activity: number, ...pods: string[]): DeviceReading {
  return bareReading(uuid, { smActive: activity, gpuUtil: activity, claimants: pods.map((name) => claimant(name)) });
}

/** A MIG instance of a GPU. */
export function instance(
  uuid: string,
  id: string,
  profile: string,
  activity: number,
  ...pods: string[]
): DeviceReading {
  return bareReading(uuid, {
    gpuInstance: id,
    profile,
    grEngineActive: activity,
    claimants: pods.map((name) => claimant(name)),
  });
}

export function page(nodeName: string | null, devices: readonly DeviceReading[], parts: Partial<TelemetryPage> = {}) {
  const whole: TelemetryPage = {
    target: `http://exporter-of-${nodeName}:9400/metrics`,
    node: nodeName,
    hostLabel: nodeName,
    receivedAt: now,
    devices,
    dropped: {},
    ...parts,
  };
  return whole;
}

export function allocated(pool: string, device: string, parts: Partial<AllocatedDevice> = {}): AllocatedDevice {
  return {
    request: "gpu",
    driver: "gpu.nvidia.com",
    pool,
    device,
    adminAccess: false,
    shareId: null,
    consumedCapacity: {},
    ...parts,
  };
}

/** A claim in the namespace of `pod()`, reserved for the pods named. */
export function claim(
  name: string,
  devices: readonly AllocatedDevice[],
  pods: readonly string[],
  parts: Partial<ResourceClaim> = {},
): ResourceClaim {
  return {
    namespace: "research",
    name,
    uid: `claim-${name}`,
    requests: [],
    allocated: devices,
    reservedForPods: pods.map((podName) => `uid-research-${podName}`),
    nodeName: null,
    ...parts,
  };
}

export function sliceGpu(name: string, uuid: string, parts: Partial<SliceDevice> = {}): SliceDevice {
  return {
    name,
    attributes: { type: "gpu", uuid, productName: "NVIDIA H100 80GB HBM3" },
    capacity: { memory: 80 * gibibyte },
    memorySlices: [],
    taints: [],
    ...parts,
  };
}

/** A MIG device, or (without a UUID) one that a partitionable GPU may be cut into. */
export function sliceMig(
  name: string,
  parentUUID: string,
  profile: string,
  uuid?: string,
  memorySlices: readonly number[] = [],
): SliceDevice {
  return {
    name,
    attributes: { type: "mig", parentUUID, profile, ...(uuid === undefined ? {} : { uuid }) },
    capacity: {},
    memorySlices,
    taints: [],
  };
}

/** The one slice of a node's pool; the pool has the node's name. */
export function slice(nodeName: string, devices: readonly SliceDevice[], parts: Partial<ResourceSlice> = {}) {
  const whole: ResourceSlice = {
    name: `${nodeName}-gpu.nvidia.com`,
    driver: "gpu.nvidia.com",
    pool: nodeName,
    poolGeneration: 1,
    poolSliceCount: 1,
    nodeName,
    devices,
    ...parts,
  };
  return whole;
}

export function namespace(name: string, labels: Record<string, string> = {}, annotations: Record<string, string> = {}) {
  const whole: Namespace = { name, labels, annotations };
  return whole;
}

export function owner(kind: string, name: string, above: OwnerObject | null = null, parts: Partial<OwnerObject> = {}) {
  const whole: OwnerObject = {
    apiVersion: "v1",
    kind,
    namespace: "research",
    name,
    uid: `${kind}-${name}`,
    labels: {},
    annotations: {},
    owner: above === null ? null : ownerRef(above),
    createdAt: now - 9000,
    job: null,
    ...parts,
  };
  return whole;
}

/** A Job that has lost no pod and may lose six. */
export function jobLimits(parts: Partial<JobLimits> = {}): JobLimits {
  return { backoffLimit: 6, failed: 0, onDisruption: "Count", isSuspended: false, ...parts };
}

export function ownerRef(object: Pick<OwnerObject, "apiVersion" | "kind" | "name" | "uid">): OwnerRef {
  return { apiVersion: object.apiVersion, kind: object.kind, name: object.name, uid: object.uid };
}

/** A state in which everything is known, and empty unless given. */
export function cluster(parts: Partial<ClusterState> = {}): ClusterState {
  return {
    nodes: [],
    pods: [],
    namespaces: [],
    priorityClasses: [],
    podDisruptionBudgets: [],
    horizontalPodAutoscalers: [],
    scaledObjects: [],
    verticalPodAutoscalers: [],
    resourceClaims: [],
    resourceSlices: [],
    owners: [],
    queues: noQueueObjects,
    schedulerSettings: unknownSchedulerSettings,
    kueuePendingWorkloads: new Map(),
    evictions: [],
    requestsByNode: null,
    deviceTaintRules: [],
    karpenterNodePools: [],
    persistentVolumeClaims: [],
    persistentVolumes: [],
    autoscalerNodeGroups: [],
    exporterPods: [],
    prices: noPrices,
    known: everyKind,
    telemetry: [],
    problems: [],
    ...parts,
  };
}
