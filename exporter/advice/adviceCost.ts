import type { Snapshot } from "../join/snapshot.ts";
import type { AdviceCost } from "../model/recommendation.ts";
import type { Candidate } from "./candidate.ts";
import { unitsWith } from "./disruptionUnits.ts";
import { workloadName } from "./life/sight.ts";
import type { AdviceMoment } from "./moment.ts";
import type { DisruptedPod } from "./offer.ts";

const noCost: AdviceCost = { pods: 0, gangs: 0, lostGpuHours: 0, isUpperBound: false, teams: [] };

/**
 * What a plan costs those whom it touches: each unit of its disrupted pods counts whole. Work that its own team is asked to
 * let go because it does nothing has nothing to do again: only its restart counts, should it come back.
 */
export function adviceCost(moment: AdviceMoment, { kind, disrupted }: Candidate): AdviceCost {
  if (disrupted.length === 0) return noCost;
  const { pods } = moment.analysis.snapshot;
  const units = unitsWith(moment, disrupted);
  const teams = new Set(units.flatMap((unit) => unit.pods).map((pod) => pods[pod]?.team ?? ""));
  const isIdle = kind === "release_idle";
  const restart = moment.settings.restartMinutes / 60;
  return {
    pods: units.reduce((sum, unit) => sum + unit.pods.length, 0),
    gangs: units.filter(({ isGang }) => isGang).length,
    lostGpuHours: units.reduce((sum, unit) => sum + (isIdle ? unit.gpus * restart : unit.lostGpuHours), 0),
    isUpperBound: !isIdle && units.some((unit) => unit.isUpperBound),
    teams: [...teams].filter((team) => team !== "").sort(),
  };
}

/** The pods that a plan takes off their nodes, as they can be found again later. */
export function disruptedPods({ pods, workloads }: Snapshot, { kind, disrupted }: Candidate): readonly DisruptedPod[] {
  return disrupted.flatMap((index) => {
    const pod = pods[index];
    if (pod === undefined || pod.uid === null) return [];
    const { uid, gpus, boundAt, checkpointedAt, workloadClass } = pod;
    const hasNothingToDoAgain = kind === "release_idle" || workloadClass === "serving";
    const since = boundAt === null ? checkpointedAt : Math.max(boundAt, checkpointedAt ?? boundAt);
    const workload = workloads[pod.workload];
    const work = workload === undefined ? "" : workloadName(workload);
    return [{ uid, work, gpus: gpus ?? 0, workSince: hasNothingToDoAgain ? null : since }];
  });
}
