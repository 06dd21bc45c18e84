import type { Snapshot } from "../../join/snapshot.ts";
import { nameWords } from "../../kernel/nameWords.ts";
import type { AdviceKind, WithheldAdvice } from "../../model/recommendation.ts";
import type { Candidate } from "../candidate.ts";
import type { AdviceMoment } from "../moment.ts";
import { placementRulesOf } from "../placement/placementRules.ts";
import { findPlan, findPlanWithoutGuards } from "../planner/findPlan.ts";
import type { MoveField } from "../planner/moveField.ts";
import type { FoundPlan, PlanAnswer } from "../planner/plan.ts";
import type { PlanGoal, PlanProblem } from "../planner/problem.ts";
import { amount, withoutStop } from "../planner/whyNot.ts";
import type { Trial } from "../whatIf/trial.ts";
import { type Carried, createCarry } from "./carryMoves.ts";
import type { FieldOf, LookBudget } from "./moveFields.ts";
import { askedGuards, createVetoes, type MoveTools } from "./moveTools.ts";
import { confidenceInMoves, leftSign, moveWords, plannedMoves, targetsOf, teamOfUnits } from "./plannedMoves.ts";
import { durationWords } from "./words.ts";

/** What all functions here work with. */
export interface Planning {
  readonly moment: AdviceMoment;
  readonly trial: Trial;
  readonly tools: MoveTools;
  readonly fieldOf: FieldOf;
  readonly looks: LookBudget;
}

/** Why a gang waits, and what it needs. */
export interface GangWish {
  /** Physical GPUs that it lacks. */
  readonly gpus: number;
  /** Physical GPUs of members that cannot run without the others: once these start, those run, too. */
  readonly allocatedGpus: number;
  readonly pools: readonly string[];
  /** Why it does not fit, as part of a sentence. */
  readonly problem: string;
  readonly quotaGpus: number;
}

/** Advice to move pods so that a waiting gang fits, or why there is none. */
export function planForGang(
  planning: Planning,
  kind: Extract<AdviceKind, "defragment" | "unblock_gang">,
  index: number,
  wish: GangWish,
): Candidate | WithheldAdvice {
  const { moment, trial, tools, fieldOf, looks } = planning;
  const { analysis, settings } = moment;
  const { snapshot } = analysis;
  const gang = snapshot.queueing.gangs[index];
  const placed = analysis.gangFreeCapacities.askedOf(index)?.placed ?? [];
  const subject = gang === undefined ? "" : `${gang.namespace}/${gang.name}`;
  const none = (reason: string, why: WithheldAdvice["why"] = "no-plan"): WithheldAdvice => ({
    kind,
    subject,
    why,
    reason,
  });
  const [domain, ...otherDomains] = new Set(placed.map((part) => part.domain));
  if (gang === undefined || domain === undefined) return none(`What ${subject} asks for is not known.`);
  if (otherDomains.length > 0)
    return none(`${subject} asks for GPUs of several quotas at once: no plan is made for that.`);
  const field = fieldOf({ domain });
  if (field === null) return none(`No node is known that could serve ${subject}.`);
  const [queue = null] = gang.parts.map((part) => part.queue);
  const beneficiary = { priority: gang.priority, queue };
  const guarded = createVetoes(moment, field, beneficiary, tools);
  const isOwn = ownPods(moment, index);
  const members = pendingMembers(snapshot, isOwn);
  const unknown = members.map(placementRulesOf(snapshot).unknownOf).find((why) => why !== null);
  if (unknown !== undefined) return none(`${subject} ${unknown}.`);
  const memberOf = (gpus: number): number | undefined => members.find((pod) => snapshot.pods[pod]?.gpus === gpus);
  const goal: PlanGoal = {
    kind: "place",
    parts: placed.map(({ gpusPerPod, needs, pods }) => ({
      kind: field.kindOf(gpusPerPod, needs, memberOf(gpusPerPod)),
      pods,
    })),
  };
  const base = {
    nodes: field.nodes,
    units: field.units,
    fixedNodes: field.fixedNodes,
    goal,
    quotaGpus: wish.quotaGpus,
    maxMoves: settings.maxMoves,
    rules: field.rules,
  };
  const carry = createCarry(moment, field, base, { cordoned: [], spoils: new Set() });
  const problem: PlanProblem = {
    ...base,
    refusalOf: (plan) => refusal(carry(plan)),
    vetoesOf: (units) => {
      const own = units.find((unit) => field.sources[unit]?.pods.some(isOwn) === true);
      return own === undefined ? guarded(units) : [`${field.units[own]?.name ?? ""} is part of what waits`];
    },
  };
  const answer = findPlan(problem, looks.limits());
  looks.spend(answer.looks);
  if (answer.plan === null) return none(`No moves help ${subject}: ${answer.noPlan?.words}.`, whyOf(answer));
  const carried = carry(answer.plan);
  if (typeof carried === "string") return none(`No moves help ${subject}: ${carried}.`);
  const moves = plannedMoves(field, carried, [index], trial, ({ started }) => started.includes(index));
  const words = moveWords(analysis, field, answer.plan);
  if (moves === null)
    return none(
      `To move ${words} would make room for ${subject}, but the scheduler may place the pods so that it does not.`,
    );
  const steps = tools.movePods(
    moment,
    moves.sources.map(({ pods }) => pods),
    moves.avoid,
    moves.besides,
  );
  if (!steps.ok) return none(`${words} cannot be moved: ${steps.reason}.`);
  const alternatives = answer.metGuards ? guardedAlternatives(moment, field, problem, answer, looks) : [];
  const waited = gang.since === null ? "" : ` for ${durationWords(snapshot.at - gang.since)}`;
  const nodes = [...new Set(answer.plan.goalNodes)].map((node) => field.nodes[node]?.name ?? "");
  const gained = wish.gpus + wish.allocatedGpus;
  const name = `${gang.kind}/${gang.namespace}/${gang.name}`;
  return {
    kind,
    beneficiary: { kind: "workload", name: subject },
    targets: targetsOf(snapshot, moves.sources),
    title: `move ${words}: then ${subject} (${amount(gained)}) ${wish.allocatedGpus > 0 ? "runs" : "fits"}`,
    reason: [
      `${subject} has waited${waited} for ${amount(wish.gpus)}.`,
      `${wish.problem[0]?.toUpperCase() ?? ""}${wish.problem.slice(1)}.`,
      `Once ${movedNames(field, answer.plan)} moved it fits on ${nodes.slice(0, 3).join(", ")}${nodes.length > 3 ? ` and ${nodes.length - 3} more` : ""}; that costs ${hours(answer.plan.lostGpuHours)} of work that is done again.`,
    ].join(" "),
    evidence: [
      { name: "GPUs it waits for", value: amount(wish.gpus) },
      { name: "work done again", value: hours(answer.plan.lostGpuHours) },
      { name: "pods moved", value: `${answer.plan.moves.length}` },
      { name: "free capacity on", value: nodes.slice(0, 10).join(", ") },
      { name: "tries", value: `${answer.looks}${answer.isExact ? ", all that could be cheaper" : ", not all"}` },
    ],
    fromTeam: teamOfUnits(snapshot, moves.sources),
    forTeam: gang.team,
    queue: gang.queue ?? "",
    pool: poolOf(moment, field, answer.plan),
    plan: moves.plan,
    steps: steps.steps,
    disrupted: moves.sources.flatMap(({ pods }) => pods),
    gainedGpus: ({ started }) => (started.includes(index) ? gained : 0),
    confidence: confidenceInMoves(answer, moves),
    guards: askedGuards,
    blockedAlternatives: alternatives,
    signs: [leftSign(snapshot, moves.sources)],
    measuredBy: { kind: "work-started", work: [gang.uid, name] },
  };
}

