import type { HorizontalPodAutoscaler, ScaledObject, VerticalPodAutoscaler } from "./autoscalers.ts";
import type { JobLimits } from "./disruption.ts";
import type { ClusterNode, ResourceAmounts, Taint, TextMap } from "./node.ts";
import type { AutoscalerNodeGroup, KarpenterNodePool } from "./nodePools.ts";
import type { OwnerRef, PlainGangMember, Pod } from "./pod.ts";
import type { NeighborPod } from "./podPlacement.ts";
import type { PriceList } from "./prices.ts";
import type { Problem } from "./problem.ts";
import type { Eviction } from "./queues/eviction.ts";
import type { KueuePendingWorkloads } from "./queues/kueue.ts";
import type { QueueObjectKind, QueueObjects, SchedulerSettings } from "./queues/queueObjects.ts";
import type { ServingPage } from "./serving.ts";
import type { TelemetryPage } from "./telemetry.ts";
import type { PersistentVolume, PersistentVolumeClaim } from "./volumes.ts";

/** A Namespace, cut down to what team rules read. */
export interface Namespace {
  readonly name: string;
  readonly labels: TextMap;
  readonly annotations: TextMap;
}

/**
 * Metadata of an owner (Job, ReplicaSet, JobSet, ...), limits of a Job and the size of its gang; read one by one for pods with
 * GPUs.
 */
export interface OwnerObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly labels: TextMap;
  readonly annotations: TextMap;
  readonly owner: OwnerRef | null;
  /** Seconds since the epoch; `null` when the object has no such time. */
  readonly createdAt: number | null;
  /** The limits of a batch/v1 Job; `null` for every other kind, and where only its metadata could be read. */
  readonly job: JobLimits | null;
  /**
   * The fewest of its pods with GPUs that start together, as its own specification declares; absent if it declares nothing, or
   * if only its metadata could be read.
   */
  readonly gangPods?: number;
}

/** A pod of a GPU exporter: the one to restart when a node is not observed any more. */
export interface ExporterPodRef {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly nodeName: string;
}

export interface PriorityClass {
  readonly name: string;
  readonly value: number;
  readonly globalDefault: boolean;
}

export interface PodDisruptionBudget {
  readonly namespace: string;
  readonly name: string;
  /** `spec.selector.matchLabels`; expressions are kept as text in `matchExpressions`. */
  readonly matchLabels: TextMap;
  readonly matchExpressions: readonly {
    readonly key: string;
    readonly operator: string;
    readonly values: readonly string[];
  }[];
  /** `status.disruptionsAllowed`; `null` while the controller has not computed it. */
  readonly disruptionsAllowed: number | null;
}

/** One allocated device of a ResourceClaim (`status.allocation.devices.results[]`). */
export interface AllocatedDevice {
  readonly request: string;
  readonly driver: string;
  readonly pool: string;
  readonly device: string;
  /** Whether the access is for monitoring only, which never counts as holding the device. */
  readonly adminAccess: boolean;
  /** `shareID` of a device that several claims share; `null` for exclusive devices. */
  readonly shareId: string | null;
  /** `consumedCapacity` in base units, by capacity name. */
  readonly consumedCapacity: ResourceAmounts;
}

/** One request of a ResourceClaim for devices. */
export interface DeviceRequest {
  /** Names of the DeviceClasses that would do: one, or those of `firstAvailable` in their order. */
  readonly deviceClasses: readonly string[];
  /**
   * Number of devices; `null` where the request asks for all of a node, for a part of their capacity (KEP-5075), or its
   * alternatives differ.
   */
  readonly count: number | null;
  readonly adminAccess: boolean;
}

export interface ResourceClaim {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** What the claim asks for, whether or not it has been given it. */
  readonly requests: readonly DeviceRequest[];
  readonly allocated: readonly AllocatedDevice[];
  /** Uids of the pods in `status.reservedFor`. */
  readonly reservedForPods: readonly string[];
  /** The node that the allocation's node selector pins by `metadata.name`; `null` if it pins none. */
  readonly nodeName: string | null;
}

/** One entry of a ResourceSlice. Attributes keep their declared type; versions are text. */
export interface SliceDevice {
  readonly name: string;
  /** Keys without their driver domain when it is the slice's driver (`uuid`), with it otherwise. */
  readonly attributes: Readonly<Record<string, string | number | boolean>>;
  /** Amounts in base units by capacity name (`memory` in bytes). */
  readonly capacity: ResourceAmounts;
  /** Memory slices of its GPU that the device takes, ascending; empty where it names none. */
  readonly memorySlices: readonly number[];
  readonly taints: readonly Taint[];
}

export interface ResourceSlice {
  readonly name: string;
  readonly driver: string;
  readonly pool: string;
  readonly poolGeneration: number;
  /** `spec.pool.resourceSliceCount`: how many slices make a complete generation of the pool. */
  readonly poolSliceCount: number;
  /** `spec.nodeName`; `null` for devices that are not on one node. */
  readonly nodeName: string | null;
  readonly devices: readonly SliceDevice[];
}

