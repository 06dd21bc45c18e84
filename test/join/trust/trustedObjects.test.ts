import { describe, expect, it } from "vitest";
import { groupsByOwner, isMadeFor } from "../../../exporter/join/trust/placedBy.ts";
import { ownerChainOf } from "../../../exporter/join/workloadOf.ts";
import type { Pod } from "../../../exporter/model/pod.ts";
import { noQueueObjects } from "../../../exporter/model/queues/queueObjects.ts";
import { kaiGroup, kaiQueue } from "../../queues/groupRows.ts";
import { clusterQueue, flavor, localQueue, podSet, quota, workload } from "../../queues/kueueRows.ts";
import { gpuNode, gpuPod, node, owner, ownerRef, page, pod, reading } from "../clusterBuilder.ts";
import { allocatedBy, nodeOf, podOf, snapshotOf } from "../outcomes.ts";

/* Each of these agrees with what a pod says only where the whole of it does: one part that is another's is not enough. */

const ofJob = (uid: string) => ({ apiVersion: "batch/v1", kind: "Job", name: "train", uid });

describe("an object that a controller made for a pod", () => {
  const evil = pod("p", "n", { namespace: "evil", owner: ofJob("uid-train") });

  it("is of the pod's namespace", () => {
    expect(isMadeFor({ namespace: "evil", owner: ofJob("uid-train") }, evil, [])).toBe(true);
    expect(isMadeFor({ namespace: "victim", owner: ofJob("uid-train") }, evil, [])).toBe(false);
    const group = { namespace: "victim", owner: ofJob("uid-train") };
    expect(groupsByOwner([group])(evil, [])).toBeNull();
    expect(groupsByOwner([group])({ ...evil, namespace: "victim" }, [])).toBe(group);
  });

  it("has an owner: one without any is nobody's", () => {
    const withoutUid = pod("p", "n", { namespace: "evil", owner: ofJob("") });
    for (const uid of ["", null]) {
      const object = { namespace: "evil", owner: uid === null ? null : ofJob(uid) };
      expect(isMadeFor(object, withoutUid, [])).toBe(false);
      expect(groupsByOwner([object])(withoutUid, [])).toBeNull();
    }
  });

  it("is one of several of its owner that only the pod itself can distinguish", () => {
    const [one, other] = [
      { namespace: "evil", owner: ofJob("uid-train") },
      { namespace: "evil", owner: ofJob("uid-train") },
    ];
    expect(groupsByOwner([one, other])(evil, [])).toBeNull();
  });

  it("is the nearest: the pod's own before its owner's, that before the one above", () => {
    const above = owner("JobSet", "set", null, { namespace: "evil" });
    const job = owner("Job", "train", above, { namespace: "evil" });
    const made = [above, job, { uid: evil.uid }].map(({ uid }) => ({ namespace: "evil", owner: ofJob(uid) }));
    const of = { ...evil, owner: ownerRef(job) };
    expect(groupsByOwner(made)(of, [job, above])).toBe(made[2]);
    expect(groupsByOwner(made.slice(0, 2))(of, [job, above])).toBe(made[1]);
    expect(groupsByOwner(made.slice(0, 1))(of, [job])).toBe(made[0]);
  });
});

it("a PodGroup of another namespace cannot be named, however the name is written", () => {
  const queueOf = (namespace: string, name: string) => {
    const one = gpuPod("p", "n", 1, {
      namespace,
      schedulerName: "kai-scheduler",
      annotations: { "pod-group-name": name },
    });
    const queues = {
      ...noQueueObjects,
      kaiQueues: [kaiQueue("victim-q")],
      kaiPodGroups: [kaiGroup("g", "victim-q", { namespace: "victim", owner: null })],
    };
    return podOf(snapshotOf({ nodes: [gpuNode("n", 8)], pods: [one], queues }), "p").queue;
  };
  expect([queueOf("victim", "g"), queueOf("evil", "g"), queueOf("evil", "victim/g")]).toEqual(["victim-q", null, null]);
});

describe("an owner", () => {
  const job = owner("Job", "train", null, { namespace: "victim" });
  const clusterWide = owner("Fleet", "all", null, { namespace: "" });

  it("is of the pod's namespace, or of none, whatever uid the pod names", () => {
    const of = (object: typeof job, namespace: string) =>
      ownerChainOf(pod("p", "n", { namespace, owner: ownerRef(object) }), new Map([[object.uid, object]])).owners;
    expect([of(job, "evil"), of(job, "victim"), of(clusterWide, "evil")]).toEqual([[], [job], [clusterWide]]);
  });

  it("of another namespace makes no gang", () => {
    const parts = { apiVersion: "batch/v1", namespace: "victim", gangPods: 8 };
    const indexed = owner("Job", "train", null, parts);
    const member = (namespace: string) =>
      gpuPod("member", "n", 1, {
        namespace,
        owner: ownerRef(indexed),
        labels: { "batch.kubernetes.io/job-completion-index": "0" },
      });
    const gangOf = (namespace: string) =>
      podOf(snapshotOf({ nodes: [gpuNode("n", 8)], owners: [indexed], pods: [member(namespace)] }), "member").gang;
    expect([gangOf("victim")?.min, gangOf("evil")]).toEqual([8, null]);
  });
});

