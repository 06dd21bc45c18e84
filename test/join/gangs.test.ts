import { describe, expect, it } from "vitest";
import { explainWaiting } from "../../exporter/analysis/waiting/explainWaiting.ts";
import type { Pod } from "../../exporter/model/pod.ts";
import { noQueueObjects } from "../../exporter/model/queues/queueObjects.ts";
import { kueuePodSet, kueueWorkload } from "../analysis/queueObjectBuilder.ts";
import {
  allocated,
  claim,
  claimingPod,
  gpuNode,
  gpuPod,
  node,
  now,
  owner,
  ownerRef,
  pod,
  slice,
  sliceGpu,
} from "./clusterBuilder.ts";
import { codes, defaultSettings, joined, podOf, snapshotOf, withGpu } from "./outcomes.ts";

type Parts = Parameters<typeof gpuPod>[3];
const nodes = [gpuNode("n", 8)];
const llm = owner("LeaderWorkerSet", "llm", null, { apiVersion: "leaderworkerset.x-k8s.io/v1" });
const llmSet = owner("StatefulSet", "llm", llm);

function member(name: string, nodeName: string | null, total: number, parts: Parts = {}): Pod {
  return gpuPod(name, nodeName, 1, {
    labels: { "kueue.x-k8s.io/pod-group-name": "g" },
    annotations: { "kueue.x-k8s.io/pod-group-total-count": String(total) },
    ...parts,
  });
}

/** The Workload that Kueue makes of the group, when all of its pods are there. */
const queues = {
  ...noQueueObjects,
  kueueWorkloads: [kueueWorkload("g", { owner: null, podSets: [kueuePodSet("main", 4, { "nvidia.com/gpu": 1 })] })],
};
const gangOf = (pods: readonly Pod[], name = "a") => podOf(snapshotOf({ nodes, pods, queues }), name).gang;

