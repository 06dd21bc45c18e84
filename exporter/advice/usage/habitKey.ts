import type { WorkloadView } from "../../join/snapshot.ts";
import { stemOfName } from "../../kernel/stemOfName.ts";

/** Kinds that are made anew for each run: their names end in what a generator or a person counts up. */
const madeAnew: ReadonlySet<string> = new Set([
  "Job",
  "JobSet",
  "TrainJob",
  "PyTorchJob",
  "TFJob",
  "MPIJob",
  "XGBoostJob",
  "PaddleJob",
  "JAXJob",
  "RayJob",
  "Workflow",
  "PipelineRun",
  "TaskRun",
  "ReplicaSet",
  "Pod",
]);

const longestKey = 600;
/** What people add to count or date their runs: `train-7`, `train-2026-11-23`. */
const countedEnd = /(?:[-.]\d+)+$/;

/** The name without what a generator or a count put at its end: `train-2026-11-23-x7kq2` is `train`. At least one part stays. */
export const runStem = (name: string): string => stemOfName(name).replace(countedEnd, "") || name;

/**
 * What identifies work when its pods, or the Job that ran it, are new: a CronJob, Deployment or Notebook by its name, and work
 * that is created anew for each run by the stem of its name. Only within one team and namespace.
 */
export function habitKey({ kind, namespace, name }: Pick<WorkloadView, "kind" | "namespace" | "name">): string {
  const known = madeAnew.has(kind) ? runStem(name) : name;
  return `${kind}/${namespace}/${known}`.slice(0, longestKey);
}
