import type { QueueScheduler } from "../../model/queues/eviction.ts";
import type { PodNeeds } from "../../model/queues/podNeeds.ts";
import type { DispatchedWork, GangFacts } from "./gangFacts.ts";
import type { ReclaimRule } from "./reclaimRule.ts";

/**
 * The kinds of objects in a tree of queues. `Scheduler` is the root that Fairlead gives each system in a domain; `Team` and
 * `Namespace` act as queues where no system has any; `Unqueued` is everything outside of queues.
 */
export type QueueKind = "Scheduler" | "Cohort" | "ClusterQueue" | "Queue" | "Team" | "Namespace" | "Unqueued";

/** Equivalent nodes of one domain for its queues: of one pool and capacity type, with the same flavors. */
export interface NodeClass {
  /** The pool, with its capacity type where the pool has several classes in the domain (`H100 spot`). */
  readonly name: string;
  readonly pool: string;
  /** Names of its nodes. */
  readonly nodes: ReadonlySet<string>;
  /** Physical GPUs that can be given out on nodes that are ready and schedulable: allocatable ones, at least what is allocated there. */
  readonly capacity: number;
}

/**
 * Nodes over which one quota counts: those of the Kueue flavors, KAI shards or pools that overlap each other. Every GPU is in
 * exactly one domain; nodes of one model are in several domains where different quotas count over them.
 */
export interface QuotaDomain {
  /** Its pools, sorted and joined by `+`; where another domain has the same pools, what covers its nodes behind `/`. */
  readonly name: string;
  readonly pools: readonly string[];
  /** Names of its nodes; absent: all nodes with GPUs of its pools. */
  readonly nodes?: ReadonlySet<string>;
  /** In the order of their pools; absent: its nodes are one class. */
  readonly classes?: readonly NodeClass[];
  /**
   * Physical GPUs that can be given out: of nodes that are ready and schedulable, and what is allocated on other nodes. What
   * is allocated is never above it.
   */
  readonly capacity: number;
  /** What is allocated on nodes that are not ready or not schedulable: no advice may hand it to others. */
  readonly allocatedOnUnschedulable: number;
  /**
   * Physical GPUs that are unavailable now and that nobody holds: of nodes that are not ready, not schedulable or not
   * allocatable; absent: none.
   */
  readonly outOfService?: number;
  /**
   * Why no entitlement is known here (a quota in units that are not the same part of a GPU on all nodes); `null`: it is known.
   */
  readonly unknownBecause: string | null;
}

/** The work of one team in a leaf queue. */
export interface TeamShare {
  readonly team: string;
  readonly allocated: number;
  /** Eligible pending GPUs. */
  readonly pending: number;
}

/** What a leaf holds in one node class, physical GPUs. */
export interface AllocatedInClass {
  readonly allocated: number;
  /** The part of it on nodes that are not ready or not schedulable. */
  readonly allocatedOnUnschedulable: number;
}

/** What a leaf holds by work of one priority. */
export interface AllocatedByPriority {
  readonly priority: number;
  /** Physical GPUs, by requests. */
  readonly gpus: number;
}

