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
