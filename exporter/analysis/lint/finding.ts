import type { QueueScheduler } from "../../model/queues/eviction.ts";

/** Ways in which fairness is silently off. */
export type FindingCode =
  | "kueue-admission-fairness-without-half-life"
  | "kueue-admission-fairness-memory-weight"
  | "kueue-admission-mode-ignored"
  | "kueue-weight-without-fair-sharing"
  | "kueue-cohort-of-one"
  | "kueue-cohort-cycle"
  | "kueue-queue-unreachable"
  | "kueue-queue-selects-no-namespace"
  | "kueue-flavor-without-nodes"
  | "kueue-no-reclaim"
  | "kueue-reclaim-no-candidates"
  | "kueue-preemption-no-candidates"
  | "kueue-quota-not-shared"
  | "volcano-plugin-guessed"
  | "volcano-deserved-ignored"
  | "volcano-weight-ignored"
  | "volcano-queue-closed"
  | "volcano-keeps-surplus"
  | "kai-limit-zero"
  | "kai-no-surplus"
  | "kai-queue-orphan"
  | "kai-quota-above-parent"
  | "kai-history-ignored"
  | "quota-above-capacity"
  | "quota-promised-twice"
  | "pods-past-queues"
  | "queue-unknown";

/** One thing in the configuration of queues that makes fairness differ from what its author meant. */
export interface Finding {
  readonly code: FindingCode;
  readonly scheduler: QueueScheduler;
  /** Kind of the object (`ClusterQueue`, `Queue`, ...) and its name (`namespace/name` where it has one). Untrusted text. */
  readonly kind: string;
  readonly name: string;
  /** What was found and why that matters, with the values. */
  readonly reason: string;
  /** The change that fixes it. */
  readonly change: string;
}
