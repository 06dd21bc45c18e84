import { describe, expect, it } from "vitest";
import type { OwnerObject } from "../../exporter/model/cluster.ts";
import { gpuPod, owner, ownerRef } from "./clusterBuilder.ts";
import { podOf, snapshotOf } from "./outcomes.ts";

type Parts = Parameters<typeof gpuPod>[3];

function workloadOf(parts: Parts, owners: readonly OwnerObject[] = []) {
  const snapshot = snapshotOf({ pods: [gpuPod("job", null, 1, parts)], owners });
  const found = snapshot.workloads[podOf(snapshot, "job").workload];
  return { kind: found?.kind, name: found?.name, class: found?.workloadClass };
}

describe("the workload of a pod", () => {
  it("is the top owner, whatever its kind", () => {
    const train = owner("TrainJob", "train");
    const set = owner("JobSet", "train", train);
    const batch = owner("Job", "train-node-0", set);
    expect(workloadOf({ owner: ownerRef(batch) }, [batch, set, train])).toEqual({
      kind: "TrainJob",
      name: "train",
      class: "batch",
    });
    const odd = owner("Sorcery", "spell");
    expect(workloadOf({ owner: ownerRef(odd) }, [odd])).toMatchObject({ kind: "Sorcery", name: "spell" });
  });

  it("a pod without owner is its own, whatever its labels say", () => {
    expect(workloadOf({})).toEqual({ kind: "Pod", name: "job", class: "batch" });
    expect(workloadOf({ labels: { "jobset.sigs.k8s.io/jobset-name": "other" } })).toMatchObject({
      kind: "Pod",
      name: "job",
    });
  });

  it("where the chain breaks, is the last owner that is named", () => {
    const set = owner("JobSet", "train");
    const batch = owner("Job", "train-node-0", set);
    expect(workloadOf({ owner: ownerRef(batch) }, [batch])).toMatchObject({ kind: "JobSet", name: "train" });
    expect(workloadOf({ owner: ownerRef(batch) })).toMatchObject({ kind: "Job", name: "train-node-0" });
  });

  const standIns: readonly (readonly [string, Record<string, string>, string, string])[] = [
    ["JobSet", { "jobset.sigs.k8s.io/jobset-name": "x", "batch.kubernetes.io/job-name": "x-0" }, "JobSet", "x"],
    [
      "Kubeflow",
      { "training.kubeflow.org/job-name": "x", "training.kubeflow.org/operator-name": "tfjob-controller" },
      "TFJob",
      "x",
    ],
    [
      "a Kubeflow operator that nobody knows",
      { "training.kubeflow.org/job-name": "x", "training.kubeflow.org/operator-name": "constructor" },
      "PyTorchJob",
      "x",
    ],
    [
      "Ray by origin",
      {
        "ray.io/cluster": "x-raycluster",
        "ray.io/originated-from-crd": "RayJob",
        "ray.io/originated-from-cr-name": "x",
      },
      "RayJob",
      "x",
    ],
    ["Ray", { "ray.io/cluster": "x" }, "RayCluster", "x"],
    ["LeaderWorkerSet", { "leaderworkerset.sigs.k8s.io/name": "x" }, "LeaderWorkerSet", "x"],
    ["Job", { "batch.kubernetes.io/job-name": "x" }, "Job", "x"],
    ["KServe", { "serving.kserve.io/inferenceservice": "x" }, "InferenceService", "x"],
    ["nothing", {}, "Thing", "unreadable"],
  ];
  it.each(standIns)("job labels take the place of an owner that cannot be read: %s", (_case, labels, kind, name) => {
    const unreadable = owner("Thing", "unreadable");
    expect(workloadOf({ labels, owner: ownerRef(unreadable) })).toMatchObject({ kind, name });
  });

  it("a loop of owners ends", () => {
    const a = { ...owner("Job", "a"), owner: ownerRef(owner("Job", "b")) };
    const b = { ...owner("Job", "b"), owner: ownerRef(owner("Job", "a")) };
    expect(workloadOf({ owner: ownerRef(a) }, [a, b])).toMatchObject({ kind: "Job" });
  });

  it("chains may pass through a pod: LeaderWorkerSet's workers belong to their leader's owner", () => {
    const lws = owner("LeaderWorkerSet", "llm");
    const leaders = owner("StatefulSet", "llm", lws);
    const leader = gpuPod("llm-0", null, 1, { owner: ownerRef(leaders) });
    const workers = owner("StatefulSet", "llm-0", null, {
      owner: { apiVersion: "v1", kind: "Pod", name: "llm-0", uid: leader.uid },
    });
    const worker = gpuPod("llm-0-1", null, 1, { owner: ownerRef(workers) });
    const snapshot = snapshotOf({ pods: [leader, worker], owners: [lws, leaders, workers] });
    expect(snapshot.workloads.map(({ kind, name, pods }) => [kind, name, pods.length])).toEqual([
      ["LeaderWorkerSet", "llm", 2],
    ]);
  });

  it("has all its pods, and two of one name in different namespaces are two", () => {
    const batch = owner("Job", "j");
    const pods = [
      gpuPod("a", null, 1, { owner: ownerRef(batch) }),
      gpuPod("b", null, 1, { owner: ownerRef(batch) }),
      gpuPod("j", null, 1, { namespace: "other" }),
    ];
    const snapshot = snapshotOf({ pods, owners: [batch] });
    expect(snapshot.workloads.map((workload) => workload.pods.length).sort()).toEqual([1, 2]);
  });
});

describe("the class of a workload", () => {
  const classes: readonly (readonly [kind: string, cls: string])[] = [
    ["Deployment", "serving"],
    ["StatefulSet", "serving"],
    ["InferenceService", "serving"],
    ["LeaderWorkerSet", "serving"],
    ["RayService", "serving"],
    ["Job", "batch"],
    ["PyTorchJob", "batch"],
    ["RayCluster", "batch"],
    ["Notebook", "batch"],
  ];
  it.each(classes)("by kind: %s is %s", (kind, cls) => {
    const top = owner(kind, "w");
    expect(workloadOf({ owner: ownerRef(top) }, [top]).class).toBe(cls);
  });

  it("by a label of the pod or of an owner; nonsense is ignored", () => {
    const top = owner("Job", "w", null, { labels: { "fairlead.dev/workload-class": "serving" } });
    expect(workloadOf({ owner: ownerRef(top) }, [top]).class).toBe("serving");
    expect(workloadOf({ labels: { "fairlead.dev/workload-class": "serving" } }).class).toBe("serving");
    expect(workloadOf({ labels: { "fairlead.dev/workload-class": "never" } }).class).toBe("batch");
  });
});
