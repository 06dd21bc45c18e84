import type { AccountingEntry } from "../../exporter/analysis/accountingEntry.ts";
import type { Analysis } from "../../exporter/analysis/analysis.ts";
import { nothingBlocked } from "../../exporter/analysis/blocked/blocked.ts";
import { noFairness } from "../../exporter/analysis/fairness/fairness.ts";
import { createGangFit } from "../../exporter/analysis/freeCapacity/gangFit.ts";
import { noIdleNodes } from "../../exporter/analysis/idleNodes/findIdleNodes.ts";
import { noPlacement } from "../../exporter/analysis/placement/poolPlacement.ts";
import { nothingPriced } from "../../exporter/analysis/prices/prices.ts";
import type { Signals } from "../../exporter/analysis/signals/measureSignals.ts";
import { noWork } from "../../exporter/analysis/signals/workSums.ts";
import { noTopology } from "../../exporter/analysis/topology/topology.ts";
import { noWaiting } from "../../exporter/analysis/waiting/waiting.ts";
import { noQueueing } from "../../exporter/join/queues/queueing.ts";
import type { Device, NodeView, PodView, WorkloadView } from "../../exporter/join/snapshot.ts";
import { unknownAutoscalers } from "../../exporter/model/autoscalers.ts";
import { mayBeDisrupted } from "../../exporter/model/disruption.ts";
import { noPrices } from "../../exporter/model/prices.ts";
import { noQueueObjects, unknownSchedulerSettings } from "../../exporter/model/queues/queueObjects.ts";
import type { DeviceReading } from "../../exporter/model/telemetry.ts";
import { noneReported, noneUnknown } from "../../exporter/model/telemetrySignals.ts";
import type { Health } from "../../exporter/publish/health.ts";
import { entriesOf } from "../analysis/entriesOf.ts";

/** 2026-11-21T04:00:00Z */
export const at = 1_795_233_600;

export function reading(values: Partial<DeviceReading>): DeviceReading {
  return {
    uuid: "GPU-a",
    gpuInstance: null,
    profile: null,
    migUuid: null,
    modelName: null,
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
    ...values,
  };
}

export function device(values: Partial<Device>): Device {
  return {
    node: "h100-01",
    uuid: "GPU-a",
    gpuInstance: null,
    profile: null,
    model: "H100",
    pool: "H100",
    weight: 1,
    slots: 1,
    virtual: false,
    unhealthy: false,
    fault: null,
    reading: null,
    activity: null,
    signal: null,
    idleNow: null,
    idleSince: null,
    stall: null,
    activeUnallocatedAt: null,
    unattributedGpus: 0,
    orphanReservation: false,
    memoryTotalBytes: null,
    migSlots: null,
    holders: [],
    ...values,
  };
}

export function node(values: Partial<NodeView>): NodeView {
  return {
    name: "h100-01",
    nodePool: "train",
    gpuModels: ["H100"],
    pools: ["H100"],
    instanceType: "p5.48xlarge",
    capacityType: "on-demand",
    provider: "aws",
    region: "eu-west-1",
    physicalGpus: 2,
    allocatableGpus: 2,
    ready: true,
    notReadySince: null,
    schedulable: true,
    createdAt: at - 86_400,
    labels: {},
    taints: [],
    allocatableCpuMilli: 0,
    allocatableMemoryBytes: 0,
    allocatedByDevices: 0,
    allocatedByPods: 0,
    devices: [],
    ...values,
  };
}

export function pod(values: Partial<PodView>): PodView {
  return {
    uid: "u",
    namespace: "ads",
    name: "train-0",
    node: "h100-01",
    status: "allocated",
    gpus: 1,
    team: "ads",
    queue: null,
    priorityClass: "normal",
    priority: 0,
    workload: 0,
    workloadClass: "batch",
    idleOptOut: false,
    starting: false,
    boundAt: at - 3600,
    createdAt: at - 3660,
    pendingSince: null,
    gang: null,
    needs: null,
    labels: {},
    owner: null,
    disruption: mayBeDisrupted,
    checkpointedAt: null,
    ...values,
  };
}

export function workload(values: Partial<WorkloadView>): WorkloadView {
  return {
    kind: "Job",
    namespace: "ads",
    name: "train",
    team: "ads",
    owner: null,
    queue: null,
    localQueue: null,
    priorityClass: "normal",
    priority: 0,
    workloadClass: "batch",
    createdAt: at - 3660,
    gang: null,
    ownerUids: [],
    owners: [],
    job: null,
    queueObject: null,
    progressUnits: null,
    pods: [0],
    ...values,
  };
}