describe("a gang", () => {
  it("of a Kueue pod group counts bound and succeeded members", () => {
    const pods = [member("a", "n", 3), member("b", "n", 3, { phase: "Succeeded" }), member("c", null, 3)];
    expect(gangOf(pods)).toMatchObject({ id: "research/g", min: 3, bound: 2 });
  });

  it("of a LeaderWorkerSet is one group", () => {
    const lws = (name: string, group: string, nodeName: string | null) =>
      gpuPod(name, nodeName, 1, {
        owner: ownerRef(llmSet),
        labels: { "leaderworkerset.sigs.k8s.io/name": "llm", "leaderworkerset.sigs.k8s.io/group-index": group },
        annotations: { "leaderworkerset.sigs.k8s.io/size": "2" },
      });
    const pods = [lws("a", "0", "n"), lws("b", "0", null), lws("c", "1", "n"), lws("d", "1", "n")];
    const owners = [llmSet, llm];
    const gang = (name: string) => podOf(snapshotOf({ nodes, pods, owners }), name).gang;
    expect(gang("a")).toMatchObject({ id: "research/llm/0", bound: 1, partialSince: expect.any(Number) });
    expect(gang("c")).toMatchObject({ id: "research/llm/1", bound: 2, partialSince: null });
    // Without the object whose controller made the pods it is a label.
    expect(podOf(snapshotOf({ nodes, pods }), "a").gang).toBeNull();
    const small = podOf(snapshotOf({ nodes, pods, owners: [llmSet, { ...llm, gangPods: 1 }] }), "a").gang;
    expect(small).toBeNull();
  });

  it("is none by its labels alone", () => {
    const pods = [member("a", "n", 2)];
    expect(podOf(snapshotOf({ nodes, pods }), "a").gang).toBeNull();
    const ofOwner = { ...queues.kueueWorkloads[0], owner: ownerRef(llm) };
    const made = { ...noQueueObjects, kueueWorkloads: [kueueWorkload("g", ofOwner)] };
    expect(podOf(snapshotOf({ nodes, pods, queues: made }), "a").gang).toBeNull();
  });

  it("waits for a member that nobody creates for half an hour, for a lost one and a pending one as long as it takes", () => {
    const since = (at: number, pods: readonly Pod[], before?: ReturnType<typeof joined>) => {
      const step = joined({ nodes, pods, queues }, defaultSettings, before?.memory, at);
      return { step, since: podOf(step.snapshot, "a").gang?.partialSince ?? null };
    };
    const a = member("a", "n", 2, { scheduledAt: now, createdAt: now - 10 });
    const first = since(now + 30, [a]);
    expect(first.since).toBe(now);
    expect(since(now + 1700, [a], first.step).since).toBe(now);
    const late = since(now + 1900, [a], first.step);
    expect(late.since).toBeNull();
    expect(since(now + 4000, [a], late.step).since).toBeNull();
    const pending = [a, member("b", null, 2, { createdAt: now + 3900 })];
    expect(since(now + 4000, pending, late.step).since).toBe(now);
    const whole = since(now + 60, [a, member("b", "n", 2, { scheduledAt: now })]);
    const lost = since(now + 9000, [a], whole.step);
    expect(lost.since).toBe(now + 9000);
    expect(since(now + 19_000, [a], lost.step).since).toBe(now + 9000);
  });

  it("is partial while some members are bound and one is pending or not created", () => {
    expect(gangOf([member("a", "n", 2), member("b", null, 2)])?.partialSince).not.toBeNull();
    expect(gangOf([member("a", "n", 2, { scheduledAt: now - 600 })])?.partialSince).not.toBeNull();
  });

  it("is not partial when it is whole, not started, or its missing member has failed", () => {
    expect(gangOf([member("a", "n", 2), member("b", "n", 2)])?.partialSince).toBeNull();
    expect(gangOf([member("a", null, 2), member("b", null, 2)])?.partialSince).toBeNull();
    expect(gangOf([member("a", "n", 2), member("b", "n", 2, { phase: "Failed" })])?.partialSince).toBeNull();
    const replaced = [member("a", "n", 2), member("b", "n", 2, { phase: "Failed" }), member("c", null, 2)];
    expect(gangOf(replaced)?.partialSince).not.toBeNull();
  });

  it("by its objects alone has been partial since its first member was bound", () => {
    const pods = [
      member("a", "n", 3, { scheduledAt: now - 500 }),
      member("b", "n", 3, { scheduledAt: now - 100 }),
      member("c", null, 3, { createdAt: now - 900 }),
    ];
    expect(gangOf(pods)?.partialSince).toBe(now - 500);
  });

  it("that ran whole has been partial since the replacement of the lost member waits", () => {
    const pods = [member("a", "n", 2, { scheduledAt: now - 9000 }), member("b", null, 2, { createdAt: now - 60 })];
    expect(gangOf(pods)?.partialSince).toBe(now - 60);
  });

  it("keeps since when over the cycles; whole in between, it starts anew", () => {
    const step = (at: number, parts: readonly Pod[], before?: ReturnType<typeof joined>) =>
      joined({ nodes, pods: parts, queues }, defaultSettings, before?.memory, at);
    const a = member("a", "n", 2, { scheduledAt: now, createdAt: now - 10 });
    const partial = [a, member("b", null, 2, { createdAt: now - 10 })];
    const whole = [a, member("b", "n", 2, { scheduledAt: now + 90 })];
    const first = step(now + 30, partial);
    const second = step(now + 60, partial, first);
    expect(podOf(second.snapshot, "a").gang?.partialSince).toBe(now);
    const third = step(now + 90, whole, second);
    expect(third.memory.gangSince.size).toBe(0);
    // A member is lost and not yet made anew: the gang has not been partial since it was bound.
    const fourth = step(now + 7200, [a], third);
    expect(podOf(fourth.snapshot, "a").gang?.partialSince).toBe(now + 7200);
  });

  it("whose members disagree, or write nonsense", () => {
    expect(gangOf([member("a", "n", 2), member("b", null, 4)])?.min).toBe(4);
    expect(gangOf([member("b", null, 4), member("a", "n", 2)])?.min).toBe(4);
    for (const total of ["-1", "0", "1e9", "99999999", "x", ""])
      expect(
        gangOf([member("a", "n", 1, { annotations: { "kueue.x-k8s.io/pod-group-total-count": total } })]),
      ).toBeNull();
  });
});

