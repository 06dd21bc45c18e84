import type { GangDeadlock } from "../../analysis/waiting/waiting.ts";
import { nameWords } from "../../kernel/nameWords.ts";
import type { AdviceStep, WithheldAdvice } from "../../model/recommendation.ts";
import type { MadeCandidate } from "../candidate.ts";
import { askGuards, type GuardQuestion, guardNames } from "../guards/guards.ts";
import { fullName } from "../momentIndex.ts";
import { momentOrder } from "../momentOrder.ts";
import { amount } from "../planner/whyNot.ts";
import { requeueWorkload, returnAfterStart } from "../steps/workloadSteps.ts";
import type { Plan } from "../whatIf/plan.ts";
import type { KnownGang } from "./knownGangs.ts";
import type { Planning } from "./moveFields.ts";
import { leftSign, targetsOf, teamOfUnits } from "./plannedMoves.ts";
import { durationWords } from "./words.ts";

const kind = "unblock_gang";

/** The most gangs of a deadlock that are considered: those that lose least. */
const mostVictims = 8;

/** Requeues gangs of a deadlock so that another one completes: the fewest GPU-hours lost, then the fewest gangs. */
export function brokenDeadlock(
  planning: Planning,
  { pool, gangs: ids, missingGpus, freeGpus, allocatedGpus }: GangDeadlock,
  gangs: ReadonlyMap<string, KnownGang>,
): MadeCandidate {
  const { trial, moment } = planning;
  const byGang = momentOrder(moment.analysis).gangs;
  const members = ids
    .flatMap((id) => gangs.get(id) ?? [])
    .sort((a, b) => leastLossFirst(a, b) || byGang(a.gang, b.gang))
    .slice(0, mostVictims);
  const subject = `deadlock in ${pool}: ${nameWords(ids)}`;
  const none = (reason: string, why: WithheldAdvice["why"]): WithheldAdvice => ({ kind, subject, why, reason });
  const refused: string[] = [];
  for (const victims of subsets(members, moment.settings.maxMoves)) {
    const gainers = members
      .filter((member) => !victims.includes(member) && victims.every(({ priority }) => priority <= member.priority))
      .sort(
        (a, b) =>
          b.priority - a.priority || b.partial.allocatedGpus - a.partial.allocatedGpus || byGang(a.gang, b.gang),
      );
    for (const gainer of gainers) {
      const plan = stopping(victims, [gainer.gang]);
      if (!trial.startsAll(plan)) continue;
      const steps = requeueSteps(planning, victims, gainer);
      if (typeof steps === "string") {
        refused.push(`${nameWords(victims.map((victim) => nameOf(planning, victim)))}: ${steps}`);
        continue;
      }
      const problem = `${ids.length} gangs in ${pool} hold ${amount(allocatedGpus)} and miss ${amount(missingGpus)}, while ${amount(freeGpus)} are free: none of them can run.`;
      return candidateOf(planning, {
        need: ["deadlock", pool],
        victims,
        gainer: gainer.gang,
        plan,
        steps,
        problem,
        refused,
      });
    }
  }
  const [first] = refused;
  if (first !== undefined) return none(`To end the ${subject} a gang would have to wait again: ${first}`, "guard");
  return none(`None of the gangs in the ${subject} completes if others of them wait again.`, "no-plan");
}

/** The most other gangs for which it is computed whether they would start. */
const mostOthers = 10;

