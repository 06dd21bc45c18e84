import { type GangDeadlock, waitsForRoom } from "../../analysis/waiting/waiting.ts";
import { nameWords } from "../../kernel/nameWords.ts";
import type { AdviceStep, WithheldAdvice } from "../../model/recommendation.ts";
import type { Candidate, MadeCandidate } from "../candidate.ts";
import { askGuards, type GuardQuestion, guardNames } from "../guards/guards.ts";
import { allocatedGpus } from "../lifecycle/signs.ts";
import type { AdviceMoment } from "../moment.ts";
import { fullName, workloadName } from "../momentIndex.ts";
import { momentOrder } from "../momentOrder.ts";
import { amount } from "../planner/whyNot.ts";
import { requeueWorkload, returnAfterStart } from "../steps/workloadSteps.ts";
import type { Plan } from "../whatIf/plan.ts";
import type { KnownGang } from "./knownGangs.ts";
import type { Planning } from "./moveFields.ts";
import { leftSign, teamOfUnits } from "./plannedMoves.ts";
import { gpusAsked } from "./waitingFor.ts";
import { durationWords } from "./words.ts";

const kind = "unblock_gang";

/** The most gangs of a deadlock that are considered: the gangs that lose least. */
const mostVictims = 8;

/**
 * Advice to requeue gangs of a deadlock so that another one completes, or why there is none. Gangs of the lowest priority are
 * preferred, then the fewest lost GPU-hours, then the fewest gangs.
 */
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
      const steps = requeueSteps(moment, victims, gainer);
      if (typeof steps === "string") {
        refused.push(`${nameWords(victims.map(({ view }) => fullName(view)))}: ${steps}`);
        continue;
      }
      const problem = `${ids.length} gangs in ${pool} hold ${amount(allocatedGpus)} and miss ${amount(missingGpus)}, while ${amount(freeGpus)} are free: none of them can run.`;
      return candidateOf(moment, {
        need: ["deadlock", pool],
        victims,
        gainer,
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

/** Advice to requeue a partial gang as a whole, so that another gang that waits starts; or why there is none. */
export function requeuedForOthers(planning: Planning, known: KnownGang): MadeCandidate {
  const { moment, trial } = planning;
  const { snapshot, waiting } = moment.analysis;
  const { gangs } = snapshot.queueing;
  const subject = fullName(known.view);
  const byGang = momentOrder(moment.analysis).gangs;
  const ages = new Map(waiting.work.map(({ gang, ageSeconds }) => [gang, ageSeconds ?? 0] as const));
  const others = waiting.work
    .filter((work) => work.gang !== known.gang && waitsForRoom(work))
    .flatMap(({ gang }) => {
      const waiting = gangs[gang];
      const mayGain = waiting !== undefined && waiting.never === null && waiting.priority >= known.priority;
      return mayGain ? [{ gang, waiting, priority: waiting.priority }] : [];
    })
    .sort(
      (a, b) =>
        (b.waiting.gpus ?? 0) * (ages.get(b.gang) ?? 0) - (a.waiting.gpus ?? 0) * (ages.get(a.gang) ?? 0) ||
        byGang(a.gang, b.gang),
    );
  let refusal: string | null = null;
  for (const gainer of others.slice(0, mostOthers)) {
    const starts = [gainer.gang];
    const plan = stopping([known], starts);
    if (!trial.startsAll(plan) || trial.startsAll({ changes: [], starts })) continue;
    const steps = requeueSteps(moment, [known], gainer);
    if (typeof steps === "string") {
      refusal = steps;
      continue;
    }
    const { bound, min, allocatedGpus } = known.partial;
    const problem = `${subject} holds ${amount(allocatedGpus)} for ${bound} of ${min} members and cannot run; its other members do not fit.`;
    return candidateOf(moment, {
      need: ["workload", subject],
      victims: [known],
      gainer,
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
 * The requests that requeue gangs, or the objection to that. Work of a lower priority may lose its place. At equal priority
 * nothing is taken away: the gang gives up what it cannot use.
 */
function requeueSteps(
  moment: AdviceMoment,
  victims: readonly KnownGang[],
  { waiting, priority: own }: Gainer,
): readonly AdviceStep[] | string {
  const [queue = null] = waiting.parts.map((part) => part.queue);
  for (const [how, asked] of Map.groupBy(victims, ({ priority }) => (priority < own ? "lose" : "release"))) {
    const question: GuardQuestion = {
      pods: asked.flatMap(({ unit }) => unit.pods),
      how,
      by: "requeue",
      beneficiary: { priority: own, queue },
    };
    const [veto] = askGuards(moment, question).vetoes;
    if (veto !== undefined) return veto.reason;
  }
  const { pods } = moment.analysis.snapshot;
  const leave: AdviceStep[] = [];
  const again: AdviceStep[] = [];
  for (const { workload, view, unit } of victims) {
    const others = view.pods.filter((pod) => pods[pod]?.status === "allocated" && !unit.pods.includes(pod)).length;
    if (others > 0) return `${others} other pods of the same workload would stop with it`;
    const found = requeueWorkload(moment, workload);
    if (!found.ok) return found.reason;
    leave.push(...found.steps.slice(0, -1));
    again.push(...found.steps.slice(-1));
  }
  return returnAfterStart(leave, again, [fullName(waiting)]);
}

/** The gang that would start. */
type Gainer = Pick<KnownGang, "gang" | "waiting" | "priority">;

interface RequeueParts {
  /** The need that the plan serves, whichever gang gains from it. */
  readonly need: readonly string[];
  readonly victims: readonly KnownGang[];
  readonly gainer: Gainer;
  readonly plan: Plan;
  readonly steps: readonly AdviceStep[];
  readonly problem: string;
  readonly refused: readonly string[];
}

function candidateOf(moment: AdviceMoment, parts: RequeueParts): Candidate {
  const { need, victims, gainer, plan, steps, problem, refused } = parts;
  const { snapshot } = moment.analysis;
  const gpus = gpusOf(moment, gainer);
  const sources = victims.map(({ unit }) => unit);
  const pods = sources.flatMap((source) => source.pods);
  const names = nameWords(victims.map(({ view }) => fullName(view)));
  const allocated = victims.reduce((sum, { partial }) => sum + partial.allocatedGpus, 0);
  const subject = fullName(gainer.waiting);
  const longest = victims.reduce((most, { partial }) => Math.max(most, snapshot.at - partial.since), 0);
  return {
    kind,
    beneficiary: { kind: "workload", name: subject },
    need,
    targets: [...new Set(victims.map(({ view }) => `${view.kind} ${fullName(view)}`))].sort(),
    title: `let ${names} (${amount(allocated)}) wait again: then ${subject} (${amount(gpus)}) starts`,
    reason: `${problem} ${names} has allocated GPUs for ${durationWords(longest)} without all its members. If it waits again as a whole, ${subject} gets what it needs and runs.`,
    evidence: [
      { name: "allocated without running", value: amount(allocated) },
      { name: "GPUs that would start", value: amount(gpus) },
      { name: "allocated so for", value: durationWords(longest) },
    ],
    fromTeam: teamOfUnits(snapshot, sources),
    forTeam: gainer.waiting.team,
    queue: gainer.waiting.queue ?? "",
    pool: victims[0]?.partial.pool ?? "",
    plan,
    steps,
    disrupted: pods,
    gainedGpus: ({ started }) => (started.includes(gainer.gang) ? gpus : 0),
    confidence: {
      level: "medium",
      reasons: [
        `${subject} starts whichever node the scheduler prefers.`,
        "Who waits again may be admitted again first, if its queue serves it before.",
      ],
    },
    guards: guardNames,
    blockedAlternatives: refused.slice(0, 5),
    signs: [leftSign(snapshot, pods)],
    measuredBy: { kind: "work-started", work: [gainer.waiting.uid, workloadName(gainer.waiting)] },
  };
}

/** Physical GPUs that run once the gang starts: those of its missing members, and those that its other members already hold. */
function gpusOf({ analysis }: AdviceMoment, { gang, waiting }: Gainer): number {
  const { snapshot, gangFreeCapacities } = analysis;
  const asked = gpusAsked(gangFreeCapacities.askedOf(gang)?.placed ?? []);
  const isPartial = waiting.bound > 0 && waiting.bound < waiting.min;
  if (!isPartial) return asked;
  const own = snapshot.workloads.filter((view) => workloadName(view) === workloadName(waiting));
  return own.reduce((sum, view) => sum + allocatedGpus(view, snapshot.pods), asked);
}

const leastLossFirst = (a: KnownGang, b: KnownGang): number =>
  a.priority - b.priority || a.unit.lostGpuHours - b.unit.lostGpuHours || a.unit.gpus - b.unit.gpus;

/**
 * Sets of gangs that leave out at least one gang. They are sorted by their highest priority, then by what is lost, then by
 * their size.
 */
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
