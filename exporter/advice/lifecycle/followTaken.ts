import type { PodView } from "../../join/snapshot.ts";
import type { MeasuredEffect, Undone } from "../../model/recommendation.ts";
import type { AdviceSettings } from "../adviceSettings.ts";
import { undoneSince } from "../disruptionUnits.ts";
import type { Offer } from "../offer.ts";
import { lostGpuHours, measuredGpus, measuredLoss } from "./measure.ts";
import type { MomentIndex } from "./momentIndex.ts";
import { isTakenBack } from "./signs.ts";

/** Follows taken advice until its horizon is over: what it gained, what was lost for it, and whether it was undone. */
export interface TakenFollower {
  /** The first look, in the moment in which it was seen to be taken. */
  begin(offer: Offer, moment: MomentIndex, at: number): MeasuredEffect;
  /** One more look; the same value where nothing has changed. */
  goOn(offer: Offer, closedAt: number, before: MeasuredEffect, moment: MomentIndex, at: number): MeasuredEffect;
}

/** What the last look at one piece of advice left to be compared with; a new process begins with a first look of its own. */
interface LastLook {
  /** Pods that hold, of work that the plan moved or let start. */
  readonly placed: readonly PlacedPod[];
  readonly gained: number;
  /** The least that released work has asked for since, physical GPUs. */
  readonly leastWanted: number;
}

interface PlacedPod {
  /** As signs and measures name it. */
  readonly work: string;
  readonly uid: string;
  readonly pod: PodView;
}

const tolerance = 1e-6;
/** Nobody takes longer to carry out a plan: what was bound before was not placed by it. */
const longestPlanSeconds = 3600;
const secondsPerHour = 3600;

/** The gain is measured for the cool-down, what undoes it is looked for until the horizon is over. */
export function createTakenFollower(settings: AdviceSettings): TakenFollower {
  const looks = new WeakMap<Offer, LastLook>();
  const coolDownSeconds = settings.coolDownMinutes * 60;

  function look(offer: Offer, takenAt: number, gained: number, moment: MomentIndex): LastLook {
    const { measuredBy } = offer;
    const wanted = measuredBy.kind === "work-released" ? wantedBy(measuredBy.work, moment) : 0;
    const leastWanted = Math.min(wanted, looks.get(offer)?.leastWanted ?? wanted);
    return { placed: placedPods(offer, takenAt, moment), gained, leastWanted };
  }

  return {
    begin(offer, moment, at) {
      const gainedGpus = measuredGpus(offer.measuredBy, moment);
      looks.set(offer, look(offer, at, gainedGpus, moment));
      const lostGpuHours = measuredLoss(offer.disrupted, moment, at, settings.restartMinutes);
      return { gainedGpus, lostGpuHours, at, isFinal: false, undone: null };
    },
    goOn(offer, closedAt, before, moment, at) {
      const age = at - closedAt;
      if (before.isFinal && age > settings.horizonHours * secondsPerHour) return before;
      const gainedNow = measuredGpus(offer.measuredBy, moment);
      const last = looks.get(offer) ?? look(offer, closedAt, gainedNow, moment);
      looks.set(offer, look(offer, closedAt, gainedNow, moment));
      const evicted = evictedPods(last.placed, moment);
      const lost = evicted.reduce(
        (sum, { pod }) =>
          sum + lostGpuHours(pod.gpus ?? 0, undoneSince(pod, undefined, at), at, settings.restartMinutes),
        0,
      );
      const undone = before.undone ?? undoneNow(offer, last, gainedNow, evicted, moment, at);
      // Work that has started ends in the end: after the cool-down less of it is no fault of the plan.
      const gainedGpus = before.isFinal ? before.gainedGpus : gainedNow;
      const isSame = before.isFinal && lost === 0 && undone === before.undone;
      if (isSame) return before;
      const isFinal = before.isFinal || age >= coolDownSeconds;
      return { gainedGpus, lostGpuHours: before.lostGpuHours + lost, at, isFinal, undone };
    },
  };
}

