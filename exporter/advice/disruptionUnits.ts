import type { Analysis } from "../analysis/analysis.ts";
import type { AdviceMoment } from "./moment.ts";
import { groupPods, type PodGroup } from "./podGroups.ts";
import { momentIndex } from "./whatIf/momentIndex.ts";

/** Pods that leave their nodes together or not at all: a gang, the pods of one workload that only stop together, or one pod. */
export interface DisruptionUnit {
  /** Indices into `Snapshot.pods`, ascending; all of them held. */
  readonly pods: readonly number[];
  /** Index into `Snapshot.workloads`. */
  readonly workload: number;
  readonly isGang: boolean;
  /** Physical GPUs that they hold together. */
  readonly gpus: number;
  /**
   * Work that is done again if they are stopped now (reference: cost of a disruption): of all its pods together, GPUs x (now
   * - the later of start and last checkpoint), and GPUs x the time of a restart; of serving work only that.
   */
  readonly lostGpuHours: number;
  /** No checkpoint is known for one of them: its start stands in. */
  readonly isUpperBound: boolean;
}

const units = new WeakMap<Analysis, { readonly restartMinutes: number; readonly units: readonly DisruptionUnit[] }>();

/** The units of a moment, in the order of their first pods; a pod that telemetry alone names is in none. Pure. */
export function disruptionUnits({ analysis, settings }: AdviceMoment): readonly DisruptionUnit[] {
  const known = units.get(analysis);
  if (known?.restartMinutes === settings.restartMinutes) return known.units;
  const found = groupPods(analysis).map((group) => ({ ...group, ...costOf(group, analysis, settings.restartMinutes) }));
  units.set(analysis, { restartMinutes: settings.restartMinutes, units: found });
  return found;
}

/** Of a pod that does not say since when it runs: seconds for which its work is taken to be lost. */
const unknownStartSeconds = 7 * 86_400;

function costOf({ pods, workload }: PodGroup, analysis: Analysis, restartMinutes: number) {
  const { snapshot } = analysis;
  const index = momentIndex(analysis);
  let [gpus, seconds, isUpperBound] = [0, 0, false];
  for (const pod of pods) {
    const view = snapshot.pods[pod];
    if (view === undefined) continue;
    let held = 0;
    for (const device of index.devicesOf(pod))
      for (const holder of snapshot.devices[device]?.holders ?? []) if (holder.pod === pod) held += holder.share;
    const created = view.createdAt ?? snapshot.workloads[workload]?.createdAt ?? snapshot.at - unknownStartSeconds;
    const since = Math.max(view.boundAt ?? created, view.checkpointedAt ?? Number.NEGATIVE_INFINITY);
    gpus += held;
    // Who serves requests has nothing to do again.
    if (view.workloadClass === "serving") continue;
    if (view.checkpointedAt === null) isUpperBound = true;
    seconds += held * Math.max(0, snapshot.at - since);
  }
  return { gpus, lostGpuHours: seconds / 3600 + (gpus * restartMinutes) / 60, isUpperBound };
}
