import type { QueueScheduler } from "../../model/queues/eviction.ts";
import type { PodNeeds } from "../../model/queues/podNeeds.ts";
import type { DispatchedWork, GangFacts } from "./gangFacts.ts";
import type { ReclaimRule } from "./reclaimRule.ts";

/**
 * What is in a tree of queues. `Scheduler` is the root that Fairlead gives each system in a domain; `Team` and
 * `Namespace` stand for queues where no system has any; `Unqueued` is whatever no queue answers for.
 */
export type QueueKind = "Scheduler" | "Cohort" | "ClusterQueue" | "Queue" | "Team" | "Namespace" | "Unqueued";

/** Nodes of one domain that nothing distinguishes for its queues: of one pool and capacity type, with the same flavors. */
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
   * Physical GPUs that can be given out: of nodes that are ready and schedulable, and what is allocated on other nodes. What is
   * held is never above it.
   */
  readonly capacity: number;
  /** What is allocated on nodes that are not ready or not schedulable: no advice may hand it to others. */
  readonly allocatedOnUnschedulable: number;
  /** Physical GPUs that nobody can have now and nobody holds: of nodes that are not ready, not schedulable or not allocatable; absent: none. */
  readonly outOfService?: number;
  /**
   * Why nobody's entitlement can be reported here (a quota in units that are not the same part of a GPU on all nodes);
   * `null`: it can.
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
  /** Of it, on nodes that are not ready or not schedulable. */
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
  /** Untrusted text. Of a `Scheduler`: its own name; of what exists only by name: that name. */
  readonly name: string;
  /** Index into `Queueing.domains`. */
  readonly domain: number;
  /** Index into `Queueing.queues`, smaller than its own; `null` for `Scheduler` and `Unqueued`. */
  readonly parent: number | null;
  /** Indices into `Queueing.queues`; empty for a leaf. */
  readonly children: readonly number[];
  /** Only a leaf can hold and wait. */
  readonly isLeaf: boolean;
  /** The one team whose work is in it; `null` where several share it, or none is known. */
  readonly team: string | null;
  /**
   * What it is sure of: Kueue: nominal quotas of the subtree, with what lending limits keep back in it; KAI: quota; Volcano `capacity`:
   * the larger of guarantee and deserved, `proportion`: guarantee; a team's or namespace's: configuration.
   * `Unqueued`: what it holds. It may be more than the domain has; where there is no bound, it is all that the domain has.
   */
  readonly guaranteed: number;
  /** The most that it may hold; `Infinity` without a limit. */
  readonly limit: number;
  /**
   * Of a `Scheduler`: what its queues are sure of as their author wrote it, which may be more than the domain has; amounts
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
   * The guarantee counts towards the share by weight, of which it is the least (Volcano `proportion`); else, and where this is
   * left out, the share of the surplus comes on top of it.
   */
  readonly guaranteeIsFloor?: boolean;
  /** StrictFIFO: the first gang that does not fit stops those behind it. */
  readonly isStrictOrder: boolean;
  /** Allocated to its pods (of the whole subtree). */
  readonly allocated: number;
  /** Part of `held` on nodes that are not ready or not schedulable. */
  readonly allocatedOnUnschedulable: number;
  /** Of a leaf: what it holds in each node class, parallel to `QuotaDomain.classes`; absent where the domain is one class, or it holds nothing. */
  readonly allocatedByClass?: readonly AllocatedInClass[];
  /** Of a leaf: the same by priority, the lowest first; absent: not known. */
  readonly allocatedByPriority?: readonly AllocatedByPriority[];
  /** Of a leaf: absent where nothing is known to be moved between queues. */
  readonly reclaim?: ReclaimRule;
  /** Quota reserved by admitted or admitting work, bound or not, where the system says; `null` where it has no such thing. */
  readonly reserved: number | null;
  /** Eligible pending GPUs of the subtree: whole gangs that could be admitted, and missing members of gangs begun. */
  readonly pending: number;
  /** Of a leaf: by team, adding up to `held` and `pending`. */
  readonly teams: readonly TeamShare[];
  /** Of a leaf: indices into `Queueing.gangs`, in the order in which the queue serves them. */
  readonly gangs: readonly number[];
}

/**
 * Why a waiting gang can never run as things are, so that it is no demand: it is paused or held back by someone
 * (`paused`: suspended, deactivated, on hold, gated), asks for more than its queue may ever hold (`above-limit`), for
 * nodes that do not exist (`no-node`), its queue does not take it (`no-queue`: unknown, stopped, not for its namespace), a
 * LimitRange refuses its pods (`limit-range`), it is for another cluster (`elsewhere`: MultiKueue, not taken yet), the scheduler
 * that its pods name is not known to work here (`no-scheduler`), or what they need beside nodes is not there, or their scheduler
 * says that no node will take them however empty (`unschedulable`).
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

/** What one gang waits for in one leaf queue of one domain: pods that are alike. */
export interface WaitingPart {
  /** Index into `Queueing.queues`; `null` where no queue takes it. */
  readonly queue: number | null;
  /** Index into `Queueing.domains`; `null` where no pool can serve it. */
  readonly domain: number | null;
  /** Pods that are not bound yet. */
  readonly pods: number;
  /** Of these, those that exist: they are in `Snapshot.pods`, too. */
  readonly createdPods: number;
  /** Physical GPUs of one pod; `null` where they cannot be known. */
  readonly gpusPerPod: number | null;
  readonly needs: PodNeeds;
  /**
   * Everywhere that it may go by its queue and its own selectors, in the queue's order of flavors, the place above among them;
   * absent: only there, in whatever class.
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
  /** The workload that people know (its top owner), else the object itself. */
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  /** Of the object that waits: the Workload, PodGroup, gang or pod. */
  readonly uid: string;
  readonly team: string;
  /** Name of the leaf queue as its users know it (ClusterQueue, Queue); `null` without one. */
  readonly queue: string | null;
  /** LocalQueue of Kueue; `null` elsewhere. */
  readonly localQueue: string | null;
  /** The class that the queue system orders by, else the pods'; `none` without one. */
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
   * Members that wait, and what they ask for; `gpus` is `null` where a part of it is not known. Where fewer will do for the queue
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
  /** It has its quota and waits for nodes that are being made for it (a provisioning admission check); absent: it does not. */
  readonly awaitsNodes?: boolean;
}

/** A workload that began to run: the end of a wait. Seconds since the epoch. */
export interface StartedWork {
  readonly uid: string;
  readonly queue: number | null;
  readonly priorityClass: string;
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
  /** As in the model's Eviction. */
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
  /** Workload that took its place, and its team and queue; `null` where it cannot be reported. */
  readonly preemptor: { readonly name: string; readonly team: string | null; readonly queue: string | null } | null;
  /** Physical GPUs that it held; `null` where they cannot be known. */
  readonly gpus: number | null;
  /** GPU time since the last checkpoint, else since its start (an upper bound); `null` when neither is known. */
  readonly lostGpuSeconds: number | null;
  readonly isUpperBound: boolean;
}

/** Queues, who is in them, and what waits: one moment. */
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

/** A moment in which nothing is known of queues. */
export const noQueueing: Queueing = {
  domains: [],
  queues: [],
  gangs: [],
  queueOfPod: new Int32Array(0),
  started: [],
  evicted: [],
};
