import { describe, expect, it } from "vitest";
import { declaredGangs } from "../../exporter/join/declaredGangs.ts";
import { findGangs } from "../../exporter/join/gangs.ts";
import { emptyMemory } from "../../exporter/join/memory.ts";
import type { Pod } from "../../exporter/model/pod.ts";
import type { QueueObjects } from "../../exporter/model/queues/queueObjects.ts";
import { noQueueObjects } from "../../exporter/model/queues/queueObjects.ts";
import { kaiPodGroup, kueuePodSet, kueueWorkload, volcanoPodGroup } from "../analysis/queueObjectBuilder.ts";
import { gpuPod, now } from "./clusterBuilder.ts";

const member = (
  name: string,
  node: string | null,
  annotations: Record<string, string>,
  parts: Partial<Pod> = {},
): Pod =>
  gpuPod(name, node, 1, {
    annotations,
    schedulerName: "scheduling.k8s.io/group-name" in annotations ? "volcano" : "kai-scheduler",
    ...parts,
  });

function gangOf(objects: Partial<QueueObjects>, pods: readonly Pod[]) {
  const declared = declaredGangs({ ...noQueueObjects, ...objects });
  const first = pods[0]?.uid ?? "";
  return findGangs(pods, { declared, owners: new Map() }, emptyMemory, now, true).byPod.get(first) ?? null;
}

describe("a gang that an object declares", () => {
  const kai = { "pod-group-name": "pg" };
  const volcano = { "scheduling.k8s.io/group-name": "pg" };

  it("is that of KAI's PodGroup", () => {
    const objects = { kaiPodGroups: [kaiPodGroup("pg", { minMember: 2 })] };
    const gang = gangOf(objects, [member("a", "n", kai), member("b", null, kai)]);
    expect(gang).toMatchObject({ id: "research/pg", min: 2, bound: 1, partialSince: now - 7200 });
  });

  it("is that of Volcano's PodGroup, whose own count of running members may be larger", () => {
    const pods = [member("a", "n", volcano), member("b", null, volcano)];
    const group = (running: number) => ({ volcanoPodGroups: [volcanoPodGroup("pg", { minMember: 2, running })] });
    expect(gangOf(group(1), pods)).toMatchObject({ min: 2, bound: 1, partialSince: now - 7200 });
    expect(gangOf(group(2), pods)).toMatchObject({ min: 2, bound: 2, partialSince: null });
  });

  it("is not partial while no member with GPUs waits: the missing one may need none", () => {
    const objects = { kaiPodGroups: [kaiPodGroup("pg", { minMember: 3 })] };
    const gang = gangOf(objects, [member("a", "n", kai), member("b", "n", kai)]);
    expect(gang).toMatchObject({ min: 3, bound: 2, partialSince: null });
  });

  it("is that of Kueue's Workload, counting members with GPUs", () => {
    const podSets = [kueuePodSet("launcher", 1, {}), kueuePodSet("worker", 2, { "nvidia.com/gpu": 1 })];
    const owner = { apiVersion: "kubeflow.org/v2beta1", kind: "MPIJob", name: "mpi", uid: "m" };
    const pods = [
      member("a", "n", { "kueue.x-k8s.io/workload": "wl" }, { owner }),
      member("b", null, { "kueue.x-k8s.io/workload": "wl" }, { owner }),
    ];
    expect(gangOf({ kueueWorkloads: [kueueWorkload("wl", { podSets, owner })] }, pods)).toMatchObject({
      min: 2,
      bound: 1,
    });
    const others = pods.map((pod) => ({ ...pod, owner: null }));
    expect(gangOf({ kueueWorkloads: [kueueWorkload("wl", { podSets, owner })] }, others)).toBeNull();
    const job = { ...owner, apiVersion: "batch/v1", kind: "Job" };
    const ofJob = pods.map((pod) => ({ ...pod, owner: job }));
    expect(gangOf({ kueueWorkloads: [kueueWorkload("wl", { podSets, owner: job })] }, ofJob)).toBeNull();
  });

  it("is none of pods that name the object and that neither its scheduler places nor it was made for", () => {
    const objects = { kaiPodGroups: [kaiPodGroup("pg", { minMember: 2 })] };
    const placed = (schedulerName: string) =>
      ["n", null].map((node, i) => member(`${i}`, node, kai, { schedulerName }));
    expect(gangOf(objects, placed("default-scheduler"))).toBeNull();
    expect(gangOf(objects, placed("kai-scheduler"))).toMatchObject({ min: 2 });
  });

  it("is none where one member is enough, or the object is not there", () => {
    const pods = [member("a", "n", kai), member("b", null, kai)];
    expect(gangOf({ kaiPodGroups: [kaiPodGroup("pg", { minMember: 1 })] }, pods)).toBeNull();
    expect(gangOf({}, pods)).toBeNull();
  });

  it("does not replace what the pods themselves say", () => {
    const pods = ["a", "b"].map((name) =>
      gpuPod(name, name === "a" ? "n" : null, 1, {
        labels: { "kueue.x-k8s.io/pod-group-name": "g" },
        annotations: { "kueue.x-k8s.io/pod-group-total-count": "4", ...kai },
      }),
    );
    const kaiPodGroups = [kaiPodGroup("pg", { minMember: 2 })];
    const kueueWorkloads = [
      kueueWorkload("g", { owner: null, podSets: [kueuePodSet("main", 4, { "nvidia.com/gpu": 1 })] }),
    ];
    expect(gangOf({ kaiPodGroups, kueueWorkloads }, pods)).toMatchObject({ id: "research/g", min: 4 });
    // A group for which Kueue has made nothing is a label: what else the pods name counts.
    const placed = pods.map((pod) => ({ ...pod, schedulerName: "kai-scheduler" }));
    expect(gangOf({ kaiPodGroups }, placed)).toMatchObject({ id: "research/pg", min: 2 });
  });

  it("is none of a training job whose PodGroup says that each pod runs alone, but for the one that Volcano makes unasked", () => {
    const by = { apiVersion: "kubeflow.org/v1", kind: "PyTorchJob", name: "train", uid: "uid-train" };
    const made = (name: string, node: string | null, annotations: Record<string, string>): Pod =>
      member(name, node, annotations, { owner: by });
    const alone = [made("a", "n", kai), made("b", null, kai)];
    expect(gangOf({ kaiPodGroups: [kaiPodGroup("pg", { minMember: 1 })] }, alone)).toBeNull();
    const unasked = { "scheduling.k8s.io/group-name": "podgroup-uid-train" };
    const objects = { volcanoPodGroups: [volcanoPodGroup("podgroup-uid-train", { minMember: 1 })] };
    const gang = gangOf(objects, [made("a", "n", unasked), made("b", null, unasked)]);
    expect(gang).toMatchObject({ id: "PyTorchJob research/train", min: 2, bound: 1 });
  });
});
