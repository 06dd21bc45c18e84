import { findSickGpus } from "../../analysis/health/findSickGpus.ts";
import type { NodeView, PodView } from "../../join/snapshot.ts";
import type { MeasuredEffect, Undone } from "../../model/recommendation.ts";
import { undoneSince } from "../disruptionUnits.ts";
import type { AdviceSettings } from "../moment.ts";
import type { MomentIndex } from "../momentIndex.ts";
import type { DisruptedPod, MeasuredBy, Offer } from "../offer.ts";
import { allocatedGpus, isTakenBack } from "./signs.ts";

/** Follows taken advice until its horizon is over: what it gained, what was lost for it, and whether it was undone. */
export interface TakenFollower {
  /** Takes the first look at advice, in the moment in which it was found to be taken. */
  begin(offer: Offer, moment: MomentIndex, at: number): MeasuredEffect;
  /**
   * Takes one more look; returns the same value if nothing has changed. `isUnderWay`: a person reports that it is done, and the
   * cluster had not shown all of it before. Whatever still stops is then a loss of the plan, and a setting that is as it was
   * before was not taken back.
   */
  goOn(
    offer: Offer,
    closedAt: number,
    before: MeasuredEffect,
    moment: MomentIndex,
    at: number,
    isUnderWay?: boolean,
  ): MeasuredEffect;
}

/** What the last look at one piece of advice left for comparison; a new process begins with a first look of its own. */
interface LastLook {
  /** Pods that hold GPUs now, of work that the plan moved or let start. */
  readonly placed: readonly PlacedPod[];
  /** Pods that the plan is to stop and that still hold GPUs. */
  readonly toStop: readonly DisruptedPod[];
  readonly gained: number;
  /** The least that released work has asked for since the first look, physical GPUs. */
  readonly leastWanted: number;
}

interface PlacedPod {
  /** The name of its work, as signs and measures write it. */
  readonly work: string;
  readonly uid: string;
  readonly pod: PodView;
}

const tolerance = 1e-6;

/** Measures that show by a decrease that something came back. */
const comesBack: ReadonlySet<MeasuredBy["kind"]> = new Set(["nodes-removed", "gpus-drained", "observed"]);

/** Nobody takes longer than this to carry out a plan, seconds: the plan did not place what was bound earlier. */
const longestPlanSeconds = 3600;
const secondsPerHour = 3600;

/** Makes a follower: the gain is measured for the cool-down, and what undoes it is looked for until the horizon is over. */
export function createTakenFollower(settings: AdviceSettings): TakenFollower {
  const looks = new WeakMap<Offer, LastLook>();
  const coolDownSeconds = settings.coolDownMinutes * 60;

  function look(offer: Offer, takenAt: number, gained: number, moment: MomentIndex): LastLook {
    const { measuredBy } = offer;
    const wanted = measuredBy.kind === "work-released" ? wantedBy(measuredBy.work, moment) : 0;
    const leastWanted = Math.min(wanted, looks.get(offer)?.leastWanted ?? wanted);
    const toStop = offer.disrupted.filter(({ uid }) => moment.allocated(uid) !== undefined);
    return { placed: placedPods(offer, takenAt, moment), toStop, gained, leastWanted };
  }

  return {
    begin(offer, moment, at) {
      const gainedGpus = measuredGpus(offer.measuredBy, moment);
      looks.set(offer, look(offer, at, gainedGpus, moment));
      const lostGpuHours = measuredLoss(offer.disrupted, moment, at, settings.restartMinutes);
      return { gainedGpus, lostGpuHours, at, isFinal: false, undone: null };
    },
    goOn(offer, closedAt, before, moment, at, isUnderWay = false) {
      const age = at - closedAt;
      if (before.isFinal && age > settings.horizonHours * secondsPerHour) return before;
      const gainedNow = measuredGpus(offer.measuredBy, moment);
      const last = looks.get(offer) ?? look(offer, closedAt, gainedNow, moment);
      looks.set(offer, look(offer, closedAt, gainedNow, moment));
      const evicted = evictedPods(last.placed, moment);
      const stopped = isUnderWay ? measuredLoss(last.toStop, moment, at, settings.restartMinutes) : 0;
      const lost = evicted.reduce(
        (sum, { pod }) =>
          sum + lostGpuHours(pod.gpus ?? 0, undoneSince(pod, undefined, at), at, settings.restartMinutes),
        stopped,
      );
      const shown = isUnderWay ? { ...offer, signs: [] } : offer;
      const undone = before.undone ?? undoneNow(shown, last, gainedNow, evicted, moment, at);
      // Work that has started ends at some time: if less of it runs after the cool-down, this is not the fault of the plan.
      const gainedGpus = before.isFinal ? before.gainedGpus : gainedNow;
      const isSame = before.isFinal && lost === 0 && undone === before.undone;
      if (isSame) return before;
      const isFinal = before.isFinal || age >= coolDownSeconds;
      return { gainedGpus, lostGpuHours: before.lostGpuHours + lost, at, isFinal, undone };
    },
  };
}

