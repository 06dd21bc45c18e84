import { describe, expect, it } from "vitest";
import { noQueueObjects, type QueueObjects } from "../../exporter/model/queues/queueObjects.ts";
import { coschedulingPodGroup, nativePodGroup } from "../analysis/queueObjectBuilder.ts";
import { gpuNode, gpuPod, owner, ownerRef } from "./clusterBuilder.ts";
import { podOf, snapshotOf } from "./outcomes.ts";

const nodes = [gpuNode("n", 8)];
const labels = { "scheduling.x-k8s.io/pod-group": "train" };
const train = owner("PyTorchJob", "train", null, { apiVersion: "kubeflow.org/v1", gangPods: 2 });

type Parts = NonNullable<Parameters<typeof gpuPod>[3]>;

function gangIn(objects: Partial<QueueObjects>, parts: Parts = {}) {
  const pods = [gpuPod("a", "n", 1, { labels, ...parts }), gpuPod("b", null, 1, { labels, ...parts })];
  const queues = { ...noQueueObjects, ...objects };
  return podOf(snapshotOf({ nodes, pods, owners: [train], queues }), "a").gang;
}

describe("a gang of the coscheduling plugin", () => {
  const coschedulingPodGroups = [coschedulingPodGroup("train")];

  it("is the PodGroup that its pods name by a label", () => {
    expect(gangIn({ coschedulingPodGroups })).toMatchObject({
      id: "PodGroup.scheduling.x-k8s.io research/train",
      min: 4,
      bound: 1,
      partialSince: expect.any(Number),
    });
  });

  it("counts the members that its controller reports as running", () => {
    expect(gangIn({ coschedulingPodGroups: [coschedulingPodGroup("train", { running: 3 })] })).toMatchObject({
      bound: 3,
    });
  });

  it("comes before the job whose controller made the pods, and after Kubernetes itself", () => {
    const ofJob = { owner: ownerRef(train) };
    expect(gangIn({ coschedulingPodGroups }, ofJob)).toMatchObject({ min: 4 });
    expect(gangIn({}, ofJob)).toMatchObject({ id: "PyTorchJob research/train", min: 2 });
    const both = { coschedulingPodGroups, nativePodGroups: [nativePodGroup("train", { minCount: 3 })] };
    const schedulingGroup = { workload: null, name: "train", replica: "" };
    expect(gangIn(both, { schedulingGroup })).toMatchObject({ id: "PodGroup research/train", min: 3 });
  });

  it("is none by a name alone, by another namespace's object, or where another scheduler places the pods", () => {
    expect(gangIn({})).toBeNull();
    expect(gangIn({ coschedulingPodGroups: [coschedulingPodGroup("train", { namespace: "other" })] })).toBeNull();
    expect(gangIn({ coschedulingPodGroups: [coschedulingPodGroup("train", { minMember: 1 })] })).toBeNull();
    for (const schedulerName of ["kai-scheduler", "volcano"])
      expect(gangIn({ coschedulingPodGroups }, { schedulerName })).toBeNull();
  });
});
