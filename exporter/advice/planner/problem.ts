import type { FreeCapacity, FreeSlots } from "../../analysis/freeCapacity/nodeFreeCapacity.ts";
import type { PodDemand } from "../../analysis/freeCapacity/podDemand.ts";
import type { Whereabouts } from "../placement/placementRules.ts";
import type { FoundPlan } from "./plan.ts";

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
