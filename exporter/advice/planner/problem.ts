import type { FreeCapacity, FreeSlots } from "../../analysis/freeCapacity/nodeFreeCapacity.ts";
import type { PodDemand } from "../../analysis/freeCapacity/podDemand.ts";
import type { Whereabouts } from "../placement/placementRules.ts";

/** A node that pods may be moved from or to. */
export interface PlanNode {
  readonly name: string;
  /** What is free. `physicalGpus` has an entry for each usable GPU, also for those that are allocated: `PlanPod.gives` counts from it. */
  readonly free: FreeCapacity;
}

/** Pods with the same requests that the same nodes take; one object for all of them. */
export interface PlanPodKind {
  readonly demand: PodDemand;
  /** Whether a plan may put such pods on the node (an index): the node takes them, and they are no worse off there. */
  readonly takes: (node: number) => boolean;
  /** Whether the scheduler may put them there: labels, taints, and whether it takes any pods. Left out: where a plan may. */
  readonly mayLand?: (node: number) => boolean;
  /** Whether they would be worse off there than where they are (`isWorseCapacity`). */
  readonly isWorse?: (node: number) => boolean;
  /** A pod (index into `Snapshot.pods`) like them, if rules about the pods around it decide, too. */
  readonly like?: number;
}

/** What the scheduler requires of a place besides free capacity, labels and taints. */
export interface PlanRules {
  /** Node (name) of a pod that stays. */
  readonly nodeOf: (pod: number) => string | null;
  readonly allows: (like: number, node: string, where: Whereabouts) => boolean;
}

/** What a pod leaves behind on its node. */
export interface GivenBack {
  /** Physical GPUs. */
  readonly gpus: number;
  /** Indices into `FreeCapacity.physicalGpus` of its node, and the share of each. */
  readonly physicalGpus: readonly (readonly [physicalGpu: number, share: number])[];
  readonly slots: readonly (readonly [key: string, slots: FreeSlots])[];
}

/** A pod that can be moved. */
export interface PlanPod {
  /** The caller's own number for it. */
  readonly pod: number;
  /** Index into `PlanProblem.nodes`. */
  readonly node: number;
  readonly kind: PlanPodKind;
  readonly gives: GivenBack;
}

/** Pods that move together or not at all. */
export interface PlanUnit {
  /** Differs from unit to unit. */
  readonly name: string;
  readonly pods: readonly PlanPod[];
  /** GPU-hours of work that have to be repeated. */
  readonly lostGpuHours: number;
  /** Units of one group that hold the same on a node are the same to all guards: the cheapest represents them. */
  readonly group: string;
}

/** Pods of the gang that is to be placed. */
export interface GoalPods {
  readonly kind: PlanPodKind;
  readonly pods: number;
}

/** What a plan is for. */
export type PlanGoal =
  /** All of these pods are placed. */
  | { readonly kind: "place"; readonly parts: readonly GoalPods[] }
  /** How many of these nodes (indices) every pod leaves; they take none of the pods that are moved. */
  | { readonly kind: "free"; readonly nodes: readonly number[]; readonly count: number };

/**
 * Which pods could be moved where, and what for. Of plans that cost the same, the first nodes and units decide: their order,
 * and that of the pods of a unit, must follow from what they are and not from their names (`momentOrder`).
 */
export interface PlanProblem {
  readonly nodes: readonly PlanNode[];
  /** Pods that are in no unit stay where they are. */
  readonly units: readonly PlanUnit[];
  /** Pods on each node (index) that are in no unit: it cannot be freed. */
  readonly fixedNodes: ReadonlySet<number>;
  readonly goal: PlanGoal;
  /** Physical GPUs that the queue of the goal may still take; `Infinity` without a limit. */
  readonly quotaGpus: number;
  /** Units that one plan may move. */
  readonly maxMoves: number;
  /**
   * The objections to moving these units (indices) together, in words; empty: none. An objection to some of them is an
   * objection to all of them.
   */
  readonly vetoesOf: (units: readonly number[]) => readonly string[];
  /** Left out: there are no more requirements on a place. */
  readonly rules?: PlanRules;
  /** Why a plan that reaches the goal is none that could be carried out, as part of a sentence; `null`: it could. */
  readonly refusalOf?: (plan: FoundPlan) => string | null;
}

/** How far a search may go: the most placements and choices of what to move that it tries. */
export interface PlanLimits {
  readonly looks: number;
}

/** The limits of one question unless others are given: a second or less. */
export const defaultPlanLimits: PlanLimits = { looks: 300_000 };

/** One pod of a plan and where it should go. */
export interface PlannedMove {
  /** Index into `PlanProblem.units`. */
  readonly unit: number;
  /** The caller's own number of the pod. */
  readonly pod: number;
  /** Indices into `PlanProblem.nodes`. */
  readonly from: number;
  readonly to: number;
}

/** A plan that reaches its goal, with a place for every pod that it moves. */
export interface FoundPlan {
  /** Units (indices) in the order in which they can be moved: a unit that needs the place of another comes after it. */
  readonly units: readonly number[];
  /** Every pod of these units, in the same order. */
  readonly moves: readonly PlannedMove[];
  /** Nodes of the goal: one for each pod that is placed, or those that are freed. */
  readonly goalNodes: readonly number[];
  readonly lostGpuHours: number;
}

/** Why there is no plan. */
export type NoPlanCode =
  /** The goal is reached without moving anything. */
  | "nothing-to-gain"
  | "short-of-quota"
  /** Less is free than it needs, wherever it is free. */
  | "short-of-capacity"
  /** Units that would have to move must not move. */
  | "guarded"
  /** Nodes could be cleared, but no other node takes what would have to leave them. */
  | "nowhere-to-go"
  /** More units would have to move than one plan may. */
  | "too-many-moves"
  /** Some plans reach it, but they could not be carried out. */
  | "refused"
  /** The pods in the way belong to no unit that can be moved. */
  | "fixed"
  /** The search found none within its limits. */
  | "looked-too-short";

export interface NoPlan {
  readonly code: NoPlanCode;
  /** A sentence without its full stop. */
  readonly words: string;
  /** The objections of the guards, for `guarded`. */
  readonly vetoes: readonly string[];
}

/** The answer to a problem, and how far the search went. */
export interface PlanAnswer {
  readonly plan: FoundPlan | null;
  /** `null` with a plan. */
  readonly noPlan: NoPlan | null;
  /** The whole search space was covered: no plan is cheaper, or there is none. */
  readonly isExact: boolean;
  readonly looks: number;
  /** Some way was not taken because guards forbid it. */
  readonly metGuards: boolean;
}

/** What plans are compared by. */
export interface PlanCost {
  /** Millionths of GPU-hours, whole: sums of them are exact. */
  readonly lost: number;
  /** Indices into `PlanProblem.units`, ascending. */
  readonly units: readonly number[];
}

/** Negative where `a` is better: less is lost, then fewer units move, then those that come first in the problem. */
export function compareCost(a: PlanCost, b: PlanCost): number {
  if (a.lost !== b.lost) return a.lost - b.lost;
  if (a.units.length !== b.units.length) return a.units.length - b.units.length;
  for (const [i, unit] of a.units.entries()) {
    const other = b.units[i] ?? unit;
    if (unit !== other) return unit - other;
  }
  return 0;
}
