import type { GangView } from "../../exporter/join/gangView.ts";
import { noQueueing } from "../../exporter/join/queues/queueing.ts";
import type { Device, Holding, NodeView, PodView, Snapshot } from "../../exporter/join/snapshot.ts";
import { mayBeDisrupted } from "../../exporter/model/disruption.ts";
import { noPrices } from "../../exporter/model/prices.ts";
import { noQueueObjects, unknownSchedulerSettings } from "../../exporter/model/queues/queueObjects.ts";
import { bareReading, now } from "../join/clusterBuilder.ts";

/** An observed, healthy, whole GPU that is busy for half of the time and that nobody holds. */
export function device(parts: Partial<Device> = {}): Device {
  return {
    node: "n",
    uuid: "GPU-0",
    gpuInstance: null,
    profile: null,
    model: "H100",
    pool: "H100",
    weight: 1,
    slots: 1,
    virtual: false,
    unhealthy: false,
    fault: null,
    reading: bareReading("GPU-0"),
    activity: 0.5,
    signal: "sm_active",
    idleNow: false,
    idleSince: null,
    stall: null,
    activeUnallocatedAt: null,
    unattributedGpus: 0,
    orphanReservation: false,
    memoryTotalBytes: null,
    migSlots: null,
    holders: [],
    ...parts,
  };
}

/** The whole of a GPU, held by the first pod, busy for half of the time. */
export function holding(parts: Partial<Holding> = {}): Holding {
  return { pod: 0, share: 1, source: "dcgm", estimated: false, activity: 0.5, idleSince: null, ...parts };
}

/** A pod that has run for two days. */
export function podView(parts: Partial<PodView> = {}): PodView {
  return {
    uid: "u",
    namespace: "research",
    name: "job",
    node: "n",
    status: "allocated",
    gpus: 1,
    team: "vision",
    queue: null,
    priorityClass: "none",
    priority: 0,
    workload: 0,
    workloadClass: "batch",
    idleOptOut: false,
    starting: false,
    boundAt: now - 172_800,
    createdAt: now - 172_800,
    pendingSince: null,
    gang: null,
    needs: null,
    labels: {},
    owner: null,
    disruption: mayBeDisrupted,
    checkpointedAt: null,
    ...parts,
  };
}

/** A gang that lacks members since `partialSince`. */
export function gang(partialSince: number | null): GangView {
  return { id: "research/g", min: 2, bound: 1, partialSince };
}

/** A ready, schedulable node that has existed for two days. */
export function nodeView(parts: Partial<NodeView> = {}): NodeView {
  return {
    name: "n",
    nodePool: "none",
    gpuModels: ["H100"],
    pools: ["H100"],
    instanceType: null,
    capacityType: null,
    provider: null,
    region: null,
    physicalGpus: 1,
    allocatableGpus: 1,
    ready: true,
    notReadySince: null,
    schedulable: true,
    createdAt: now - 172_800,
    labels: {},
    taints: [],
    allocatableCpuMilli: 0,
    allocatableMemoryBytes: 0,
    allocatedByDevices: 0,
    allocatedByPods: 0,
    devices: [0],
    ...parts,
  };
}

/** One node with its devices. */
export function moment(parts: Partial<Snapshot> = {}): Snapshot {
  return {
    at: now,
    cluster: "test",
    signal: "sm_active",
    nodes: [nodeView()],
    devices: [device()],
    unpartitioned: [],
    pods: [podView()],
    workloads: [],
    requestsByNode: null,
    queueing: noQueueing,
    queueObjects: noQueueObjects,
    schedulerSettings: unknownSchedulerSettings,
    kueuePendingWorkloads: new Map(),
    nodePools: [],
    priceList: noPrices,
    podDisruptionBudgets: [],
    exporterPods: [],
    autoscalers: { horizontal: [], scaledObjects: [], vertical: [] },
    endedPods: new Set(),
    coverage: { objects: true, telemetry: true, uncountedNodes: [] },
    dropped: {},
    problems: [],
    ...parts,
  };
}
