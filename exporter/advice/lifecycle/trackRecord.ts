import { adviceActs } from "../../model/adviceAct.ts";
import {
  type AdviceTrackRecord,
  type Aftermath,
  type AftermathOutcome,
  aftermathOutcomes,
} from "../../model/aftermath.ts";
import { adviceKinds } from "../../model/recommendation.ts";
import type { AdviceSettings } from "../moment.ts";
import type { MomentIndex } from "../momentIndex.ts";
import { aftermathOf, isFollowed } from "./aftermath.ts";
import type { LivingOffer } from "./livingAdvice.ts";
import { secondsPerDay } from "./restAfter.ts";

/** How recommendations turned out lately. */
export interface TrackRecords {
  /**
   * Determines what became of the named work, in advice that was taken and in advice that was not. Returns the advice whose
   * result is known now.
   */
  follow(all: readonly LivingOffer[], moment: MomentIndex, at: number): readonly LivingOffer[];
  /** By kind and act, of those that were known within the last 30 days before `at`; only where there are any. */
  at(at: number): readonly AdviceTrackRecord[];
}

const windowSeconds = 30 * secondsPerDay;
const mostKept = 10_000;

/** Begins with what the ledger kept. */
export function createTrackRecords(
  { horizonHours }: Pick<AdviceSettings, "horizonHours">,
  stored: readonly LivingOffer[],
): TrackRecords {
  let known: (Aftermath & Pick<AdviceTrackRecord, "kind" | "act">)[] = [];
  function note({ aftermath, offer }: LivingOffer): void {
    if (aftermath === null) return;
    const { kind, act } = offer.draft;
    known = [...known.slice(-mostKept + 1), { ...aftermath, kind, act }];
  }
  for (const living of stored) note(living);
  return {
    follow: (all, moment, at) =>
      all.filter((living) => {
        if (!isFollowed(living)) return false;
        living.aftermath = aftermathOf(living, moment, at, horizonHours);
        note(living);
        return living.aftermath !== null;
      }),
    at(at) {
      known = known.filter((one) => at - one.at <= windowSeconds);
      return adviceKinds.flatMap((kind) =>
        adviceActs.flatMap((act) => {
          const own = known.filter((one) => one.kind === kind && one.act === act);
          if (own.length === 0) return [];
          const regretGpuHours = own.reduce((sum, one) => sum + one.regretGpuHours, 0);
          return [{ kind, act, outcomes: countOutcomes(own), regretGpuHours }];
        }),
      );
    },
  };
}

function countOutcomes(all: readonly Aftermath[]): Readonly<Record<AftermathOutcome, number>> {
  const counts: Record<AftermathOutcome, number> = { "came-back": 0, "evicted-again": 0, stayed: 0, ended: 0 };
  for (const outcome of aftermathOutcomes) counts[outcome] = all.filter((one) => one.outcome === outcome).length;
  return counts;
}
