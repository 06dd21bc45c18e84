import type { DeviceProfile } from "./deviceProfiles.ts";
import type { Fault } from "./faults.ts";
import type { GpuModelName } from "./gpuModels.ts";
import type { QueueingSpec, TopologyRequest } from "./queues/spec.ts";
import type { WaitSpec } from "./waits.ts";

/** How a node allocates its GPUs. It decides capacity, labels, what pods must ask for, and what pages can show. */
export type NodeMode =
  | { readonly kind: "whole" }
  | { readonly kind: "time-slicing" | "mps"; readonly replicas: number; readonly renamed: boolean }
  | { readonly kind: "mig-single"; readonly profile: string }
  /** GPU `i` is divided into `layouts[i % layouts.length]`; an empty layout is a GPU with MIG off. */
  | { readonly kind: "mig-mixed"; readonly layouts: readonly (readonly string[])[] }
  | { readonly kind: "dra"; readonly monitoringClaim: boolean }
  | { readonly kind: "kai" }
  | { readonly kind: "hami"; readonly splits: number }
  | { readonly kind: "vgpu-guest" };

/** The generation of dcgm-exporter in whose format a node's page is written. */
export type DialectName = "2.4" | "3.3" | "old-namespace" | "4.5" | "4.8.3";

/** What an exporter shows of a time-sliced or MPS GPU. */
export type SharedRows =
  /** Without the virtual-GPU flag: one row for one of the pods that share the GPU, which changes. */
  | "one-arbitrary-pod"
  /** Exporter up to 4.8.1 with the flag: every row once for each of these pods, with the label `vgpu` and equal values. */
  | "copies"
  /** Exporter from 4.8.2 with the flag: GPU_UTIL and FB_USED per pod beside the device row, other rows copied. */
  | "per-process";

export interface ExporterSpec {
  readonly dialect: DialectName;
  /**
   * `default`: the generation's own list (PROF fields from 4.x). `operator`: the GPU operator's list, which always had them.
   * `all`: a custom list with what the others leave out: SM_ACTIVE, further pipes, NVLink, the power limit, clock event
   * reasons.
   */
  readonly counters: "default" | "operator" | "all";
  /** Names of metrics that its list lacks; default: none. */
  readonly lacks?: readonly string[];
  readonly sharedRows: SharedRows;
  /** Whether the exporter labels GPUs that are allocated to DRA. */
  readonly draLabels: boolean;
  /** Name of the container port in the exporter's pod. */
  readonly portName: "metrics" | "gpu-metrics";
}

export interface NodeSpec {
  readonly name: string;
  /** One entry per GPU; two models on one node are allowed. */
  readonly physicalGpus: readonly GpuModelName[];
  readonly mode: NodeMode;
  /** The exporter; `null`: no exporter runs here. */
  readonly exporter: ExporterSpec | null;
  readonly cpuMilli: number;
  readonly memoryMiB: number;
  readonly instanceType: string | null;
  readonly zone: string | null;
  /** Labels beyond the usual ones: capacity type, node pool. */
  readonly labels: Readonly<Record<string, string>>;
  /** Whether GPU Feature Discovery labels the node. */
  readonly featureDiscovery: boolean;
  readonly cordoned: boolean;
  readonly ready: boolean;
}

export interface NamespaceSpec {
  readonly name: string;
  /** Value of the namespace's label `team`; `null`: no such label. */
  readonly team: string | null;
}

/** How busy a running pod keeps its share, over time. All levels are ratios 0..1 of the share. */
export type ActivityPattern =
  | { readonly kind: "constant"; readonly level: number }
  /** Training: near `level`, with a short dip at each half-hour checkpoint. */
  | { readonly kind: "steady"; readonly level: number }
  /** On or off in spells of two minutes, and on in the part `duty` of them. */
  | { readonly kind: "bursts"; readonly level: number; readonly duty: number }
  /** Idle except for one ten-minute spell in `1 / duty`. */
  | { readonly kind: "notebook"; readonly duty: number }
  /** Low at 04:00 UTC, high at 16:00 UTC. */
  | { readonly kind: "day"; readonly low: number; readonly high: number }
  /**
   * A person works with it in spells and pauses, as with pods of a real cluster (scenarios/pauses.ts), for this many seconds
   * (shortest and longest; `null`: to its end), and then forgets it. All its pods are busy at `level` together.
   */
  | { readonly kind: "sessions"; readonly level: number; readonly usedSeconds: readonly [number, number] | null }
  /** A recorded series, repeated. */
  | { readonly kind: "series"; readonly stepSeconds: number; readonly offset: number; readonly values: Float64Array };

