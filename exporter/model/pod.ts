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

/** What only pods that hold or ask for GPUs need, beside what every pod has. */
export interface GpuDemand {
  /**
   * Amounts by GPU resource name, effective per pod: the larger of the sum over containers (restartable init
   * containers included) and what any init container needs while it runs. Every extended resource that
   * looks like a GPU is kept (`gpuLikeResource`), so that configuration can give meaning to renamed ones.
   */
  readonly resources: ResourceAmounts;
  /**
   * Memory and cores that it asks of a sharing plugin (`sharedAmounts`), by resource name, effective like `resources`; absent:
   * none.
   */
  readonly shares?: ResourceAmounts;
  /** `spec.resourceClaims`, resolved through `status.resourceClaimStatuses`. */
  readonly claims: readonly PodClaim[];
  /** `status.extendedResourceClaimStatus.resourceClaimName`: the request is served by this claim, never count both. */
  readonly extendedResourceClaim: string | null;
  /**
   * Its devices that the kubelet reports as unhealthy (`allocatedResourcesStatus`): UUIDs of a device plugin, and of claims a CDI
   * name (`VENDOR/CLASS=NAME`) or `DRIVER/POOL/DEVICE`; absent: none.
   */
  readonly unhealthy?: readonly string[];
}

/** A run of a container that ended with an error. */
export interface FailedRun {
  /** Seconds since the epoch; `null`: the kubelet does not say. */
  readonly startedAt: number | null;
  readonly endedAt: number;
}

/** The group of `scheduling.k8s.io` that a pod names in its specification, which nobody can change afterwards. */
export interface PodSchedulingGroup {
  /** Kubernetes 1.35 has groups inside of a Workload: its name; `null`: the group is a PodGroup. */
  readonly workload: string | null;
  readonly name: string;
  /** Which of the alike replicas of a group in a Workload; empty of a PodGroup, and where there is only one. */
  readonly replica: string;
}

/** Where a pod can be asked. */
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
  /** Seconds since the epoch; `null` when the object does not say. */
  readonly createdAt: number | null;
  /** When condition `PodScheduled` became true, else `status.startTime`; `null` when unknown or not bound. */
  readonly scheduledAt: number | null;
  /** Every container (and restartable init container) is running or has run at least once. */
  readonly allContainersStarted: boolean;
  /** A container of it names a port and has a readiness probe: others wait for it to be ready to be asked. Absent: none does. */
  readonly isProbedServer?: true;
  /**
   * For a pod that is not bound: what a scheduler reports about it, which is the message of condition `PodScheduled` if that
   * is false for another reason than a gate. Setting it requires the right to write the status of pods. Bounded; absent:
   * nothing is reported.
   */
  readonly unschedulable?: string;
  /** `spec.schedulingGates` is not empty. */
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
  /** It has more labels than are kept: selectors may take it although its `labels` do not say so. */
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
   * Has a `hostPath` volume, or an `emptyDir` that is not memory, that the annotation `safe-to-evict-local-volumes` does not
   * name, as the Cluster Autoscaler judges it: what is in it is lost when the pod moves. Whether a volume claim is bound to a
   * disk of one node cannot be seen in the pod (`volumeClaims`).
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
  /** Of a running pod in a namespace whose servers are asked for their metrics; absent: it is not asked. */
  readonly address?: PodAddress;
}