/** Requeues a partial gang as a whole, if another one that waits starts because of that. */
export function requeuedForOthers(planning: Planning, known: KnownGang): MadeCandidate {
  const { moment, trial } = planning;
  const { snapshot, waiting } = moment.analysis;
  const { gangs } = snapshot.queueing;
  const subject = nameOf(planning, known);
  const byGang = momentOrder(moment.analysis).gangs;
  const ages = new Map(waiting.work.map(({ gang, ageSeconds }) => [gang, ageSeconds ?? 0] as const));
  const others = waiting.work
    .filter(({ gang, cause }) => gang !== known.gang && (cause === "capacity" || cause === "fragmentation"))
    .flatMap(({ gang }) => {
      const view = gangs[gang];
      return view === undefined || view.never !== null || view.priority < known.priority ? [] : [{ gang, view }];
    })
    .sort(
      (a, b) =>
        (b.view.gpus ?? 0) * (ages.get(b.gang) ?? 0) - (a.view.gpus ?? 0) * (ages.get(a.gang) ?? 0) ||
        byGang(a.gang, b.gang),
    );
  let refusal: string | null = null;
  for (const { gang, view } of others.slice(0, mostOthers)) {
    const plan = stopping([known], [gang]);
    if (!trial.startsAll(plan) || trial.startsAll({ changes: [], starts: [gang] })) continue;
    const steps = requeueSteps(planning, [known], { priority: view.priority, gang });
    if (typeof steps === "string") {
      refusal = steps;
      continue;
    }
    const { bound, min, allocatedGpus } = known.partial;
    const problem = `${subject} holds ${amount(allocatedGpus)} for ${bound} of ${min} members and cannot run; its other members do not fit.`;
    return candidateOf(planning, {
      need: ["workload", subject],
      victims: [known],
      gainer: gang,
      plan,
      steps,
      problem,
      refused: [],
    });
  }
  return {
    kind,
    subject,
    why: refusal === null ? "no-plan" : "guard",
    reason:
      refusal === null
        ? `Nobody who waits would start if ${subject} let go what it holds.`
        : `${subject} would have to wait again, and may not: ${refusal}`,
  };
}

const stopping = (victims: readonly KnownGang[], starts: readonly number[]): Plan => ({
  changes: victims.map(({ workload }) => ({ kind: "stop", workload })),
  starts,
});

/**
 * The requests that requeue gangs; a text is the objection. Work of a lower priority may lose its place. At equal priority
 * nothing is taken away: the gang gives up what it cannot use.
 */
function requeueSteps(
  { moment }: Planning,
  victims: readonly KnownGang[],
  gainer: Pick<KnownGang, "priority" | "gang">,
): readonly AdviceStep[] | string {
  const [queue = null] = moment.analysis.snapshot.queueing.gangs[gainer.gang]?.parts.map((part) => part.queue) ?? [];
  for (const [how, asked] of Map.groupBy(victims, ({ priority }) =>
    priority < gainer.priority ? "lose" : "release",
  )) {
    const question: GuardQuestion = {
      pods: asked.flatMap(({ unit }) => unit.pods),
      how,
      by: "requeue",
      beneficiary: { priority: gainer.priority, queue },
    };
    const [veto] = askGuards(moment, question).vetoes;
    if (veto !== undefined) return veto.reason;
  }
  const { pods, workloads, queueing } = moment.analysis.snapshot;
  const leave: AdviceStep[] = [];
  const again: AdviceStep[] = [];
  for (const { workload, unit } of victims) {
    const own = workloads[workload]?.pods ?? [];
    const others = own.filter((pod) => pods[pod]?.status === "allocated" && !unit.pods.includes(pod)).length;
    if (others > 0) return `${others} other pods of the same workload would stop with it`;
    const found = requeueWorkload(moment, workload);
    if (!found.ok) return found.reason;
    leave.push(...found.steps.slice(0, -1));
    again.push(...found.steps.slice(-1));
  }
  const gang = queueing.gangs[gainer.gang];
  return returnAfterStart(leave, again, gang === undefined ? [] : [fullName(gang)]);
}

interface RequeueParts {
  /** What it is needed for, whoever gains by it. */
  readonly need: readonly string[];
  readonly victims: readonly KnownGang[];
  /** Index into `Queueing.gangs`. */
  readonly gainer: number;
  readonly plan: Plan;
  readonly steps: readonly AdviceStep[];
  readonly problem: string;
  readonly refused: readonly string[];
}

