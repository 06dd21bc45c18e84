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
/** By which people count their runs, or date them: `train-7`, `train-2026-11-23`. */
const countedEnd = /(?:[-.]\d+)+$/;

/** The name without what a generator or a count put at its end: `train-2026-11-23-x7kq2` is `train`. At least one part stays. */
export const runStem = (name: string): string => stemOfName(name).replace(countedEnd, "") || name;

/**
 * By what work is known again when its pods, or the Job that ran it, are others: a CronJob, Deployment or Notebook by its name,
 * what is made anew for each run by the stem of its name. Of one team's work of one namespace only.
 */
export function habitKey({ kind, namespace, name }: Pick<WorkloadView, "kind" | "namespace" | "name">): string {
  const known = madeAnew.has(kind) ? runStem(name) : name;
  return `${kind}/${namespace}/${known}`.slice(0, longestKey);
}
