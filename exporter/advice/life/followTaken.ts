import type { PodView } from "../../join/snapshot.ts";
import type { MeasuredEffect, Undone } from "../../model/recommendation.ts";
import type { AdviceSettings } from "../adviceSettings.ts";
import { undoneSince } from "../disruptionUnits.ts";
import type { Offer } from "../offer.ts";
import { lostGpuHours, measuredGpus, measuredLoss } from "./measure.ts";
import type { Sight } from "./sight.ts";
import { isTakenBack } from "./signs.ts";

/** Follows taken advice until its horizon is over: what it gained, what was lost for it, and whether it was undone. */
export interface TakenFollower {
  /** The first look, in the moment in which it was seen to be taken. */
  begin(offer: Offer, sight: Sight, at: number): MeasuredEffect;
  /** One more look; the same value where nothing has changed. */
  goOn(offer: Offer, closedAt: number, before: MeasuredEffect, sight: Sight, at: number): MeasuredEffect;
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

  function look(offer: Offer, takenAt: number, gained: number, sight: Sight): LastLook {
    const { measuredBy } = offer;
    const wanted = measuredBy.kind === "work-released" ? wantedBy(measuredBy.work, sight) : 0;
    const leastWanted = Math.min(wanted, looks.get(offer)?.leastWanted ?? wanted);
    return { placed: placedPods(offer, takenAt, sight), gained, leastWanted };
  }

  return {
    begin(offer, sight, at) {
      const gainedGpus = measuredGpus(offer.measuredBy, sight);
      looks.set(offer, look(offer, at, gainedGpus, sight));
      const lostGpuHours = measuredLoss(offer.disrupted, sight, at, settings.restartMinutes);
      return { gainedGpus, lostGpuHours, at, isFinal: false, undone: null };
    },
    goOn(offer, closedAt, before, sight, at) {
      const age = at - closedAt;
      if (before.isFinal && age > settings.horizonHours * secondsPerHour) return before;
      const gainedNow = measuredGpus(offer.measuredBy, sight);
      const last = looks.get(offer) ?? look(offer, closedAt, gainedNow, sight);
      looks.set(offer, look(offer, closedAt, gainedNow, sight));
      const evicted = evictedPods(last.placed, sight);
      const lost = evicted.reduce(
        (sum, { pod }) =>
          sum + lostGpuHours(pod.gpus ?? 0, undoneSince(pod, undefined, at), at, settings.restartMinutes),
        0,
      );
      const undone = before.undone ?? undoneNow(offer, last, gainedNow, evicted, sight, at);
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
  sight: Sight,
  at: number,
): Undone | null {
  const less = Math.max(0, last.gained - gained);
  if (evicted.length > 0)
    return { how: "evicted-again", at, gpus: evicted.reduce((sum, { pod }) => sum + (pod.gpus ?? 0), 0) };
  if (signs.some((sign) => isTakenBack(sign, sight))) return { how: "changed-back", at, gpus: less };
  const back = measuredBy.kind === "work-released" ? wantedBy(measuredBy.work, sight) - last.leastWanted : 0;
  const goesBack = measuredBy.kind === "nodes-removed" || measuredBy.kind === "observed" ? less : back;
  return goesBack > tolerance ? { how: "came-back", at, gpus: goesBack } : null;
}

/** Physical GPUs that work holds or waits for, by whichever of its names it is known. */
function wantedBy(work: readonly string[], sight: Sight): number {
  const { pods, queueing } = sight.analysis.snapshot;
  const found = [...new Set(work.flatMap((name) => sight.workloads(name)))];
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
function placedPods({ draft, disrupted, measuredBy }: Offer, takenAt: number, sight: Sight): readonly PlacedPod[] {
  const moved = new Set(draft.kind === "defragment" ? disrupted.map(({ work }) => work) : []);
  const started = measuredBy.kind === "work-started" ? measuredBy.work : [];
  const { pods } = sight.analysis.snapshot;
  const found = new Map<string, PlacedPod>();
  for (const work of [...moved, ...started])
    for (const index of sight.workloads(work).flatMap((one) => one.pods)) {
      const pod = pods[index];
      if (pod?.status !== "held" || pod.uid === null) continue;
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
function evictedPods(placed: readonly PlacedPod[], sight: Sight): readonly PlacedPod[] {
  const { pods, endedPods, queueing } = sight.analysis.snapshot;
  return placed.filter(({ work, uid, pod }) => {
    if (sight.held(uid) !== undefined || endedPods.has(uid)) return false;
    const now = sight.workloads(work).flatMap((one) => one.pods);
    const waits =
      now.some((index) => pods[index]?.status === "pending") ||
      queueing.gangs.some((gang) => gang.bound === 0 && isOf([work], gang));
    return waits || (pod.workloadClass !== "serving" && now.length > 0);
  });
}