describe("what a waiting pod asks for", () => {
  const gpusOf = (waiting: Pod, nodesThere = nodes, settings = defaultSettings) =>
    podOf(joined({ nodes: nodesThere, pods: [waiting] }, settings).snapshot, "w").gpus;
  const sliced = (name: string, replicas: number) =>
    gpuNode(name, 8, {
      labels: { "nvidia.com/gpu.product": "NVIDIA-L4-SHARED", "nvidia.com/gpu.replicas": String(replicas) },
    });

  it("is converted where all nodes that offer it agree", () => {
    expect(gpusOf(gpuPod("w", null, 2))).toBe(2);
    expect(gpusOf(gpuPod("w", null, 2), [sliced("a", 4), sliced("b", 4)])).toBe(0.5);
  });

  it("is null where they differ, or where only a claim says", () => {
    expect(gpusOf(gpuPod("w", null, 2), [sliced("a", 4), sliced("b", 2)])).toBeNull();
    expect(gpusOf(gpuPod("w", null, 2), [sliced("a", 4), sliced("b", 2), sliced("c", 2)])).toBeNull();
    expect(gpusOf(pod("w", null, { gpu: { claims: [{ claimName: null }] } }))).toBeNull();
  });

  it("that nobody can convert is counted by a problem: it is missing from every sum", () => {
    const pods = [gpuPod("w", null, 2), gpuPod("v", null, 1)];
    const snapshot = snapshotOf({ nodes: [sliced("a", 4), sliced("b", 2)], pods });
    expect(snapshot.problems.find((problem) => problem.code === "pending-gpus-unknown")?.message).toMatch(
      /^2 waiting pods/,
    );
    expect(codes(snapshotOf({ nodes, pods }))).not.toContain("pending-gpus-unknown");
  });

  it("of a resource that no node offers: whole GPUs and MIG are known, renamed ones are not", () => {
    expect(gpusOf(gpuPod("w", null, 2), [node("cpu")])).toBe(2);
    expect(gpusOf(gpuPod("w", null, 1, {}, "nvidia.com/mig-3g.40gb"), [node("cpu")])).toBeCloseTo(1 / 2, 12);
    expect(gpusOf(gpuPod("w", null, 1, {}, "nvidia.com/gpu.shared"), [node("cpu")])).toBeNull();
  });

  it("of a renamed resource follows the setting", () => {
    const object = node("n", { capacity: { "acme.com/half": 4 } });
    expect(
      gpusOf(gpuPod("w", null, 3, {}, "acme.com/half"), [object], withGpu({ resources: { "acme.com/half": 0.5 } })),
    ).toBe(1.5);
  });

  const ofClass = (deviceClass: string, count: number | null = 1, parts = {}) =>
    claim("c", [], [], { requests: [{ deviceClasses: [deviceClass], count, adminAccess: false }], ...parts });
  const claimed = (object: ReturnType<typeof claim>, podName = "w") =>
    podOf(snapshotOf({ nodes, pods: [claimingPod(podName, null, "c")], resourceClaims: [object] }), podName).gpus;

  it("by claim is what the claim asks for", () => {
    expect(claimed(ofClass("gpu.nvidia.com", 2))).toBe(2);
    expect(claimed(ofClass("gpu.nvidia.com", null))).toBeNull();
    expect(claimed(ofClass("mig.nvidia.com"))).toBeNull();
    expect(claimed(ofClass("somebodys.own.class"))).toBeNull();
    const monitoring = { requests: [{ deviceClasses: ["gpu.nvidia.com"], count: 1, adminAccess: true }] };
    expect(claimed(claim("c", [], [], monitoring))).toBe(0);
    expect(claimed(ofClass("gpu.nvidia.com", 1, { allocated: [allocated("n", "gpu-0")] }))).toBe(0);
  });

  it("of extended resources that a DRA driver serves is a GPU each, which some node can give", () => {
    const resourceSlices = [slice("n", [sliceGpu("gpu-0", "GPU-0"), sliceGpu("gpu-1", "GPU-1")])];
    for (const resource of ["nvidia.com/gpu", "deviceclass.resource.kubernetes.io/gpu.nvidia.com"]) {
      const parts = { nodes: [node("n")], resourceSlices, pods: [gpuPod("w", null, 1, {}, resource)] };
      const snapshot = snapshotOf(parts);
      expect(podOf(snapshot, "w").gpus).toBe(1);
      const { work } = explainWaiting(snapshot, { waitTargets: [] });
      expect(work.map(({ cause }) => cause)).not.toContain("constraint");
      expect(snapshot.queueing.gangs.map(({ never }) => never)).toEqual([null]);
    }
  });

  it("of a resource of another vendor fits on no NVIDIA node", () => {
    const fleet = [gpuNode("n1", 8), gpuNode("n2", 8), node("amd", { capacity: { "amd.com/gpu": 8 } })];
    const pods = [gpuPod("allocated", "amd", 8, {}, "amd.com/gpu"), gpuPod("w", null, 8, {}, "amd.com/gpu")];
    const snapshot = snapshotOf({ nodes: fleet, pods });
    expect(podOf(snapshot, "w").gpus).toBe(8);
    expect(explainWaiting(snapshot, { waitTargets: [] }).work.map(({ cause }) => cause)).toEqual(["capacity"]);
  });

  it("of a fraction is the fraction of its GPUs; by memory it is the part of it, where all GPUs have the same", () => {
    const annotations = { "gpu-fraction": "0.5", "gpu-fraction-num-devices": "2" };
    const schedulerName = "kai-scheduler";
    expect(gpusOf(pod("w", null, { schedulerName, annotations }))).toBe(1);
    const byMemory = pod("w", null, { schedulerName, annotations: { "gpu-memory": "1024" } });
    expect(gpusOf(byMemory)).toBe(1 / 80);
    const others = node("t4", { labels: { "nvidia.com/gpu.product": "Tesla-T4" }, capacity: { "nvidia.com/gpu": 1 } });
    expect(podOf(snapshotOf({ nodes: [gpuNode("n", 1), others], pods: [byMemory] }), "w").gpus).toBeNull();
    const huge = { "nvidia.com/container.main.gpu-memory.limit": "1000Gi" };
    expect(gpusOf(pod("w", null, { schedulerName, annotations: huge }))).toBeNull();
    // Whoever else places it gives it no GPU.
    expect(gpusOf(pod("w", null, { annotations }))).toBe(0);
    expect(gpusOf(gpuPod("w", null, 8, { annotations: { "gpu-fraction": "0.1" } }))).toBe(8);
  });
});
