/** Owners of pods with GPUs, as the API server must take them to have them changed by advice. */

const gpu = "nvidia.com/gpu";
const container = (name: string) => ({ name, image: "none", resources: { limits: { [gpu]: "2" } } });
const template = (restartPolicy: string, name = "main") => ({
  metadata: { labels: { app: "work" } },
  spec: { restartPolicy, containers: [container(name)] },
});
const job = { parallelism: 2, completions: 2, template: template("Never") };
const selected = { replicas: 2, selector: { matchLabels: { app: "work" } }, template: template("Always") };
const ray = { headGroupSpec: { rayStartParams: {}, template: template("Always") } };
const replicas = (name: string) => ({ replicas: 2, restartPolicy: "Never", template: template("Never", name) });

/** One object of a kind. */
export interface OwnerSample {
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
  readonly spec: object;
}

const sample = (apiVersion: string, kind: string, plural: string, spec: object): OwnerSample => ({
  apiVersion,
  kind,
  plural,
  spec,
});

/** Those with resource definitions of their projects, and the built-in ones. */
export const ownerSamples: readonly OwnerSample[] = [
  sample("batch/v1", "Job", "jobs", job),
  sample("apps/v1", "Deployment", "deployments", selected),
  sample("apps/v1", "ReplicaSet", "replicasets", selected),
  sample("apps/v1", "StatefulSet", "statefulsets", { ...selected, serviceName: "work" }),
  sample("jobset.x-k8s.io/v1alpha2", "JobSet", "jobsets", {
    replicatedJobs: [{ name: "workers", replicas: 1, template: { spec: job } }],
  }),
  sample("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", "leaderworkersets", {
    replicas: 2,
    leaderWorkerTemplate: { size: 2, workerTemplate: template("Always") },
  }),
  sample("trainer.kubeflow.org/v1alpha1", "TrainJob", "trainjobs", { runtimeRef: { name: "torch" } }),
  sample("kubeflow.org/v1", "PyTorchJob", "pytorchjobs", { pytorchReplicaSpecs: { Worker: replicas("pytorch") } }),
  sample("kubeflow.org/v1", "TFJob", "tfjobs", { tfReplicaSpecs: { Worker: replicas("tensorflow") } }),
  sample("kubeflow.org/v1", "XGBoostJob", "xgboostjobs", { xgbReplicaSpecs: { Worker: replicas("xgboost") } }),
  sample("kubeflow.org/v1", "PaddleJob", "paddlejobs", { paddleReplicaSpecs: { Worker: replicas("paddle") } }),
  sample("kubeflow.org/v1", "JAXJob", "jaxjobs", { jaxReplicaSpecs: { Worker: replicas("jax") } }),
  sample("kubeflow.org/v2beta1", "MPIJob", "mpijobs", { mpiReplicaSpecs: { Worker: replicas("mpi") } }),
  sample("ray.io/v1", "RayCluster", "rayclusters", ray),
  sample("ray.io/v1", "RayJob", "rayjobs", { entrypoint: "true", shutdownAfterJobFinishes: true, rayClusterSpec: ray }),
  // Without definitions of their projects: any content is taken.
  sample("kubeflow.org/v1", "Notebook", "notebooks", { template: template("Always") }),
  sample("serving.kserve.io/v1", "InferenceService", "inferenceservices", { predictor: {} }),
  sample("batch.volcano.sh/v1alpha1", "Job", "jobs", {
    minAvailable: 2,
    tasks: [{ name: "worker", replicas: 2, template: template("Never") }],
  }),
];
