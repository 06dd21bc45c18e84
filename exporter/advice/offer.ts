import { adviceActs } from "../model/adviceAct.ts";
import { observingKinds, type Recommendation } from "../model/recommendation.ts";

/** What shows that someone took the advice: all signs of an offer must be seen. Plain data, for the ledger keeps it. */
export type TakenSign =
  /** These pods have left their nodes, and not because they ended by themselves. */
  | { readonly kind: "pods-left"; readonly pods: readonly { readonly uid: string; readonly node: string }[] }
  /** These nodes are gone, or take no pods any more. */
  | { readonly kind: "nodes-left"; readonly nodes: readonly string[] }
  /** The NodePool keeps no empty nodes any more: its own settings say so. */
  | { readonly kind: "node-pool-changed"; readonly nodePool: string }
  /** What the queue is sure of, or may hold, has changed the way that was advised. `queue` as `queueKey` writes it. */
  | {
      readonly kind: "quota-changed";
      readonly queue: string;
      readonly field: "guaranteed" | "limit";
      readonly from: number;
      readonly to: number;
    }
  /** The lint finds it no more, though the object is still there. */
  | { readonly kind: "finding-gone"; readonly code: string; readonly objectKind: string; readonly name: string }
  /** The workload's pods hold fewer GPUs each. `workload`: `kind/namespace/name`. */
  | { readonly kind: "request-changed"; readonly workload: string; readonly gpusPerPod: number }
  /** Waiting work (`WaitingGang.uid`) has a higher priority than `from`, or has started before another that was ahead of it. */
  | { readonly kind: "priority-changed"; readonly work: string; readonly from: number; readonly ahead: string }
  /** The exporter's pod is another one. */
  | { readonly kind: "exporter-restarted"; readonly uid: string; readonly node: string };

/** How the effect is measured once the advice was taken: the same number as `AdviceEffect.gainedGpus`. */
export type MeasuredBy =
  /** GPUs that this waiting work (`WaitingGang` uid or `kind/namespace/name`) holds. */
  | { readonly kind: "work-started"; readonly work: readonly string[] }
  /** GPUs that these workloads (`kind/namespace/name`) hold less than `gpus`. */
  | { readonly kind: "work-released"; readonly work: readonly string[]; readonly gpus: number }
  /** GPUs that these pods hold no more: who restarts work gives it new ones. */
  | { readonly kind: "work-restarted"; readonly pods: readonly { readonly uid: string; readonly gpus: number }[] }
  /** GPUs of these nodes that are no longer in the cluster, or cordoned. */
  | {
      readonly kind: "nodes-removed";
      readonly nodes: readonly { readonly name: string; readonly gpus: number }[];
    }
  /** GPUs of these nodes while nothing is allocated there; advice of today measures `nodes-removed`, older ledgers keep this. */
  | { readonly kind: "whole-nodes"; readonly nodes: readonly string[] }
  /** GPUs of a node that can be repaired, or were: the node is gone or cordoned, or the GPU can be used again. */
  | {
      readonly kind: "gpus-drained";
      readonly node: string;
      readonly gpus: readonly { readonly uuid: string; readonly gpus: number }[];
    }
  /** GPUs of these nodes that are allocated and observed. */
  | { readonly kind: "observed"; readonly nodes: readonly string[] };

/** A pod that the plan takes off its node, and since when its work would be lost. */
export interface DisruptedPod {
  readonly uid: string;
  /** The workload that it belongs to, as signs and measures name it. */
  readonly work: string;
  readonly gpus: number;
  /** Start or last checkpoint, seconds since the epoch; `null` when neither is known, or nothing has to be done again. */
  readonly workSince: number | null;
}

/** A recommendation before its lifecycle: everything that follows from one moment. */
export type RecommendationDraft = Omit<
  Recommendation,
  | "state"
  | "firstSeenAt"
  | "openedAt"
  | "openings"
  | "replaces"
  | "replacedBy"
  | "parts"
  | "computedAt"
  | "validUntil"
  | "closedAt"
  | "closedBecause"
  | "measured"
  | "aftermath"
  | "alerts"
>;

/** Advice of one moment, and how to see what becomes of it. */
export interface Offer {
  readonly draft: RecommendationDraft;
  /** What it is needed for, with its kind (identity.ts): one plan for each; the need must last for some cycles. */
  readonly need: string;
  readonly signs: readonly TakenSign[];
  readonly measuredBy: MeasuredBy;
  readonly disrupted: readonly DisruptedPod[];
}

/**
 * Orders offers: most worth first; of equal worth what can be done before what must be asked or watched, then most GPUs that
 * are seen again, then by id.
 */
export function byWorth({ draft: a }: Offer, { draft: b }: Offer): number {
  const seen = ({ kind, effect }: RecommendationDraft): number =>
    observingKinds.has(kind) ? effect.gainedGpus.worst : 0;
  const order = b.worthGpuHours - a.worthGpuHours || adviceActs.indexOf(a.act) - adviceActs.indexOf(b.act);
  return order || seen(b) - seen(a) || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
}
