import type { AdviceMoment } from "../moment.ts";

/** What may speak against taking pods off their nodes, in the order in which it is asked. */
export const guardNames = [
  "known",
  "owner",
  "static",
  "do-not-disrupt",
  "local-storage",
  "disruption-budget",
  "min-runtime",
  "job-backoff",
  "gang-whole",
  "priority",
  "reclaim-policy",
] as const;

export type GuardName = (typeof guardNames)[number];

/** What somebody wants to do with pods, and for whom. */
export interface GuardQuestion {
  /** Indices into `Snapshot.pods`. */
  readonly pods: readonly number[];
  /** `move`: they are placed again; `lose`: they give up what they hold; `release`: their own team gives up what it does not use. */
  readonly how: "move" | "lose" | "release";
  /** Whom it serves; `null` where it serves no waiting work (an idle node, a team's own bill). */
  readonly beneficiary: { readonly priority: number; readonly queue: number | null } | null;
}

/** One thing that speaks against it. */
export interface GuardVeto {
  readonly guard: GuardName;
  /** Index of the pod. */
  readonly pod: number;
  /** In words, with the names and numbers: `PodDisruptionBudget ads/serving allows 0 disruptions`. */
  readonly reason: string;
}

/** The answer: no veto means that it may be offered. */
export interface GuardAnswer {
  readonly checked: readonly GuardName[];
  readonly vetoes: readonly GuardVeto[];
}

/** Asks every guard. What is not known speaks against it. Pure. */
export function askGuards(_moment: AdviceMoment, _question: GuardQuestion): GuardAnswer {
  return { checked: [], vetoes: [] };
}
