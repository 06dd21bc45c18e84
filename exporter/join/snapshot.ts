import type { ActivitySignal } from "../model/activitySignals.ts";
import type { Autoscalers } from "../model/autoscalers.ts";
import type { CapacityType } from "../model/capacityType.ts";
import type { ExporterPodRef, NodeRequests, PodDisruptionBudget } from "../model/cluster.ts";
import type { JobLimits, PodDisruption, QueueObjectRef } from "../model/disruption.ts";
import type { UnavailableCause } from "../model/gpuFaults.ts";
import type { GpuVendor } from "../model/gpuResource.ts";
import type { Taint, TextMap } from "../model/node.ts";
import type { KarpenterNodePool, NodePoolManager } from "../model/nodePools.ts";
import type { OwnerRef } from "../model/pod.ts";
import type { PodPlacement } from "../model/podPlacement.ts";
import type { PriceList } from "../model/prices.ts";
import type { Problem } from "../model/problem.ts";
import type { KueuePendingWorkloads } from "../model/queues/kueue.ts";
import type { PodNeeds } from "../model/queues/podNeeds.ts";
import type { QueueObjects, SchedulerSettings } from "../model/queues/queueObjects.ts";
import type { DeviceReading } from "../model/telemetry.ts";
import type { FailedWork } from "./failedWork.ts";
import type { GangView } from "./gangView.ts";
import type { ImpossibleDemand } from "./queues/impossibleDemand.ts";
import type { Queueing } from "./queues/queueing.ts";
import type { ServingView } from "./serving/servingViews.ts";
import type { SnapshotCoverage } from "./snapshotCoverage.ts";
import type { Stall } from "./stall/looksStalled.ts";
import type { Surroundings } from "./surroundings.ts";

/** How we know that a pod holds a device, best first. */
export type HoldingSource = "dra" | "dcgm" | "reservation" | "annotation" | "request";

/** Whether a workload is expected to be busy all the time (`batch`) or on request (`serving`). */
export type WorkloadClass = "batch" | "serving";

/** A share of one device that a pod holds, from binding until the pod has ended. */
export interface Holding {
  /** Index into `Snapshot.pods`. */
  readonly pod: number;
  /** Physical GPUs. */
  readonly share: number;
  readonly source: HoldingSource;
  /** Whether the node is known but the device is not, or a shared GPU's activity had to be split. */
  readonly estimated: boolean;
  /** Whether only its part of the GPU's activity is estimated: that it is on this device, and with which share, is known. */
  readonly isSplitAlone?: true;
  /**
   * Activity of this share, 0..1; `null` when the device is not observed. Shared GPUs: min(1, u/H) of the GPU's activity u and
   * allocated part H, or the pod's own per-process value.
   */
  readonly activity: number | null;
  /** Since when every sample of the device (of all devices it may be on, when estimated) was idle; `null` when not idle. */
  readonly idleSince: number | null;
}

/** One GPU, or one MIG instance. `weight` is the part of a physical GPU that it is. */
export interface Device {
  readonly node: string;
  /** UUID of the GPU; `null` for a GPU without a known one. */
  readonly uuid: string | null;
  readonly gpuInstance: string | null;
  readonly profile: string | null;
  /** Canonical model; `unknown` if nothing reports it. */
  readonly model: string;
  readonly pool: string;
  readonly weight: number;
  /** Pods that can share it (replicas); 1 for an exclusive device. */
  readonly slots: number;
  readonly virtual: boolean;
  /** Whether the API shows it unhealthy: fewer allocatable than physical GPUs or than since the boot, a taint, no ready driver. */
  readonly unhealthy: boolean;
  /** Why it is unhealthy, as far as objects say; `null`: it is not, or they do not say. */
  readonly fault: UnavailableCause | null;
  /** The fresh reading; `null` when unobserved. */
  readonly reading: DeviceReading | null;
  readonly activity: number | null;
  readonly signal: ActivitySignal | null;
  /** Whether every signal that it has is at most the idle threshold now; `null` when unobserved. */
  readonly idleNow: boolean | null;
  /** Since when every sample was idle, seconds since the epoch; `null` when not idle or unobserved. */
  readonly idleSince: number | null;
  /** Since when every sample looked busy and computed nothing; `null` when the last one did not, and for MIG instances. */
  readonly stall: Stall | null;
  /** When it was last seen active while nobody held any of it; `null` if not within memory. */
  readonly activeUnallocatedAt: number | null;
  /** Physical GPUs of a partly allocated device that are active beyond what its holders can be. */
  readonly unattributedGpus: number;
  /** Whether a reservation pod keeps the GPU although the pods of its group are gone. */
  readonly orphanReservation: boolean;
  readonly memoryTotalBytes: number | null;
  /**
   * Memory slices of its GPU that a MIG instance takes, as the DRA driver says it; `null` for a whole GPU and where
   * nothing says. Instances of one profile that nobody holds may have each other's.
   */
  readonly migSlots: readonly number[] | null;
  readonly holders: readonly Holding[];
}

