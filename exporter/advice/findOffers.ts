import type { Analysis } from "../analysis/analysis.ts";
import {
  type Advice,
  type AdviceKind,
  adviceKinds,
  type EffectMeasures,
  type WithheldAdvice,
} from "../model/recommendation.ts";
import { assess, disabledKind } from "./assess.ts";
import { boundedWithheld } from "./boundedText.ts";
import { type Candidate, candidatesPerKind, type FindAdvice, type FindInPieces, withheldPerKind } from "./candidate.ts";
import { type AssessedOffer, excludeRivals } from "./excludeRivals.ts";
import { findChangeQuota } from "./kinds/changeQuota.ts";
import { findDefragment } from "./kinds/defragment.ts";
import { findDrainNode } from "./kinds/drainNode.ts";
import { findFixScheduler } from "./kinds/fixScheduler.ts";
import { findFixSource } from "./kinds/fixSource.ts";
import { findReclaim } from "./kinds/reclaim.ts";
import { findReleaseIdle } from "./kinds/releaseIdle.ts";
import { findRightSize } from "./kinds/rightSize.ts";
import { findScaleIn } from "./kinds/scaleIn.ts";
import { findShareGpu } from "./kinds/shareGpu.ts";
import { findStalledWork } from "./kinds/stalledWork.ts";
import { findUnblockGang } from "./kinds/unblockGang.ts";
import type { AdviceMoment } from "./moment.ts";
import type { Offer } from "./offer.ts";
import { allPieces, type InPieces } from "./rounds/inPieces.ts";
import { type PlanInputs, planInputs } from "./rounds/planInputs.ts";
import { createTrial, type Outcome, type Trial } from "./whatIf/trial.ts";

/** Everything that one moment has to offer. */
export interface OffersFound {
  /** The most valuable first. No two offers serve the same need, and none excludes another. */
  readonly offers: readonly Offer[];
  /** What the plan of each offer rests on, by its id. */
  readonly inputs: ReadonlyMap<string, PlanInputs>;
  readonly withheld: readonly WithheldAdvice[];
  readonly reducibleFragmentation: Advice["reducibleFragmentation"];
}

/**
 * Advice about work that holds GPUs and does nothing with them: idle work, and work that looks busy and computes nothing.
 * Advice that can be done comes before questions: if there are too many, questions are left out.
 */
const findWastedWork: FindAdvice = (moment, trial) => {
  const stalled = findStalledWork(moment, trial);
  const idle = findReleaseIdle(moment, trial);
  const candidates = [...stalled.candidates, ...idle.candidates].toSorted(
    (a, b) => Number(isAsk(a)) - Number(isAsk(b)),
  );
  return {
    candidates: candidates.slice(0, candidatesPerKind),
    withheld: [...stalled.withheld, ...idle.withheld].slice(0, withheldPerKind),
  };
};

const isAsk = ({ decision }: Candidate): boolean => decision?.act === "ask";

const finders: Readonly<Record<AdviceKind, FindAdvice | FindInPieces>> = {
  reclaim: findReclaim,
  defragment: findDefragment,
  release_idle: findWastedWork,
  scale_in: findScaleIn,
  change_quota: findChangeQuota,
  share_gpu: findShareGpu,
  right_size: findRightSize,
  unblock_gang: findUnblockGang,
  drain_node: findDrainNode,
  fix_scheduler: findFixScheduler,
  fix_source: findFixSource,
};

/** Finds, simulates and ranks the advice of one moment. Pure. */
export const findOffers = (moment: AdviceMoment): OffersFound => allPieces(offersInPieces(moment, createTrial(moment)));

/** Does the same in pieces. `trial`: of the same moment. */
export function* offersInPieces(moment: AdviceMoment, trial: Trial): InPieces<OffersFound> {
  const { analysis, settings } = moment;
  if (!analysis.snapshot.coverage.objects) return nothingReadAt(settings);
  const withheld: WithheldAdvice[] = [];
  const worthIt: AssessedOffer[] = [];
  const moves: TriedPlan[] = [];
  const inputs = new Map<string, PlanInputs>();
  for (const kind of adviceKinds) {
    if (settings.disabledKinds.includes(kind)) {
      withheld.push(disabledKind(kind));
      continue;
    }
    const started = finders[kind](moment, trial);
    const found = "next" in started ? yield* started : started;
    yield;
    withheld.push(...found.withheld);
    for (const candidate of found.candidates) {
      const assessed = assess(moment, trial, candidate);
      yield;
      if (!assessed.ok) {
        withheld.push(assessed.withheld);
        continue;
      }
      const { offer, outcomes } = assessed;
      const { before, gainedGpus } = offer.draft.effect;
      worthIt.push({ candidate, offer });
      inputs.set(offer.draft.id, planInputs(moment, candidate, outcomes, gainedGpus.worst));
      if (kind === "defragment") moves.push({ candidate, before, outcomes });
    }
  }
  const { kept, excluded } = excludeRivals(moment, trial, worthIt);
  return {
    offers: kept,
    inputs,
    withheld: [...withheld, ...excluded].map(boundedWithheld),
    reducibleFragmentation: reducibleInEachPool(analysis, moves),
  };
}

/** What is found where no objects were read. */
const nothingReadAt = (settings: AdviceMoment["settings"]): OffersFound => ({
  offers: [],
  inputs: new Map(),
  withheld: adviceKinds.map(nothingRead(settings)),
  reducibleFragmentation: new Map(),
});

/** Without objects it is not known what could be moved, and for whom. */
const nothingRead =
  ({ disabledKinds }: AdviceMoment["settings"]) =>
  (kind: AdviceKind): WithheldAdvice => {
    if (disabledKinds.includes(kind)) return disabledKind(kind);
    const reason =
      "nodes and pods of the Kubernetes API are not known: nobody can say what could be moved, and for whom";
    return { kind, subject: "", why: "no-plan", reason };
  };

/** The reducible fragmentation of each pool; 0 for pools in which nothing can be moved. */
function reducibleInEachPool({ placement }: Analysis, moves: readonly TriedPlan[]): ReadonlyMap<string, number> {
  const found = reducibleFragmentation(moves);
  return new Map(placement.pools.map(({ pool }) => [pool, found.get(pool) ?? 0]));
}

/** A plan that was tried, with its outcome under each placement rule. */
interface TriedPlan {
  readonly candidate: Pick<Candidate, "kind" | "pool">;
  readonly before: Pick<EffectMeasures, "expectedFragmentation">;
  readonly outcomes: readonly { readonly measures: Pick<Outcome["measures"], "expectedFragmentation"> }[];
}

/**
 * Physical GPUs by which the expected fragmentation of a pool would fall after the best plan found within the move budget,
 * under both placement rules: expected fragmentation now minus that after the plan, at least 0. A pool without any plan is
 * left out. Pure.
 */
export function reducibleFragmentation(tried: readonly TriedPlan[]): ReadonlyMap<string, number> {
  const byPool = new Map<string, number>();
  for (const { candidate, before, outcomes } of tried) {
    if (candidate.kind !== "defragment" || candidate.pool === "" || outcomes.length === 0) continue;
    const after = Math.max(...outcomes.map(({ measures }) => measures.expectedFragmentation));
    const reduced = Math.max(0, before.expectedFragmentation - after);
    byPool.set(candidate.pool, Math.max(byPool.get(candidate.pool) ?? 0, reduced));
  }
  return byPool;
}
