import type { GpuModelName } from "./gpuModels.ts";
import type { WorkloadKind } from "./scenario.ts";

/** Who holds a GPU or instance, and how much of a physical GPU that is. */
export interface TruthHolder {
  readonly namespace: string;
  readonly pod: string;
  /** The namespace's label `team`; `null` where it has none. */
  readonly team: string | null;
  /** Physical GPUs. */
  readonly share: number;
  /** Ratio 0..1 of the share that is busy now. */
  readonly activity: number;
  /** It hangs: what looks like activity computes nothing. */
  readonly hangs: boolean;
  /** The same, or it only waits for a while and will go on. */
  readonly spins: boolean;
  /** Its containers run, or ran; while this is false, they are being started. */
  readonly hasRun: boolean;
}

export interface TruthInstance {
  /** NVML GPU instance id, as on the page (`GPU_I_ID`). */
  readonly id: string;
  readonly profile: string;
  /** Part of a physical GPU. */
  readonly weight: number;
  readonly holder: TruthHolder | null;
  readonly activity: number;
  /** As the exporter saw it last; `null` before the first look. */
  readonly observed: number | null;
}

export interface TruthGpu {
  readonly node: string;
  readonly uuid: string;
  readonly gpuModel: string;
  /** False while it cannot be given out: it fell off the bus, or has an error that is its own. */
  readonly healthy: boolean;
  /** Empty unless the GPU is cut into MIG instances. */
  readonly migInstances: readonly TruthInstance[];
  readonly holders: readonly TruthHolder[];
  /** Mean over the GPU, ratio 0..1, now. */
  readonly activity: number;
  /** The same as the exporter saw it last; `null` before its first look and while the GPU is gone. */
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
  /** `null`: holders in namespaces without the label `team`. */
  readonly team: string | null;
  /** Physical GPUs allocated, and of these the busy part, now. */
  readonly allocated: number;
  readonly active: number;
}

export interface TruthPending {
  readonly namespace: string;
  readonly pod: string;
  readonly team: string | null;
  /** Name of the workload it belongs to. */
  readonly workload: string;
  /** Physical GPUs asked for; `null` where that depends on where it lands. */
  readonly gpus: number | null;
  /** Seconds since the epoch. */
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
  /** Evictions from it so far. */
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
  /** Since when it has waited, or did: creation, or its last eviction. */
  readonly since: number;
  /** When its queue let it go on; `null` while it waits there. Without a queue: its creation. */
  readonly admittedAt: number | null;
  /** When the pods were bound that it needs (a gang: all, else one), and when the last one began to run; `null` until then. */
  readonly boundAt: number | null;
  readonly startedAt: number | null;
  /** When its owner works with it again by himself, whether it runs or not: now while he does, `null` if never. */
  readonly worksAgainAt: number | null;
}

/** An owner who came back to work and found that someone had stopped it. */
export interface TruthFoundStopped {
  readonly namespace: string;
  readonly name: string;
  readonly at: number;
}

/** What is really so in the simulated cluster, now. Plain data; nothing in it is read from pages or the API. */
export interface Truth {
  /** Seconds since the epoch. */
  readonly at: number;
  /** When the exporters last looked at their GPUs, seconds since the epoch; `null` before the first time. */
  readonly observedAt: number | null;
  readonly physicalGpus: readonly TruthGpu[];
  readonly nodes: readonly TruthNode[];
  readonly teams: readonly TruthTeam[];
  readonly pending: readonly TruthPending[];
  readonly queues: readonly TruthQueue[];
  readonly works: readonly TruthWork[];
  /** GPU-seconds of batch work that is to be done again because its pods were taken away: since the last checkpoint, or since the start. */
  readonly lostGpuSeconds: number;
  /** The same by `namespace/workload`. */
  readonly lostByWorkload: ReadonlyMap<string, number>;
  /** Batch work that has ended well so far: how many workloads, and the GPU-seconds that they were to run. */
  readonly finished: { readonly workloads: number; readonly gpuSeconds: number };
  /** Owners who came back and found their work stopped, oldest first; and how long they waited until it ran again, in all. */
  readonly foundStopped: readonly TruthFoundStopped[];
  readonly ownerWaitSeconds: number;
  /** Evictions from queues so far, in all. */
  readonly evictions: number;
}