/** Slices of a GPU in MIG mode that are in no instance, and so no device. Nobody can hold them without partitioning. */
export interface UnpartitionedPart {
  readonly node: string;
  readonly uuid: string | null;
  readonly model: string;
  readonly pool: string;
  readonly weight: number;
}

/**
 * A node that has, had or should have GPUs. It is the same object as in the Snapshot before only while everything else is as
 * it was, too: its devices, their health and reservations, which pods hold which shares of them and what those pods ask for.
 * Momentary telemetry may differ: activity, idle times, and whether a share of a device that pods share is `estimated`.
 */
export interface NodeView {
  readonly name: string;
  /** The uid of its Node object, on which requests to change the node are conditional; absent if no object was read. */
  readonly uid?: string;
  /** Name of the annotation that asks to keep the node; absent without one. */
  readonly keptBy?: string;
  readonly nodePool: string;
  readonly gpuModels: readonly string[];
  readonly pools: readonly string[];
  /** The vendor of its accelerators; absent if none of its resources shows it. */
  readonly vendor?: GpuVendor;
  readonly instanceType: string | null;
  readonly capacityType: CapacityType | null;
  /** `aws`, `gcp`, `azure`, `oci`, ...: by its providerID, else by its labels; `null` where neither says. */
  readonly provider: string | null;
  readonly region: string | null;
  /** Physical GPUs; `null` if their number is unknown: then the node is not accounted, only counted. */
  readonly physicalGpus: number | null;
  /** Physical GPUs that the scheduler may give out; `null` when unknown. */
  readonly allocatableGpus: number | null;
  /** `null` when the API was not read. */
  readonly ready: boolean | null;
  readonly notReadySince: number | null;
  /** `false` when cordoned or under a maintenance taint; `null` when the API was not read. */
  readonly schedulable: boolean | null;
  readonly createdAt: number | null;
  /** Allocated physical GPUs by device (telemetry, claims, reservations) and by pod (requests, claims). */
  readonly allocatedByDevices: number;
  readonly allocatedByPods: number;
  readonly labels: TextMap;
  readonly taints: readonly Taint[];
  /** What all pods together may ask for. */
  readonly allocatableCpuMilli: number;
  readonly allocatableMemoryBytes: number;
  /** Indices into `Snapshot.devices`. */
  readonly devices: readonly number[];
}

/** A pod that holds or asks for GPUs, with everything that it belongs to. */
export interface PodView {
  readonly uid: string | null;
  readonly namespace: string;
  readonly name: string;
  readonly node: string | null;
  /** `pending`: not bound. `allocated`: bound and not ended, or known only from telemetry. */
  readonly status: "pending" | "allocated";
  /** What it asks for in physical GPUs; `null` where a unit of its resource cannot be converted. */
  readonly gpus: number | null;
  readonly team: string;
  readonly queue: string | null;
  readonly priorityClass: string;
  readonly priority: number;
  /** Index into `Snapshot.workloads`. */
  readonly workload: number;
  readonly workloadClass: WorkloadClass;
  /** What the class was guessed from, in words: such work may be quiet for as long as servers may. Absent where it is known. */
  readonly classGuess?: string;
  readonly idleOptOut: boolean;
  /** Whether some container has never run. */
  readonly starting: boolean;
  readonly boundAt: number | null;
  readonly createdAt: number | null;
  readonly pendingSince: number | null;
  /** Why it can never run now, so that it does not count as demand; absent: it may run. */
  readonly impossible?: ImpossibleDemand;
  readonly gang: GangView | null;
  /** What it asks for from its node; pods with the same requests share one object. `null` if only telemetry names the pod. */
  readonly needs: PodNeeds | null;
  readonly labels: TextMap;
  /** Whether it has more labels than are kept. */
  readonly labelsLeftOut?: true;
  /** Its direct controller, as the pod names it; `null` for a bare pod and if only telemetry names the pod. */
  readonly owner: OwnerRef | null;
  /** What it asks of the pods around it; absent: nothing. */
  readonly placement?: PodPlacement;
  /** Names of the PersistentVolumeClaims of its namespace that it mounts; absent: none. */
  readonly volumeClaims?: readonly string[];
  /** The settings of the pod itself that forbid moving it; pods that are alike share one object. */
  readonly disruption: PodDisruption;
  /** Its own or its owner's last checkpoint, seconds since the epoch; `null` if none is reported. Never in the future. */
  readonly checkpointedAt: number | null;
}

