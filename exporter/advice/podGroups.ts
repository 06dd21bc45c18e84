import type { Analysis } from "../analysis/analysis.ts";
import type { PodView, WorkloadView } from "../join/snapshot.ts";

/** Pods that hold GPUs and leave their nodes together or not at all. */
export interface PodGroup {
  /** Indices into `Snapshot.pods`, ascending. */
  readonly pods: readonly number[];
  /** Index into `Snapshot.workloads`: that of the first. */
  readonly workload: number;
  readonly isGang: boolean;
}

const groups = new WeakMap<Analysis, readonly PodGroup[]>();

/**
 * The pods of a moment that hold GPUs, in groups, in the order of their first pods. A gang is one; the pods of a controller
 * that is stopped as a whole (Job, JobSet, training jobs, unknown controllers) are one; pods that are replaced one by one
 * (Deployment, StatefulSet, Notebook) and bare pods are each one. A pod that telemetry alone names is in none.
 */
export function groupPods(analysis: Analysis): readonly PodGroup[] {
  const known = groups.get(analysis) ?? findGroups(analysis);
  groups.set(analysis, known);
  return known;
}

function findGroups({ snapshot: { pods, workloads } }: Analysis): readonly PodGroup[] {
  const found: { pods: number[]; workload: number; isGang: boolean }[] = [];
  const places = new Map<string | number, number>();
  for (const [i, pod] of pods.entries()) {
    if (pod.status !== "allocated" || pod.uid === null || pod.needs === null) continue;
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
}

/** Controllers that replace each of their pods by itself. */
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

/** The same for pods that leave together; `null`: it leaves alone. */
function groupKey({ gang, owner, workload }: PodView, view: WorkloadView | undefined): string | number | null {
  if (gang !== null) return `gang ${gang.id}`;
  if (owner === null || view === undefined) return null;
  if (replacing.has(owner.kind) && !groupsOfSets.has(view.kind)) return null;
  return repeating.has(view.kind) ? `owner ${owner.uid}` : workload;
}
