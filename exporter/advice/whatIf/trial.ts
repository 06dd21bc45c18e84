import type { Analysis } from "../../analysis/analysis.ts";
import type { Snapshot } from "../../join/snapshot.ts";
import type { EffectMeasures } from "../../model/recommendation.ts";
import type { AdviceMoment } from "../moment.ts";
import type { PlacementRule, Plan } from "./plan.ts";

/** A pod that a plan moves; `to` is `null` where no node takes it. Indices into the Snapshot before. */
export interface MovedPod {
  readonly pod: number;
  readonly from: number | null;
  readonly to: number | null;
}

/** What the part of the cluster that a plan touches looks like after it. */
export interface Outcome {
  readonly snapshot: Snapshot;
  readonly moved: readonly MovedPod[];
  /** Gangs of `Plan.starts` (indices) that were placed whole, in their order. */
  readonly started: readonly number[];
  /** Physical GPUs that the workload had and has no more, by its index. */
  readonly released: ReadonlyMap<number, number>;
  readonly measures: EffectMeasures;
}

/** Tries plans on copies of one moment; the moment itself is never changed. */
export interface Trial {
  readonly analysis: Analysis;
  /** The same measures of the cluster as it is, for the pools and queues that the plan touches. */
  before(plan: Plan): EffectMeasures;
  outcome(plan: Plan, rule: PlacementRule): Outcome;
}

/** A trial of one moment. Pure: the same plan has the same outcome, whatever was tried before. */
export function createTrial({ analysis }: AdviceMoment): Trial {
  const measures = emptyMeasures;
  return {
    analysis,
    before: () => measures,
    outcome: () => ({ snapshot: analysis.snapshot, moved: [], started: [], released: new Map(), measures }),
  };
}

/** Measures of nothing. */
export const emptyMeasures: EffectMeasures = {
  blockedGpus: 0,
  pendingGpus: 0,
  freeGpus: 0,
  placeablePods: { "1": 0, "2": 0, "4": 0, "8": 0 },
  wholeFreeNodes: 0,
  expectedFragmentation: 0,
  deviations: [],
  heldIdleGpus: 0,
  unobservedGpus: 0,
  idleNodeHoursPerWeek: 0,
  costPerWeek: [],
};
