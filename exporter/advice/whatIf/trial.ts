import type { Analysis } from "../../analysis/analysis.ts";
import type { Snapshot } from "../../join/snapshot.ts";
import { once, oncePer } from "../../kernel/once.ts";
import { gpuTolerance } from "../../model/gpuTolerance.ts";
import type { EffectMeasures } from "../../model/recommendation.ts";
import type { AdviceMoment } from "../moment.ts";
import { applyChange } from "./applyChange.ts";
import { type ClusterCopy, copyCluster } from "./clusterCopy.ts";
import { createMeasuring, type PlanMeasures } from "./measurePlan.ts";
import { createPlaces, type Places } from "./places.ts";
import { type PlacementRule, type Plan, placementRules } from "./plan.ts";
import { startGang } from "./startGangs.ts";

/** A pod that a plan moves; `to` is `null` if no node takes it. Indices into the Snapshot before the plan. */
export interface MovedPod {
  readonly pod: number;
  readonly from: number | null;
  readonly to: number | null;
}

/**
 * What the part of the cluster that a plan touches looks like after it. Everything keeps its index in the Snapshot: a pod that
 * was stopped is on no node, a node that was removed has no devices and no pools, and a gang that was started has no waiting
 * pods. New things are at the end of the lists.
 */
export interface Outcome {
  readonly snapshot: Snapshot;
  readonly moved: readonly MovedPod[];
  /** Gangs of `Plan.starts` (indices) that were placed as a whole, in their order. */
  readonly started: readonly number[];
  /** Physical GPUs that each workload (index) held and no longer holds. */
  readonly released: ReadonlyMap<number, number>;
  /** Nodes (indices) that the plan changes in any way. */
  readonly touched: readonly number[];
  readonly measures: EffectMeasures;
}

/** Tries plans on copies of one moment; the moment itself is never changed. */
export interface Trial {
  readonly analysis: Analysis;
  /** The measures of the cluster as it is, for the pools and queues that the plan touches. */
  before(plan: Plan): EffectMeasures;
  /** The result of a plan. `snapshot` and `measures` are worked out when they are first read. */
  outcome(plan: Plan, rule: PlacementRule): Outcome;
  /** The same as `Outcome.started`, but cheap enough for hundreds of calls per cycle. */
  started(plan: Plan, rule: PlacementRule): readonly number[];
  /**
   * How much was tried so far: 1 for each plan that was tried, and `measuredEffort` for each that was measured. It is a measure
   * of time that does not depend on the machine.
   */
  effort(): number;
  /** Whether these gangs start under both placement rules; absent: all gangs that the plan starts. */
  startsAll(plan: Plan, gangs?: readonly number[]): boolean;
}

/** Measuring a plan takes as long as trying it this many times: what everybody is entitled to afterwards is computed twice. */
const measuredEffort = 20;

/** Makes the trial of a moment. Pure: the same plan has the same outcome, whatever was tried before. */
export function createTrial({ analysis }: Pick<AdviceMoment, "analysis">): Trial {
  const places = createPlaces(analysis);
  const measure = createMeasuring(analysis);
  // All questions share one copy: each change is undone when its question is answered.
  const scratch = once(() => copyCluster(analysis));
  let effort = 0;

  function tried<Answer>(
    plan: Plan,
    rule: PlacementRule,
    answer: (copy: ClusterCopy, made: MadePlan) => Answer,
  ): Answer {
    const copy = scratch();
    effort += 1;
    copy.begin();
    const found = answer(copy, makePlan(copy, places, plan, rule));
    copy.rollback(0);
    return found;
  }
  const changeOf = (plan: Plan, rule: PlacementRule) => tried(plan, rule, (copy) => measure.changeOf(copy, plan));

  const measuresOf = oncePer((plan: Plan): PlanMeasures => {
    effort += measuredEffort;
    return measure.ofPlan({
      mostAllocated: changeOf(plan, "mostAllocated"),
      leastAllocated: changeOf(plan, "leastAllocated"),
    });
  });
  function outcomeOf(plan: Plan, rule: PlacementRule): Outcome {
    const made = tried(plan, rule, (copy, { moved, started }) => ({
      moved,
      started,
      released: releasedIn(copy),
      touched: [...copy.touched],
    }));
    const snapshot = once(() => {
      const copy = copyCluster(analysis);
      makePlan(copy, places, plan, rule);
      return copy.finish();
    });
    return {
      ...made,
      get snapshot() {
        return snapshot();
      },
      get measures() {
        return measuresOf(plan)[rule];
      },
    };
  }
  // Whoever finds a plan, whoever words it and whoever judges it ask for the same outcome.
  const outcomesOf = oncePer((plan: Plan) => ({
    mostAllocated: once(() => outcomeOf(plan, "mostAllocated")),
    leastAllocated: once(() => outcomeOf(plan, "leastAllocated")),
  }));
  const startedIn = (plan: Plan, rule: PlacementRule) => tried(plan, rule, (_, { started }) => started);
  return {
    analysis,
    before: (plan) => measuresOf(plan).before,
    started: startedIn,
    effort: () => effort,
    startsAll: (plan, gangs = plan.starts) =>
      placementRules.every((rule) => {
        const started = new Set(startedIn(plan, rule));
        return gangs.every((gang) => started.has(gang));
      }),
    outcome: (plan, rule) => outcomesOf(plan)[rule](),
  };
}

/** The direct result of a plan. */
type MadePlan = Pick<Outcome, "moved" | "started">;

function makePlan(copy: ClusterCopy, places: Places, plan: Plan, rule: PlacementRule): MadePlan {
  const moved = plan.changes.flatMap((change) => applyChange(copy, places, change, rule));
  const started = plan.starts.filter((gang) => startGang(copy, places, gang, rule));
  return { moved, started };
}

function releasedIn({ gained }: ClusterCopy): ReadonlyMap<number, number> {
  const released = new Map<number, number>();
  for (const [workload, gpus] of [...gained].sort(([a], [b]) => a - b))
    if (gpus < -gpuTolerance) released.set(workload, -gpus);
  return released;
}
