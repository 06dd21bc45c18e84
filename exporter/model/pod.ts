import type { ResourceAmounts, TextMap } from "./node.ts";
import type { PodPlacement } from "./podPlacement.ts";
import type { PodNeeds } from "./queues/podNeeds.ts";

export type PodPhase = "Pending" | "Running" | "Succeeded" | "Failed" | "Unknown";

/** The owner that controls an object, as named in the object itself. */
export interface OwnerRef {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
}

/** A claim that a pod uses, already resolved to the ResourceClaim's name. */
export interface PodClaim {
  /** Name of the ResourceClaim in the pod's namespace; `null` while the claim of a template is not made yet. */
  readonly claimName: string | null;
}

/** What only pods that hold or ask for GPUs have, in addition to what every pod has. */
export interface GpuDemand {
  /**
   * Amounts by GPU resource name, effective per pod: the larger of the sum over containers (restartable init
   * containers included) and what any init container needs while it runs. Every extended resource that
   * looks like a GPU is kept (`gpuLikeResource`), so that configuration can give meaning to renamed ones.
   */
  readonly resources: ResourceAmounts;
  /**
   * Memory and cores that the pod asks of a sharing plugin (`sharedAmounts`), by resource name, effective like `resources`;
   * absent: none.
   */
  readonly shares?: ResourceAmounts;
  /** `spec.resourceClaims`, resolved through `status.resourceClaimStatuses`. */
  readonly claims: readonly PodClaim[];
  /**
   * `status.extendedResourceClaimStatus.resourceClaimName`: this claim serves the request, so the two must never both be
   * counted.
   */
  readonly extendedResourceClaim: string | null;
  /**
   * Devices of the pod that the kubelet reports as unhealthy (`allocatedResourcesStatus`). A device of a device plugin is named
   * by its UUID, one of a claim by a CDI name (`VENDOR/CLASS=NAME`) or `DRIVER/POOL/DEVICE`. Absent: none.
   */
  readonly unhealthy?: readonly string[];
}

/** A run of a container that ended with an error. */
export interface FailedRun {
  /** Seconds since the epoch; `null`: the kubelet does not report it. */
  readonly startedAt: number | null;
  readonly endedAt: number;
}

/** The group of `scheduling.k8s.io` that a pod names in its specification, which nobody can change afterwards. */
export interface PodSchedulingGroup {
  /** The Workload that contains the group, as in Kubernetes 1.35; `null` if the group is a PodGroup. */
  readonly workload: string | null;
  readonly name: string;
  /** The key of a replica of a group in a Workload; empty for a PodGroup, and where there is only one replica. */
  readonly replica: string;
}

/** A pod without GPUs that counts for the minimum of a native gang: it is bound, and has not failed. */
export interface PlainGangMember {
  readonly namespace: string;
  readonly group: PodSchedulingGroup;
}

/** The address at which a pod can be asked for its metrics. */
export interface PodAddress {
  readonly ip: string;
  /** Container ports by name. Untrusted. */
  readonly ports: Readonly<Record<string, number>>;
}

/** A Kubernetes Pod that holds or asks for GPUs, cut down to what Fairlead uses. */
export interface Pod {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  /** `spec.nodeName`; `null` while it is not bound. */
  readonly nodeName: string | null;
  readonly phase: PodPhase;
  /** Seconds since the epoch; `null` when the object has no such time. */
  readonly createdAt: number | null;
  /** When condition `PodScheduled` became true, else `status.startTime`; `null` when unknown or not bound. */
  readonly scheduledAt: number | null;
  /** Whether every container (and restartable init container) is running or has run at least once. */
  readonly allContainersStarted: boolean;
  /**
   * True if a container names a port and has a readiness probe: clients wait until it is ready before they send requests.
   * Absent: none.
   */
  readonly isProbedServer?: true;
  /**
   * What a scheduler reports about a pod that is not bound: the message of condition `PodScheduled`, if that is false for
   * another reason than a gate. Setting it requires the right to write the status of pods. Bounded; absent: nothing is
   * reported.
   */
  readonly unschedulable?: string;
  /** Whether `spec.schedulingGates` is not empty. */
  readonly gated: boolean;
  readonly priority: number;
  readonly priorityClassName: string | null;
  readonly schedulerName: string;
  /** `spec.nodeSelector`: labels that its node must have. */
  readonly nodeSelector: TextMap;
  /** Required node affinity, as in `PodNeeds`. */
  readonly nodeAffinity: PodNeeds["nodeAffinity"];
  readonly tolerations: PodNeeds["tolerations"];
  readonly labels: TextMap;
  /**
   * True if it has more labels than are kept, so that selectors may select it although its `labels` do not match; absent: it
   * has not.
   */
  readonly labelsLeftOut?: true;
  /** Only the annotations that Fairlead reads. */
  readonly annotations: TextMap;
  readonly owner: OwnerRef | null;
  /** Absent: it names none. */
  readonly schedulingGroup?: PodSchedulingGroup;
  /** It is being deleted (`deletionTimestamp`); it holds what it has until it is gone. Absent: it is not. */
  readonly isEnding?: true;
  readonly cpuMilli: number;
  readonly memoryBytes: number;
  /**
   * Whether it has a `hostPath` volume, or an `emptyDir` that is not memory, that the annotation `safe-to-evict-local-volumes`
   * does not name, as the Cluster Autoscaler defines it: the content is lost when the pod moves. Whether a volume claim is
   * bound to a disk of one node cannot be seen in the pod (`volumeClaims`).
   */
  readonly hasLocalStorage: boolean;
  /** What it asks of the pods around it; absent: nothing. */
  readonly placement?: PodPlacement;
  /** Names of the PersistentVolumeClaims of its namespace that it mounts; absent: none. */
  readonly volumeClaims?: readonly string[];
  readonly gpu: GpuDemand;
  /**
   * The last run of a container with GPUs that ended with an exit code other than 0, unless the pod was deleted or disrupted
   * then; absent: there is none.
   */
  readonly failedRun?: FailedRun;
  /** Address of a running pod in a namespace whose servers are asked for their metrics; absent: the pod is not asked. */
  readonly address?: PodAddress;
}
