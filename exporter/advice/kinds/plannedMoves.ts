import type { Snapshot } from "../../join/snapshot.ts";
import { nameWords } from "../../kernel/nameWords.ts";
import type { AdviceConfidence, WithheldAdvice } from "../../model/recommendation.ts";
import type { Candidate } from "../candidate.ts";
import type { DisruptionUnit } from "../disruptionUnits.ts";
import { askGuards, type GuardQuestion, guardNames } from "../guards/guards.ts";
import type { AdviceMoment } from "../moment.ts";
import type { TakenSign } from "../offer.ts";
import { findPlan } from "../planner/findPlan.ts";
import type { MoveField } from "../planner/moveField.ts";
import type { FoundPlan, PlanAnswer, PlanGoal, PlanProblem } from "../planner/problem.ts";
import { amount, withoutStop } from "../planner/whyNot.ts";
import { movePods, remakes } from "../steps/moveSteps.ts";
import { type Change, type Plan, placementRules } from "../whatIf/plan.ts";
import type { Outcome, Trial } from "../whatIf/trial.ts";
import { type Carried, type CarryLimits, createCarry } from "./carryMoves.ts";
import type { LookBudget, Planning } from "./moveFields.ts";
import { onlyOne } from "./waitingFor.ts";
import { countWords } from "./words.ts";

/** The goal of moving pods, and what is known about it. */
export interface MoveWish {
  readonly field: MoveField;
  readonly goal: PlanGoal;
  /** The units that may move, as `field` has them or with fewer possible places. */
  readonly units: PlanProblem["units"];
  readonly quotaGpus: number;
  /** The beneficiary for whom the guards are asked. */
  readonly beneficiary: GuardQuestion["beneficiary"];
  /** Whether a pod (index) belongs to the waiting work: it stays where it is. */
  readonly isOwn: (pod: number) => boolean;
  readonly limits: CarryLimits;
  /** Waiting gangs (indices) that start after the moves. */
  readonly starts: readonly number[];
  readonly reaches: (outcome: Pick<Outcome, "moved" | "started">, plan: FoundPlan) => boolean;
  /** The beginning of a sentence to which the reason is added: `No moves help ads/train`. */
  readonly failure: string;
  /** What the moves do, as part of a sentence: `make room for ads/train`. */
  readonly purpose: string;
}

/** Moves that reach their goal, with the parts that every candidate has in common. */
export interface PlannedMoves {
  readonly ok: true;
  readonly found: FoundPlan;
  readonly answer: PlanAnswer;
  readonly plan: Plan;
  /** Which pods move and where they go, in words. */
  readonly words: string;
  readonly parts: Pick<
    Candidate,
    "targets" | "fromTeam" | "steps" | "disrupted" | "confidence" | "guards" | "blockedAlternatives" | "signs"
  >;
}

/** Why there are no such moves. */
export interface NoMoves extends Pick<WithheldAdvice, "why" | "reason"> {
  readonly ok: false;
}

/**
 * Finds moves that reach a goal wherever the scheduler puts the pods, that no guard forbids and for which there are requests;
 * the simulation must reach the goal under both placement rules.
 */
