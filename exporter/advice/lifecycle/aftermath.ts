import type { Analysis } from "../../analysis/analysis.ts";
import type { Device, WorkloadView } from "../../join/snapshot.ts";
import type { Aftermath } from "../../model/aftermath.ts";
import { type MomentIndex, momentIndex } from "../momentIndex.ts";
import type { LivingOffer } from "./livingAdvice.ts";

/** Whether what becomes of its work is still to be seen: of idle work always, of all else once it was taken. */
export const isFollowed = ({ aftermath, offer, state }: LivingOffer): boolean =>
  aftermath === null && (offer.draft.kind === "release_idle" || state === "taken");

/**
 * What became of the work that a recommendation named, as soon as it is known: of idle work from when it was shown, whether
 * anybody followed it or not; of any other plan that was taken, by what undid it. `null` while it is not known yet.
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
    // Work that someone stopped is to be gone.
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

/** Whether a GPU of a pod that looked busy and computed nothing does compute. */
const computesNow = (pod: number, analysis: Analysis): boolean => isBusy(pod, analysis, ({ stall }) => stall === null);

/** Indices of the pods that still hold what they held. */
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
