import type { GpuModelName } from "./gpuModels.ts";
import type { WorkloadKind } from "./scenario.ts";

/** Who holds a GPU or instance, and how much of a physical GPU that is. */
export interface TruthHolder {
  readonly namespace: string;
  readonly pod: string;
  /** The namespace's label `team`; `null` where it has none. */
  readonly team: string | null;
  /** Its part in physical GPUs. */
  readonly share: number;
  /** The ratio of the share that is busy now, 0..1. */
  readonly activity: number;
  /** Whether it hangs: it looks active, but computes nothing. */
  readonly hangs: boolean;
  /** Whether it hangs, or only waits for a while and will go on. */
  readonly spins: boolean;
  /** Whether its containers run, or ran; while this is false, they are being started. */
  readonly hasRun: boolean;
}

export interface TruthInstance {
  /** NVML GPU instance id, as on the page (`GPU_I_ID`). */
  readonly id: string;
  readonly profile: string;
  /** The part of a physical GPU that it is. */
  readonly weight: number;
  readonly holder: TruthHolder | null;
  readonly activity: number;
  /** The activity that the exporter saw last; `null` before the first look. */
  readonly observed: number | null;
}

export interface TruthGpu {
  readonly node: string;
  readonly uuid: string;
  readonly gpuModel: string;
  /** Whether it can be allocated: it cannot if it fell off the bus, or has an error that is its own. */
  readonly healthy: boolean;
  /** The MIG instances; empty unless the GPU is divided into some. */
  readonly migInstances: readonly TruthInstance[];
  readonly holders: readonly TruthHolder[];
  /** The mean activity of the GPU now, 0..1. */
  readonly activity: number;
  /** The activity that the exporter saw last; `null` before its first look and while the GPU is gone. */
  readonly observed: number | null;
}

export interface TruthNode {
  readonly name: string;
  readonly ready: boolean;
  readonly schedulable: boolean;
  readonly gpuModels: readonly string[];
  readonly physicalGpus: number;
}

export interface TruthTeam {
  /** The team; `null`: holders in namespaces without the label `team`. */
  readonly team: string | null;
  /** Physical GPUs that are allocated to the team, and the busy part of them, now. */
  readonly allocated: number;
  readonly active: number;
}

export interface TruthPending {
  readonly namespace: string;
  readonly pod: string;
  readonly team: string | null;
  /** Name of the workload that the pod belongs to. */
  readonly workload: string;
  /** Physical GPUs that it asks for; `null` where that depends on its node. */
  readonly gpus: number | null;
  /** Since when it has waited, seconds since the epoch. */
  readonly since: number;
}

/** One queue of a queue system: leaf queues only. */
export interface TruthQueue {
  readonly system: "kueue" | "kai" | "volcano";
  readonly queue: string;
  /** Physical GPUs allocated to its pods. */
  readonly allocated: number;
  /** GPUs of work that waits in the queue, or for nodes. */
  readonly waiting: number;
  /** The number of evictions from the queue so far. */
  readonly evictions: number;
}

/** A workload that has not ended, waiting or running. Times are seconds since the epoch. */
export interface TruthWork {
  readonly namespace: string;
  readonly name: string;
  readonly kind: WorkloadKind;
  readonly team: string | null;
  readonly priorityClass: string | null;
  readonly models: readonly GpuModelName[];
  /** The queue of a queue system that it is in; `null`: it goes straight to the scheduler. */
  readonly queue: string | null;
  /** Physical GPUs of all its pods (whole GPUs and fractions; 0 for other requests), and of those that are not bound yet. */
  readonly gpus: number;
  readonly waitingGpus: number;
  /** Since when it has waited, or had waited before it started: its creation, or its last eviction. */
  readonly since: number;
  /** When its queue let it go on; `null` while it waits there. Without a queue: its creation. */
  readonly admittedAt: number | null;
  /** When the pods that it needs were bound (a gang: all, else one), and when the last pod began to run; `null` until then. */
  readonly boundAt: number | null;
  readonly startedAt: number | null;
  /** When its owner will use it again, whether it runs or not: now while they use it, `null` if never. */
  readonly worksAgainAt: number | null;
}

/** An owner who came back to work and found that someone had stopped it. */
export interface TruthFoundStopped {
  readonly namespace: string;
  readonly name: string;
  readonly at: number;
}

/** The true state of the simulated cluster, now. It is plain data; nothing in it is read from pages or the API. */
export interface Truth {
  /** The moment of this state, seconds since the epoch. */
  readonly at: number;
  /** When the exporters last looked at their GPUs, seconds since the epoch; `null` before the first time. */
  readonly observedAt: number | null;
  readonly physicalGpus: readonly TruthGpu[];
  readonly nodes: readonly TruthNode[];
  readonly teams: readonly TruthTeam[];
  readonly pending: readonly TruthPending[];
  readonly queues: readonly TruthQueue[];
  readonly works: readonly TruthWork[];
  /**
   * GPU-seconds of batch work that is to be done again because its pods were removed: since the last checkpoint, or since the
   * start.
   */
  readonly lostGpuSeconds: number;
  /** The GPU-seconds that are to be done again, by `namespace/workload`. */
  readonly lostByWorkload: ReadonlyMap<string, number>;
  /** Batch work that has ended well so far: the number of workloads, and the GPU-seconds that they were to run. */
  readonly finished: { readonly workloads: number; readonly gpuSeconds: number };
  /**
   * Owners who came back and found their work stopped, oldest first; and the total time that they waited until it ran again,
   * seconds.
   */
  readonly foundStopped: readonly TruthFoundStopped[];
  readonly ownerWaitSeconds: number;
  /** The total number of evictions from queues so far. */
  readonly evictions: number;
}