export function planMoves({ moment, trial, looks }: Planning, wish: MoveWish): PlannedMoves | NoMoves {
  const { field, goal, units, quotaGpus, failure } = wish;
  const { snapshot } = moment.analysis;
  const none = (reason: string, why: WithheldAdvice["why"] = "no-plan"): NoMoves => ({ ok: false, why, reason });
  const { nodes, fixedNodes, rules } = field;
  const base = { nodes, units, fixedNodes, goal, quotaGpus, maxMoves: moment.settings.maxMoves, rules };
  const carry = createCarry(moment, field, base, wish.limits, looks.carry);
  const refusalOf = (plan: FoundPlan): string | null => {
    const carried = carry(plan);
    return typeof carried === "string" ? carried : null;
  };
  const problem: PlanProblem = { ...base, refusalOf, vetoesOf: createVetoes(moment, wish) };
  const answer = findPlan(problem, looks.limits());
  looks.spend(answer.looks);
  const { plan: found, noPlan } = answer;
  if (found === null) return none(`${failure}: ${noPlan?.words}.`, noPlan?.code === "guarded" ? "guard" : "no-plan");
  const carried = carry(found);
  if (typeof carried === "string") return none(`${failure}: ${carried}.`);
  const plan = planOf(field, carried, wish.starts);
  const words = moveWords(snapshot, field, found);
  if (!isReached(trial, plan, (outcome) => wish.reaches(outcome, found)))
    return none(`To move ${words} would ${wish.purpose}, but the scheduler may place the pods so that it does not.`);
  const sources = carried.order.flatMap((unit) => field.sources[unit] ?? []);
  const pods = sources.map((source) => source.pods);
  const steps = movePods(moment, pods, carried.avoid, carried.besides);
  if (!steps.ok) return none(`${words} cannot be moved: ${steps.reason}.`);
  const parts: PlannedMoves["parts"] = {
    targets: targetsOf(snapshot, sources),
    fromTeam: teamOfUnits(snapshot, sources),
    steps: steps.steps,
    disrupted: pods.flat(),
    confidence: confidenceIn(answer, sources),
    guards: guardNames,
    blockedAlternatives: answer.metGuards ? guardedAlternatives(snapshot, field, problem, looks) : [],
    signs: [leftSign(snapshot, pods.flat())],
  };
  return { ok: true, found, answer, plan, words, parts };
}

/** The changes that carry out a plan; of each unit, the largest pods come first. */
function planOf(field: MoveField, { plan, order, avoid, besides }: Carried, starts: readonly number[]): Plan {
  const changes = order.map((unit, i): Change => {
    const moves = plan.moves.filter((move) => move.unit === unit);
    const pods = [...moves].sort((a, b) => gpusOf(field, b) - gpusOf(field, a)).map(({ pod }) => pod);
    return { kind: "move", pods, avoid: [...avoid, ...(besides[i] ?? [])] };
  });
  return { changes, starts };
}

/**
 * How pods leave. Evicting a pod that nothing recreates would not be a move, so the workload of such a pod is requeued as a
 * whole and started again.
 */
export function leavesBy({ analysis }: AdviceMoment, { pods }: DisruptionUnit): "eviction" | "requeue" {
  const { pods: views } = analysis.snapshot;
  return pods.every((pod) => remakes.has(views[pod]?.owner?.kind ?? "")) ? "eviction" : "requeue";
}

/** Reports what forbids moving units of a field together: a guard, or that no request would do it. */
function createVetoes(
  moment: AdviceMoment,
  { field, beneficiary, isOwn }: MoveWish,
): (units: readonly number[]) => readonly string[] {
  const stepless = new Map<number, readonly string[]>();
  const stepsOf = (unit: number): readonly string[] => {
    const known = stepless.get(unit);
    if (known !== undefined) return known;
    const source = field.sources[unit];
    const steps = movePods(moment, source === undefined ? [] : [source.pods], []);
    const found = steps.ok ? [] : [`${field.units[unit]?.name ?? ""}: ${steps.reason}`];
    stepless.set(unit, found);
    return found;
  };
  const judge = (units: readonly number[]): readonly string[] => {
    const own = units.find((unit) => field.sources[unit]?.pods.some(isOwn) === true);
    if (own !== undefined) return [`${field.units[own]?.name ?? ""} is part of what waits`];
    const sources = units.flatMap((unit) => field.sources[unit] ?? []);
    const leaving = Map.groupBy(sources, (source) => leavesBy(moment, source));
    const reasons = [...leaving].flatMap(([by, together]) => {
      const pods = together.flatMap((source) => source.pods);
      return askGuards(moment, { pods, how: "move", by, beneficiary }).vetoes.map(({ reason }) => reason);
    });
    return [...new Set(reasons.length > 0 ? reasons : units.flatMap(stepsOf))];
  };
  const judged = new Map<string, readonly string[]>();
  return (units) => {
    const key = units.join();
    const known = judged.get(key) ?? judge(units);
    judged.set(key, known);
    return known;
  };
}

function isReached(trial: Trial, plan: Plan, reaches: (outcome: Outcome) => boolean): boolean {
  const outcomes = placementRules.map((rule) => trial.outcome(plan, rule));
  return outcomes.every((outcome) => outcome.moved.every(({ to }) => to !== null) && reaches(outcome));
}