/** Physical GPUs that the beneficiary of advice has gained by now: the quantity that was predicted. */
function measuredGpus(by: MeasuredBy, moment: MomentIndex): number {
  const { pods, devices } = moment.analysis.snapshot;
  switch (by.kind) {
    case "work-started":
      return allocatedBy(by.work, moment);
    case "work-released":
      return Math.max(0, by.gpus - allocatedBy(by.work, moment));
    case "work-restarted":
      return by.pods.reduce((sum, { uid, gpus }) => (moment.allocated(uid) === undefined ? sum + gpus : sum), 0);
    case "nodes-removed":
      return by.nodes.reduce((sum, { name, gpus }) => (isIn(moment.node(name)) ? sum : sum + gpus), 0);
    case "gpus-drained": {
      if (!isIn(moment.node(by.node))) return by.gpus.reduce((sum, { gpus }) => sum + gpus, 0);
      const all = findSickGpus(moment.analysis.snapshot);
      const sick = all.filter(({ node, tier }) => node === by.node && tier !== "watch");
      return by.gpus.reduce((sum, { uuid, gpus }) => (sick.some((one) => one.uuid === uuid) ? sum : sum + gpus), 0);
    }
    case "whole-nodes":
      return by.nodes.reduce((sum, name) => {
        const node = moment.node(name);
        return node !== undefined && node.allocatedByPods === 0 ? sum + (node.physicalGpus ?? 0) : sum;
      }, 0);
    case "observed": {
      const nodes = new Set(by.nodes);
      return devices
        .filter(({ node, reading }) => reading !== null && nodes.has(node))
        .flatMap(({ holders }) => holders)
        .filter(({ pod }) => pods[pod] !== undefined)
        .reduce((sum, { share }) => sum + share, 0);
    }
  }
}

/** Whether a node exists and takes pods. */
const isIn = (node: NodeView | undefined): boolean => node !== undefined && node.schedulable !== false;

/** Physical GPUs that pods of this work hold. Each workload counts once, by whichever name it is known. */
function allocatedBy(work: readonly string[], moment: MomentIndex): number {
  const { pods } = moment.analysis.snapshot;
  const found = new Set(work.flatMap((name) => moment.workloads(name)));
  return [...found].reduce((sum, workload) => sum + allocatedGpus(workload, pods), 0);
}

/**
 * GPU-hours of work that has to be done again for the pods that have left their nodes without having ended by themselves: the
 * time from their start or last checkpoint until `at`, and the restart itself.
 */
function measuredLoss(
  disrupted: readonly DisruptedPod[],
  moment: MomentIndex,
  at: number,
  restartMinutes: number,
): number {
  const { endedPods } = moment.analysis.snapshot;
  return disrupted
    .filter(({ uid }) => moment.allocated(uid) === undefined && !endedPods.has(uid))
    .reduce((sum, { gpus, workSince }) => sum + lostGpuHours(gpus, workSince, at, restartMinutes), 0);
}

/**
 * GPU-hours that are lost with a pod at a moment: its work since `workSince` (`null`: nothing has to be done again), and its
 * restart.
 */
function lostGpuHours(gpus: number, workSince: number | null, at: number, restartMinutes: number): number {
  const work = workSince === null ? 0 : Math.max(0, at - workSince) / 3600;
  return gpus * (work + restartMinutes / 60);
}

/** What undoes the plan in this moment, and how many physical GPUs that concerns; `null` if nothing does. */
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
  const goesBack = comesBack.has(measuredBy.kind) ? less : back;
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

/**
 * Pods that hold GPUs now, of work that the plan let start or moved. A plan that defragments has a place for every pod that it
 * moves.
 */
function placedPods(
  { draft, disrupted, measuredBy }: Offer,
  takenAt: number,
  moment: MomentIndex,
): readonly PlacedPod[] {
  const moved = new Set(draft.kind === "defragment" ? disrupted.map(({ work }) => work) : []);
  const started = measuredBy.kind === "work-started" ? measuredBy.work : [];
  const { pods } = moment.analysis.snapshot;
  const found = new Map<string, PlacedPod>();
  const toStop = new Set(disrupted.map(({ uid }) => uid));
  for (const work of [...moved, ...started])
    for (const index of moment.workloads(work).flatMap((one) => one.pods)) {
      const pod = pods[index];
      if (pod?.status !== "allocated" || pod.uid === null || toStop.has(pod.uid)) continue;
      // Other pods of the same work were there before the plan.
      const isNew = !moved.has(work) || (pod.boundAt ?? takenAt) >= takenAt - longestPlanSeconds;
      if (isNew) found.set(pod.uid, { work, uid: pod.uid, pod });
    }
  return [...found.values()];
}

/**
 * Pods that have lost their place since the last look: they are gone without having ended, while their work goes on. Pods that
 * serve requests count only if something of their work waits for a place now, because a new version replaces pods, too.
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
