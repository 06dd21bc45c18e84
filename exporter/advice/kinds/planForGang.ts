import type { WaitingGang } from "../../join/queues/queueing.ts";
import type { Snapshot } from "../../join/snapshot.ts";
import { nameWords } from "../../kernel/nameWords.ts";
import type { AdviceKind, WithheldAdvice } from "../../model/recommendation.ts";
import type { MadeCandidate } from "../candidate.ts";
import type { AdviceMoment } from "../moment.ts";
import { fullName, momentIndex } from "../momentIndex.ts";
import { placementRulesOf } from "../placement/placementRules.ts";
import type { MoveField } from "../planner/moveField.ts";
import type { FoundPlan, PlanPodKind } from "../planner/problem.ts";
import { amount } from "../planner/whyNot.ts";
import type { Planning } from "./moveFields.ts";
import { planMoves } from "./plannedMoves.ts";
import { onlyOne } from "./waitingFor.ts";
import { durationWords } from "./words.ts";

/** Kinds of advice that move pods so that a gang fits. */
export type MovingKind = Extract<AdviceKind, "defragment" | "unblock_gang">;

/** Why a gang waits, and what it needs. */
export interface GangWish {
  /** Physical GPUs that it lacks. */
  readonly gpus: number;
  /** Physical GPUs of members that cannot run without the others: these members run once the others start. */
  readonly allocatedGpus: number;
  /** Why it does not fit, as part of a sentence. */
  readonly problem: string;
  readonly quotaGpus: number;
}

/** The domain of a level of the topology in which all pods of a gang are to be. */
export interface PlanDomain {
  /** As part of a sentence: `rack-07`. */
  readonly name: string;
  /** Whether a node (index into `Snapshot.nodes`) is in it. */
  readonly isIn: (node: number) => boolean;
}

/** Advice to move pods so that a waiting gang fits, or why there is none. */
export function planForGang(
  planning: Planning,
  kind: MovingKind,
  index: number,
  wish: GangWish,
  inside: PlanDomain | null = null,
): MadeCandidate {
  const { moment, fieldOf } = planning;
  const { analysis } = moment;
  const { snapshot } = analysis;
  const gang = snapshot.queueing.gangs[index];
  const placed = analysis.gangFreeCapacities.askedOf(index)?.placed ?? [];
  const subject = gang === undefined ? "" : fullName(gang);
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
  const own = ownPods(moment, gang);
  const isOwn = (pod: number): boolean => own.has(pod);
  const members = pendingMembers(snapshot, own);
  const unknown = members.map(placementRulesOf(snapshot).unknownOf).find((why) => why !== null);
  if (unknown !== undefined) return none(`${subject} ${unknown}.`);
  const memberOf = (gpus: number): number | undefined => members.find((pod) => snapshot.pods[pod]?.gpus === gpus);
  const moves = planMoves(planning, {
    field,
    goal: {
      kind: "place",
      parts: placed.map(({ gpusPerPod, needs, pods }) => ({
        kind: kindIn(field, field.kindOf(gpusPerPod, needs, memberOf(gpusPerPod)), inside),
        pods,
      })),
    },
    units: field.units,
    quotaGpus: wish.quotaGpus,
    beneficiary: { priority: gang.priority, queue },
    isOwn,
    limits: { cordoned: [], spoils: new Set() },
    starts: [index],
    reaches: ({ started }) => started.includes(index),
    failure: `No moves ${inside === null ? "" : `in ${inside.name} `}help ${subject}`,
    purpose: `make room for ${subject}`,
  });
  if (!moves.ok) return none(moves.reason, moves.why);
  const { found, answer, words } = moves;
  const waited = gang.since === null ? "" : ` for ${durationWords(snapshot.at - gang.since)}`;
  const nodes = [...new Set(found.goalNodes)].map((node) => field.nodes[node]?.name ?? "");
  const gained = wish.gpus + wish.allocatedGpus;
  const lost = `${found.lostGpuHours.toFixed(1)} GPU-hours`;
  return {
    kind,
    beneficiary: { kind: "workload", name: subject },
    title:
      inside === null
        ? `move ${words}: then ${subject} (${amount(gained)}) ${wish.allocatedGpus > 0 ? "runs" : "fits"}`
        : `move ${words}: then ${inside.name} takes ${subject} (${amount(gained)})`,
    reason: [
      `${subject} has waited${waited} for ${amount(wish.gpus)}.`,
      `${wish.problem[0]?.toUpperCase() ?? ""}${wish.problem.slice(1)}.`,
      `Once ${movedNames(field, found)} moved it fits on ${nodes.slice(0, 3).join(", ")}${nodes.length > 3 ? ` and ${nodes.length - 3} more` : ""}; that costs ${lost} of work that is done again.`,
    ].join(" "),
    evidence: [
      { name: "GPUs it waits for", value: amount(wish.gpus) },
      { name: "work done again", value: lost },
      { name: "pods moved", value: `${found.moves.length}` },
      { name: "free capacity on", value: nodes.slice(0, 10).join(", ") },
      { name: "tries", value: `${answer.looks}${answer.isExact ? ", all that could be cheaper" : ", not all"}` },
    ],
    forTeam: gang.team,
    queue: gang.queue ?? "",
    pool: poolOf(moment, field, found),
    plan: moves.plan,
    gainedGpus: ({ started }) => (started.includes(index) ? gained : 0),
    measuredBy: { kind: "work-started", work: [gang.uid, `${gang.kind}/${subject}`] },
    ...moves.parts,
  };
}

/** The kind of pods that a gang asks for, on nodes of one domain alone. */
function kindIn({ nodeIndexes }: MoveField, kind: PlanPodKind, inside: PlanDomain | null): PlanPodKind {
  if (inside === null) return kind;
  return { ...kind, takes: (node) => kind.takes(node) && inside.isIn(nodeIndexes[node] ?? -1) };
}

/** Pods (indices) of the waiting work itself that exist and wait, ascending. */
function pendingMembers({ pods }: Snapshot, own: ReadonlySet<number>): readonly number[] {
  return [...own].filter((pod) => pods[pod]?.status === "pending").sort((a, b) => a - b);
}

/** The names of the moved units with a verb: `ads/eval-7 has`, `ads/eval-7 and ads/eval-8 have`. */
function movedNames(field: MoveField, { units }: FoundPlan): string {
  const names = units.map((unit) => field.units[unit]?.name ?? "");
  return `${nameWords(names)} ${names.length === 1 ? "has" : "have"}`;
}

/** Pods (indices) of the waiting work itself. */
function ownPods({ analysis }: AdviceMoment, gang: WaitingGang): ReadonlySet<number> {
  const { workloads } = analysis.snapshot;
  return new Set(
    momentIndex(analysis)
      .workloadsCalled(gang)
      .flatMap((workload) => workloads[workload]?.pods ?? []),
  );
}

/** The pool of the nodes that become free; empty if there are several. */
const poolOf = ({ analysis }: AdviceMoment, field: MoveField, { goalNodes }: FoundPlan): string =>
  onlyOne(goalNodes.flatMap((node) => analysis.snapshot.nodes[field.nodeIndexes[node] ?? -1]?.pools ?? []));
