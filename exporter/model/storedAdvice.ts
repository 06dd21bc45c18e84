import { z } from "zod";
import { parseJson } from "../kernel/parseJson.ts";
import { type AdviceAct, adviceActs } from "./adviceAct.ts";
import { type Aftermath, aftermathOutcomes } from "./aftermath.ts";
import {
  type AdviceConfidence,
  type AdviceKind,
  type AdviceState,
  type Money,
  type Undone,
  undoneWays,
  type WithheldAdvice,
} from "./recommendation.ts";

/** A recommendation as the ledger keeps it: columns for queries, and everything else as text. */
export interface StoredAdvice {
  readonly id: string;
  /**
   * Seconds since the epoch. Together with the id it identifies one lifecycle of the advice, since the same advice may come
   * again.
   */
  readonly firstSeenAt: number;
  readonly kind: AdviceKind;
  readonly state: AdviceState;
  readonly closedAt: number | null;
  readonly title: string;
  readonly fromTeam: string;
  readonly forTeam: string;
  readonly queue: string;
  readonly pool: string;
  /** The predicted effect under the worse and the better placement rule, in physical GPUs and GPU-hours. */
  readonly gainedGpusWorst: number;
  readonly gainedGpusBest: number;
  readonly lostGpuHours: number;
  /** The measured effect, in physical GPUs and GPU-hours; `null` while nothing was measured. */
  readonly measuredGpus: number | null;
  readonly measuredLostGpuHours: number | null;
  /** JSON of the offer and its lifecycle, which only Fairlead itself reads. */
  readonly record: string;
}

/** What a report contains about a recommendation besides the ledger's columns. */
export interface StoredAdviceDetail {
  /** Why the recommendation was given, in sentences. */
  readonly reason: string;
  /** What would no longer be paid, or would no longer be paid for nothing; empty where nothing has a price. */
  readonly savingPerWeek: readonly Money[];
  readonly confidence: AdviceConfidence;
  /** Guards that were asked and allow it, in sentences. */
  readonly guards: readonly string[];
  /** For whom it was given; `null` where another version stored this differently. */
  readonly beneficiary: string | null;
  /** Pods that would be stopped, whose they are, and whether the GPU-hours that this would cost are an upper bound. */
  readonly disruptedPods: number;
  readonly disruptedTeams: readonly string[];
  readonly lostIsUpperBound: boolean;
  /** Why it left `open`; `null` while it is open, and if no reason is known. */
  readonly closedBecause: string | null;
  /** Whether what was measured is final; `null` while nothing was measured. */
  readonly isMeasuredFinal: boolean | null;
  /** What undid it, if anything did; `null` also for records written before this was kept. */
  readonly undone: Undone | null;
  /** What it asks for; `null` for records that were written before there were acts. */
  readonly act: AdviceAct | null;
  /** What became of the work that it named; `null` while this is unknown. */
  readonly aftermath: Pick<Aftermath, "outcome" | "regretGpuHours"> | null;
}

const text = z.string();

/** The parts of a record (advice/life/storedSchema.ts) that are read here; the others are ignored. */
const record = z.object({
  offer: z.object({
    draft: z.object({
      reason: text,
      effect: z.object({ savingPerWeek: z.array(z.object({ currency: text, amount: z.number() })) }),
      cost: z.object({ pods: z.number(), teams: z.array(text), isUpperBound: z.boolean() }),
      confidence: z.object({ level: z.enum(["high", "medium", "low"]), reasons: z.array(text) }),
      guards: z.array(text),
      act: z.enum(adviceActs).nullable().default(null),
      beneficiary: z.object({ name: text }).optional(),
    }),
  }),
  closedBecause: text.nullable(),
  measured: z
    .object({
      isFinal: z.boolean(),
      undone: z
        .object({ how: z.enum(undoneWays), at: z.number(), gpus: z.number() })
        .nullable()
        .default(null),
    })
    .nullable(),
  aftermath: z
    .object({ outcome: z.enum(aftermathOutcomes), regretGpuHours: z.number() })
    .nullable()
    .default(null),
});

/**
 * Reads the record of a recommendation as the ledger stored it; returns `null` for one that another version wrote differently.
 */
export function adviceDetailOf(stored: string): StoredAdviceDetail | null {
  const parsed = record.safeParse(parseJson(stored));
  if (!parsed.success) return null;
  const { offer, closedBecause, measured, aftermath } = parsed.data;
  const { reason, effect, cost, confidence, guards, beneficiary } = offer.draft;
  return {
    reason,
    savingPerWeek: effect.savingPerWeek,
    confidence,
    guards,
    beneficiary: beneficiary?.name ?? null,
    disruptedPods: cost.pods,
    disruptedTeams: cost.teams,
    lostIsUpperBound: cost.isUpperBound,
    closedBecause,
    isMeasuredFinal: measured?.isFinal ?? null,
    undone: measured?.undone ?? null,
    act: offer.draft.act,
    aftermath,
  };
}

/**
 * The fact that something was withheld for one reason for some time, as the ledger stores it. Times are seconds since the
 * epoch.
 */
export interface StoredWithheld extends Pick<WithheldAdvice, "kind" | "subject" | "why" | "reason"> {
  /** Derived from kind, subject and reason without its numbers: the same reason has the same id, whichever replica found it. */
  readonly id: string;
  /** When it began; together with the id this identifies the row. */
  readonly begins: number;
  /** When the reason was last seen to be true, as far as that has been stored. */
  readonly ends: number;
}