const gang = { id: "search/big", min: 2, bound: 0, partialSince: null };

const accountingEntries: readonly AccountingEntry[] = [
  { gpus: 0.75, state: "active", node: "h100-01", pool: "H100", device: 0, pod: 0, estimated: false },
  { gpus: 0.25, state: "underutilized", node: "h100-01", pool: "H100", device: 0, pod: 0, estimated: false },
  { gpus: 1, state: "free", node: "h100-01", pool: "H100", device: 1, pod: null, estimated: false },
  { gpus: 0.5, state: "unobserved", node: "l4-01", pool: "L4", device: 2, pod: 1, estimated: true },
  { gpus: 0.5, state: "cordoned", node: "l4-01", pool: "L4", device: 2, pod: null, estimated: false },
];

const ofAds = {
  gpus: 1,
  tensor: 0.25,
  tensorGpus: 1,
  dram: 0.5,
  dramGpus: 1,
  watts: 525,
  fullWatts: 700,
  powerGpus: 1,
};

const smallSignals: Signals = {
  pools: [
    {
      pool: "H100",
      work: ofAds,
      reported: { ...noneReported(), sm_active: 2, tensor_active: 1, dram_active: 1, power: 2 },
      stallUnknown: noneUnknown(),
    },
    { pool: "L4", work: noWork(), reported: noneReported(), stallUnknown: { ...noneUnknown(), no_telemetry: 0.5 } },
  ],
  teams: [{ team: "ads", pool: "H100", work: ofAds }],
};

/**
 * A small moment: on h100-01 one GPU held by ads at activity 0.75 and one free; on the cordoned l4-01 half of a GPU
 * that nothing observes, held by a notebook without a team; a gang of two pods of search that waits for 8 GPUs.
 */
export const smallMoment: Analysis = {
  snapshot: {
    at,
    cluster: "harbor",
    signal: "sm_active",
    nodes: [
      node({ devices: [0, 1], allocatedByDevices: 1, allocatedByPods: 1 }),
      node({
        name: "l4-01",
        nodePool: "",
        gpuModels: ["L4"],
        pools: ["L4"],
        instanceType: null,
        capacityType: null,
        physicalGpus: 1,
        allocatableGpus: null,
        schedulable: false,
        devices: [2],
      }),
    ],
    devices: [
      device({
        reading: reading({ smActive: 0.75, memoryUsedBytes: 64_000_000_000, powerWatts: 512.5 }),
        activity: 0.75,
        signal: "sm_active",
        idleNow: false,
        holders: [{ pod: 0, share: 1, source: "dcgm", estimated: false, activity: 0.75, idleSince: null }],
      }),
      device({
        uuid: "GPU-b",
        reading: reading({ uuid: "GPU-b", smActive: 0, memoryUsedBytes: 0, powerWatts: 70 }),
        activity: 0,
        signal: "sm_active",
        idleNow: true,
      }),
      device({
        node: "l4-01",
        uuid: null,
        model: "L4",
        pool: "L4",
        slots: 2,
        holders: [{ pod: 1, share: 0.5, source: "request", estimated: true, activity: null, idleSince: null }],
      }),
    ],
    unpartitioned: [],
    pods: [
      pod({}),
      pod({
        namespace: "lab",
        name: "notebook",
        node: "l4-01",
        gpus: 0.5,
        team: "unassigned",
        workload: 1,
        boundAt: null,
      }),
      pod({
        namespace: "search",
        name: "big-0",
        node: null,
        status: "pending",
        gpus: 4,
        team: "search",
        workload: 2,
        boundAt: null,
        pendingSince: at - 600,
        gang,
      }),
      pod({
        namespace: "search",
        name: "big-1",
        node: null,
        status: "pending",
        gpus: 4,
        team: "search",
        workload: 2,
        boundAt: null,
        pendingSince: at - 590,
        gang,
      }),
    ],
    workloads: [
      workload({}),
      workload({ kind: "Notebook", namespace: "lab", name: "notebook", team: "unassigned", pods: [1] }),
      workload({ kind: "PyTorchJob", namespace: "search", name: "big", team: "search", gang, pods: [2, 3] }),
    ],
    requestsByNode: null,
    queueing: noQueueing,
    queueObjects: noQueueObjects,
    schedulerSettings: unknownSchedulerSettings,
    kueuePendingWorkloads: new Map(),
    nodePools: [],
    priceList: noPrices,
    podDisruptionBudgets: [],
    exporterPods: [],
    autoscalers: unknownAutoscalers,
    endedPods: new Set(),
    coverage: { objects: true, telemetry: true, uncountedNodes: ["mystery-01"] },
    dropped: { blank: 3, out_of_range: 1 },
    problems: [
      {
        source: "join",
        code: "gpus-unknown",
        severity: "warning",
        subject: "mystery-01",
        message: "node mystery-01 has GPUs, but nothing says how many",
        nextStep: "Install GPU Feature Discovery, or set gpu.resources.",
      },
    ],
  },
  accountingEntries: entriesOf(accountingEntries),
  stateSettings: { idleBatchSeconds: 3600, idleServingSeconds: 21_600, warmPools: [] },
  teams: [
    {
      team: "ads",
      allocated: 1,
      active: 0.75,
      utilization: 0.75,
      states: { active: 0.75, underutilized: 0.25 },
      estimated: 0,
      idleOptedOut: 0,
      pending: 0,
    },
    {
      team: "search",
      allocated: 0,
      active: 0,
      utilization: null,
      states: {},
      estimated: 0,
      idleOptedOut: 0,
      pending: 8,
    },
    {
      team: "unassigned",
      allocated: 0.5,
      active: 0,
      utilization: null,
      states: { unobserved: 0.5 },
      estimated: 0.5,
      idleOptedOut: 0,
      pending: 0,
    },
  ],
  pools: [
    {
      pool: "H100",
      gpuModels: ["H100"],
      nodes: 1,
      physicalGpus: 2,
      allocated: 1,
      states: { active: 0.75, underutilized: 0.25, free: 1 },
      estimated: 0,
      activity: 0.375,
      utilization: 0.75,
      imbalance: 0,
    },
    {
      pool: "L4",
      gpuModels: ["L4"],
      nodes: 1,
      physicalGpus: 1,
      allocated: 0.5,
      states: { unobserved: 0.5, cordoned: 0.5 },
      estimated: 0.5,
      activity: null,
      utilization: null,
      imbalance: 0,
    },
  ],
  signals: smallSignals,
  fairness: noFairness,
  history: null,
  shortSince: new Map(),
  waiting: noWaiting,
  findings: [],
  schedulerViews: [],
  prices: nothingPriced,
  placement: noPlacement,
  blocked: nothingBlocked,
  idleNodes: noIdleNodes,
  freeCapacities: { byNode: [] },
  latencies: [],
  levels: [],
  topology: noTopology,
  gangFreeCapacities: { domains: [], fit: createGangFit([]), askedOf: () => null, ask: () => null },
};