/**
 * A DeviceTaintRule (`resource.k8s.io`): an administrator's taint on all devices that it selects. A part of the selector is
 * `null` where it selects any value.
 */
export interface DeviceTaintRule {
  readonly name: string;
  readonly driver: string | null;
  readonly pool: string | null;
  readonly device: string | null;
  /** The taint; `null` where it keeps nothing away, or where it is not known what the rule selects. */
  readonly taint: Taint | null;
}

/** What the pods of a node that have not ended ask for together, effectively, besides GPUs. */
export interface NodeRequests {
  readonly pods: number;
  readonly cpuMilli: number;
  readonly memoryBytes: number;
}

/** The kinds of objects that a cycle reads; each may be unknown while others are known. */
export type ObjectKind =
  | "nodes"
  | "pods"
  | "namespaces"
  | "priorityClasses"
  | "podDisruptionBudgets"
  | "horizontalPodAutoscalers"
  | "scaledObjects"
  | "verticalPodAutoscalers"
  | "resourceClaims"
  | "resourceSlices"
  | "deviceTaintRules"
  | "owners"
  | "karpenterNodePools"
  | "persistentVolumeClaims"
  | "persistentVolumes"
  | QueueObjectKind;

/** Everything one cycle knows about the outside world. It is immutable, and the order of the arrays has no meaning. */
export interface ClusterState {
  readonly nodes: readonly ClusterNode[];
  /** Only pods that hold or ask for GPUs, ended ones included while the API still has them. */
  readonly pods: readonly Pod[];
  readonly namespaces: readonly Namespace[];
  readonly priorityClasses: readonly PriorityClass[];
  readonly podDisruptionBudgets: readonly PodDisruptionBudget[];
  readonly horizontalPodAutoscalers: readonly HorizontalPodAutoscaler[];
  readonly scaledObjects: readonly ScaledObject[];
  readonly verticalPodAutoscalers: readonly VerticalPodAutoscaler[];
  readonly resourceClaims: readonly ResourceClaim[];
  readonly resourceSlices: readonly ResourceSlice[];
  readonly owners: readonly OwnerObject[];
  /** What queue systems put into the API; arrays of kinds that are not in `known` have no meaning. */
  readonly queues: QueueObjects;
  readonly schedulerSettings: SchedulerSettings;
  /**
   * Pending workloads as Kueue itself reported them lately; empty where its visibility API is not served or may not be read.
   */
  readonly kueuePendingWorkloads: KueuePendingWorkloads;
  /** Work that lost its GPUs to others, as seen in the last minutes: most objects forget it soon. */
  readonly evictions: readonly Eviction[];
  /** CPU and memory that all bound pods of a node ask for, with GPUs or without; `null` where it is not known. */
  readonly requestsByNode: ReadonlyMap<string, NodeRequests> | null;
  /**
   * Pods without GPUs, namely those of all namespaces that the placement rules of pods with GPUs look at, and those that keep
   * other pods away from them; absent where they are not known.
   */
  readonly neighbors?: readonly NeighborPod[];
  /** Pods without GPUs that are in gangs of Kubernetes itself, such as launchers; absent where they are not known. */
  readonly plainGangMembers?: readonly PlainGangMember[];
  readonly deviceTaintRules: readonly DeviceTaintRule[];
  readonly karpenterNodePools: readonly KarpenterNodePool[];
  readonly persistentVolumeClaims: readonly PersistentVolumeClaim[];
  readonly persistentVolumes: readonly PersistentVolume[];
  /** Node groups from the status of the Cluster Autoscaler; empty where it is not read. */
  readonly autoscalerNodeGroups: readonly AutoscalerNodeGroup[];
  /** The pods of GPU exporters; empty where exporters are not found by way of pods. */
  readonly exporterPods: readonly ExporterPodRef[];
  readonly prices: PriceList;
  /**
   * Kinds that were read and are fresh enough. A kind that is not here is unknown: its array is empty and has no meaning. A
   * kind whose API does not exist in this cluster is known, and empty.
   */
  readonly known: ReadonlySet<ObjectKind>;
  /**
   * Kinds that a live cluster has, or may have, and that cannot be read, so that whatever depends on them is not known. Absent
   * if there is no cluster to ask (a dump).
   */
  readonly unreadable?: ReadonlySet<ObjectKind>;
  /** Namespaces whose pods were read, if those of others may be missing (a dump); absent: all namespaces. */
  readonly podNamespaces?: ReadonlySet<string>;
  readonly telemetry: readonly TelemetryPage[];
  /** What servers report about their requests; absent where no server is asked. */
  readonly serving?: readonly ServingPage[];
  readonly problems: readonly Problem[];
}
