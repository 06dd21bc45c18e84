import type { ResourceAmounts } from "../node.ts";

/** Systems that give GPUs to queues; `none`: the Kubernetes scheduler alone. */
export const queueSchedulers = ["kueue", "kai", "volcano", "none"] as const;

export type QueueScheduler = (typeof queueSchedulers)[number];

/** One time at which a workload lost what it had been given. */
export interface Eviction {
  /** The same key in every report of the same eviction: uid of the object (`namespace/name` of a PodGroup) and the time. */
  readonly key: string;
  readonly scheduler: QueueScheduler;
  /** Kind of the object that reports it: `Workload`, `PodGroup`, `Pod`. */
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  /** Uid of the object; `namespace/name` for a PodGroup whose eviction only its pods have reported. */
  readonly uid: string;
  /** When it was evicted, seconds since the epoch. */
  readonly at: number;
  /**
   * The scheduler's own reason: `Preempted`, `PodsReadyTimeout`, `NodeFailures`, ...; for preemptions of Kueue its kind, such
   * as `InCohortReclamation`. Bounded text.
   */
  readonly reason: string;
  /** Whether the work of others was the reason. */
  readonly isPreemption: boolean;
  /** Uid or `namespace/name` of the work that took its place; `null` if unknown. */
  readonly preemptor: string | null;
  /** The queue of the workload (ClusterQueue, Queue) when it was evicted; `null` when unknown. */
  readonly queue: string | null;
  readonly priorityClass: string | null;
  /** All that the workload held, base units by resource name; empty where that is not known. */
  readonly allocated: ResourceAmounts;
  /** Since when the workload had held that, and its last checkpoint before the eviction; `null` when unknown. */
  readonly allocatedSince: number | null;
  readonly checkpointedAt: number | null;
}
