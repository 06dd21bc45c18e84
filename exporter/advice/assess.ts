import type { AdviceAct } from "../model/adviceAct.ts";
import {
  type AdviceConfidence,
  type AdviceEffect,
  type AdviceKind,
  type EffectRange,
  observingKinds,
  type WithheldAdvice,
  type WithheldReason,
} from "../model/recommendation.ts";
import { adviceCost, disruptedPods } from "./adviceCost.ts";
import { withBoundedText } from "./boundedText.ts";
import type { Candidate } from "./candidate.ts";
import { decideAct } from "./decideAct.ts";
import { adviceId, needOf } from "./identity.ts";
import type { AdviceMoment } from "./moment.ts";
import { fullName } from "./momentIndex.ts";
import type { Offer } from "./offer.ts";
import { leastMoney, savedMoney } from "./savedMoney.ts";
import type { Outcome, Trial } from "./whatIf/trial.ts";

/** A candidate with what it is worth, or the reason why it is not offered. */
export type Assessed =
  | { readonly ok: true; readonly offer: Offer; readonly outcomes: readonly Outcome[] }
  | { readonly ok: false; readonly withheld: WithheldAdvice };

const tolerance = 1e-9;
/** The most gangs that are named among the work that a plan starts. */
const namedStarts = 10;

/**
 * Simulates a candidate under both placement rules and judges it by the worse one: every pod that it moves must find a place,
 * and the GPU-hours gained within the horizon must be enough, also compared with those that are lost (design:
 * recommendations).
 */
export function assess(moment: AdviceMoment, trial: Trial, candidate: Candidate): Assessed {
  const { settings, analysis } = moment;
  const { plan } = candidate;
  const mostAllocated = trial.outcome(plan, "mostAllocated");
  const leastAllocated = trial.outcome(plan, "leastAllocated");
  const outcomes = [mostAllocated, leastAllocated];
  const homeless = outcomes.flatMap(({ moved }) => moved).find(({ to }) => to === null);
  if (homeless !== undefined) {
    const pod = analysis.snapshot.pods[homeless.pod];
    return withheld(candidate, "no-plan", `${pod?.namespace}/${pod?.name} would find no place on other nodes`);
  }
  const gained = outcomes.map((outcome) => candidate.gainedGpus(outcome));
  const gainedGpus: EffectRange = { worst: Math.min(...gained), best: Math.max(...gained) };
  const hours = settings.horizonHours;
  // Whoever only sees more than before has no more GPUs.
  const isObserving = observingKinds.has(candidate.kind);
  const useful = outcomes.map((outcome, i) =>
    isObserving
      ? 0
      : (candidate.gainedGpuHours?.(outcome) ?? ((gained[i] ?? 0) - idledGpus(moment, candidate, outcome)) * hours),
  );
  const gainedGpuHours: EffectRange = { worst: Math.min(...useful), best: Math.max(...useful) };
  const cost = adviceCost(moment, candidate);
  const decision =
    candidate.decision ??
    decideAct(
      { kind: candidate.kind, idle: null, gainedGpuHours: gainedGpuHours.worst, lostGpuHours: cost.lostGpuHours },
      settings,
    );
  const { act } = decision;
  const need = needOf(candidate);
  const id = adviceId(need);
  const worth = { act, gained: gainedGpuHours.worst, lost: cost.lostGpuHours, isOpen: moment.open?.has(id) === true };
  const notWorth = isObserving ? null : tooLittle(moment, worth);
  if (notWorth !== null) return withheld(candidate, "worth", notWorth);
  const before = trial.before(plan);
  const worse = gained[0] === gainedGpus.worst ? mostAllocated : leastAllocated;
  const effect: AdviceEffect = {
    before,
    after: { mostAllocated: mostAllocated.measures, leastAllocated: leastAllocated.measures },
    gainedGpus,
    gainedGpuHours,
    starts: startedNames(moment, worse),
    savingPerWeek: leastMoney(outcomes.map((outcome) => savedMoney(analysis, plan, candidate.unused ?? [], outcome))),
  };
  const { kind, title, reason, evidence, beneficiary, fromTeam, forTeam, queue, pool, habit = null } = candidate;
  const { stalledSince } = candidate;
  const offer: Offer = {
    draft: withBoundedText({
      id,
      kind,
      act,
      title,
      reason,
      evidence,
      beneficiary,
      fromTeam,
      forTeam,
      queue,
      pool,
      effect,
      cost,
      habit,
      ...(stalledSince === undefined ? {} : { stalledSince }),
      actReasons: decision.reasons,
      // Steps that stop work are listed only if nobody has to be asked.
      steps: act === "ask" ? [] : candidate.steps,
      questions: act === "ask" ? (candidate.questions ?? []) : [],
      targets: [...candidate.targets].sort(),
      worthGpuHours: gainedGpuHours.worst - cost.lostGpuHours * lossProbability(act, candidate),
      confidence: confidence(candidate.confidence, gainedGpus, cost.isUpperBound),
      guards: candidate.guards,
      blockedAlternatives: candidate.blockedAlternatives,
    }),
    need,
    signs: candidate.signs,
    measuredBy: candidate.measuredBy,
    disrupted: disruptedPods(analysis.snapshot, candidate),
  };
  return { ok: true, offer, outcomes };
}