/** The GPUs that one pod asks for. */
export type GpuRequest =
  | { readonly kind: "none" }
  /** `nvidia.com/gpu: count` on nodes that hand out whole GPUs. */
  | { readonly kind: "physicalGpus"; readonly count: number }
  /** Replicas on nodes that time-slice or use MPS. */
  | {
      readonly kind: "replicas";
      readonly count: number;
      readonly strategy: "time-slicing" | "mps";
      readonly renamed: boolean;
    }
  | {
      readonly kind: "mig";
      readonly profile: string;
      readonly count: number;
      readonly strategy: "mig-single" | "mig-mixed";
    }
  /** A ResourceClaim. `shared`: one named claim for all pods of the workload, which then share its GPUs equally. */
  | { readonly kind: "claim"; readonly count: number; readonly shared: boolean }
  /** `nvidia.com/gpu: count`, served by DRA through the pod's extended resource claim. */
  | { readonly kind: "extended-resource"; readonly count: number }
  /** A fraction by KAI's annotation `gpu-fraction`. */
  | { readonly kind: "fraction"; readonly share: number }
  /** HAMi: memory and cores of one GPU; the share is the larger of the two ratios. */
  | { readonly kind: "hami"; readonly memoryMiB: number; readonly corePercent: number };

export type WorkloadKind =
  | "Job"
  | "JobSet"
  | "PyTorchJob"
  | "Deployment"
  | "StatefulSet"
  | "Notebook"
  | "LeaderWorkerSet"
  | "PodGroup"
  | "Pod";

export interface WorkloadSpec {
  readonly kind: WorkloadKind;
  readonly namespace: string;
  readonly pods: number;
  readonly request: GpuRequest;
  /** Models that the pods accept (node selector); empty: any model. */
  readonly models: readonly GpuModelName[];
  readonly cpuMilli: number;
  readonly memoryMiB: number;
  /** Whether all pods are placed at once or not at all. */
  readonly gang: boolean;
  readonly priorityClass: string | null;
  /** Queue of one of the scenario's systems. A queue that none has is only written on the pods (Kueue, KAI for fractions). */
  readonly queue: string | null;
  readonly activity: ActivityPattern;
  readonly labels: Readonly<Record<string, string>>;
  /** The part of the cluster in which all its pods must or should be (Kueue); default: they may be anywhere. */
  readonly topology?: TopologyRequest;
  /** Annotations of the pods, beyond those of queue systems. */
  readonly annotations?: Readonly<Record<string, string>>;
  /** Whether the pods keep data in an `emptyDir` on their node. */
  readonly localStorage?: boolean;
  /** Seconds of running between two checkpoints, which keep what was done until then; default: none are made. */
  readonly checkpointSeconds?: number;
  /** Disrupted pods that a Job survives (default 6), and what its `podFailurePolicy` does with them (default: counts). */
  readonly backoffLimit?: number;
  readonly onDisruption?: "FailJob" | "Ignore";
  /** `minAvailable` of its PodDisruptionBudgets; default: a Deployment of several pods may miss one. */
  readonly disruptionBudgets?: readonly number[];
  /** How many GPUs of a pod are busy (the first ones); default: all that it has. */
  readonly busyGpus?: number;
  /** GPU memory that a pod uses of each of its busy GPUs, MiB; default: some part of its share. */
  readonly gpuMemoryMiB?: number;
  /** Whether its pods need each other: none computes before all run, although their scheduler binds them one by one. */
  readonly needsAll?: boolean;
  /** What the work does to its GPUs while it is busy; default: `usualProfile`. */
  readonly profile?: DeviceProfile;
  /** After this many seconds of running its pods hang: they look busy, compute nothing and make no checkpoints any more. */
  readonly hangsAfterSeconds?: number;
  /** When its pods look busy and compute nothing for a while, and then go on; default: never. */
  readonly waits?: WaitSpec;
  /**
   * What the first pod does while the others hang or wait, because they wait for it: it still computes, or it is silent;
   * default: it does the same as the others.
   */
  readonly firstPod?: "computes" | "silent";
  /** The part of the way from idle to full power that its GPUs draw while they hang or wait; default: that of `hungProfile`. */
  readonly spinPower?: number;
  /** The requests that its pods answer and show on a page of metrics; default: they have none. */
  readonly serves?: ServesSpec;
}

/** The requests of a pod that answers some, in seconds of running, and how it shows them. They do not decide its activity. */
export interface ServesSpec {
  readonly server: "vllm" | "sglang";
  readonly requestsPerSecond: number;
  /** After this time no more requests come; default: they never end. */
  readonly untilSeconds?: number;
  /** From this time on, its engine sleeps, with its weights off the GPU. */
  readonly sleepsAfterSeconds?: number;
  /** From this time on, its engine is dead, with requests inside: nothing moves, and its gauges stay above 0. */
  readonly diesAfterSeconds?: number;
  /** Present if its release does not count requests. */
  readonly gaugesOnly?: true;
  /** How long the first token of each answer takes, for vLLM alone; default: the page has no histogram of it. */
  readonly firstTokenSeconds?: number;
  /** How many requests wait at every moment; default: none. */
  readonly waiting?: number;
}

