import type { GpuNode } from "./gpuNodes.ts";

const gpu = "nvidia.com/gpu";

export const nodes: readonly GpuNode[] = ["a", "b", "c"].map((letter) => ({
  name: `a100-${letter}`,
  product: "NVIDIA-A100-SXM4-80GB",
  gpus: 8,
}));

/** A queue of `scheduling.run.ai/v2`. */
export interface KaiQueueWanted {
  readonly name: string;
  readonly parent?: string;
  readonly quota: number;
  /** -1: none. */
  readonly limit: number;
  readonly overQuotaWeight: number;
  readonly priority?: number;
}

export function queueObject({ name, parent, quota, limit, overQuotaWeight, priority }: KaiQueueWanted): object {
  const unlimited = { quota: -1, limit: -1, overQuotaWeight: 1 };
  return {
    apiVersion: "scheduling.run.ai/v2",
    kind: "Queue",
    metadata: { name },
    spec: {
      displayName: `${name} (GPU)`,
      ...(parent === undefined ? {} : { parentQueue: parent }),
      ...(priority === undefined ? {} : { priority }),
      resources: { gpu: { quota, limit, overQuotaWeight }, cpu: unlimited, memory: unlimited },
    },
  };
}

/** Pods of one owner, in the namespace `team-QUEUE`. */
export interface KaiJob {
  readonly queue: string;
  readonly name: string;
  readonly pods: number;
  readonly gpus: number;
  /** A PyTorchJob, whose pods KAI starts together; else a Job, whose pods start one by one. */
  readonly gang?: boolean;
  /** `train` where KAI's default holds: preemptible. */
  readonly priorityClass?: string;
}

interface Owner {
  readonly path: string;
  readonly body: object;
  readonly apiVersion: string;
  readonly kind: string;
}

const podSpec = (gpus: number): object => ({
  restartPolicy: "Never",
  schedulerName: "kai-scheduler",
  containers: [
    {
      name: "main",
      image: "none",
      resources: { requests: { cpu: "2", memory: "4Gi" }, limits: { [gpu]: String(gpus) } },
    },
  ],
});

const labelsOf = ({ queue, priorityClass }: KaiJob): Readonly<Record<string, string>> => ({
  "kai.scheduler/queue": queue,
  ...(priorityClass === undefined ? {} : { priorityClassName: priorityClass }),
});

export function ownerOf(job: KaiJob): Owner {
  const { queue, name, pods, gpus, gang = false } = job;
  const apiVersion = gang ? "kubeflow.org/v1" : "batch/v1";
  const kind = gang ? "PyTorchJob" : "Job";
  const template = { metadata: { labels: labelsOf(job) }, spec: podSpec(gpus) };
  const spec = gang
    ? { pytorchReplicaSpecs: { Worker: { replicas: pods, restartPolicy: "Never", template } } }
    : { parallelism: pods, completions: pods, template };
  return {
    path: `/apis/${apiVersion}/namespaces/team-${queue}/${kind.toLowerCase()}s`,
    body: { apiVersion, kind, metadata: { name, labels: labelsOf(job) }, spec },
    apiVersion,
    kind,
  };
}

/** A pod as the owner's controller would make it. */
export function podObject(job: KaiJob, index: number, uid: string): object {
  const { apiVersion, kind } = ownerOf(job);
  const roles = job.gang
    ? { "training.kubeflow.org/job-name": job.name, "training.kubeflow.org/replica-type": "worker" }
    : { "batch.kubernetes.io/job-name": job.name };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: `${job.name}-${index}`,
      labels: { ...labelsOf(job), ...roles },
      ownerReferences: [{ apiVersion, kind, name: job.name, uid, controller: true }],
    },
    spec: podSpec(job.gpus),
  };
}
