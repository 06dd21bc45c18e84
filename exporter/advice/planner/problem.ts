import type { FreeCapacity, FreeSlots } from "../../analysis/freeCapacity/nodeFreeCapacity.ts";
import type { PodDemand } from "../../analysis/freeCapacity/podDemand.ts";
import type { Whereabouts } from "../placement/placementRules.ts";

/** A node from which or to which pods may be moved. */
export interface PlanNode {
  readonly name: string;
  /**
   * The free capacity. `physicalGpus` has an entry for each usable GPU, also for those that are allocated: `PlanPod.gives`
   * counts from it.
   */
  readonly free: FreeCapacity;
}

/** Pods with the same requests, which the same nodes take. There is one object for all of them. */
export interface PlanPodKind {
  readonly demand: PodDemand;
  /** Whether a plan may put such pods on the node (index): the node takes them, and they would be no worse off there. */
  readonly takes: (node: number) => boolean;
  /**
   * Whether the scheduler may put them on the node: labels and taints allow it, and the node takes pods. Absent: where a plan
   * may.
   */
  readonly mayLand?: (node: number) => boolean;
  /** Whether they would be worse off on the node than where they are (`isWorseCapacity`). */
  readonly isWorse?: (node: number) => boolean;
  /** A pod (index into `Snapshot.pods`) like these, if rules about the pods around them decide as well. */
  readonly like?: number;
}

/** What the scheduler requires of a place besides free capacity, labels and taints. */
export interface PlanRules {
  /** Name of the node of a pod that stays; `null`: none. */
  readonly nodeOf: (pod: number) => string | null;
  readonly allows: (like: number, node: string, where: Whereabouts) => boolean;
}

/** What a pod leaves behind on its node. */
export interface GivenBack {
  /** Physical GPUs in total. */
  readonly gpus: number;
  /** Indices into `FreeCapacity.physicalGpus` of its node, and the share of each GPU. */
  readonly physicalGpus: readonly (readonly [physicalGpu: number, share: number])[];
  readonly slots: readonly (readonly [key: string, slots: FreeSlots])[];
}

/** A pod that can be moved. */
export interface PlanPod {
  /** The caller's number of the pod. */
  readonly pod: number;
  /** Index into `PlanProblem.nodes`. */
  readonly node: number;
  readonly kind: PlanPodKind;
  readonly gives: GivenBack;
}

/** Pods that move together or not at all. */
export interface PlanUnit {
  /** A name that no other unit has. */
  readonly name: string;
  readonly pods: readonly PlanPod[];
  /** GPU-hours of work that have to be repeated. */
  readonly lostGpuHours: number;
  /** Guards treat units of one group that hold the same on a node alike: the cheapest of them represents the others. */
  readonly group: string;
}

/** Pods of the gang that is to be placed. */
export interface GoalPods {
  readonly kind: PlanPodKind;
  readonly pods: number;
}

/** The goal of a plan. */
export type PlanGoal =
  /** All of these pods get places. */
  | { readonly kind: "place"; readonly parts: readonly GoalPods[] }
  /** `count` of these nodes (indices) are left by every pod; they take none of the pods that are moved. */
  | { readonly kind: "free"; readonly nodes: readonly number[]; readonly count: number };

/**
 * Which pods may be moved where, and for what goal. Between plans that cost the same, the first nodes and units decide. Their
 * order, and that of the pods of a unit, must therefore follow from what they are and not from their names (`momentOrder`).
 */
export interface PlanProblem {
  readonly nodes: readonly PlanNode[];
  /** The units that may move. Pods that are in no unit stay where they are. */
  readonly units: readonly PlanUnit[];
  /** Nodes (indices) with pods that are in no unit: they cannot be freed. */
  readonly fixedNodes: ReadonlySet<number>;
  readonly goal: PlanGoal;
  /** Physical GPUs that the queue of the goal may still take; `Infinity` without a limit. */
  readonly quotaGpus: number;
  /** The most units that one plan may move. */
  readonly maxMoves: number;
  /**
   * The objections to moving these units (indices) together, in words; empty: none. An objection to some of them is an
   * objection to all of them.
   */
  readonly vetoesOf: (units: readonly number[]) => readonly string[];
  /** Further requirements on a place; absent: none. */
  readonly rules?: PlanRules;
  /** Why a plan that reaches the goal could not be carried out, as part of a sentence; `null`: it could. */
  readonly refusalOf?: (plan: FoundPlan) => string | null;
}

/** How far a search may go: the largest number of placements and of choices what to move that it tries. */
export interface PlanLimits {
  readonly looks: number;
}

/** The limits of one question if none are given: they take a second or less. */
export const defaultPlanLimits: PlanLimits = { looks: 300_000 };

/** One pod of a plan, and where it should go. */
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
  /** Fewer GPUs are free than the goal needs, wherever they are free. */
  | "short-of-capacity"
  /** Guards forbid moving units that would have to move. */
  | "guarded"
  /** Nodes could be cleared, but no other node takes the pods that would have to leave. */
  | "nowhere-to-go"
  /** More units would have to move than one plan may move. */
  | "too-many-moves"
  /** Some plans reach the goal, but they could not be carried out. */
  | "refused"
  /** The pods in the way are in no unit that can be moved. */
  | "fixed"
  /** The search found no plan within its limits. */
  | "looked-too-short";

export interface NoPlan {
  readonly code: NoPlanCode;
  /** The reason as a sentence without its full stop. */
  readonly words: string;
  /** The objections of the guards if the code is `guarded`. */
  readonly vetoes: readonly string[];
}

/** The answer to a problem, and how far the search went. */
export interface PlanAnswer {
  readonly plan: FoundPlan | null;
  /** Why there is no plan; `null` if there is one. */
  readonly noPlan: NoPlan | null;
  /** Whether the whole search space was covered: then no plan is cheaper, or there is none. */
  readonly isExact: boolean;
  readonly looks: number;
  /** Whether some way was not tried because guards forbid it. */
  readonly metGuards: boolean;
}

/** The values by which plans are compared. */
export interface PlanCost {
  /** Millionths of GPU-hours that are lost; whole numbers, so that sums are exact. */
  readonly lost: number;
  /** Indices into `PlanProblem.units`, ascending. */
  readonly units: readonly number[];
}

/**
 * Compares two plans: negative if `a` is better. Less loss is better, then fewer units, then units that come first in the
 * problem.
 */
export function compareCost(a: PlanCost, b: PlanCost): number {
  if (a.lost !== b.lost) return a.lost - b.lost;
  if (a.units.length !== b.units.length) return a.units.length - b.units.length;
  for (const [i, unit] of a.units.entries()) {
    const other = b.units[i] ?? unit;
    if (unit !== other) return unit - other;
  }
  return 0;
}
