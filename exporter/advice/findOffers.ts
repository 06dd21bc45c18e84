import type { Analysis } from "../analysis/analysis.ts";
import { type Advice, type AdviceKind, adviceKinds, type WithheldAdvice } from "../model/recommendation.ts";
import { assess, disabledKind } from "./assess.ts";
import { boundedWithheld } from "./boundedText.ts";
import type { FindAdvice } from "./candidate.ts";
import { type AssessedOffer, excludeRivals } from "./excludeRivals.ts";
import { findChangeQuota } from "./kinds/changeQuota.ts";
import { findDefragment } from "./kinds/defragment.ts";
import { findFixScheduler } from "./kinds/fixScheduler.ts";
import { findFixSource } from "./kinds/fixSource.ts";
import { findReclaim } from "./kinds/reclaim.ts";
import { reducibleFragmentation, type TriedPlan } from "./kinds/reducibleFragmentation.ts";
import { findRightSize } from "./kinds/rightSize.ts";
import { findScaleIn } from "./kinds/scaleIn.ts";
import { findShareGpu } from "./kinds/shareGpu.ts";
import { findUnblockGang } from "./kinds/unblockGang.ts";
import { findWastedWork } from "./kinds/wastedWork.ts";
import type { AdviceMoment } from "./moment.ts";
import type { Offer } from "./offer.ts";
import { createTrial } from "./whatIf/trial.ts";

/** All that one moment has to offer. */
export interface OffersFound {
  /** The most valuable first; no two for one need, and none that excludes another. */
  readonly offers: readonly Offer[];
  readonly withheld: readonly WithheldAdvice[];
  readonly reducibleFragmentation: Advice["reducibleFragmentation"];
}

const finders: Readonly<Record<AdviceKind, FindAdvice>> = {
  reclaim: findReclaim,
  defragment: findDefragment,
  release_idle: findWastedWork,
  scale_in: findScaleIn,
  change_quota: findChangeQuota,
  share_gpu: findShareGpu,
  right_size: findRightSize,
  unblock_gang: findUnblockGang,
  fix_scheduler: findFixScheduler,
  fix_source: findFixSource,
};

/** Finds, simulates and ranks the advice of one moment. Pure. */
export function findOffers(moment: AdviceMoment): OffersFound {
  const { analysis, settings } = moment;
  if (!analysis.snapshot.coverage.objects)
    return { offers: [], withheld: adviceKinds.map(nothingRead(settings)), reducibleFragmentation: new Map() };
  const trial = createTrial(moment);
  const withheld: WithheldAdvice[] = [];
  const worthIt: AssessedOffer[] = [];
  const moves: TriedPlan[] = [];
  for (const kind of adviceKinds) {
    if (settings.disabledKinds.includes(kind)) {
      withheld.push(disabledKind(kind));
      continue;
    }
    const found = finders[kind](moment, trial);
    withheld.push(...found.withheld);
    for (const candidate of found.candidates) {
      const assessed = assess(moment, trial, candidate);
      if (assessed.ok) {
        worthIt.push({ candidate, offer: assessed.offer });
        const { before } = assessed.offer.draft.effect;
        if (kind === "defragment") moves.push({ candidate, before, outcomes: assessed.outcomes });
      } else withheld.push(assessed.withheld);
    }
  }
  const { kept, excluded } = excludeRivals(moment, trial, worthIt);
  return {
    offers: kept,
    withheld: [...withheld, ...excluded].map(boundedWithheld),
    reducibleFragmentation: reducibleInEachPool(analysis, moves),
  };
}

/** Without objects it is not known what could be moved, and for whom. */
const nothingRead =
  ({ disabledKinds }: AdviceMoment["settings"]) =>
  (kind: AdviceKind): WithheldAdvice => {
    if (disabledKinds.includes(kind)) return disabledKind(kind);
    const reason =
      "nodes and pods of the Kubernetes API are not known: nobody can say what could be moved, and for whom";
    return { kind, subject: "", why: "no-plan", reason };
  };

/** For pools in which nothing can be moved it is 0. */
function reducibleInEachPool({ placement }: Analysis, moves: readonly TriedPlan[]): ReadonlyMap<string, number> {
  const found = reducibleFragmentation(moves);
  return new Map(placement.pools.map(({ pool }) => [pool, found.get(pool) ?? 0]));
}