/** One queue (or cohort, or root) in one quota domain. All amounts in physical GPUs of that domain. */
export interface QueueView {
  readonly scheduler: QueueScheduler;
  readonly kind: QueueKind;
  /** Untrusted text. For a `Scheduler` its own name; for what exists only by name, that name. */
  readonly name: string;
  /** Index into `Queueing.domains`. */
  readonly domain: number;
  /** Index into `Queueing.queues`, smaller than its own; `null` for `Scheduler` and `Unqueued`. */
  readonly parent: number | null;
  /** Indices into `Queueing.queues`; empty for a leaf. */
  readonly children: readonly number[];
  /** Whether it is a leaf: only leaves can hold and wait. */
  readonly isLeaf: boolean;
  /** The only team whose work is in it; `null` if several share it, or none is known. */
  readonly team: string | null;
  /**
   * Its guarantee. Kueue: nominal quotas of the subtree, including what lending limits keep in it; KAI: quota; Volcano
   * `capacity`: the larger of guarantee and deserved, `proportion`: guarantee; a team's or namespace's: configuration.
   * `Unqueued`: what it holds. It may be more than the domain has; without a bound, it is everything that the domain has.
   */
  readonly guaranteed: number;
  /** The most that it may hold; `Infinity` without a limit. */
  readonly limit: number;
  /**
   * For a `Scheduler`: the guarantees of its queues as their author wrote them, which may be more than the domain has; amounts
   * without limit are left out.
   */
  readonly declaredGuarantee?: number;
  /** Kueue: how much of `guaranteed` others may use, the lending limits below it counted in; `Infinity`: all. Others: `Infinity`. */
  readonly lendingLimit: number;
  /** Share of the surplus among its siblings, at least 0. */
  readonly weight: number;
  /** Whether weight 0 is served after all others (Kueue) or never (KAI, `Unqueued`). */
  readonly zeroWeight: "last" | "never";
  /** Surplus goes to higher values first (KAI). */
  readonly priority: number;
  /**
   * The guarantee counts towards the share by weight, and is its minimum (Volcano `proportion`); otherwise the share of the
   * surplus is added to it.
   */
  readonly guaranteeIsFloor?: boolean;
  /** StrictFIFO: the first gang that does not fit stops those behind it. */
  readonly isStrictOrder: boolean;
  /** Allocated to its pods (in the whole subtree). */
  readonly allocated: number;
  /** Part of `allocated` on nodes that are not ready or not schedulable. */
  readonly allocatedOnUnschedulable: number;
  /**
   * For a leaf: what it holds in each node class, parallel to `QuotaDomain.classes`; absent if the domain is one class, or if
   * it holds nothing.
   */
  readonly allocatedByClass?: readonly AllocatedInClass[];
  /** For a leaf: `allocated` by priority, the lowest first; absent: not known. */
  readonly allocatedByPriority?: readonly AllocatedByPriority[];
  /** For a leaf: the rule by which its scheduler moves GPUs between queues; absent if it is not known that it moves any. */
  readonly reclaim?: ReclaimRule;
  /**
   * Quota reserved by work that is admitted or about to be, bound or not, as the system reports it; `null` if the system has no
   * such thing.
   */
  readonly reserved: number | null;
  /** Eligible pending GPUs of the subtree: whole gangs that could be admitted, and missing members of gangs that have begun. */
  readonly pending: number;
  /** For a leaf: by team, adding up to `allocated` and `pending`. */
  readonly teams: readonly TeamShare[];
  /** For a leaf: indices into `Queueing.gangs`, in the order in which the queue serves them. */
  readonly gangs: readonly number[];
}

/**
 * Why a waiting gang can never run now, so that it does not count as demand: it is paused or held back by someone (`paused`:
 * suspended, deactivated, on hold, gated), asks for more than its queue may ever hold (`above-limit`), for nodes that do not
 * exist (`no-node`), its queue does not take it (`no-queue`: unknown, stopped, not for its namespace), a LimitRange refuses
 * its pods (`limit-range`), it is for another cluster (`elsewhere`: MultiKueue, not taken yet), the scheduler that its pods
 * name is not known to run here (`no-scheduler`), or objects that they need do not exist, or their scheduler reports that no
 * node will take them even if it were empty (`unschedulable`).
 */
export type NeverReason =
  | "paused"
  | "above-limit"
  | "no-node"
  | "no-queue"
  | "limit-range"
  | "elsewhere"
  | "no-scheduler"
  | "unschedulable";

/** What one gang waits for in one leaf queue of one domain: equal pods. */
export interface WaitingPart {
  /** Index into `Queueing.queues`; `null` where no queue takes it. */
  readonly queue: number | null;
  /** Index into `Queueing.domains`; `null` where no pool can serve it. */
  readonly domain: number | null;
  /** Pods that are not bound yet. */
  readonly pods: number;
  /** The existing ones of these pods: they are in `Snapshot.pods`, too. */
  readonly createdPods: number;
  /** Physical GPUs of one pod; `null` where they cannot be known. */
  readonly gpusPerPod: number | null;
  readonly needs: PodNeeds;
  /**
   * All places that its queue and its own selectors allow, in the queue's order of flavors, including the place above; absent:
   * it may go only there, in any class.
   */
  readonly places?: readonly WaitingPlace[];
}

/** Where one part of a gang may go. */
export interface WaitingPlace {
  /** Index into `Queueing.queues`: the leaf of the same name in this domain. */
  readonly queue: number;
  /** Index into `Queueing.domains`. */
  readonly domain: number;
  /** Indices into `QuotaDomain.classes`; `null`: any of them. */
  readonly classes: readonly number[] | null;
  /** Physical GPUs of one pod there. */
  readonly gpusPerPod: number | null;
}

