import { apiGroup } from "../model/apiGroup.ts";
import type { Pod } from "../model/pod.ts";
import { podLabels } from "../model/wellKnown.ts";
import type { WorkloadClass } from "./snapshot.ts";
import { type OwnerChain, ownerRefsOf } from "./workloadOf.ts";

/** A class, and what it was guessed from, where nothing says it. */
export interface FoundClass {
  readonly workloadClass: WorkloadClass;
  /** In words; absent where the class is known. */
  readonly classGuess?: string;
}

/** Kinds whose class is known, by name; by name and group where others use the name for something else. */
const classes: ReadonlyMap<string, WorkloadClass> = new Map([
  ...of("serving", "Deployment", "ReplicaSet", "ReplicationController", "StatefulSet", "DaemonSet", "LeaderWorkerSet"),
  // Argo Rollouts, KServe, Knative, KubeRay, NVIDIA's NIM operator and Dynamo, Seldon Core 1 and 2.
  ...of(
    "serving",
    "Rollout",
    "InferenceService",
    "LLMInferenceService",
    "RayService",
    "NIMService",
    "SeldonDeployment",
  ),
  ...of("serving", "Service", "Configuration", "Revision", "DynamoGraphDeployment", "DynamoComponentDeployment"),
  ...of("serving", "Model.mlops.seldon.io", "Server.mlops.seldon.io"),
  ...of(
    "batch",
    "Pod",
    "Job",
    "CronJob",
    "ScaledJob",
    "JobSet",
    "TrainJob",
    "RayJob",
    "RayCluster",
    "SparkApplication",
  ),
  ...of("batch", "PyTorchJob", "TFJob", "MPIJob", "JAXJob", "PaddleJob", "XGBoostJob", "Workflow.argoproj.io"),
  ...of("batch", "Notebook", "TaskRun.tekton.dev", "PipelineRun.tekton.dev"),
]);

function of(workloadClass: WorkloadClass, ...kinds: readonly string[]): readonly (readonly [string, WorkloadClass])[] {
  return kinds.map((kind) => [kind, workloadClass] as const);
}

/** It runs what it holds, whatever that is. */
const wrappers: ReadonlySet<string> = new Set(["AppWrapper"]);

/**
 * Batch or serving: by the label of the pod or of an owner, else by the highest owner whose kind is known, read or only named.
 * Where an unknown kind is above a server it serves, as far as anybody can say; where no kind is known it counts as
 * batch, unless it waits to be asked. Work of both may be quiet for as long as servers may. A job runs to its end whoever made it.
 */
export function workloadClassOf(pod: Pod, chain: OwnerChain): FoundClass {
  for (const object of [pod, ...chain.owners]) {
    const label = object.labels[podLabels.workloadClass];
    if (label === "batch" || label === "serving") return { workloadClass: label };
  }
  const kinds = kindsOf(pod, chain);
  const place = kinds.findIndex(({ known }) => known !== undefined);
  const found = kinds[place];
  const top = kinds.find(({ kind }) => !wrappers.has(kind))?.kind ?? "";
  if (pod.isProbedServer === true && (found === undefined || found.kind === "Pod"))
    return { workloadClass: "serving", classGuess: "it has a port and a readiness probe" };
  if (found?.known === undefined) return { workloadClass: "batch", classGuess: `nothing is known of the kind ${top}` };
  const isSure = found.known === "batch" || kinds.slice(0, place).every(({ kind }) => wrappers.has(kind));
  if (isSure) return { workloadClass: found.known };
  return { workloadClass: found.known, classGuess: `a ${found.kind} of a ${top} runs it` };
}

interface KindOfChain {
  readonly kind: string;
  readonly known: WorkloadClass | undefined;
}

/** The kinds of a chain from the top: the workload, which a label may name, then the owners that are named. */
function kindsOf(pod: Pod, chain: OwnerChain): readonly KindOfChain[] {
  const refs = ownerRefsOf(pod, chain).toReversed();
  const [top] = refs;
  const { kind, name } = chain.workload;
  const isNamed = top?.kind === kind && top.name === name;
  const kinds = isNamed ? refs : [{ kind, apiVersion: "" }, ...refs];
  return kinds.map((one) => ({
    kind: one.kind,
    known: classes.get(one.kind) ?? classes.get(`${one.kind}.${apiGroup(one.apiVersion)}`),
  }));
}
