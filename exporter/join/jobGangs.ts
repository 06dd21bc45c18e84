import { apiGroup } from "../model/apiGroup.ts";
import type { OwnerObject } from "../model/cluster.ts";
import type { OwnerRef, Pod } from "../model/pod.ts";
import { podLabels } from "../model/wellKnown.ts";
import { mayOwn } from "./workloadOf.ts";

/** The gang that a pod is in because a controller made it for a job whose pods start together. */
export interface JobGang {
  /** Kind, namespace and name of the job: `PyTorchJob research/train`. */
  readonly id: string;
  /** The controller that created the pod: the gang of a JobSet has pods of several. */
  readonly controller: string;
  /** The fewest of that controller's pods that start together; `null`: all pods that there are. */
  readonly pods: number | null;
}

/** Controllers whose pods work together whatever numbers their specification has. */
const trainingKinds: ReadonlySet<string> = new Set([
  "PyTorchJob.kubeflow.org",
  "TFJob.kubeflow.org",
  "MPIJob.kubeflow.org",
  "JAXJob.kubeflow.org",
  "PaddleJob.kubeflow.org",
  "XGBoostJob.kubeflow.org",
]);

/** Owners of Jobs whose pods start together. */
const kindsOfJobs: ReadonlySet<string> = new Set(["JobSet.jobset.x-k8s.io", "TrainJob.trainer.kubeflow.org"]);

const kindOf = ({ kind, apiVersion }: Pick<OwnerRef, "kind" | "apiVersion">): string =>
  `${kind}.${apiGroup(apiVersion)}`;

/** Whether a pod may be in the gang of a job: by its controller, never by its labels alone. */
export function mayBeInJobGang({ owner, labels }: Pod): boolean {
  if (owner === null) return false;
  if (owner.kind === "Job") return labels[podLabels.jobIndex] !== undefined;
  return owner.kind === "RayCluster" || trainingKinds.has(kindOf(owner));
}

/**
 * The gang of a pod by the object whose controller made it; `null` if that makes none. A training job whose specification
 * cannot be read is a gang of all its pods. A Job is a gang only if it is known to work on all its indexes at once, and a
 * RayCluster only if it is known to be made for one RayJob.
 */
export function jobGangOf(pod: Pod, owners: ReadonlyMap<string, OwnerObject>): JobGang | null {
  const { owner } = pod;
  if (owner === null || !mayBeInJobGang(pod)) return null;
  const found = owners.get(owner.uid);
  const object = found !== undefined && mayOwn(found, pod) ? found : undefined;
  const pods = object?.gangPods ?? null;
  const gang = ({ kind, name }: OwnerRef): JobGang => ({
    id: `${kind} ${pod.namespace}/${name}`,
    controller: owner.uid,
    pods,
  });
  const kind = kindOf(owner);
  if (trainingKinds.has(kind)) return gang(owner);
  if (kind === "RayCluster.ray.io") {
    const above = object?.owner ?? null;
    return above !== null && kindOf(above) === "RayJob.ray.io" ? gang(above) : null;
  }
  return kind === "Job.batch" && pods !== null ? gang(topOfJobs(pod, owner, owners)) : null;
}

/** The JobSet or TrainJob that a Job is part of, if it is known; else the Job itself. */
function topOfJobs(pod: Pod, job: OwnerRef, owners: ReadonlyMap<string, OwnerObject>): OwnerRef {
  const above = owners.get(job.uid)?.owner ?? null;
  if (above === null || !kindsOfJobs.has(kindOf(above))) return job;
  const object = owners.get(above.uid);
  const next = object !== undefined && mayOwn(object, pod) ? object.owner : null;
  return next !== null && kindsOfJobs.has(kindOf(next)) ? next : above;
}