/** The probability that the work which a restart undoes was useful. Work that hangs has lost it already. */
function lossProbability(act: AdviceAct, { habit, stalledSince, hasLostItsWork }: Candidate): number {
  if (act !== "ask") return 1;
  return stalledSince === undefined && hasLostItsWork === undefined ? (habit?.returnProbability ?? 1) : 0;
}

function withheld(
  candidate: Candidate,
  why: WithheldReason,
  reason: string,
): { readonly ok: false; readonly withheld: WithheldAdvice } {
  const { kind, beneficiary, title } = candidate;
  const id = adviceId(needOf(candidate));
  return { ok: false, withheld: { kind, subject: beneficiary.name, why, reason: `${title}: ${reason}`, id } };
}

/**
 * Advice that people see already stays as long as it gains this part of what new advice must gain: otherwise plans near the
 * threshold would come and go.
 */
const staysAt = 0.5;

/** What a plan gains and loses, GPU-hours. */
interface Worth {
  readonly act: AdviceAct;
  readonly gained: number;
  readonly lost: number;
  /** Whether people see it already. */
  readonly isOpen: boolean;
}

/**
 * Why a plan gains too little to be shown; `null` if it gains enough. Open advice has a lower threshold. A question takes
 * nothing from anybody: it mentions what would be lost, and need not gain more than that.
 */
function tooLittle({ settings }: AdviceMoment, { act, gained, lost, isOpen }: Worth): string | null {
  const { horizonHours } = settings;
  const part = isOpen ? staysAt : 1;
  const minGainGpuHours = settings.minGainGpuHours * part;
  // Whatever the threshold, a plan never costs more than it gains.
  const gainOverLoss = Math.max(Math.min(1, settings.gainOverLoss), settings.gainOverLoss * part);
  const amount = `${gained.toFixed(1)} GPU-hours within ${horizonHours} h`;
  if (gained < minGainGpuHours - tolerance || gained <= tolerance)
    return `it would gain ${amount}, less than ${minGainGpuHours}`;
  if (act !== "ask" && gained < gainOverLoss * lost - tolerance)
    return `it would gain ${amount} and lose ${lost.toFixed(1)}: not ${gainOverLoss} times as much`;
  return null;
}

/** Kinds that take GPUs from some queues to give them to others: they must not take more than the others can use. */
const takingKinds: ReadonlySet<AdviceKind> = new Set<AdviceKind>(["reclaim", "fix_scheduler"]);

/**
 * Physical GPUs that some work gives up and that nothing uses afterwards (a gang of 40 that makes way for 16 leaves 24), or
 * that the plan itself uses up.
 */
function idledGpus(
  { analysis }: AdviceMoment,
  { kind, usedUpGpus = 0 }: Candidate,
  { released, started }: Outcome,
): number {
  if (!takingKinds.has(kind)) return usedUpGpus;
  const { gangs } = analysis.snapshot.queueing;
  const taken = [...released.values()].reduce((sum, gpus) => sum + gpus, 0);
  const used = started.reduce((sum, gang) => sum + (gangs[gang]?.gpus ?? 0), 0);
  return Math.max(0, taken - used);
}

function startedNames({ analysis }: AdviceMoment, { started }: Outcome): readonly string[] {
  const { gangs } = analysis.snapshot.queueing;
  const named = started.slice(0, namedStarts).flatMap((index) => gangs[index] ?? []);
  return named.map(fullName);
}

const lower: Readonly<Record<AdviceConfidence["level"], AdviceConfidence["level"]>> = {
  high: "medium",
  medium: "low",
  low: "low",
};

function confidence(given: AdviceConfidence, { worst, best }: EffectRange, isUpperBound: boolean): AdviceConfidence {
  const reasons = [...given.reasons];
  let { level } = given;
  if (best - worst > 1e-6) {
    level = lower[level];
    reasons.push(`the gain depends on where the scheduler places pods: ${worst.toFixed(1)} to ${best.toFixed(1)} GPUs`);
  } else reasons.push("both placement rules give the same gain");
  if (isUpperBound) reasons.push("no checkpoint is known for part of the work: what is lost is an upper bound");
  return { level, reasons };
}

/** Withheld advice for a kind that is switched off in the configuration. */
export function disabledKind(kind: AdviceKind): WithheldAdvice {
  return { kind, subject: "", why: "disabled", reason: `advice.disabledKinds has ${kind}` };
}
