import { describe, expect, it } from "vitest";
import type { Pod } from "../../exporter/model/pod.ts";
import { noQueueObjects, type QueueObjects } from "../../exporter/model/queues/queueObjects.ts";
import {
  kaiPodGroup,
  kueuePodSet,
  kueueWorkload,
  nativePodGroup,
  nativeWorkload,
} from "../analysis/queueObjectBuilder.ts";
import { gpuNode, gpuPod, owner, ownerRef } from "./clusterBuilder.ts";
import { analysed, podOf, snapshotOf } from "./outcomes.ts";

const nodes = [gpuNode("n", 8)];
const train = owner("PyTorchJob", "train", null, { apiVersion: "kubeflow.org/v1", gangPods: 4 });
const inGroup = { schedulingGroup: { workload: null, name: "train", replica: "" } } as const;

const member = (name: string, node: string | null, parts: Partial<Pod> = {}): Pod =>
  gpuPod(name, node, 1, { ...inGroup, ...parts });

function gangsOf(objects: Partial<QueueObjects>, pods: readonly Pod[]) {
  const snapshot = snapshotOf({ nodes, pods, owners: [train], queues: { ...noQueueObjects, ...objects } });
  return pods.map(({ name }) => podOf(snapshot, name).gang);
}

const gangOf = (objects: Partial<QueueObjects>, pods: readonly Pod[]) => gangsOf(objects, pods)[0] ?? null;

describe("a gang of Kubernetes itself", () => {
  const pods = [member("a", "n"), member("b", null)];

  it("is the PodGroup that its pods name", () => {
    const found = gangsOf({ nativePodGroups: [nativePodGroup("train")] }, pods);
    expect(found[0]).toMatchObject({
      id: "PodGroup research/train",
      min: 4,
      bound: 1,
      partialSince: expect.any(Number),
    });
    expect(found[1]).toEqual(found[0]);
  });

  it("has for an owner what its Workload was made for", () => {
    const controller = { apiGroup: "batch", kind: "Job", name: "train" };
    const nativePodGroups = [nativePodGroup("train", { workload: "w" })];
    const nativeWorkloads = [nativeWorkload("w", { controller }), nativeWorkload("w", { namespace: "other" })];
    expect(gangOf({ nativePodGroups, nativeWorkloads }, pods)?.controller).toBe("Job research/train");
    expect(gangOf({ nativePodGroups }, pods)).not.toHaveProperty("controller");
  });

  it("is in Kubernetes 1.35 a group of a Workload, each replica of it for itself", () => {
    const of = (replica: string) => ({ schedulingGroup: { workload: "w", name: "workers", replica } });
    const groups = [{ name: "workers", minCount: 2 }];
    const nativeWorkloads = [nativeWorkload("w", { groups })];
    const members = [member("a", "n", of("0")), member("b", null, of("0")), member("c", "n", of("1"))];
    const [a, b, c] = gangsOf({ nativeWorkloads }, members);
    expect(a).toMatchObject({ id: "Workload research/w/workers/0", min: 2, bound: 1 });
    expect(b?.id).toBe(a?.id);
    expect(c).toMatchObject({ id: "Workload research/w/workers/1", bound: 1 });
  });

  it("is none with the policy basic, without an object, in another namespace, or of one pod", () => {
    expect(gangOf({ nativePodGroups: [nativePodGroup("train", { minCount: null })] }, pods)).toBeNull();
    expect(gangOf({}, pods)).toBeNull();
    expect(gangOf({ nativePodGroups: [nativePodGroup("train", { namespace: "other" })] }, pods)).toBeNull();
    expect(gangOf({ nativePodGroups: [nativePodGroup("train", { minCount: 1 })] }, pods)).toBeNull();
    expect(
      gangOf({ nativeWorkloads: [nativeWorkload("train", { groups: [{ name: "train", minCount: 4 }] })] }, pods),
    ).toBeNull();
  });

  it("with the policy basic leaves it to the job whether its pods are a gang", () => {
    const nativePodGroups = [nativePodGroup("train", { minCount: null })];
    const ofJob = pods.map((pod) => ({ ...pod, owner: ownerRef(train) }));
    expect(gangOf({ nativePodGroups }, ofJob)).toMatchObject({ id: "PyTorchJob research/train", min: 4 });
  });

  it("comes before the job, of which fewer pods may be enough", () => {
    const nativePodGroups = [nativePodGroup("train", { minCount: 3 })];
    const ofJob = pods.map((pod) => ({ ...pod, owner: ownerRef(train) }));
    expect(gangOf({ nativePodGroups }, ofJob)).toMatchObject({ id: "PodGroup research/train", min: 3 });
  });

  it("is that of Kueue, which makes the PodGroup, too", () => {
    const podSets = [
      kueuePodSet("master", 1, { "nvidia.com/gpu": 1 }),
      kueuePodSet("worker", 4, { "nvidia.com/gpu": 1 }),
    ];
    const kueueWorkloads = [kueueWorkload("wl", { podSets, owner: ownerRef(train) })];
    const annotations = { "kueue.x-k8s.io/workload": "wl" };
    const made = pods.map((pod) => ({ ...pod, annotations, owner: ownerRef(train) }));
    const found = gangOf({ kueueWorkloads, nativePodGroups: [nativePodGroup("train")] }, made);
    expect(found).toMatchObject({ id: "research/wl", min: 5 });
  });

  it("is none of pods that KAI places, unless it was made for them", () => {
    const ofKai = pods.map((pod) => ({ ...pod, schedulerName: "kai-scheduler" }));
    const nativePodGroups = [nativePodGroup("train")];
    expect(gangOf({ nativePodGroups }, ofKai)).toBeNull();
    const annotations = { "pod-group-name": "pg" };
    const kaiPodGroups = [kaiPodGroup("pg", { minMember: 2 })];
    const named = ofKai.map((pod) => ({ ...pod, annotations }));
    expect(gangOf({ nativePodGroups, kaiPodGroups }, named)).toMatchObject({ id: "research/pg", min: 2 });
    const owned = ofKai.map((pod) => ({ ...pod, owner: ownerRef(train) }));
    const made = [nativePodGroup("train", { owner: ownerRef(train) })];
    expect(gangOf({ nativePodGroups: made }, owned)).toMatchObject({ id: "PodGroup research/train" });
  });
});

describe("why a gang of Kubernetes itself waits", () => {
  const causesOf = (pods: readonly Pod[], minCount = 4) => {
    const queues = { ...noQueueObjects, nativePodGroups: [nativePodGroup("train", { minCount })] };
    return analysed(
      snapshotOf({ nodes: [gpuNode("n", 4)], pods: [gpuPod("other", "n", 1), ...pods], queues }),
    ).waiting.work.map(({ cause }) => cause);
  };
  const waiting = ["a", "b", "c", "d"].map((name) => member(name, null));

  it("is the gang while a member is not created, and while one of four has no space; capacity while none has", () => {
    expect(causesOf(waiting.slice(0, 3))).toEqual(["gang"]);
    expect(causesOf(waiting)).toEqual(["gang"]);
    expect(causesOf([gpuPod("another", "n", 3), ...waiting])).toEqual(["capacity"]);
    expect(causesOf(waiting, 3)).toEqual(["scheduler"]);
  });
});