/** What undoes the plan in this moment, and how many GPUs that are; `null` where nothing does. */
function undoneNow(
  { signs, measuredBy }: Offer,
  last: LastLook,
  gained: number,
  evicted: readonly PlacedPod[],
  moment: MomentIndex,
  at: number,
): Undone | null {
  const less = Math.max(0, last.gained - gained);
  if (evicted.length > 0)
    return { how: "evicted-again", at, gpus: evicted.reduce((sum, { pod }) => sum + (pod.gpus ?? 0), 0) };
  if (signs.some((sign) => isTakenBack(sign, moment))) return { how: "changed-back", at, gpus: less };
  const back = measuredBy.kind === "work-released" ? wantedBy(measuredBy.work, moment) - last.leastWanted : 0;
  const goesBack = measuredBy.kind === "nodes-removed" || measuredBy.kind === "observed" ? less : back;
  return goesBack > tolerance ? { how: "came-back", at, gpus: goesBack } : null;
}

/** Physical GPUs that work holds or waits for, by whichever of its names it is known. */
function wantedBy(work: readonly string[], moment: MomentIndex): number {
  const { pods, queueing } = moment.analysis.snapshot;
  const found = [...new Set(work.flatMap((name) => moment.workloads(name)))];
  const asked = found.flatMap((one) => one.pods).reduce((sum, index) => sum + (pods[index]?.gpus ?? 0), 0);
  // Work that waits for its quota has no pods.
  const queued = queueing.gangs.filter((gang) => gang.bound === 0 && gang.reservedAt === null && isOf(work, gang));
  const withPods = new Set(
    found.filter((one) => one.pods.length > 0).map(({ namespace, name }) => `${namespace}/${name}`),
  );
  return queued
    .filter(({ namespace, name }) => !withPods.has(`${namespace}/${name}`))
    .reduce((sum, { gpus }) => sum + (gpus ?? 0), asked);
}

type Named = { readonly uid: string; readonly kind: string; readonly namespace: string; readonly name: string };

const isOf = (work: readonly string[], { uid, kind, namespace, name }: Named): boolean =>
  work.includes(uid) || work.includes(`${kind}/${namespace}/${name}`);

/** Pods that hold now, of what the plan let start, or moved: a plan that defragments has a place for all that it takes away. */
function placedPods(
  { draft, disrupted, measuredBy }: Offer,
  takenAt: number,
  moment: MomentIndex,
): readonly PlacedPod[] {
  const moved = new Set(draft.kind === "defragment" ? disrupted.map(({ work }) => work) : []);
  const started = measuredBy.kind === "work-started" ? measuredBy.work : [];
  const { pods } = moment.analysis.snapshot;
  const found = new Map<string, PlacedPod>();
  for (const work of [...moved, ...started])
    for (const index of moment.workloads(work).flatMap((one) => one.pods)) {
      const pod = pods[index];
      if (pod?.status !== "allocated" || pod.uid === null) continue;
      // Others of the same work were where they are before.
      const isNew = !moved.has(work) || (pod.boundAt ?? takenAt) >= takenAt - longestPlanSeconds;
      if (isNew) found.set(pod.uid, { work, uid: pod.uid, pod });
    }
  return [...found.values()];
}

/**
 * Pods that have lost their place since the last look: gone without having ended, while their work goes on. Of what serves
 * requests only where something waits for a place now: a new version of it replaces pods, too.
 */
function evictedPods(placed: readonly PlacedPod[], moment: MomentIndex): readonly PlacedPod[] {
  const { pods, endedPods, queueing } = moment.analysis.snapshot;
  return placed.filter(({ work, uid, pod }) => {
    if (moment.allocated(uid) !== undefined || endedPods.has(uid)) return false;
    const now = moment.workloads(work).flatMap((one) => one.pods);
    const waits =
      now.some((index) => pods[index]?.status === "pending") ||
      queueing.gangs.some((gang) => gang.bound === 0 && isOf([work], gang));
    return waits || (pod.workloadClass !== "serving" && now.length > 0);
  });
}