/** Health of a process whose last cycle ended just now. */
export function health(values: Partial<Health> = {}): Health {
  return {
    cluster: "harbor",
    version: "1.2.3",
    replicas: 1,
    startedAt: at - 300,
    intervalSeconds: 30,
    sources: [
      {
        source: "kubernetes",
        parts: [
          { part: "nodes", ageSeconds: 2, fresh: true },
          { part: "pods", ageSeconds: 1, fresh: true },
        ],
        required: ["nodes", "pods"],
        telemetry: false,
      },
      {
        source: "dcgm",
        parts: [
          { part: "http://10.0.0.1:9400/metrics", ageSeconds: 12, fresh: true },
          { part: "http://10.0.0.2:9400/metrics", ageSeconds: 400, fresh: false },
          { part: "http://10.0.0.3:9400/metrics", ageSeconds: null, fresh: false },
        ],
        required: [],
        telemetry: true,
      },
    ],
    problems: smallMoment.snapshot.problems,
    lastCycleAt: at,
    stageSeconds: { collect: 0.01, join: 0.02, analyse: 0.003, publish: 0.004 },
    cycles: { ok: 10, failed: 1 },
    kubernetesReads: [
      {
        resource: "pods",
        lists: 2,
        watches: 9,
        restarts: { closed: 6, broken: 1, silent: 0, expired: 1, malformed: 0, "token-expired": 0 },
        answerSeconds: 0.25,
      },
      {
        resource: "nodes",
        lists: 1,
        watches: 1,
        restarts: { closed: 0, broken: 0, silent: 0, expired: 0, malformed: 0, "token-expired": 0 },
        answerSeconds: null,
      },
    ],
    otlp: { point: { sent: 5000, rejected: 2, failed: 40 }, span: { sent: 50, rejected: 0, failed: 5 } },
    ...values,
  };
}

/** Text that tries to break out of wherever it is. */
export const hostileNames = [
  'quote"brace}',
  "back\\slash\\",
  "line\nbreak 1\nfairlead_forged 1",
  "<script>alert(1)</script>",
  "__proto__",
  "constructor",
  "\u0000\u001b[31mred",
  "lone \ud800 surrogate",
  "x".repeat(5000),
  "",
  "çéß 漢字 🚀",
] as const;
