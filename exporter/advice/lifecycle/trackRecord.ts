import type { Analysis } from "../../analysis/analysis.ts";
import type { Device, WorkloadView } from "../../join/snapshot.ts";
import { adviceActs } from "../../model/adviceAct.ts";
import {
  type AdviceTrackRecord,
  type Aftermath,
  type AftermathOutcome,
  aftermathOutcomes,
} from "../../model/aftermath.ts";
import { adviceKinds } from "../../model/recommendation.ts";
import type { AdviceSettings } from "../moment.ts";
import { type MomentIndex, momentIndex } from "../momentIndex.ts";
import { type LivingOffer, secondsPerDay } from "./livingAdvice.ts";

/** How recommendations turned out lately. */
export interface TrackRecords {
  /**
   * Determines what became of the work that advice named, whether the advice was taken or not. Returns the advice whose outcome
   * is known now.
   */
  follow(all: readonly LivingOffer[], moment: MomentIndex, at: number): readonly LivingOffer[];
  /**
   * The records by kind and act, from the outcomes that became known within the 30 days before `at`; only kinds and acts with
   * outcomes are included.
   */
  at(at: number): readonly AdviceTrackRecord[];
}

const windowSeconds = 30 * secondsPerDay;
const mostKept = 10_000;

/** Makes track records that begin with what the ledger has stored. */
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

/**
 * Whether the outcome of advice is still to be determined: always for idle work, and for all other advice once it was taken.
 */
export const isFollowed = ({ aftermath, offer, state }: LivingOffer): boolean =>
  aftermath === null && (offer.draft.kind === "release_idle" || state === "taken");

/**
 * What became of the work that a recommendation named. Idle work is followed from the time at which the recommendation was
 * opened, whether it was carried out or not. For any other plan that was taken, what undid it decides. `null`: it is not known
 * yet.
 */
export function aftermathOf(
  living: LivingOffer,
  moment: MomentIndex,
  at: number,
  horizonHours: number,
): Aftermath | null {
  const { offer, state, measured } = living;
  const isIdleWork = offer.draft.kind === "release_idle";
  const regretGpuHours = measured?.lostGpuHours ?? offer.draft.cost.lostGpuHours;
  if (offer.measuredBy.kind === "work-restarted") {
    const allocated = allocatedIndices(offer.measuredBy.pods, moment.analysis);
    if (allocated.some((pod) => computesNow(pod, moment.analysis))) return { outcome: "came-back", at, regretGpuHours };
    if (allocated.length === 0 && state !== "taken") return { outcome: "ended", at, regretGpuHours: 0 };
  } else if (isIdleWork) {
    const work = namedWork(living, moment);
    if (work.some((one) => worksNow(one, moment.analysis))) return { outcome: "came-back", at, regretGpuHours };
    // Work that a person stopped is expected to be gone.
    if (work.length === 0 && state !== "taken") return { outcome: "ended", at, regretGpuHours: 0 };
  } else if (measured !== null && measured.undone !== null) {
    const outcome = measured.undone.how === "evicted-again" ? "evicted-again" : "came-back";
    return { outcome, at: measured.undone.at, regretGpuHours };
  }
  const begin = isIdleWork ? living.openedAt : living.closedAt;
  return begin === null || at - begin < horizonHours * 3600 ? null : { outcome: "stayed", at, regretGpuHours: 0 };
}

function namedWork({ offer: { measuredBy } }: LivingOffer, moment: MomentIndex): readonly WorkloadView[] {
  return measuredBy.kind === "work-released" ? measuredBy.work.flatMap((name) => moment.workloads(name)) : [];
}

/** Whether something runs on what a workload holds. */
const worksNow = ({ pods }: WorkloadView, analysis: Analysis): boolean => pods.some((pod) => isBusy(pod, analysis));

/** Whether a GPU computes again on which a pod looked busy and computed nothing. */
const computesNow = (pod: number, analysis: Analysis): boolean => isBusy(pod, analysis, ({ stall }) => stall === null);

/** Indices of the pods with these uids that still hold GPUs. */
function allocatedIndices(named: readonly { readonly uid: string }[], { snapshot }: Analysis): readonly number[] {
  const uids = new Set(named.map(({ uid }) => uid));
  return snapshot.pods.flatMap(({ uid, status }, index) =>
    uid !== null && status === "allocated" && uids.has(uid) ? [index] : [],
  );
}

function isBusy(pod: number, analysis: Analysis, isMeant: (device: Device) => boolean = () => true): boolean {
  return momentIndex(analysis)
    .devicesOf(pod)
    .some((place) => {
      const device = analysis.snapshot.devices[place];
      const holding = device?.holders.find((holder) => holder.pod === pod);
      return device?.idleNow === false && holding?.estimated === false && isMeant(device);
    });
}
