import type { QueueScheduler } from "../../model/queues/eviction.ts";

/** The number by which a scheduler itself judges a queue. */
export type SchedulerNumber =
  /** Kueue: GPUs of admitted work by its Workloads, and by the status of the ClusterQueue. */
  | "kueue-reserved-gpus"
  /** Kueue: 1000 x borrowed / lendable / weight, the largest over resources. */
  | "kueue-weighted-share"
  /** Kueue admission fair sharing: weighted decayed usage of a LocalQueue. */
  | "kueue-admission-usage"
  /** KAI: fair share in GPUs, and with its usage history. */
  | "kai-fair-share"
  | "kai-fair-share-with-history"
  /** KAI: allocated GPUs by pods, and by the status of the Queue. */
  | "kai-allocated-gpus"
  /** Volcano: allocated GPUs by pods, and by the status of the Queue. */
  | "volcano-allocated-gpus"
  /** Volcano: deserved GPUs by the plugin in force. */
  | "volcano-deserved"
  /** Volcano: allocated / deserved, the largest over resources. */
  | "volcano-share";

/** One of these numbers for one queue: as Fairlead computes it from the objects, and as the scheduler reports it. */
export interface SchedulerView {
  readonly scheduler: QueueScheduler;
  readonly number: SchedulerNumber;
  /** `ClusterQueue`, `Cohort`, `LocalQueue`, `Queue`. */
  readonly kind: string;
  /** `namespace/name` of a LocalQueue. */
  readonly name: string;
  /** Name of the node-pool shard; empty if the number is for the whole cluster. */
  readonly shard: string;
  /** Infinity for weight 0 while borrowing; `null`: the objects do not contain enough. */
  readonly computed: number | null;
  /** The number that the scheduler reports; `null` where it reports none that Fairlead reads. */
  readonly reported: number | null;
}