/** The plans that would be cheaper without the guards, each with what forbids it. */
function guardedAlternatives(
  snapshot: Snapshot,
  field: MoveField,
  problem: PlanProblem,
  looks: LookBudget,
): readonly string[] {
  const { plan: other } = findPlan({ ...problem, vetoesOf: () => [] }, looks.leastLimits);
  looks.spend(looks.leastLimits.looks);
  const vetoes = other === null ? [] : problem.vetoesOf(other.units);
  if (other === null || vetoes.length === 0) return [];
  const cost = `would cost ${other.lostGpuHours.toFixed(1)} GPU-hours`;
  return [
    `To move ${moveWords(snapshot, field, other)} ${cost}, but ${vetoes.slice(0, 3).map(withoutStop).join("; ")}`,
  ];
}

const gpusOf = ({ units }: MoveField, { unit, pod }: FoundPlan["moves"][number]): number =>
  units[unit]?.pods.find((one) => one.pod === pod)?.gives.gpus ?? 0;

/**
 * The moves in words: `vision/eval-7 (1 GPU) from a100-03 to a100-05`. For several pods of a unit, their number and the nodes
 * that they leave.
 */
export function moveWords({ pods }: Snapshot, field: MoveField, found: FoundPlan): string {
  const nodeName = (node: number): string => field.nodes[node]?.name ?? "";
  const gpus = found.moves.reduce((sum, move) => sum + gpusOf(field, move), 0);
  const [first, ...others] = found.moves;
  const pod = first === undefined ? undefined : pods[first.pod];
  if (first !== undefined && pod !== undefined && others.length === 0)
    return `${pod.namespace}/${pod.name} (${amount(gpus)}) from ${nodeName(first.from)} to ${nodeName(first.to)}`;
  const from = [...new Set(found.moves.map((move) => nodeName(move.from)))].sort();
  const names = found.units.map((unit) => field.units[unit]?.name ?? "");
  return `${nameWords(names)} (${amount(gpus)}) from ${nameWords(from)}`;
}

/** The targets of a plan: the pods that move alone, and the workloads of the pods that move together. */
export function targetsOf({ pods, workloads }: Snapshot, sources: readonly DisruptionUnit[]): readonly string[] {
  const names = sources.map(({ pods: own, workload }) => {
    const [first] = own;
    const pod = first === undefined ? undefined : pods[first];
    const view = workloads[workload];
    if (own.length > 1 && view !== undefined) return `${view.kind} ${view.namespace}/${view.name}`;
    return `Pod ${pod?.namespace ?? ""}/${pod?.name ?? ""}`;
  });
  return [...new Set(names)].sort();
}

/** The sign that all of these pods have left their nodes. */
export function leftSign({ pods }: Snapshot, indexes: readonly number[]): TakenSign {
  const left = indexes.flatMap((index) => {
    const pod = pods[index];
    return pod === undefined || pod.uid === null || pod.node === null ? [] : [{ uid: pod.uid, node: pod.node }];
  });
  return { kind: "pods-left", pods: left };
}

/** The team whose pods move; empty if there are several. */
export const teamOfUnits = ({ pods }: Snapshot, sources: readonly DisruptionUnit[]): string =>
  onlyOne(sources.flatMap((source) => source.pods.map((pod) => pods[pod]?.team ?? "")));

/** How far a plan that moves pods can be trusted. */
function confidenceIn(answer: PlanAnswer, sources: readonly DisruptionUnit[]): AdviceConfidence {
  const isKnown = sources.every(({ isUpperBound }) => !isUpperBound);
  const looked = countWords(answer.looks, "try").replace("trys", "tries");
  const reasons = [
    "It works wherever the scheduler puts the pods that move, one after the other in this order.",
    answer.isExact
      ? "No cheaper plan exists: all that could be cheaper were looked at."
      : `A cheaper plan may exist: it was looked for in ${looked}, and there are more ways.`,
    isKnown
      ? "Work that is lost is counted since the last checkpoints."
      : "Work that is lost is counted since the start of some pods, for no checkpoint of theirs is known: it may be less.",
  ];
  return { level: answer.isExact && isKnown ? "high" : "medium", reasons };
}
