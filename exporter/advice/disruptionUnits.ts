import type { Analysis } from "../analysis/analysis.ts";
import type { PodView, WorkloadView } from "../join/snapshot.ts";
import { oncePer } from "../kernel/once.ts";
import type { AdviceMoment } from "./moment.ts";
import { momentIndex } from "./momentIndex.ts";

/** Pods that leave their nodes together or not at all: a gang, the pods of one workload that only stop together, or one pod. */
export interface DisruptionUnit {
  /** Indices into `Snapshot.pods`; all of them hold GPUs. */
  readonly pods: readonly number[];
  /** Index into `Snapshot.workloads`. */
  readonly workload: number;
  readonly isGang: boolean;
  /** Physical GPUs that its pods hold together. */
  readonly gpus: number;
  /**
   * Work that has to be repeated if they are stopped now (reference: cost of a disruption): for all pods together, GPUs x the
   * time since the later of start and last checkpoint, plus GPUs x the time of a restart; for serving work, only the restart.
   */
  readonly lostGpuHours: number;
  /** Whether no checkpoint is known for one of the pods, so that all of its work since its start is counted. */
  readonly isUpperBound: boolean;
}

/** The units of a moment, and where each pod is among them. */
interface UnitsOfMoment {
  readonly restartMinutes: number;
  readonly units: readonly DisruptionUnit[];
  /**
   * Index into `units`, by index into `Snapshot.pods`; -1 for a pod that is in none. It is computed when it is first asked for.
   */
  unitOfPod: Int32Array | null;
}

const known = new WeakMap<Analysis, UnitsOfMoment>();

/** The units of a moment, in the order of their first pods; a pod that only telemetry names is in none. Pure. */
export function disruptionUnits(moment: AdviceMoment): readonly DisruptionUnit[] {
  return unitsOf(moment).units;
}

/** The units that have any of these pods (indices into `Snapshot.pods`), in the order of `disruptionUnits`. Pure. */
export function unitsWith(moment: AdviceMoment, pods: readonly number[]): readonly DisruptionUnit[] {
  const found = unitsOf(moment);
  found.unitOfPod ??= placesOf(found.units, moment.analysis.snapshot.pods.length);
  const wanted = new Set<number>();
  for (const pod of pods) wanted.add(found.unitOfPod[pod] ?? -1);
  // The order is always the same, so that sums over them are exactly equal whatever the order of the pods.
  return [...wanted].sort((a, b) => a - b).flatMap((unit) => found.units[unit] ?? []);
}

function placesOf(units: readonly DisruptionUnit[], podCount: number): Int32Array {
  const places = new Int32Array(podCount).fill(-1);
  for (let place = 0; place < units.length; place += 1) for (const pod of units[place]?.pods ?? []) places[pod] = place;
  return places;
}

function unitsOf({ analysis, settings: { restartMinutes } }: AdviceMoment): UnitsOfMoment {
  const before = known.get(analysis);
  if (before?.restartMinutes === restartMinutes) return before;
  const units = groupPods(analysis).map((group) => ({ ...group, ...costOf(group, analysis, restartMinutes) }));
  const found: UnitsOfMoment = { restartMinutes, units, unitOfPod: null };
  known.set(analysis, found);
  return found;
}

/** Seconds of work that are taken to be lost for a pod whose start is unknown. */
const unknownStartSeconds = 7 * 86_400;

/**
 * Since when the work of a pod would have to be repeated, seconds since the epoch: its last checkpoint, or else its start,
 * whatever its GPUs do now. `null` for pods that serve requests and so have nothing to repeat; a guess that they do is not
 * enough.
 */
export function undoneSince(
  pod: Pick<PodView, "boundAt" | "createdAt" | "checkpointedAt" | "workloadClass" | "classGuess">,
  workload: Pick<WorkloadView, "createdAt"> | undefined,
  at: number,
): number | null {
  if (pod.workloadClass === "serving" && pod.classGuess === undefined) return null;
  const created = pod.createdAt ?? workload?.createdAt ?? at - unknownStartSeconds;
  return Math.max(pod.boundAt ?? created, pod.checkpointedAt ?? Number.NEGATIVE_INFINITY);
}

function costOf({ pods, workload }: PodGroup, analysis: Analysis, restartMinutes: number) {
  const { snapshot } = analysis;
  const index = momentIndex(analysis);
  let [gpus, seconds, isUpperBound] = [0, 0, false];
  for (const pod of pods) {
    const view = snapshot.pods[pod];
    if (view === undefined) continue;
    let allocated = 0;
    for (const device of index.devicesOf(pod))
      for (const holder of snapshot.devices[device]?.holders ?? []) if (holder.pod === pod) allocated += holder.share;
    gpus += allocated;
    const since = undoneSince(view, snapshot.workloads[workload], snapshot.at);
    if (since === null) continue;
    if (view.checkpointedAt === null) isUpperBound = true;
    seconds += allocated * Math.max(0, snapshot.at - since);
  }
  return { gpus, lostGpuHours: seconds / 3600 + (gpus * restartMinutes) / 60, isUpperBound };
}

/** Pods that hold GPUs and leave their nodes together or not at all. */
export interface PodGroup {
  /** Indices into `Snapshot.pods`, ascending. */
  readonly pods: readonly number[];
  /** Index into `Snapshot.workloads`: the workload of the first pod. */
  readonly workload: number;
  readonly isGang: boolean;
}

/**
 * The pods of a moment that hold GPUs, in groups, in the order of their first pods. A gang is one; the pods of a controller
 * that is stopped as a whole (Job, JobSet, training jobs, unknown controllers) are one; pods that are replaced one by one
 * (Deployment, StatefulSet, Notebook) and bare pods are each one. A pod that telemetry alone names is in none.
 */
export const groupPods = oncePer(({ snapshot: { pods, workloads } }: Analysis): readonly PodGroup[] => {
  const found: { pods: number[]; workload: number; isGang: boolean }[] = [];
  const places = new Map<string | number, number>();
  for (let i = 0; i < pods.length; i += 1) {
    const pod = pods[i];
    if (pod === undefined || pod.status !== "allocated" || pod.uid === null || pod.needs === null) continue;
    const key = groupKey(pod, workloads[pod.workload]);
    const known = key === null ? undefined : places.get(key);
    const group = known === undefined ? undefined : found[known];
    if (group !== undefined) {
      group.pods.push(i);
      continue;
    }
    const place = found.push({ pods: [i], workload: pod.workload, isGang: pod.gang !== null }) - 1;
    if (key !== null) places.set(key, place);
  }
  return found;
});

/** Controllers that replace each of their pods alone. */
const replacing: ReadonlySet<string> = new Set([
  "ReplicaSet",
  "ReplicationController",
  "Deployment",
  "StatefulSet",
  "Notebook",
  "DaemonSet",
  "Node",
]);
/** Controllers whose StatefulSets have pods that run together. */
const groupsOfSets: ReadonlySet<string> = new Set(["LeaderWorkerSet"]);
/** Controllers that make one Job after the other, each with pods of its own. */
const repeating: ReadonlySet<string> = new Set(["CronJob"]);

/** A key that is equal for pods that leave together; `null`: the pod leaves alone. */
function groupKey({ gang, owner, workload }: PodView, view: WorkloadView | undefined): string | number | null {
  if (gang !== null) return `gang ${gang.id}`;
  if (owner === null || view === undefined) return null;
  if (replacing.has(owner.kind) && !groupsOfSets.has(view.kind)) return null;
  return repeating.has(view.kind) ? `owner ${owner.uid}` : workload;
}
