import type { OwnerObject } from "../../model/cluster.ts";
import type { ClusterNode, ResourceAmounts } from "../../model/node.ts";
import type { Pod } from "../../model/pod.ts";
import type { Problem } from "../../model/problem.ts";
import type { QueueScheduler } from "../../model/queues/eviction.ts";
import type { PodNeeds } from "../../model/queues/podNeeds.ts";
import type { GangDraft } from "./gangDraft.ts";
import type { DeclaredFacts, DispatchedGang } from "./gangFacts.ts";
import type { NamespaceGangs } from "./namespaceGangs.ts";
import type { NeverReason, QueueView } from "./queueing.ts";

/** A node, as far as quotas look at it: what else may change without changing where they count. */
export type QuotaNode = Pick<ClusterNode, "name" | "labels" | "capacity">;

/** The nodes of one pool, as far as quotas look at them. */
export interface PoolFacts {
  readonly pool: string;
  /** GPU nodes with a GPU of this pool; a node with GPUs of several pools is in each of them. */
  readonly nodes: readonly QuotaNode[];
  /**
   * Physical GPUs per unit of a resource on the nodes of this pool: `undefined` if none offers it, `null` if nodes differ or
   * it cannot be known.
   */
  readonly gpusPerUnit: (resource: string) => number | null | undefined;
  /** The facts of the pool for some of its nodes only: quotas and pods often apply to some nodes of a pool. */
  readonly among: (isWanted: (node: QuotaNode) => boolean) => PoolFacts;
}

/** Nodes over which one quota of a system counts: those of a ResourceFlavor, a shard, or some pools. */
export interface QuotaScope {
  /** The flavor or shard; empty where it has no name of its own. */
  readonly name: string;
  /** Whether the GPUs of this pool on this node are in it. */
  readonly covers: (pool: string, node: QuotaNode) => boolean;
}

/** A domain as its queues are read into it. */
export interface DomainFacts {
  readonly name: string;
  /** Its nodes by pool. */
  readonly pools: readonly PoolFacts[];
  /** Physical GPUs. */
  readonly capacity: number;
  /** Names of the scopes of this system that are in it. */
  readonly scopes: ReadonlySet<string>;
}

/** A queue that a pod or a waiting object belongs to: the name of a leaf. */
export interface QueueRef {
  readonly scheduler: QueueScheduler;
  /** Empty if the name of what waits leads to no leaf (a LocalQueue that does not exist). */
  readonly name: string;
  /** `name` of a LocalQueue, in the pod's namespace; `null` elsewhere. */
  readonly localQueue: string | null;
}

/** What a system reports about one of its queues in one domain, before anything is counted in it: fields of `QueueView`. */
type DeclaredFields =
  | "kind"
  | "name"
  | "isLeaf"
  | "lendingLimit"
  | "weight"
  | "zeroWeight"
  | "priority"
  | "guaranteeIsFloor"
  | "isStrictOrder"
  | "reclaim"
  | "reserved";

/** A queue as declared, with its place in the list of its system. */
export interface DeclaredQueue extends Pick<QueueView, DeclaredFields> {
  /** Index of its parent in the same list, smaller than its own; `null` for a root of the system. */
  readonly parent: number | null;
  /** `null`: a quota that cannot be converted to GPUs; the domain's entitlement is unknown then. May exceed the capacity. */
  readonly guaranteed: number | null;
  /** `Infinity` without one; `null` as for `guaranteed`. */
  readonly limit: number | null;
}

/** Equal pods of a waiting object. */
export interface DeclaredPart {
  readonly pods: number;
  readonly needs: PodNeeds;
  /**
   * Names of the scopes that may serve it, best first (Kueue: flavors in the queue's order); `null`: any that its selectors
   * allow.
   */
  readonly scopes: readonly string[] | null;
  /** Partial admission: `pods` are the fewest that are enough, these are all that it asks for; absent: the same number. */
  readonly mostPods?: number;
}

/** Waiting work, as an object of a queue system declares it. Its existing pods are found by `podsOf`. */
export interface DeclaredGang extends DeclaredFacts {
  readonly uid: string;
  /** Kind and name of the object itself. */
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  /** Uids of its owners, nearest first: its pods and its workload are found by them. */
  readonly ownerUids: readonly string[];
  readonly ownerKind: string | null;
  readonly ownerName: string | null;
  readonly queue: QueueRef;
  readonly priorityClass: string | null;
  readonly priority: number;
  readonly since: number | null;
  readonly reservedAt: number | null;
  /** Members in all, and the fewest that can run. */
  readonly members: number;
  readonly min: number;
  /** All members, bound or not, by kinds of pod. Empty: its pods say what it asks for. */
  readonly parts: readonly DeclaredPart[];
  /** What it asks for in total, if pods are not described one by one (`minResources`); `null` otherwise. */
  readonly total: ResourceAmounts | null;
  readonly never: NeverReason | null;
  readonly reason: string;
  /**
   * The time at which it began to run as the object reports it (all members), seconds since the epoch; `null` if only pods
   * show it.
   */
  readonly startedAt: number | null;
  /**
   * Whether the object reports that it has not begun, although its pods may be bound; absent: it reports nothing about that.
   */
  readonly isStarting?: boolean;
  /**
   * The last result for this gang, where the gang stays the same object while its content is the same. It changes no answer.
   */
  readonly kept?: { draft: GangDraft | null };
}

/**
 * One queue system in one moment. The core (queueing of a Snapshot) asks each system the same questions; systems know
 * nothing of each other. Pure.
 */
export interface QueueSystem {
  readonly scheduler: QueueScheduler;
  /** Whether it has queues with GPUs, pods or waiting work; otherwise it is left out completely. */
  readonly isInUse: boolean;
  /** Scopes that overlap become one domain. */
  readonly scopes: readonly QuotaScope[];
  /** Its queues in a domain, parents before children, without the root that the core adds. */
  queuesIn(domain: DomainFacts): readonly DeclaredQueue[];
  /**
   * Work that has not ended, by namespace: what waits, and what runs (a running gang may lose a member). Work without GPUs is
   * left out.
   */
  readonly gangs: readonly NamespaceGangs[];
  /** Work that runs in other clusters and is not a gang here; absent: none. */
  readonly dispatched?: readonly DispatchedGang[];
  /**
   * `null` in the systems of schedulers. For teams and namespaces, which act as queues in domains where no scheduler has any:
   * the leaf of a pod whose queue no finder knows. Their scopes count only for pools that are in no scheduler's scope.
   */
  readonly leafOf: ((team: string, namespace: string) => string) | null;
  /** Why entitlement is not known wherever it has queues; absent: it is known. */
  readonly unknownBecause?: string;
  readonly problems: readonly Problem[];
}

/** Finds the queue of a pod; `owners`: nearest first. `null`: the pod is in no queue of its system. */
export type QueueFinder = (pod: Pod, owners: readonly OwnerObject[]) => QueueRef | null;
