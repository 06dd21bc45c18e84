import type { Pod } from "../../model/pod.ts";
import type { Eviction } from "../../model/queues/eviction.ts";
import type { Device, NodeView, PodView, WorkloadView } from "../snapshot.ts";
import type { PodTally } from "./podTally.ts";
import type { QueueingCache } from "./queueingCache.ts";
import type { PoolFacts, QueueRef, QueueSystem } from "./queueSystem.ts";

/** What is known of a pod beside its view: parallel to the pods of the Snapshot. */
export interface QueuedPod {
  readonly pod: Pod;
  /** Its queue, as a finder of a queue system says; `null` where none knows it. */
  readonly queue: QueueRef | null;
  /** Uids of its owners that could be read, nearest first. */
  readonly owners: readonly { readonly uid: string }[];
}

/** What the queues of one moment are found from. */
export interface QueueingInput {
  /** Seconds since the epoch. */
  readonly at: number;
  /** Those in use, schedulers before teams. */
  readonly systems: readonly QueueSystem[];
  readonly pools: readonly PoolFacts[];
  readonly nodes: readonly NodeView[];
  readonly devices: readonly Device[];
  readonly pods: readonly PodView[];
  readonly workloads: readonly WorkloadView[];
  /** Of all bound pods. */
  readonly tally: PodTally;
  /** Of the pod with this index. */
  readonly queued: (pod: number) => QueuedPod | null;
  readonly cache: QueueingCache;
  readonly evictions: readonly Eviction[];
  /** The team of work that has no pods, by its namespace and queue alone. */
  readonly teamOf: (namespace: string, queue: string | null) => string;
  /** Why nothing can be said of queues at all; absent or `null`: it can. */
  readonly unknownBecause?: string | null;
}

/** Work by the uid of an owner, in a namespace; `null`: in any. */
export type WorkloadOfOwner = (uid: string, namespace: string | null) => WorkloadView | undefined;