it("a pod group of Kueue is no larger than the Workload that Kueue made of it", () => {
  const members = ["a", "b"].map((name) =>
    gpuPod(name, "n", 1, {
      labels: { "kueue.x-k8s.io/pod-group-name": "g" },
      annotations: { "kueue.x-k8s.io/pod-group-total-count": "99" },
    }),
  );
  const queues = {
    ...noQueueObjects,
    kueueResourceFlavors: [flavor("any")],
    kueueClusterQueues: [clusterQueue("cq", [quota("any", 8)])],
    kueueLocalQueues: [localQueue("q", "cq")],
    kueueWorkloads: [workload("g", [podSet(2, 1)])],
  };
  expect(podOf(snapshotOf({ nodes: [gpuNode("n", 8)], pods: members, queues }), "a").gang).toMatchObject({ min: 2 });
});

describe("a fraction", () => {
  const kept = (namespace: string, group: string): Pod =>
    gpuPod(`gpu-reservation-${group}`, "n", 1, { namespace, labels: { "runai-gpu-group": group } });
  const asking = (name: string, group: string, schedulerName: string, requested = 0) =>
    gpuPod(name, "n", requested, {
      namespace: "evil",
      schedulerName,
      labels: { "runai-gpu-group": group },
      annotations: { "gpu-fraction": "0.25" },
    });
  const nodes = [gpuNode("n", 8)];

  it("beside a request is only its author's word, in a reserved group too", () => {
    const pods = [kept("kai-resource-reservation", "g"), asking("own", "g", "kai-scheduler", 2)];
    pods.push(asking("served", "g", "kai-scheduler"));
    expect(allocatedBy(snapshotOf({ nodes, pods }), "own")).toBeCloseTo(2, 9);
  });

  it("holds nothing by a group of its own beside one that is reserved", () => {
    const pods = [
      kept("kai-resource-reservation", "g"),
      asking("served", "g", "kai-scheduler"),
      asking("liar", "other", "default-scheduler"),
    ];
    expect(allocatedBy(snapshotOf({ nodes, pods }), "liar")).toBe(0);
  });

  it("that KAI does not place is asked for as it is allocated, in what others leave of the GPU", () => {
    const reservation = kept("kai-resource-reservation", "g");
    const pods = [
      { ...reservation, annotations: { "run.ai/reserve_for_gpu_index": "GPU-0" } },
      { ...asking("served", "g", "kai-scheduler"), annotations: { "gpu-fraction": "0.9" } },
      asking("liar", "g", "default-scheduler"),
    ];
    const telemetry = [page("n", [reading("GPU-0", 0.5)])];
    const snapshot = snapshotOf({ nodes: [gpuNode("n", 1)], pods, telemetry });
    expect(allocatedBy(snapshot, "liar")).toBeCloseTo(0.1, 9);
    expect(nodeOf(snapshot, "n")).toMatchObject({ allocatedByDevices: 1, allocatedByPods: 1 });
  });

  it("that KAI does not place makes no reservation of a pod that passes for one, nor does that pod alone", () => {
    const hidden = kept("runai-reservation", "g");
    expect(allocatedBy(snapshotOf({ nodes, pods: [hidden] }), hidden.name)).toBe(1);
    const pods = [hidden, asking("liar", "g", "default-scheduler")];
    expect(allocatedBy(snapshotOf({ nodes, pods }), hidden.name)).toBe(1);
    const served = [hidden, asking("served", "g", "kai-scheduler")];
    expect(allocatedBy(snapshotOf({ nodes, pods: served }), hidden.name)).toBe(0);
  });

  it("is not reserved by what a scheduler with queues has placed", () => {
    const queued = { ...kept("runai-reservation", "g"), schedulerName: "volcano" };
    expect(
      allocatedBy(snapshotOf({ nodes, pods: [queued, asking("served", "g", "kai-scheduler")] }), queued.name),
    ).toBe(1);
  });
});

describe("an allocation", () => {
  const uuids = ["GPU-aaaaaaaa-0000", "GPU-aaaaaaaa-0001"];
  const shared = node("n", {
    capacity: { "nvidia.com/gpu": 20 },
    labels: { "nvidia.com/gpu.product": "NVIDIA-A100-SXM4-80GB" },
    annotations: {
      "hami.io/node-nvidia-register": uuids.map((uuid) => `${uuid},10,81920,100,NVIDIA-A100,0,true:`).join(""),
    },
  });
  const elsewhere = { "hami.io/vgpu-devices-allocated": "GPU-ffffffff-0000,NVIDIA,1,1:;" };

  it("names no GPU that the node's register does not have", () => {
    const liar = gpuPod("liar", "n", 1, { annotations: elsewhere });
    const found = snapshotOf({ nodes: [shared], pods: [liar] }).devices.map(({ uuid }) => uuid);
    expect(found).not.toContain("GPU-ffffffff-0000");
  });

  it("of a GPU whose memory nobody knows is no less than the slot, whatever memory was asked for", () => {
    const gpu = { resources: { "nvidia.com/gpu": 1 }, shares: { "nvidia.com/gpumem": 1 } };
    const liar = gpuPod("liar", "n", 1, { annotations: elsewhere, gpu });
    expect(allocatedBy(snapshotOf({ nodes: [shared], pods: [liar] }), "liar")).toBeCloseTo(0.1, 9);
  });
});

it("names of queues that nothing confirms make no more lines than people read", () => {
  const pods = Array.from({ length: 25 }, (_, i) =>
    gpuPod(`p-${i}`, "n", 1, { namespace: "evil", labels: { "kueue.x-k8s.io/cluster-queue-name": `q-${i}` } }),
  );
  const queues = { ...noQueueObjects, kueueClusterQueues: [clusterQueue("cq", [quota("any", 8)])] };
  const lines = snapshotOf({ nodes: [gpuNode("n", 32)], pods, queues }).problems.filter(
    ({ code }) => code === "queue-unconfirmed",
  );
  expect(lines).toHaveLength(21);
  expect(lines.at(-1)?.message).toContain("name 5 more queues");
});
