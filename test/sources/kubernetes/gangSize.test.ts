import { describe, expect, it } from "vitest";
import { decodeOwner } from "../../../exporter/sources/kubernetes/decodeOwner.ts";

const metadata = { name: "train", namespace: "research", uid: "uid-train" };

function sizeOf(apiVersion: string, kind: string, spec: object): number | undefined {
  const decoded = decodeOwner({ apiVersion, kind, metadata, spec });
  if (!decoded.ok) throw new Error(decoded.problem.message);
  return decoded.value.gangPods;
}

const template = (gpus: number | null) => ({
  spec: { containers: [{ name: "main", resources: gpus === null ? {} : { limits: { "nvidia.com/gpu": gpus } } }] },
});
const replicas = (count: number | null, gpus: number | null = 8) => ({
  ...(count === null ? {} : { replicas: count }),
  template: template(gpus),
});
const job = (spec: object) => sizeOf("batch/v1", "Job", { template: template(8), ...spec });
const training = (kind: string, specs: string, types: object, more: object = {}) =>
  sizeOf("kubeflow.org/v1", kind, { [specs]: types, ...more });

describe("the pods of a controller that start together", () => {
  it("are those of an Indexed Job that works on all indexes at once", () => {
    expect(job({ completionMode: "Indexed", completions: 4, parallelism: 4 })).toBe(4);
    expect(job({ completionMode: "Indexed", completions: 40, parallelism: 4 })).toBeUndefined();
    expect(job({ completionMode: "NonIndexed", completions: 4, parallelism: 4 })).toBeUndefined();
    expect(job({ parallelism: 4 })).toBeUndefined();
  });

  it("are all replicas with GPUs of a training job; who only looks on is none", () => {
    const types = { Chief: replicas(null), Worker: replicas(3), PS: replicas(2, null), Evaluator: replicas(1) };
    expect(training("TFJob", "tfReplicaSpecs", types)).toBe(4);
    const mpi = { Launcher: replicas(1), Worker: replicas(4) };
    expect(sizeOf("kubeflow.org/v2beta1", "MPIJob", { mpiReplicaSpecs: mpi })).toBe(4);
  });

  it("are no more than an elastic job, or its scheduling policy, needs", () => {
    const types = { Worker: replicas(4) };
    const size = (more: object) => training("PyTorchJob", "pytorchReplicaSpecs", types, more);
    expect(size({ elasticPolicy: { minReplicas: 2, maxReplicas: 8 } })).toBe(2);
    expect(size({ elasticPolicy: { rdzvBackend: "c10d" } })).toBe(4);
    expect(size({ runPolicy: { schedulingPolicy: { minAvailable: 3 } } })).toBe(3);
  });

  it("are the workers of a RayCluster; of one that scales itself the fewest", () => {
    const spec = {
      headGroupSpec: { template: template(null) },
      workerGroupSpecs: [
        { groupName: "a", replicas: 3, minReplicas: 1, maxReplicas: 4, numOfHosts: 2, template: template(8) },
        { groupName: "cpu", replicas: 9, template: template(null) },
      ],
    };
    expect(sizeOf("ray.io/v1", "RayCluster", spec)).toBe(6);
    expect(sizeOf("ray.io/v1", "RayCluster", { ...spec, enableInTreeAutoscaling: true })).toBe(2);
  });

  it("are one group of a LeaderWorkerSet, without a leader that has no GPU", () => {
    const of = (leaderWorkerTemplate: object) =>
      sizeOf("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", { replicas: 3, leaderWorkerTemplate });
    expect(of({ size: 4, workerTemplate: template(8) })).toBe(4);
    expect(of({ size: 4, workerTemplate: template(8), leaderTemplate: template(8) })).toBe(4);
    expect(of({ size: 4, workerTemplate: template(8), leaderTemplate: template(null) })).toBe(3);
    expect(of({ size: 4, workerTemplate: template(null) })).toBeUndefined();
  });

  it("are not known of metadata, of other kinds, or of what is not understood; its owner is known all the same", () => {
    const asked = { apiVersion: "kubeflow.org/v1", kind: "PyTorchJob" };
    expect(decodeOwner({ kind: "PartialObjectMetadata", metadata }, asked)).toMatchObject({ ok: true });
    expect(training("PyTorchJob", "pytorchReplicaSpecs", { Worker: replicas(4, null) })).toBeUndefined();
    expect(training("PyTorchJob", "pytorchReplicaSpecs", { Worker: "four" })).toBeUndefined();
    expect(sizeOf("example.com/v1", "PyTorchJob", { pytorchReplicaSpecs: { Worker: replicas(4) } })).toBeUndefined();
    expect(sizeOf("apps/v1", "Deployment", { replicas: 4, template: template(8) })).toBeUndefined();
  });
});
