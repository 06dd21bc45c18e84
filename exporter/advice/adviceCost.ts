import type { Snapshot } from "../join/snapshot.ts";
import type { AdviceCost } from "../model/recommendation.ts";
import type { Candidate } from "./candidate.ts";
import { type DisruptionUnit, undoneSince, unitsWith } from "./disruptionUnits.ts";
import type { AdviceMoment } from "./moment.ts";
import { workloadName } from "./momentIndex.ts";
import type { DisruptedPod } from "./offer.ts";

const noCost: AdviceCost = { pods: 0, gangs: 0, lostGpuHours: 0, isUpperBound: false, teams: [] };

/**
 * What a plan costs those whom it touches. Each unit of its disrupted pods counts whole, with the work since its last
 * checkpoint, or else since its start, whether its GPUs are busy now or not. Only pods that are known to have done nothing
 * since they were bound, and serving pods, lose no more than their restart.
 */
export function adviceCost(moment: AdviceMoment, candidate: Pick<Candidate, "disrupted" | "untouched">): AdviceCost {
  const { disrupted, untouched = [] } = candidate;
  if (disrupted.length === 0) return noCost;
  const { pods } = moment.analysis.snapshot;
  const units = unitsWith(moment, disrupted);
  const teams = new Set(units.flatMap((unit) => unit.pods).map((pod) => pods[pod]?.team ?? ""));
  const restart = moment.settings.restartMinutes / 60;
  const idle = new Set(untouched);
  const hasWork = (unit: DisruptionUnit): boolean => unit.pods.some((pod) => !idle.has(pod));
  return {
    pods: units.reduce((sum, unit) => sum + unit.pods.length, 0),
    gangs: units.filter(({ isGang }) => isGang).length,
    lostGpuHours: units.reduce((sum, unit) => sum + (hasWork(unit) ? unit.lostGpuHours : unit.gpus * restart), 0),
    isUpperBound: units.some((unit) => hasWork(unit) && unit.isUpperBound),
    teams: [...teams].filter((team) => team !== "").sort(),
  };
}

/**
 * The pods that a plan removes from their nodes, in a form in which they can be found again later, with what each of them loses
 * by the rules of `adviceCost`.
 */
export function disruptedPods(
  { pods, workloads, at }: Snapshot,
  { disrupted, untouched = [] }: Pick<Candidate, "disrupted" | "untouched">,
): readonly DisruptedPod[] {
  const idle = new Set(untouched);
  return disrupted.flatMap((index) => {
    const pod = pods[index];
    if (pod === undefined || pod.uid === null) return [];
    const workload = workloads[pod.workload];
    const work = workload === undefined ? "" : workloadName(workload);
    const workSince = idle.has(index) ? null : undoneSince(pod, workload, at);
    return [{ uid: pod.uid, work, gpus: pod.gpus ?? 0, workSince }];
  });
}
