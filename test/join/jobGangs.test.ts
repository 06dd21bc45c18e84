import { describe, expect, it } from "vitest";
import type { OwnerObject } from "../../exporter/model/cluster.ts";
import type { Pod } from "../../exporter/model/pod.ts";
import { decodeOwner } from "../../exporter/sources/kubernetes/decodeOwner.ts";
import { analysisAt, hour, momentOf, pageAt, physicalGpu } from "../advice/usage/watchedCluster.ts";
import { adviceOf, nothing, only } from "../advice/wholeAdvice.ts";
import { gpuNode, gpuPod, now, owner, ownerRef } from "./clusterBuilder.ts";

/** An object as the API server gives it. */
function objectOf(value: { readonly apiVersion: string; readonly kind: string; readonly spec: object }, name: string) {
  const metadata = { name, namespace: "research", uid: `uid-${name}`, creationTimestamp: "2027-01-15T00:00:00Z" };
  const decoded = decodeOwner({ ...value, metadata });
  if (!decoded.ok) throw new Error(decoded.problem.message);
  return decoded.value;
}

const template = {
  spec: { containers: [{ name: "pytorch", image: "trainer", resources: { limits: { "nvidia.com/gpu": 4 } } }] },
};

/** One master and three workers with four GPUs each. */
const pyTorchJob = (name: string, more: object = {}): OwnerObject =>
  objectOf(
    {
      apiVersion: "kubeflow.org/v1",
      kind: "PyTorchJob",
      spec: {
        pytorchReplicaSpecs: {
          Master: { replicas: 1, restartPolicy: "OnFailure", template },
          Worker: { replicas: 3, restartPolicy: "OnFailure", template },
        },
        ...more,
      },
    },
    name,
  );

const indexedJob = (name: string, parallelism: number, completions: number): OwnerObject =>
  objectOf(
    { apiVersion: "batch/v1", kind: "Job", spec: { completionMode: "Indexed", parallelism, completions, template } },
    name,
  );

/** Two pods on the node, and two that wait, all made by the same controller. */
function halfOf(by: OwnerObject, node: string, parts: Partial<Pod> = {}): readonly Pod[] {
  return [node, node, null, null].map((on, i) =>
    gpuPod(`${by.name}-${i}`, on, 4, {
      owner: ownerRef(by),
      createdAt: now - 1800,
      scheduledAt: on === null ? null : now - 1790,
      ...parts,
      labels: { "batch.kubernetes.io/job-completion-index": `${i}`, ...parts.labels },
    }),
  );
}

/** Two nodes of eight GPUs, each with half a job; `activity` is that of the first. */
function clusterOf(owners: readonly OwnerObject[], pods: readonly Pod[], activity = 0) {
  const telemetry = ["n1", "n2"].map((node) => {
    const own = pods.filter(({ nodeName }) => nodeName === node);
    const physicalGpus = own.flatMap(({ name }, p) =>
      [0, 1, 2, 3].map((i) => physicalGpu(`${node}-${4 * p + i}`, node === "n1" ? activity : 0, name)),
    );
    return pageAt(node, physicalGpus);
  });
  return { nodes: [gpuNode("n1", 8), gpuNode("n2", 8)], owners, pods, telemetry };
}

function analysisOf(owners: readonly OwnerObject[], pods: readonly Pod[], activity = 0) {
  return analysisAt(clusterOf(owners, pods, activity), now, {
    idleSince: new Map(
      ["n1", "n2"].flatMap((node) =>
        Array.from({ length: 8 }, (_, i) => [`${node}/${node}-${i}`, now - hour] as const),
      ),
    ),
  });
}

const adviceFor = (owners: readonly OwnerObject[], pods: readonly Pod[], activity = 0) =>
  adviceOf(momentOf(analysisOf(owners, pods, activity)));