/** Work that waits as one: a Kueue Workload, a PodGroup, a gang of pods, or the waiting pods of a workload. */
export interface WaitingGang extends GangFacts {
  readonly scheduler: QueueScheduler;
  /** The workload that people know (its top owner), or else the object itself. */
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  /** The uid of the object that waits: the Workload, PodGroup, gang or pod. */
  readonly uid: string;
  readonly team: string;
  /** Name of the leaf queue as its users know it (ClusterQueue, Queue); `null` without one. */
  readonly queue: string | null;
  /** LocalQueue of Kueue; `null` elsewhere. */
  readonly localQueue: string | null;
  /** The class by which the queue system orders, or else the class of the pods; `none` without one. */
  readonly priorityClass: string;
  readonly priority: number;
  /** Since when it has waited: creation, or requeueing after an eviction; seconds since the epoch. */
  readonly since: number | null;
  /** When its quota was reserved (Kueue `QuotaReserved`); `null` while it waits in the queue. */
  readonly reservedAt: number | null;
  /** Members that are bound already. */
  readonly bound: number;
  /** Fewest members that can run. */
  readonly min: number;
  /**
   * Members that wait, and what they ask for; `gpus` is `null` if a part of it is not known. If fewer are enough for the queue
   * system (Kueue's partial admission), these few.
   */
  readonly pods: number;
  readonly gpus: number | null;
  readonly parts: readonly WaitingPart[];
  /** `null`: it is eligible demand. */
  readonly never: NeverReason | null;
  /** The scheduler's or an admission check's own reason, or the LimitRange that refuses it; bounded untrusted text, or empty. */
  readonly reason: string;
  /** Members held back by a scheduling gate, or not created yet. */
  readonly notReadyPods: number;
  /**
   * Whether it has its quota and waits for nodes that are being made for it (a provisioning admission check); absent: it does
   * not.
   */
  readonly awaitsNodes?: boolean;
}

/** A workload that has begun to run: the end of a wait. Seconds since the epoch; without a `priority` it is 0. */
export interface StartedWork {
  readonly uid: string;
  readonly queue: number | null;
  readonly priorityClass: string;
  readonly priority?: number;
  readonly since: number;
  /** When quota was reserved; `null` where the system has no such step. */
  readonly reservedAt: number | null;
  /** When its last needed member was bound. */
  readonly startedAt: number;
  /** Physical GPUs that it asked for; `null` or absent where that is not known. */
  readonly gpus?: number | null;
}

/** An eviction with what it cost. */
export interface EvictedWork {
  /** The fields of the model's Eviction with the same names. */
  readonly key: string;
  readonly scheduler: QueueScheduler;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly team: string;
  readonly queue: string | null;
  readonly priorityClass: string;
  readonly at: number;
  readonly reason: string;
  readonly isPreemption: boolean;
  /** Workload that took its place, and its team and queue; `null` where it is not known. */
  readonly preemptor: { readonly name: string; readonly team: string | null; readonly queue: string | null } | null;
  /** Physical GPUs that it held; `null` where they cannot be known. */
  readonly gpus: number | null;
  /** GPU time since the last checkpoint, else since its start (an upper bound); `null` when neither is known. */
  readonly lostGpuSeconds: number | null;
  readonly isUpperBound: boolean;
}

/** Queues, who is in them, and what waits, at one moment. */
export interface Queueing {
  readonly domains: readonly QuotaDomain[];
  /** Parents before children; one record for each queue and domain. */
  readonly queues: readonly QueueView[];
  readonly gangs: readonly WaitingGang[];
  /** Leaf of each pod of `Snapshot.pods`: index into `queues`, -1 for none. */
  readonly queueOfPod: Int32Array;
  readonly started: readonly StartedWork[];
  readonly evicted: readonly EvictedWork[];
  /** What MultiKueue has sent to other clusters, by namespace and name; absent: nothing. */
  readonly dispatched?: readonly DispatchedWork[];
}

/** A moment in which nothing is known about queues. */
export const noQueueing: Queueing = {
  domains: [],
  queues: [],
  gangs: [],
  queueOfPod: new Int32Array(0),
  started: [],
  evicted: [],
};
