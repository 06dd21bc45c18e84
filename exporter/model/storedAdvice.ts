import type { AdviceKind, AdviceState } from "./recommendation.ts";

/** A recommendation as the ledger keeps it: columns for queries, and everything else as text. */
export interface StoredAdvice {
  readonly id: string;
  /** With the id it identifies one lifecycle of the advice: the same advice may come again. Seconds since the epoch. */
  readonly firstSeenAt: number;
  readonly kind: AdviceKind;
  readonly state: AdviceState;
  readonly closedAt: number | null;
  readonly title: string;
  readonly fromTeam: string;
  readonly forTeam: string;
  readonly queue: string;
  readonly pool: string;
  /** Predicted, under the worse and the better placement rule; physical GPUs and GPU-hours. */
  readonly gainedGpusWorst: number;
  readonly gainedGpusBest: number;
  readonly lostGpuHours: number;
  /** `null` while nothing was measured. */
  readonly measuredGpus: number | null;
  readonly measuredLostGpuHours: number | null;
  /** JSON of the offer and its life; only Fairlead itself reads it. */
  readonly record: string;
}