describe("two half-started training jobs without a gang scheduler", () => {
  const jobs = [pyTorchJob("bert"), pyTorchJob("gpt")];
  const [bert, gpt] = jobs;
  if (bert === undefined || gpt === undefined) throw new Error("no jobs");
  const pods = [...halfOf(bert, "n1"), ...halfOf(gpt, "n2")];

  it("are partial gangs and a deadlocked pool, and what they hold waits", () => {
    const { waiting, pools } = analysisOf(jobs, pods);
    expect(waiting.partialGangs).toMatchObject([
      { id: "PyTorchJob research/bert", bound: 2, min: 4, allocatedGpus: 8, missingGpus: 8 },
      { id: "PyTorchJob research/gpt", bound: 2, min: 4, allocatedGpus: 8, missingGpus: 8 },
    ]);
    expect(waiting.deadlocks).toMatchObject([{ allocatedGpus: 16, missingGpus: 16, freeGpus: 0 }]);
    expect(pools[0]?.states).toMatchObject({ gang_wait: 16 });
  });

  it("one of them waits again as a whole, so that the other starts", () => {
    const advice = only(adviceFor(jobs, pods));
    // The two are alike but for their names, so that either may wait.
    const [stopped, started] = advice.title.startsWith("let research/gpt") ? ["gpt", "bert"] : ["bert", "gpt"];
    expect(advice).toMatchObject({
      kind: "unblock_gang",
      title: `let research/${stopped} (8 GPUs) wait again: then research/${started} (16 GPUs) starts`,
    });
    expect(advice.steps.map(({ request }) => request)).toMatchObject([
      {
        path: `/apis/kubeflow.org/v1/namespaces/research/pytorchjobs/${stopped}`,
        body: { metadata: { uid: `uid-${stopped}` }, spec: { runPolicy: { suspend: true } } },
      },
      { body: { spec: { runPolicy: { suspend: false } } } },
    ]);
  });

  it("neither, where someone asks to leave both alone", () => {
    const kept = pods.map((pod) => ({ ...pod, annotations: { "fairlead.dev/do-not-disrupt": "true" } }));
    expect(nothing(adviceFor(jobs, kept))).toContain("asks not to be disrupted");
  });

  it("are seen where their objects cannot be read, too: then all their pods belong together", () => {
    const { waiting } = analysisOf([], pods);
    expect(waiting.deadlocks).toMatchObject([{ allocatedGpus: 16, missingGpus: 16 }]);
  });

  it("are none where the pods only carry a job's label", () => {
    const labels = { "training.kubeflow.org/job-name": "bert", "training.kubeflow.org/replica-type": "worker" };
    const labelled = pods.map((pod) => ({ ...pod, owner: null, labels: { ...pod.labels, ...labels } }));
    const { waiting } = analysisOf(jobs, labelled);
    expect(waiting).toMatchObject({ partialGangs: [], deadlocks: [] });
  });

  it("are none where each needs two members at least, and has them (elasticPolicy)", () => {
    const policy = { elasticPolicy: { minReplicas: 2, maxReplicas: 4, rdzvBackend: "c10d" } };
    const elastic = [pyTorchJob("bert", policy), pyTorchJob("gpt", policy)];
    expect(analysisOf(elastic, pods).waiting).toMatchObject({ partialGangs: [], deadlocks: [] });
    expect(adviceFor(elastic, pods).recommendations).toEqual([]);
  });

  it("are none where one of them works all the same", () => {
    const { waiting } = analysisOf(jobs, pods, 0.9);
    expect(waiting.partialGangs.map(({ id }) => id)).toEqual(["PyTorchJob research/gpt"]);
    expect(waiting.deadlocks).toEqual([]);
  });

  it("is one partial gang and no deadlock where one job waits alone for capacity", () => {
    const other = gpuPod("other", "n2", 8, {
      owner: ownerRef(owner("Job", "other", null, { apiVersion: "batch/v1" })),
    });
    const { waiting } = analysisOf(jobs, [...halfOf(bert, "n1"), other]);
    expect(waiting.partialGangs.map(({ id }) => id)).toEqual(["PyTorchJob research/bert"]);
    expect(waiting.deadlocks).toEqual([]);
    expect(adviceFor(jobs, [...halfOf(bert, "n1"), other]).recommendations).toEqual([]);
  });
});

describe("half of the pods of", () => {
  const partialOf = (owners: readonly OwnerObject[]) => {
    const [one, other] = owners;
    if (one === undefined || other === undefined) throw new Error("two owners are needed");
    return analysisOf(owners, [...halfOf(one, "n1"), ...halfOf(other, "n2")]).waiting.partialGangs.map(({ id }) => id);
  };

  it("an Indexed Job that works on all its indexes at once are a partial gang", () => {
    expect(partialOf([indexedJob("a", 4, 4), indexedJob("b", 4, 4)])).toEqual(["Job research/a", "Job research/b"]);
  });

  it("a Job with more completions than pods at a time are none: each takes the next index", () => {
    expect(partialOf([indexedJob("a", 4, 40), indexedJob("b", 4, 40)])).toEqual([]);
  });

  it("a Deployment are none: each replica serves by itself", () => {
    const sets = ["a", "b"].map((name) => owner("ReplicaSet", name, null, { apiVersion: "apps/v1" }));
    expect(partialOf(sets)).toEqual([]);
  });

  it("the Jobs of a JobSet, or of the TrainJob above it, belong together", () => {
    const trainJob = owner("TrainJob", "llm", null, { apiVersion: "trainer.kubeflow.org/v1alpha1" });
    const jobSet = owner("JobSet", "llm", trainJob, { apiVersion: "jobset.x-k8s.io/v1alpha2" });
    const jobs = ["a", "b"].map((name) => ({ ...indexedJob(name, 4, 4), owner: ownerRef(jobSet) }));
    expect(partialOf([...jobs, jobSet, trainJob])).toEqual(["TrainJob research/llm"]);
  });

  it("a RayCluster are one only where a RayJob waits for all of it", () => {
    const spec = {
      headGroupSpec: { template: { spec: { containers: [{ name: "head" }] } } },
      workerGroupSpecs: [{ groupName: "gpu", replicas: 4, minReplicas: 4, maxReplicas: 4, template }],
    };
    const clusters = ["a", "b"].map((name) => objectOf({ apiVersion: "ray.io/v1", kind: "RayCluster", spec }, name));
    expect(partialOf(clusters)).toEqual([]);
    const rayJob = owner("RayJob", "tune", null, { apiVersion: "ray.io/v1" });
    const [first, ...others] = clusters;
    if (first === undefined) throw new Error("no cluster");
    expect(partialOf([{ ...first, owner: ownerRef(rayJob) }, ...others, rayJob])).toEqual(["RayJob research/tune"]);
  });
});
