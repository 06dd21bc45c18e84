import { adviceActs } from "../model/adviceAct.ts";
import { observingKinds, type Recommendation } from "../model/recommendation.ts";

/**
 * What shows that a person took the advice: all signs of an offer must be seen. Signs are plain data, because the ledger stores
 * them.
 */
export type TakenSign =
  /** These pods have left their nodes, and not because they ended by themselves. */
  | { readonly kind: "pods-left"; readonly pods: readonly { readonly uid: string; readonly node: string }[] }
  /** These nodes are gone, or take no more pods. */
  | { readonly kind: "nodes-left"; readonly nodes: readonly string[] }
  /** The settings of the NodePool no longer keep empty nodes. */
  | { readonly kind: "node-pool-changed"; readonly nodePool: string }
  /** The guarantee or limit of the queue has changed in the way that was advised. `queue` is a `queueKey`. */
  | {
      readonly kind: "quota-changed";
      readonly queue: string;
      readonly field: "guaranteed" | "limit";
      readonly from: number;
      readonly to: number;
    }
  /** The lint no longer reports the finding, although the object still exists. */
  | { readonly kind: "finding-gone"; readonly code: string; readonly objectKind: string; readonly name: string }
  /** The workload's pods hold fewer GPUs each. `workload`: `kind/namespace/name`. */
  | { readonly kind: "request-changed"; readonly workload: string; readonly gpusPerPod: number }
  /** Waiting work (`WaitingGang.uid`) has a higher priority than `from`, or has started before another that was ahead of it. */
  | { readonly kind: "priority-changed"; readonly work: string; readonly from: number; readonly ahead: string }
  /** The exporter of the node runs in another pod. */
  | { readonly kind: "exporter-restarted"; readonly uid: string; readonly node: string };

/** How the effect of taken advice is measured: the same quantity as `AdviceEffect.gainedGpus`, physical GPUs. */
export type MeasuredBy =
  /** GPUs that this work (`WaitingGang` uid or `kind/namespace/name`), which waited, holds now. */
  | { readonly kind: "work-started"; readonly work: readonly string[] }
  /** By how many GPUs these workloads (`kind/namespace/name`) hold less than `gpus`. */
  | { readonly kind: "work-released"; readonly work: readonly string[]; readonly gpus: number }
  /** GPUs that these pods no longer hold: whoever restarts the work gives it new pods. */
  | { readonly kind: "work-restarted"; readonly pods: readonly { readonly uid: string; readonly gpus: number }[] }
  /** GPUs of these nodes that are no longer in the cluster, or cordoned. */
  | {
      readonly kind: "nodes-removed";
      readonly nodes: readonly { readonly name: string; readonly gpus: number }[];
    }
  /**
   * GPUs of these nodes while nothing is allocated there. Only older ledgers contain this: advice now measures `nodes-removed`.
   */
  | { readonly kind: "whole-nodes"; readonly nodes: readonly string[] }
  /** GPUs of a node that can be repaired or were repaired: the node is gone or cordoned, or the GPU can be used again. */
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
  /** The workload of the pod, as signs and measures name it. */
  readonly work: string;
  readonly gpus: number;
  /**
   * The start or last checkpoint of the pod, seconds since the epoch; `null` if neither is known, or if nothing has to be done
   * again.
   */
  readonly workSince: number | null;
}

/** A recommendation without its lifecycle: everything that follows from one moment. */
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

/** The advice of one moment, and how to find out what becomes of it. */
export interface Offer {
  readonly draft: RecommendationDraft;
  /**
   * The need that it serves, and its kind (identity.ts). There is one plan for each need, and a need must last for some cycles.
   */
  readonly need: string;
  readonly signs: readonly TakenSign[];
  readonly measuredBy: MeasuredBy;
  readonly disrupted: readonly DisruptedPod[];
}

/**
 * Orders offers: those that are worth most come first. Of equal worth, what can be done comes before what must be asked or
 * watched; then come those with which the most GPUs are observed again; then the id decides.
 */
export function byWorth({ draft: a }: Offer, { draft: b }: Offer): number {
  const seen = ({ kind, effect }: RecommendationDraft): number =>
    observingKinds.has(kind) ? effect.gainedGpus.worst : 0;
  const order = b.worthGpuHours - a.worthGpuHours || adviceActs.indexOf(a.act) - adviceActs.indexOf(b.act);
  return order || seen(b) - seen(a) || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
}
