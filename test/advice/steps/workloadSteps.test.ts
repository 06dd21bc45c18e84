import { describe, expect, it } from "vitest";
import { movePods } from "../../../exporter/advice/steps/moveSteps.ts";
import { requeueWorkload, stopWorkload } from "../../../exporter/advice/steps/workloadSteps.ts";
import type { JobLimits, QueueObjectRef } from "../../../exporter/model/disruption.ts";
import { noQueueObjects } from "../../../exporter/model/queues/queueObjects.ts";
import { nodeView } from "../../analysis/momentBuilder.ts";
import { clusterQueue, workload as kueueWorkload } from "../../queues/kueueRows.ts";
import { momentOf, owner, reasonOf, sent, stepsOf, workloadMoment, workloadView } from "./stepMoment.ts";

const job = owner("batch/v1", "Job", "train");
const limits: JobLimits = { backoffLimit: 6, failed: 0, onDisruption: "Count", isSuspended: false };
const replicaSet = owner("apps/v1", "ReplicaSet", "llm-7f");
const deployment = owner("apps/v1", "Deployment", "llm");
const workloadRef: QueueObjectRef = {
  scheduler: "kueue",
  kind: "Workload",
  namespace: "research",
  name: "job-train-1a2b",
  uid: "uid-workload",
};

