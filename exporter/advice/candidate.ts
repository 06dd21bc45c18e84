import type { OwnerQuestion, WorkHabit } from "../model/adviceAct.ts";
import type {
  AdviceBeneficiary,
  AdviceConfidence,
  AdviceKind,
  AdviceStep,
  WithheldAdvice,
  WithheldReason,
} from "../model/recommendation.ts";
import type { ActDecision } from "./decideAct.ts";
import type { AdviceMoment } from "./moment.ts";
import type { MeasuredBy, TakenSign } from "./offer.ts";
import type { InPieces } from "./rounds/inPieces.ts";
import type { UnusedGpus } from "./savedMoney.ts";
import type { Plan } from "./whatIf/plan.ts";
import type { Outcome, Trial } from "./whatIf/trial.ts";

/** A plan that may become advice: whom it serves, what is done and how, before its worth is computed. */
export interface Candidate {
  readonly kind: AdviceKind;
  readonly beneficiary: AdviceBeneficiary;
  /** The objects that it acts on, as in `Recommendation.targets`. */
  readonly targets: readonly string[];
  /** What it is needed for, if its beneficiary and targets do not identify that (identity.ts): the beneficiary may change. */
  readonly need?: readonly string[];
  readonly title: string;
  readonly reason: string;
  readonly evidence: readonly { readonly name: string; readonly value: string }[];
  readonly fromTeam: string;
  readonly forTeam: string;
  readonly queue: string;
  readonly pool: string;
  readonly plan: Plan;
  /** The requests that carry it out; they are not shown if the owner has to be asked. */
  readonly steps: readonly AdviceStep[];
  /** What the owners are asked in that case. Absent: nothing. */
  readonly questions?: readonly OwnerQuestion[];
  /** What it may ask for, and why; absent: its kind and its worth decide. */
  readonly decision?: ActDecision;
  /** The habit of idle work that has worked before. */
  readonly habit?: WorkHabit;
  /** Work that cannot go on as it is: a restart undoes nothing that would be kept without it. Absent: it can. */
  readonly hasLostItsWork?: true;
  /** For work that looks busy and computes nothing: since when, seconds since the epoch. */
  readonly stalledSince?: number;
  /** Pods (indices) that lose their place, moved or not; the cost of their loss is computed from them. */
  readonly disrupted: readonly number[];
  /** Physical GPUs that the beneficiary gains in one outcome. */
  readonly gainedGpus: (outcome: Outcome) => number;
  /** Those of `disrupted` that have done nothing since they were bound, so that none of their work has to be repeated. */
  readonly untouched?: readonly number[];
  /** GPU-hours that the beneficiary is expected to gain within the horizon; absent: its GPUs for all of it. */
  readonly gainedGpuHours?: (outcome: Outcome) => number;
  /** Physical GPUs that nobody can use after the plan: GPUs that are partitioned for pods that then hold less. */
  readonly usedUpGpus?: number;
  /** GPUs that are paid for and not used until the plan is carried out; `savedMoney` decides how much of that is saved. */
  readonly unused?: readonly UnusedGpus[];
  readonly confidence: AdviceConfidence;
  readonly guards: readonly string[];
  readonly blockedAlternatives: readonly string[];
  readonly signs: readonly TakenSign[];
  readonly measuredBy: MeasuredBy;
}

/** A candidate, or the reason why there is none. */
export type MadeCandidate = Candidate | WithheldAdvice;

/** Whether something can be offered: what is withheld has no plan. */
export const isCandidate = (made: MadeCandidate): made is Candidate => "plan" in made;

/** Makes a function that reports for one kind why there is no candidate for a subject. */
export const withhold =
  (kind: AdviceKind) =>
  (subject: string, why: WithheldReason, reason: string): WithheldAdvice => ({ kind, subject, why, reason });

/** The most withheld candidates of a kind that are listed. */
export const withheldPerKind = 20;

/** What one kind of advice found in a moment. */
export interface Found {
  readonly candidates: readonly Candidate[];
  readonly withheld: readonly WithheldAdvice[];
}

/** Separates candidates from what is withheld; both keep their order. At most `mostWithheld` of the latter are listed. */
export const foundOf = (all: readonly MadeCandidate[], mostWithheld = Number.POSITIVE_INFINITY): Found => ({
  candidates: all.filter(isCandidate),
  withheld: all.filter((one): one is WithheldAdvice => !isCandidate(one)).slice(0, mostWithheld),
});

/**
 * Looks for one kind of advice. It is pure and bounded (`candidatesPerKind`), and the order of nodes, pods and queues does not
 * matter.
 */
export type FindAdvice = (moment: AdviceMoment, trial: Trial) => Found;

/** Does the same with a pause after each need, where one need alone takes long. Those with the most at stake come first. */
export type FindInPieces = (moment: AdviceMoment, trial: Trial) => InPieces<Found>;

/** The most candidates of a kind that are worked out in one cycle: those with the most at stake. */
export const candidatesPerKind = 10;

/** The result when nothing is found. */
export const nothingFound: Found = { candidates: [], withheld: [] };