function candidateOf(planning: Planning, parts: RequeueParts): MadeCandidate {
  const { need, victims, gainer, plan, steps, problem, refused } = parts;
  const { analysis } = planning.moment;
  const { snapshot } = analysis;
  const gang = snapshot.queueing.gangs[gainer];
  const gpus = gpusOf(planning, gainer);
  const sources = victims.map(({ unit }) => unit);
  const names = nameWords(victims.map((victim) => nameOf(planning, victim)));
  const allocated = victims.reduce((sum, { partial }) => sum + partial.allocatedGpus, 0);
  if (gang === undefined) return { kind, subject: names, why: "no-plan", reason: "Who would gain is not known." };
  const subject = fullName(gang);
  const longest = victims.reduce((most, { partial }) => Math.max(most, snapshot.at - partial.since), 0);
  return {
    kind,
    beneficiary: { kind: "workload", name: subject },
    need,
    targets: targetsOfGangs(planning, victims),
    title: `let ${names} (${amount(allocated)}) wait again: then ${subject} (${amount(gpus)}) starts`,
    reason: `${problem} ${names} has allocated GPUs for ${durationWords(longest)} without all its members. If it waits again as a whole, ${subject} gets what it needs and runs.`,
    evidence: [
      { name: "allocated without running", value: amount(allocated) },
      { name: "GPUs that would start", value: amount(gpus) },
      { name: "allocated so for", value: durationWords(longest) },
    ],
    fromTeam: teamOfUnits(snapshot, sources),
    forTeam: gang.team,
    queue: gang.queue ?? "",
    pool: victims[0]?.partial.pool ?? "",
    plan,
    steps,
    disrupted: sources.flatMap(({ pods }) => pods),
    gainedGpus: ({ started }) => (started.includes(gainer) ? gpus : 0),
    confidence: {
      level: "medium",
      reasons: [
        `${subject} starts whichever node the scheduler prefers.`,
        "Who waits again may be admitted again first, if its queue serves it before.",
      ],
    },
    guards: guardNames,
    blockedAlternatives: refused.slice(0, 5),
    signs: [
      leftSign(
        snapshot,
        sources.flatMap(({ pods }) => pods),
      ),
    ],
    measuredBy: { kind: "work-started", work: [gang.uid, `${gang.kind}/${gang.namespace}/${gang.name}`] },
  };
}

/** Physical GPUs that run once it starts: those of the missing members, and those that its other members already hold. */
function gpusOf({ moment }: Planning, gang: number): number {
  const { gangFreeCapacities, snapshot } = moment.analysis;
  const view = snapshot.queueing.gangs[gang];
  const placed = gangFreeCapacities.askedOf(gang)?.placed ?? [];
  const own = snapshot.workloads.filter(
    ({ kind: of, namespace, name }) => of === view?.kind && namespace === view.namespace && name === view.name,
  );
  const allocated = own
    .flatMap(({ pods }) => pods.map((pod) => snapshot.pods[pod]))
    .filter((pod) => pod?.status === "allocated");
  const isPartial = view !== undefined && view.bound > 0 && view.bound < view.min;
  const waiting = isPartial ? allocated.reduce((sum, pod) => sum + (pod?.gpus ?? 0), 0) : 0;
  return waiting + placed.reduce((sum, { pods, gpusPerPod }) => sum + pods * gpusPerPod, 0);
}

function targetsOfGangs({ moment }: Planning, victims: readonly KnownGang[]): readonly string[] {
  const { snapshot } = moment.analysis;
  const named = victims.flatMap(({ workload }) => snapshot.workloads[workload] ?? []);
  if (named.length < victims.length)
    return targetsOf(
      snapshot,
      victims.map(({ unit }) => unit),
    );
  return [...new Set(named.map((view) => `${view.kind} ${view.namespace}/${view.name}`))].sort();
}

function nameOf({ moment }: Planning, { workload, partial }: KnownGang): string {
  const view = moment.analysis.snapshot.workloads[workload];
  return view === undefined ? partial.id : fullName(view);
}

const leastLossFirst = (a: KnownGang, b: KnownGang): number =>
  a.priority - b.priority || a.unit.lostGpuHours - b.unit.lostGpuHours || a.unit.gpus - b.unit.gpus;

/** Sets of gangs that leave out at least one: the least lost first, then the fewest. */
function subsets(members: readonly KnownGang[], most: number): readonly (readonly KnownGang[])[] {
  const sets: (readonly KnownGang[])[] = [];
  for (let mask = 1; mask < 2 ** members.length - 1; mask++) {
    const set = members.filter((_, i) => (mask >> i) & 1);
    if (set.length <= most) sets.push(set);
  }
  const lost = (set: readonly KnownGang[]): number => set.reduce((sum, { unit }) => sum + unit.lostGpuHours, 0);
  const highest = (set: readonly KnownGang[]): number => Math.max(...set.map(({ priority }) => priority));
  return sets
    .map((set, index) => ({ set, index }))
    .sort(
      (a, b) =>
        highest(a.set) - highest(b.set) ||
        lost(a.set) - lost(b.set) ||
        a.set.length - b.set.length ||
        a.index - b.index,
    )
    .map(({ set }) => set);
}