describe("stopping a workload", () => {
  it("deactivates its Workload where Kueue runs it", () => {
    const found = stopWorkload(workloadMoment([job], { job: limits, queueObject: workloadRef }), 0);
    expect(sent(found)).toEqual([
      [
        "PATCH",
        "/apis/kueue.x-k8s.io/v1beta2/namespaces/research/workloads/job-train-1a2b",
        { metadata: { uid: "uid-workload" }, spec: { active: false } },
      ],
    ]);
    expect(stepsOf(found)[0]?.waitFor).toContain("spec.active of the Workload to true");
  });

  it("speaks the version in which Kueue's objects were read", () => {
    const revision = { apiVersion: "kueue.x-k8s.io/v1beta1", uid: "q", generation: 1 };
    const queueObjects = { ...noQueueObjects, kueueClusterQueues: [clusterQueue("q", [], { revision })] };
    const moment = workloadMoment([job], { job: limits, queueObject: workloadRef }, { snapshot: { queueObjects } });
    expect(sent(stopWorkload(moment, 0))[0]?.[1]).toContain("/apis/kueue.x-k8s.io/v1beta1/");
  });

  it.each([
    ["a pod of a Deployment", [replicaSet, deployment], owner("v1", "Pod", "llm-0")],
    ["a pod of a job", [owner("kubeflow.org/v1", "PyTorchJob", "fit")], owner("v1", "Pod", "fit-0")],
    ["a group of pods", [owner("kubeflow.org/v1", "PyTorchJob", "fit")], null],
    ["someone else's job", [owner("kubeflow.org/v1", "PyTorchJob", "fit")], owner("batch/v1", "Job", "other")],
  ])("leaves a Workload alone that does not stand for all of it: %s", (_what, owners, of) => {
    const kueueWorkloads = [kueueWorkload("one", [], { uid: "uid-workload", owner: of })];
    const queueObjects = { ...noQueueObjects, kueueWorkloads };
    const moment = workloadMoment(owners, { queueObject: workloadRef }, { snapshot: { queueObjects } });
    expect(sent(stopWorkload(moment, 0))[0]?.[1]).not.toContain("workloads");
  });

  it("deactivates the Workload that its owner controls", () => {
    const farm = owner("example.com/v1", "Farm", "f");
    const kueueWorkloads = [kueueWorkload("one", [], { uid: "uid-workload", owner: farm })];
    const queueObjects = { ...noQueueObjects, kueueWorkloads };
    const moment = workloadMoment([farm], { queueObject: workloadRef }, { snapshot: { queueObjects } });
    expect(sent(stopWorkload(moment, 0))[0]?.[1]).toContain("/workloads/job-train-1a2b");
  });

  it.each([
    [job, "jobs/train", { suspend: true }],
    [owner("jobset.x-k8s.io/v1alpha2", "JobSet", "set"), "jobsets/set", { suspend: true }],
    [owner("kubeflow.org/v1", "PyTorchJob", "fit"), "pytorchjobs/fit", { runPolicy: { suspend: true } }],
    [owner("kubeflow.org/v2beta1", "MPIJob", "mpi"), "mpijobs/mpi", { runPolicy: { suspend: true } }],
    [owner("trainer.kubeflow.org/v1alpha1", "TrainJob", "t"), "trainjobs/t", { suspend: true }],
    [owner("ray.io/v1", "RayCluster", "ray"), "rayclusters/ray", { suspend: true }],
    [owner("apps/v1", "StatefulSet", "set"), "statefulsets/set", { replicas: 0 }],
    [owner("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", "lws"), "leaderworkersets/lws", { replicas: 0 }],
  ])("changes the spec of its owner: %j", (top, path, spec) => {
    const found = sent(stopWorkload(workloadMoment([top], { job: limits }), 0));
    expect(found).toEqual([
      ["PATCH", `/apis/${top.apiVersion}/namespaces/research/${path}`, { metadata: { uid: top.uid }, spec }],
    ]);
  });

  it("lets a LeaderWorkerSet wait again with as many groups as it had", () => {
    const top = owner("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", "lws");
    const gang = { id: "research/lws/0", min: 1, bound: 1, partialSince: null };
    const found = sent(requeueWorkload(workloadMoment([top], {}, { pods: 2, pod: { gang } }), 0));
    const patch = (from: number, to: number): unknown => [
      { op: "test", path: "/metadata/uid", value: top.uid },
      { op: "test", path: "/spec/replicas", value: from },
      { op: "replace", path: "/spec/replicas", value: to },
    ];
    const path = `/apis/${top.apiVersion}/namespaces/research/leaderworkersets/lws`;
    expect(found).toEqual([
      ["PATCH", path, patch(1, 0)],
      ["PATCH", path, patch(0, 1)],
    ]);
  });

  it("suspends a RayJob only where KubeRay allows it", () => {
    const found = stopWorkload(
      workloadMoment([owner("ray.io/v1", "RayCluster", "c"), owner("ray.io/v1", "RayJob", "r")]),
      0,
    );
    expect(sent(found)[0]?.[2]).toContainEqual({ op: "test", path: "/spec/shutdownAfterJobFinishes", value: true });
  });

  it("marks Notebooks and InferenceServices as stopped", () => {
    const notebook = owner("kubeflow.org/v1", "Notebook", "nb");
    const chain = [owner("apps/v1", "StatefulSet", "nb"), notebook];
    expect(JSON.stringify(sent(stopWorkload(workloadMoment(chain), 0)))).toMatch(
      /"annotations":\{"kubeflow-resource-stopped":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"\}/,
    );
    const service = owner("serving.kserve.io/v1beta1", "InferenceService", "s");
    expect(JSON.stringify(sent(stopWorkload(workloadMoment([replicaSet, service]), 0)))).toContain(
      '"serving.kserve.io/stop":"true"',
    );
  });

  it("gives Volcano's controller a command for a Job of Volcano", () => {
    const found = sent(stopWorkload(workloadMoment([owner("batch.volcano.sh/v1alpha1", "Job", "v")]), 0));
    expect(found).toMatchObject([
      [
        "POST",
        "/apis/bus.volcano.sh/v1alpha1/namespaces/research/commands",
        { kind: "Command", action: "AbortJob", target: { kind: "Job", name: "v", uid: "uid-v" } },
      ],
    ]);
  });

  it("suspends the Job that a CronJob made, and no other", () => {
    const cron = owner("batch/v1", "CronJob", "nightly");
    const one = workloadMoment([job, cron], { job: limits });
    expect(sent(stopWorkload(one, 0))[0]?.[1]).toBe("/apis/batch/v1/namespaces/research/jobs/train");
  });

  it.each([
    ["a bare pod", workloadMoment([]), "bare pod"],
    [
      "a kind that nothing is known of",
      workloadMoment([owner("example.com/v1", "Farm", "f")]),
      "a Farm of example.com/v1",
    ],
    ["a kind of that name in another group", workloadMoment([owner("example.com/v1", "Job", "f")]), "example.com/v1"],
    ["a Job that could not be read", workloadMoment([job]), "could not be read"],
    ["a Job that is suspended", workloadMoment([job], { job: { ...limits, isSuspended: true } }), "suspended already"],
    [
      "an owner below the one that is known by label",
      workloadMoment([job], { kind: "JobSet", name: "set" }),
      "could not be read up to itself",
    ],
    [
      "a ReplicaSet whose Deployment is not known",
      workloadMoment([replicaSet], {}, { pod: { labels: { "pod-template-hash": "7f" } } }),
      "Deployment",
    ],
    ["a name that is none", workloadMoment([owner("apps/v1", "StatefulSet", "a; rm -rf")]), "nothing is known"],
    ["a place where there is no workload", momentOf({ workloads: [] }), "not there"],
  ])("says why not: %s", (_what, moment, reason) => {
    expect(reasonOf(stopWorkload(moment, 0))).toContain(reason);
  });
});

describe("letting a workload wait again", () => {
  it("takes its pods away before it is let in again", () => {
    const found = requeueWorkload(workloadMoment([job], { job: limits, queueObject: workloadRef }), 0);
    expect(sent(found).map(([, , body]) => body)).toEqual([
      { metadata: { uid: "uid-workload" }, spec: { active: false } },
      { metadata: { uid: "uid-workload" }, spec: { active: true } },
    ]);
    expect(stepsOf(found)[0]?.waitFor).toBe("All its pods are gone.");
  });

  it("has no way for a Deployment, which no queue takes as a whole", () => {
    expect(reasonOf(requeueWorkload(workloadMoment([replicaSet, deployment]), 0))).toContain("no switch");
  });
});

describe("moving pods", () => {
  const nodes = [nodeView({ name: "n", uid: "uid-n" }), nodeView({ name: "m", uid: "uid-m" })];

  it("keeps them off the nodes that they leave, evicts each, and opens the nodes again", () => {
    const moment = workloadMoment([replicaSet, deployment], {}, { pods: 2, snapshot: { nodes } });
    const found = movePods(moment, [[0], [1]], [0]);
    const eviction = (name: string, uid: string) => [
      "POST",
      `/api/v1/namespaces/research/pods/${name}/eviction`,
      {
        apiVersion: "policy/v1",
        kind: "Eviction",
        metadata: { name, namespace: "research" },
        deleteOptions: { preconditions: { uid } },
      },
    ];
    expect(sent(found)).toEqual([
      ["PATCH", "/api/v1/nodes/n", { metadata: { uid: "uid-n" }, spec: { unschedulable: true } }],
      eviction("pod-0", "pod-uid-0"),
      eviction("pod-1", "pod-uid-1"),
      ["PATCH", "/api/v1/nodes/n", { metadata: { uid: "uid-n" }, spec: { unschedulable: false } }],
    ]);
    expect(stepsOf(found)[1]?.waitFor).toContain("steering is advisory");
  });

  it("waits for new pods only after the last of a gang has left", () => {
    const moment = workloadMoment([replicaSet, deployment], {}, { pods: 2, snapshot: { nodes } });
    const [, first, last] = stepsOf(movePods(moment, [[0, 1]], [0]));
    expect(first?.waitFor).toBeNull();
    expect(last?.waitFor).toContain("runs on another node");
  });

  it("leaves a node cordoned that someone else had cordoned", () => {
    const cordoned = [nodeView({ name: "n", uid: "uid-n", schedulable: false })];
    const moment = workloadMoment([replicaSet, deployment], {}, { snapshot: { nodes: cordoned } });
    expect(sent(movePods(moment, [[0]], [0])).map(([verb]) => verb)).toEqual(["POST"]);
  });

  it("restarts a Job whole and once, since an evicted pod of it may count as failed", () => {
    const moment = workloadMoment([job], { job: limits, queueObject: workloadRef }, { pods: 2, snapshot: { nodes } });
    expect(sent(movePods(moment, [[0, 1]], [])).map(([, path]) => path)).toEqual([
      "/apis/kueue.x-k8s.io/v1beta2/namespaces/research/workloads/job-train-1a2b",
      "/apis/kueue.x-k8s.io/v1beta2/namespaces/research/workloads/job-train-1a2b",
    ]);
    expect(reasonOf(movePods(moment, [[0]], []))).toContain("1 of its pods need not move");
  });

  it.each([
    ["a bare pod", []],
    ["a DaemonSet's pod", [owner("apps/v1", "DaemonSet", "agent")]],
  ])("does not move %s", (_what, owners) => {
    expect(movePods(workloadMoment(owners, {}, { snapshot: { nodes } }), [[0]], []).ok).toBe(false);
  });

  it("does not evict a pod whose uid is not known: it may be another by then", () => {
    const moment = workloadMoment([replicaSet, deployment], {}, { pod: { uid: null }, snapshot: { nodes } });
    expect(movePods(moment, [[0]], []).ok).toBe(false);
  });

  it("acts on workloads by their own place", () => {
    const moment = momentOf({
      workloads: [workloadView([]), workloadView([owner("apps/v1", "StatefulSet", "second")])],
    });
    expect(sent(stopWorkload(moment, 1))[0]?.[1]).toContain("/statefulsets/second");
  });
});