/** Why a plan cannot be carried out; `null`: it can. */
export const refusal = (carried: Carried | string): string | null => (typeof carried === "string" ? carried : null);

/** Pods (indices) of the waiting work that exist and wait. */
function pendingMembers({ pods }: Snapshot, isOwn: (pod: number) => boolean): readonly number[] {
  return pods.flatMap(({ status }, pod) => (status === "pending" && isOwn(pod) ? [pod] : []));
}

const hours = (gpuHours: number): string => `${gpuHours.toFixed(1)} GPU-hours`;

export const whyOf = ({ noPlan }: PlanAnswer): WithheldAdvice["why"] =>
  noPlan?.code === "guarded" ? "guard" : "no-plan";

/** `ads/eval-7 has`, `ads/eval-7 and ads/eval-8 have`. */
function movedNames(field: MoveField, { units }: FoundPlan): string {
  const names = units.map((unit) => field.units[unit]?.name ?? "");
  return `${nameWords(names)} ${names.length === 1 ? "has" : "have"}`;
}

/** Whether a pod is one of those of the waiting work itself. */
function ownPods({ analysis }: AdviceMoment, index: number): (pod: number) => boolean {
  const { workloads, queueing } = analysis.snapshot;
  const gang = queueing.gangs[index];
  const own = new Set(
    workloads
      .filter(({ kind, namespace, name }) => kind === gang?.kind && namespace === gang.namespace && name === gang.name)
      .flatMap(({ pods }) => pods),
  );
  return (pod) => own.has(pod);
}

/** The plan that would be cheaper without the guards, and what forbids it. */
export function guardedAlternatives(
  { analysis }: AdviceMoment,
  field: MoveField,
  problem: PlanProblem,
  { plan }: PlanAnswer,
  looks: LookBudget,
): readonly string[] {
  const limits = looks.leastLimits;
  const other = findPlanWithoutGuards(problem, limits);
  looks.spend(limits.looks);
  if (other === null || plan === null) return [];
  const vetoes = problem.vetoesOf(other.units);
  if (vetoes.length === 0) return [];
  const words = moveWords(analysis, field, other);
  return [
    `To move ${words} would cost ${hours(other.lostGpuHours)}, but ${vetoes.slice(0, 3).map(withoutStop).join("; ")}`,
  ];
}

/** The pool of the nodes that become free; empty if there are several. */
export function poolOf({ analysis }: AdviceMoment, field: MoveField, { goalNodes }: FoundPlan): string {
  const pools = goalNodes.flatMap((node) => analysis.snapshot.nodes[field.nodeIndexes[node] ?? -1]?.pools ?? []);
  const [first = "", ...others] = new Set(pools);
  return others.length === 0 ? first : "";
}