export interface WorkloadView {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly team: string;
  /** The person who is written to about its idle GPUs (`digest.owner`); `null`: its team. */
  readonly owner: string | null;
  readonly queue: string | null;
  /** LocalQueue of Kueue, in its namespace; `null` elsewhere. */
  readonly localQueue: string | null;
  readonly priorityClass: string;
  readonly priority: number;
  readonly workloadClass: WorkloadClass;
  /** The same fields as in `PodView`. */
  readonly classGuess?: string;
  readonly createdAt: number | null;
  readonly gang: GangView | null;
  /** Uids of its owners that could be read, and of its top owner as named: what Workloads and PodGroups refer to. */
  readonly ownerUids: readonly string[];
  /**
   * From the controller of its pods to the top, as far as they are named: the objects that a request must change. Empty for a
   * bare pod.
   */
  readonly owners: readonly OwnerRef[];
  /** The Job that controls its pods; `null` if no Job does, or if it could not be read. */
  readonly job: JobLimits | null;
  /** The object by which its queue system knows it; `null` where none does. */
  readonly queueObject: QueueObjectRef | null;
  /**
   * How far the work is, in units of its own (annotation `fairlead.dev/progress-units`): as its owner reports it, or else the
   * largest number of its pods; `null` if none reports it.
   */
  readonly progressUnits: number | null;
  /** Indices into `Snapshot.pods`. */
  readonly pods: readonly number[];
}

/** A node pool of the cloud or of an autoscaler, as far as objects and labels show it. */
export interface NodePoolView {
  /** The name, as in `NodeView.nodePool`. */
  readonly name: string;
  readonly manager: NodePoolManager;
  /** The most physical GPUs that its nodes may have together (Karpenter `spec.limits`); `null` without a limit. */
  readonly limitGpus: number | null;
  /** Karpenter's consolidation policy, and after how many seconds; `null`: none, or not known. */
  readonly consolidationPolicy: string | null;
  readonly consolidateAfterSeconds: number | null;
  /** Its NodePool as Karpenter has it; absent or `null` if it does not belong to Karpenter, or was not read. */
  readonly karpenter?: KarpenterNodePool | null;
  /** Sizes of a node group of the Cluster Autoscaler; `null` where not known. */
  readonly minNodes: number | null;
  readonly maxNodes: number | null;
  /** Capacity types that its object allows: empty if it excludes each of them; `null`: not restricted, or not known. */
  readonly capacityTypes: readonly CapacityType[] | null;
  /** Nodes with GPUs, and their physical GPUs. */
  readonly nodes: number;
  readonly physicalGpus: number;
}

/** Everything that is known about one moment, joined. Immutable; the input of every analysis. */
export interface Snapshot {
  /** Seconds since the epoch. */
  readonly at: number;
  readonly cluster: string;
  /** The signal that is used for the cluster; `null` without telemetry. */
  readonly signal: ActivitySignal | null;
  readonly nodes: readonly NodeView[];
  readonly devices: readonly Device[];
  readonly unpartitioned: readonly UnpartitionedPart[];
  readonly pods: readonly PodView[];
  readonly workloads: readonly WorkloadView[];
  /** What servers report about requests, by index of the pod; absent where no server is asked. */
  readonly serving?: ReadonlyMap<number, ServingView>;
  /** CPU and memory that bound pods of each node ask for, with GPUs or without; `null` if it is not known. */
  readonly requestsByNode: ReadonlyMap<string, NodeRequests> | null;
  readonly queueing: Queueing;
  /** The queue systems' own objects and settings: what their own formulas and the lint look at. */
  readonly queueObjects: QueueObjects;
  readonly schedulerSettings: SchedulerSettings;
  /** As in `ClusterState`. */
  readonly kueuePendingWorkloads: KueuePendingWorkloads;
  /** Node pools that have or may have GPUs, by name. */
  readonly nodePools: readonly NodePoolView[];
  readonly priceList: PriceList;
  /** `null`: they could not be read, so it is unknown which pods they protect. */
  readonly podDisruptionBudgets: readonly PodDisruptionBudget[] | null;
  readonly autoscalers: Autoscalers;
  readonly exporterPods: readonly ExporterPodRef[];
  /** What decides where pods may go; absent where nothing was read. */
  readonly surroundings?: Surroundings;
  /** Uids of pods with GPUs that have ended by themselves and that the API still has. */
  readonly endedPods: ReadonlySet<string>;
  /** Programs that failed lately and were started again; absent: none. */
  readonly failures?: readonly FailedWork[];
  readonly coverage: SnapshotCoverage;
  readonly dropped: Readonly<Record<string, number>>;
  readonly problems: readonly Problem[];
}