/** A habit of a team: workloads that it starts again and again. */
export interface Habit {
  /** Prefix of the workloads' names. */
  readonly name: string;
  readonly workload: WorkloadSpec;
  /** How many are started at the beginning. */
  readonly initial: number;
  /** Mean seconds between two later starts; `null`: there are none. */
  readonly everySeconds: number | null;
  /** No new one is started while this many wait. */
  readonly maxWaiting: number;
  /** Shortest and longest run time, seconds; `null`: it runs until the simulation ends. */
  readonly runSeconds: readonly [number, number] | null;
  /** The part of the workloads that fail instead of succeeding. */
  readonly failRatio: number;
  /** How its rate changes over time; several may then start at once. Default: it does not, and at most one starts in a step. */
  readonly season?: Season;
  /** Shape of a Pareto distribution, for a heavy tail of run times within `runSeconds`; default: all are as likely. */
  readonly runTail?: number;
}

/** One workload that arrives at a given time, whatever happened before: the same in every play. */
export interface Arrival {
  /** Seconds after the start of the simulation, without its warm-up; at most 0: it is there from the beginning. */
  readonly afterSeconds: number;
  readonly name: string;
  readonly workload: WorkloadSpec;
  /** Run time, seconds; `null`: it runs until the simulation ends. */
  readonly runSeconds: number | null;
}

/** How often work arrives over weeks, as a factor on a habit's rate. */
export interface Season {
  /** When the factor of growth is 1, seconds since the epoch. */
  readonly since: number;
  /** How much it grows in a week: a part of the rate at `since` (`linear`), or of that of the week before (`compound`). */
  readonly growth: "linear" | "compound";
  readonly perWeek: number;
  /** The factor goes from 1 - `day` at 04:00 UTC to 1 + `day` at 16:00 UTC. */
  readonly day: number;
  /** The factor on Saturdays and Sundays. */
  readonly weekend: number;
}

/** Something that goes wrong after a while. */
export interface LaterFault {
  /** Seconds after the start of the simulation, without its warm-up. */
  readonly afterSeconds: number;
  /** How long it lasts, seconds; default: to the end. */
  readonly forSeconds?: number;
  readonly fault: Fault;
}

/** A pod that is there from the beginning, on given GPUs. */
export interface PlacedPod {
  readonly name: string;
  readonly workload: WorkloadSpec;
  /** The node that the pod is on; `null`: it waits for the scheduler. */
  readonly node: string | null;
  /** Indexes into the node's GPUs; empty for a pod without GPUs. */
  readonly physicalGpus: readonly number[];
  readonly ageSeconds: number;
}

/** A NodePool of Karpenter; its nodes are those with its label. */
export interface NodePoolSpec {
  readonly name: string;
  readonly limits: Readonly<Record<string, string>>;
  readonly capacityTypes: readonly ("on-demand" | "spot" | "reserved")[];
  /** A duration as Karpenter writes it: `10m`, `Never`. */
  readonly consolidateAfter: string;
}

export interface Scenario {
  readonly name: string;
  readonly nodes: readonly NodeSpec[];
  /** Karpenter's NodePools; default: none. */
  readonly nodePools?: readonly NodePoolSpec[];
  readonly namespaces: readonly NamespaceSpec[];
  readonly priorityClasses: Readonly<Record<string, number>>;
  readonly habits: readonly Habit[];
  /** Workloads that arrive at given times; default: none. */
  readonly arrivals?: readonly Arrival[];
  readonly placed: readonly PlacedPod[];
  readonly queueing: QueueingSpec;
  /** `pack`: pods go to the fullest node that fits. `spread`: they go to the emptiest, which fragments. */
  readonly placement: "pack" | "spread";
  /** Seconds that are simulated before `startAt`, so that the cluster is already in use. */
  readonly warmupSeconds: number;
  /** Seconds between two looks of the exporters at their GPUs. */
  readonly collectionInterval: number;
  /** Faults that are on from the beginning. */
  readonly faults: readonly Fault[];
  /** Faults that begin later. */
  readonly laterFaults?: readonly LaterFault[];
  /** The longest step, seconds; default 10. Plays of weeks take longer steps: what happens within a step happens at its end. */
  readonly stepSeconds?: number;
  /** Node pools (Karpenter's label) whose empty cordoned nodes go after a minute and return for waiting pods; default: none. */
  readonly autoscaledPools?: readonly string[];
}
