import type { QueueView, QuotaDomain, WaitingGang } from "../../exporter/join/queues/queueing.ts";

/** A domain of one pool with 16 GPUs. */
export function quotaDomain(parts: Partial<QuotaDomain> = {}): QuotaDomain {
  return { name: "H100", pools: ["H100"], capacity: 16, allocatedOnUnschedulable: 0, unknownBecause: null, ...parts };
}

/** A leaf in domain 0 without guarantee, limits and anything in it. */
export function queueView(parts: Partial<QueueView> = {}): QueueView {
  return {
    scheduler: "kueue",
    kind: "ClusterQueue",
    name: "q",
    domain: 0,
    parent: null,
    children: [],
    isLeaf: true,
    team: null,
    guaranteed: 0,
    limit: Number.POSITIVE_INFINITY,
    lendingLimit: Number.POSITIVE_INFINITY,
    weight: 1,
    zeroWeight: "last",
    priority: 0,
    isStrictOrder: false,
    allocated: 0,
    allocatedOnUnschedulable: 0,
    reclaim: { takes: "any", upTo: "entitlement", gives: true, keptFromPriority: null, setting: "" },
    reserved: null,
    pending: 0,
    teams: [],
    gangs: [],
    ...parts,
  };
}

/** A gang of one pod that waits somewhere for a GPU. */
export function gangView(parts: Partial<WaitingGang> = {}): WaitingGang {
  return {
    scheduler: "kueue",
    kind: "Job",
    namespace: "research",
    name: "train",
    uid: "g",
    team: "research",
    queue: null,
    localQueue: null,
    priorityClass: "none",
    priority: 0,
    since: null,
    reservedAt: null,
    bound: 0,
    min: 1,
    pods: 1,
    gpus: 1,
    parts: [],
    never: null,
    reason: "",
    notReadyPods: 0,
    ...parts,
  };
}
