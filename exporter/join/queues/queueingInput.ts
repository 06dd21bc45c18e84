import type { Pod } from "../../model/pod.ts";
import type { Eviction } from "../../model/queues/eviction.ts";
import type { Device, NodeView, PodView, WorkloadView } from "../snapshot.ts";
import type { PodTally } from "./podTally.ts";
import type { QueueingCache } from "./queueingCache.ts";
import type { PoolFacts, QueueRef, QueueSystem } from "./queueSystem.ts";

/** What is known about a pod besides its view: parallel to the pods of the Snapshot. */
export interface QueuedPod {
  readonly pod: Pod;
  /** Uids of its owners that could be read, nearest first. */
  readonly owners: readonly { readonly uid: string }[];
}

/** The input for finding the queues of one moment. */
export interface QueueingInput {
  /** Seconds since the epoch. */
  readonly at: number;
  /** The systems in use, schedulers before teams. */
  readonly systems: readonly QueueSystem[];
  readonly pools: readonly PoolFacts[];
  readonly nodes: readonly NodeView[];
  readonly devices: readonly Device[];
  readonly pods: readonly PodView[];
  readonly workloads: readonly WorkloadView[];
  /** The tally of all bound pods. */
  readonly tally: PodTally;
  /** The queue of each pod, as a finder of a queue system reports it; `null` if none knows it. */
  readonly queueRefs: readonly (QueueRef | null)[];
  /** The facts about the pod with this index. */
  readonly queued: (pod: number) => QueuedPod | null;
  readonly cache: QueueingCache;
  readonly evictions: readonly Eviction[];
  /** The team of work that has no pods, only by its namespace and queue. */
  readonly teamOf: (namespace: string, queue: string | null) => string;
  /** Why nothing is known about queues at all; absent or `null`: they are known. */
  readonly unknownBecause?: string | null;
}

/** The workloads of a namespace, or with `null` of all, by the uids of their owners; `undefined`: there are none. */
export type WorkloadsByOwner = (namespace: string | null) => ReadonlyMap<string, WorkloadView> | undefined;
