import { describe, expect, it } from "vitest";
import type { Snapshot } from "../../../exporter/join/snapshot.ts";
import type { ClusterState } from "../../../exporter/model/cluster.ts";
import type { Pod } from "../../../exporter/model/pod.ts";
import { noQueueObjects, type QueueObjects } from "../../../exporter/model/queues/queueObjects.ts";
import { kaiGroup, kaiQueue, volcanoGroup, volcanoQueue } from "../../queues/groupRows.ts";
import { admission, clusterQueue, flavor, localQueue, podSet, quota, workload } from "../../queues/kueueRows.ts";
import {
  bareReading,
  claimant,
  gpuNode,
  gpuPod,
  node,
  now,
  owner,
  ownerRef,
  page,
  pod,
  reading,
} from "../clusterBuilder.ts";
import { allocatedBy, analysed, nodeOf, podOf, snapshotOf, statesOf } from "../outcomes.ts";

/*
 * A tenant owns the namespace `evil` and writes there what it likes: labels, annotations, owners, names. `victim` is
 * someone else's. Beside each attack is its honest twin, which looks like it and must be believed.
 */

type PodParts = Parameters<typeof gpuPod>[3];
const eight = (namespace: string, parts: PodParts = {}): readonly Pod[] =>
  ["a", "b"].map((name, i) => gpuPod(`${namespace}-${name}`, `n${i}`, 8, { namespace, ...parts }));
const nodes = ["n0", "n1", "n2", "n3"].map((name) => gpuNode(name, 8));

function queueIn(snapshot: Snapshot, name: string) {
  const { queueing } = snapshot;
  const index = queueing.queues.findIndex((queue) => queue.name === name);
  const { fairness } = analysed(snapshot);
  const reported = fairness.queues[index];
  return {
    allocated: queueing.queues[index]?.allocated,
    pending: queueing.queues[index]?.pending,
    short: reported?.shortfall,
  };
}

const lineOf = ({ problems }: Snapshot, code: string): string =>
  problems
    .filter((problem) => problem.code === code)
    .map(({ message }) => message)
    .join("\n");

describe("GPUs on someone else's queue of Kueue", () => {
  const starved = workload("starved", [podSet(2, 8)], {
    namespace: "victim",
    localQueue: "main",
    createdAt: now - 9000,
  });
  const queues: QueueObjects = {
    ...noQueueObjects,
    kueueResourceFlavors: [flavor("any")],
    kueueClusterQueues: [clusterQueue("victim-cq", [quota("any", 16)]), clusterQueue("evil-cq", [quota("any", 16)])],
    kueueLocalQueues: [
      localQueue("main", "victim-cq", { namespace: "victim" }),
      localQueue("main", "evil-cq", { namespace: "evil" }),
    ],
    kueueWorkloads: [starved],
  };
  const label = { "kueue.x-k8s.io/cluster-queue-name": "victim-cq" };
  const snapshotWith = (pods: readonly Pod[], more: Partial<ClusterState> = {}) =>
    snapshotOf({ nodes: nodes.slice(0, 2), pods, queues, ...more });

  it("are not there by a label: its starvation stays visible, and a line names both", () => {
    const snapshot = snapshotWith(eight("evil", { labels: label }));
    expect(queueIn(snapshot, "victim-cq")).toMatchObject({ allocated: 0, pending: 16 });
    expect(podOf(snapshot, "evil-a").queue).toBeNull();
    expect(lineOf(snapshot, "queue-unconfirmed")).toMatch(/namespace evil .*evil-a.* 16 GPUs name queue victim-cq/);
  });

  it("are there of its own namespace, by the same label", () => {
    const snapshot = snapshotWith(eight("victim", { labels: label }));
    expect(queueIn(snapshot, "victim-cq")).toMatchObject({ allocated: 16 });
    expect(podOf(snapshot, "victim-a").queue).toBe("victim-cq");
    expect(lineOf(snapshot, "queue-unconfirmed")).toBe("");
  });

  it("are not there beside the name of its own LocalQueue: they are in that", () => {
    const labels = { ...label, "kueue.x-k8s.io/queue-name": "main" };
    const snapshot = snapshotWith(eight("evil", { labels }));
    expect([queueIn(snapshot, "victim-cq").allocated, queueIn(snapshot, "evil-cq").allocated]).toEqual([0, 16]);
    expect(lineOf(snapshot, "queue-unconfirmed")).toContain("victim-cq");
  });

  it("are not there by the uid of the other's job, nor is the other's work the tenant's", () => {
    const job = owner("Job", "train", null, { namespace: "victim" });
    const admitted = workload("job-train", [podSet(2, 8)], {
      namespace: "victim",
      localQueue: "main",
      owner: ownerRef(job),
      ...admission("victim-cq", "any", 2, 8),
    });
    const owners = [job];
    const kueueWorkloads = [starved, admitted];
    const stolen = eight("evil", { owner: ownerRef(job) });
    const attacked = snapshotWith(stolen, { owners, queues: { ...queues, kueueWorkloads } });
    expect(queueIn(attacked, "victim-cq").allocated).toBe(0);
    expect(podOf(attacked, "evil-a").queue).toBeNull();
    const honest = snapshotWith(eight("victim", { owner: ownerRef(job) }), {
      owners,
      queues: { ...queues, kueueWorkloads },
    });
    expect(queueIn(honest, "victim-cq").allocated).toBe(16);
    // A Workload of the tenant with the same owner takes no pod away from the other's.
    const forged = { ...admitted, namespace: "evil", name: "a", uid: "uid-forged" };
    const both = {
      ...queues,
      kueueWorkloads: [...kueueWorkloads, { ...forged, ...admission("evil-cq", "any", 2, 8) }],
    };
    const taken = snapshotWith(eight("victim", { owner: ownerRef(job) }), { owners, queues: both });
    expect(queueIn(taken, "victim-cq").allocated).toBe(16);
  });
});

describe.each([
  {
    system: "KAI",
    scheduler: "kai-scheduler",
    queues: {
      ...noQueueObjects,
      kaiQueues: ["victim-q", "evil-q"].map((name) =>
        kaiQueue(name, { gpu: { quota: 16, overQuotaWeight: 1, limit: -1 } }),
      ),
    },
    labels: { "kai.scheduler/queue": "victim-q" } as Readonly<Record<string, string>>,
    group: {
      annotations: { "pod-group-name": "g" },
      queues: { kaiPodGroups: [kaiGroup("g", "victim-q", { namespace: "evil" })] } as Partial<QueueObjects>,
    },
  },
  {
    system: "Volcano",
    scheduler: "volcano",
    queues: { ...noQueueObjects, volcanoQueues: ["victim-q", "evil-q"].map((name) => volcanoQueue(name)) },
    labels: { "volcano.sh/queue-name": "victim-q" },
    group: {
      annotations: { "scheduling.k8s.io/group-name": "g" },
      queues: { volcanoPodGroups: [volcanoGroup("g", "victim-q", { namespace: "evil" })] },
    },
  },
])("GPUs on someone else's queue of $system", ({ system, scheduler, queues, labels, group }) => {
  const snapshotWith = (parts: PodParts, more: Partial<QueueObjects> = {}) =>
    snapshotOf({ nodes, pods: eight("evil", parts), queues: { ...queues, ...more } });

  it("are not there by a label under another scheduler, and a line names both", () => {
    const snapshot = snapshotWith({ labels });
    expect(queueIn(snapshot, "victim-q").allocated).toBe(0);
    expect(podOf(snapshot, "evil-a").queue).toBeNull();
    expect(lineOf(snapshot, "queue-unconfirmed")).toMatch(/evil-a.* victim-q/);
  });

  it("are there by the same label of pods that the scheduler places", () => {
    const snapshot = snapshotWith({ labels, schedulerName: scheduler });
    expect(queueIn(snapshot, "victim-q").allocated).toBe(16);
    expect(lineOf(snapshot, "queue-unconfirmed")).toBe("");
  });

  it("stay in the queue of the PodGroup that was made for them, whatever labels and annotations say afterwards", () => {
    const train = { apiVersion: "batch/v1", kind: "Job", name: "train", uid: "uid-train" };
    const made = system === "KAI" ? "kaiPodGroups" : "volcanoPodGroups";
    const of = system === "KAI" ? kaiGroup : volcanoGroup;
    const annotations = { "pod-group-name": "other", "scheduling.k8s.io/group-name": "other" };
    const groups = [
      of("made", "evil-q", { namespace: "evil" }),
      of("other", "victim-q", { namespace: "evil", owner: null }),
    ];
    const snapshot = snapshotWith({ labels, annotations, owner: train, schedulerName: scheduler }, { [made]: groups });
    expect([queueIn(snapshot, "victim-q").allocated, queueIn(snapshot, "evil-q").allocated]).toEqual([0, 16]);
  });

  it("are not there by a PodGroup that no controller made for them; by one that was made for them they are", () => {
    const { annotations } = group;
    expect(queueIn(snapshotWith({ annotations }, group.queues), "victim-q").allocated).toBe(0);
    const train = { apiVersion: "batch/v1", kind: "Job", name: "train", uid: "uid-train" };
    expect(queueIn(snapshotWith({ annotations, owner: train }, group.queues), "victim-q").allocated).toBe(16);
  });
});

describe("an allocation annotation", () => {
  const allocation = (...uuids: readonly string[]) => ({
    "hami.io/vgpu-devices-allocated": `${uuids.map((uuid) => `${uuid},NVIDIA,1,1`).join(":")}:;`,
  });
  const physicalGpus = ["GPU-aaaaaaaa-0000", "GPU-aaaaaaaa-0001", "GPU-aaaaaaaa-0002", "GPU-aaaaaaaa-0003"] as const;
  const plain = gpuNode("n", 8);
  const shared = node("n", {
    capacity: { "nvidia.com/gpu": 40 },
    labels: { "nvidia.com/gpu.product": "NVIDIA-A100-SXM4-80GB" },
    annotations: {
      "hami.io/node-nvidia-register": physicalGpus.map((uuid) => `${uuid},10,81920,100,NVIDIA-A100,0,true:`).join(""),
    },
  });

  it("makes no request smaller, wherever telemetry does not name the pod", () => {
    const snapshot = snapshotOf({
      nodes: [plain],
      pods: [gpuPod("p", "n", 4, { annotations: allocation(physicalGpus[0]) })],
    });
    expect(allocatedBy(snapshot, "p")).toBeCloseTo(4, 9);
    expect(lineOf(snapshot, "allocation-unconfirmed")).toMatch(/pod research\/p on node n .*GPU-aaaaaaaa-0000/);
  });

  it("on a node that HAMi shares makes it no smaller than the units that were requested", () => {
    const small = gpuPod("p", "n", 4, { annotations: allocation(physicalGpus[0]) });
    expect(allocatedBy(snapshotOf({ nodes: [shared], pods: [small] }), "p")).toBeCloseTo(0.4, 9);
    const text = `${physicalGpus[0]},NVIDIA,40960,30:;`;
    const honest = gpuPod("p", "n", 1, { annotations: { "hami.io/vgpu-devices-allocated": text } });
    const snapshot = snapshotOf({ nodes: [shared], pods: [honest] });
    expect(allocatedBy(snapshot, "p")).toBeCloseTo(0.5, 9);
    expect(lineOf(snapshot, "allocation-unconfirmed")).toBe("");
  });

  it("on a node that HAMi shares makes it no smaller than the memory and cores that were requested, and these may be small", () => {
    const asking = (gpumem: number, text: string) =>
      gpuPod("p", "n", 1, {
        annotations: { "hami.io/vgpu-devices-allocated": `${physicalGpus[0]},NVIDIA,${text}:;` },
        gpu: { resources: { "nvidia.com/gpu": 1 }, shares: { "nvidia.com/gpumem": gpumem, "nvidia.com/gpucores": 5 } },
      });
    expect(allocatedBy(snapshotOf({ nodes: [shared], pods: [asking(40_960, "1,1")] }), "p")).toBeCloseTo(0.5, 9);
    expect(allocatedBy(snapshotOf({ nodes: [shared], pods: [asking(2048, "2048,5")] }), "p")).toBeCloseTo(0.05, 9);
  });

  it("names no more GPUs than units that were requested", () => {
    const everywhere = {
      "hami.io/vgpu-devices-allocated": `${physicalGpus.map((uuid) => `${uuid},NVIDIA,0,100`).join(":")}:;`,
    };
    expect(
      allocatedBy(snapshotOf({ nodes: [shared], pods: [gpuPod("p", "n", 1, { annotations: everywhere })] }), "p"),
    ).toBe(1);
  });

  it.each([plain, shared])("of pods that request nothing takes nothing from whoever has the GPUs", (object) => {
    const victim = gpuPod("victim", "n", object === shared ? 40 : 4, { namespace: "victim" });
    const liars = Array.from({ length: 20 }, (_, i) =>
      pod(`liar-${i}`, "n", { namespace: "evil", annotations: allocation(...physicalGpus) }),
    );
    const rows = physicalGpus.map((uuid) =>
      bareReading(uuid, { smActive: 0.9, claimants: [claimant("victim", { namespace: "victim", slots: 10 })] }),
    );
    const snapshot = snapshotOf({ nodes: [object], pods: [victim, ...liars], telemetry: [page("n", rows)] });
    expect(allocatedBy(snapshot, "victim")).toBeCloseTo(4, 9);
    expect(allocatedBy(snapshot, "liar-0")).toBe(0);
    expect(lineOf(snapshot, "allocation-unconfirmed")).toMatch(/pod evil\/liar-0 .*the first of 20.*GPU-aaaaaaaa-0000/);
  });
});

describe("pods that request no GPU", () => {
  it("hold none because a page names them", () => {
    const rows = [reading("GPU-0", 0.9, "liar"), reading("GPU-1", 0.9, "honest")];
    const pods = [pod("liar", "n", { annotations: { "gpu-fraction": "0.5" } }), gpuPod("honest", "n", 1)];
    const snapshot = snapshotOf({ nodes: [gpuNode("n", 2)], pods, telemetry: [page("n", rows)] });
    expect([allocatedBy(snapshot, "liar"), allocatedBy(snapshot, "honest")]).toEqual([0, 1]);
  });

  it("take no node by the annotation of a fraction, and ask for nothing; those that KAI places do", () => {
    const fraction = (name: string, nodeName: string | null, schedulerName: string) =>
      pod(name, nodeName, { namespace: "evil", schedulerName, annotations: { "gpu-fraction": "1" } });
    const pods = (scheduler: string) => [
      ...Array.from({ length: 8 }, (_, i) => fraction(`p${i}`, "n", scheduler)),
      fraction("waits", null, scheduler),
    ];
    const attacked = snapshotOf({ nodes: [gpuNode("n", 8)], pods: pods("default-scheduler") });
    expect(nodeOf(attacked, "n").allocatedByDevices).toBe(0);
    expect(podOf(attacked, "waits").gpus).toBe(0);
    expect(lineOf(attacked, "fraction-unconfirmed")).toMatch(/pod evil\/p0 on node n .*the first of 8/);
    // Whoever makes a pod may name KAI and a node at once: KAI keeps a GPU for each fraction that it places.
    const placedByThemselves = snapshotOf({ nodes: [gpuNode("n", 8)], pods: pods("kai-scheduler") });
    expect(nodeOf(placedByThemselves, "n").allocatedByDevices).toBe(0);
    expect(lineOf(placedByThemselves, "fraction-unconfirmed")).toMatch(/pod evil\/p0 on node n .*the first of 8/);
    expect(podOf(placedByThemselves, "waits").gpus).toBe(1);
    const inGroups = pods("kai-scheduler").map((one) => ({ ...one, labels: { "runai-gpu-group": one.name } }));
    const kept = Array.from({ length: 8 }, (_, i) =>
      gpuPod(`gpu-reservation-${i}`, "n", 1, {
        namespace: "kai-resource-reservation",
        labels: { "runai-gpu-group": `p${i}` },
      }),
    );
    const honest = snapshotOf({ nodes: [gpuNode("n", 8)], pods: [...inGroups, ...kept] });
    expect(nodeOf(honest, "n").allocatedByDevices).toBeCloseTo(8, 9);
    expect(podOf(honest, "waits").gpus).toBe(1);
  });

  it("a second reservation of a group, or of a GPU, moves nobody's fraction", () => {
    const first = reservation("kai-resource-reservation", "GPU-1", { name: "z" });
    const younger = { createdAt: now - 60, uid: "uid-a", name: "a" };
    const pods = [first, inGroup("victim", "0.5", "kai-scheduler", "victim")];
    const telemetry = [page("n", [reading("GPU-0", 0), reading("GPU-1", 0.9)])];
    const onGpu = ({ devices, pods: views }: Snapshot) =>
      devices.flatMap(({ uuid, holders }) =>
        holders.flatMap(({ pod: at, share }) => (views[at]?.name === "victim" ? [[uuid, share]] : [])),
      );
    const queues = { ...noQueueObjects, kaiQueues: [kaiQueue("default-queue")] };
    const ofGroup = snapshotOf({
      nodes: [gpuNode("n", 2)],
      telemetry,
      queues,
      pods: [reservation("runai-reservation", "GPU-0", younger), ...pods],
    });
    expect(onGpu(ofGroup)).toEqual([["GPU-1", 0.5]]);
    expect(lineOf(ofGroup, "reservation-unconfirmed")).toMatch(/runai-reservation\/a on node n/);
    const other = { ...younger, labels: { "runai-gpu-group": "other" } };
    const ofGpu = snapshotOf({
      nodes: [gpuNode("n", 2)],
      telemetry,
      queues,
      pods: [
        reservation("runai-reservation", "GPU-1", other),
        ...pods,
        { ...inGroup("liar", "1", "kai-scheduler", "evil"), labels: { "runai-gpu-group": "other" } },
      ],
    });
    expect(onGpu(ofGpu)).toEqual([["GPU-1", 0.5]]);
  });

  const reservation = (namespace: string, uuid: string, parts: PodParts = {}) =>
    gpuPod("gpu-reservation", "n", 1, {
      namespace,
      labels: { "runai-gpu-group": "g" },
      annotations: { "run.ai/reserve_for_gpu_index": uuid },
      ...parts,
    });
  const inGroup = (name: string, part: string, schedulerName: string, namespace: string) =>
    pod(name, "n", {
      namespace,
      schedulerName,
      labels: { "runai-gpu-group": "g" },
      annotations: { "gpu-fraction": part },
    });

  it("have what is left of a reserved GPU, where KAI's own fractions have their part", () => {
    const pods = [
      reservation("kai-resource-reservation", "GPU-0"),
      inGroup("victim", "0.75", "kai-scheduler", "victim"),
      inGroup("a-liar", "1", "default-scheduler", "evil"),
    ];
    const telemetry = [page("n", [reading("GPU-0", 0.5), reading("GPU-1", 0)])];
    const snapshot = snapshotOf({ nodes: [gpuNode("n", 2)], pods, telemetry });
    expect(allocatedBy(snapshot, "victim")).toBe(0.75);
    expect(allocatedBy(snapshot, "a-liar")).toBeLessThanOrEqual(0.25);
  });

  it("leave to a request what the scheduler gave it: what only annotations say is in the rest", () => {
    const pods = [gpuPod("victim", "n", 6, { namespace: "victim" })];
    const liars = Array.from({ length: 8 }, (_, i) => inGroup(`a${i}`, "1", "kai-scheduler", "evil"));
    const snapshot = snapshotOf({ nodes: [gpuNode("n", 8)], pods: [...liars, ...pods] });
    expect(allocatedBy(snapshot, "victim")).toBeCloseTo(6, 9);
  });

  it("a reservation takes no GPU whose rows name others", () => {
    const pods = [
      gpuPod("victim", "n", 1, { namespace: "victim" }),
      reservation("runai-reservation", "GPU-0"),
      inGroup("liar", "1", "kai-scheduler", "evil"),
    ];
    const named = bareReading("GPU-0", { smActive: 0.9, claimants: [claimant("victim", { namespace: "victim" })] });
    const snapshot = snapshotOf({
      nodes: [gpuNode("n", 2)],
      pods,
      telemetry: [page("n", [named, reading("GPU-1", 0)])],
    });
    expect(allocatedBy(snapshot, "victim")).toBe(1);
  });
});

describe("pods in a namespace called runai-reservation", () => {
  const pods = [gpuPod("hidden", "n0", 8, { namespace: "runai-reservation", labels: { "runai-gpu-group": "g" } })];

  it("hold what they request, where no fraction and no KAI says that they are reservations", () => {
    const snapshot = snapshotOf({ nodes, pods });
    expect(allocatedBy(snapshot, "hidden")).toBeCloseTo(8, 9);
    expect(lineOf(snapshot, "reservation-unconfirmed")).toMatch(/runai-reservation\/hidden on node n0/);
  });

  it("hold what they request beside KAI, too, where they ask for more than a GPU", () => {
    const queues = { ...noQueueObjects, kaiQueues: [kaiQueue("default-queue")] };
    expect(allocatedBy(snapshotOf({ nodes, pods, queues }), "hidden")).toBeCloseTo(8, 9);
  });
});

describe("a reservation pod that no fraction of KAI names", () => {
  const queues = { ...noQueueObjects, kaiQueues: [kaiQueue("default-queue")] };
  const kept = gpuPod("kept", "n0", 1, { namespace: "runai-reservation", labels: { "runai-gpu-group": "g" } });
  const user = pod("user", "n0", {
    schedulerName: "kai-scheduler",
    labels: { "runai-gpu-group": "g" },
    annotations: { "gpu-fraction": "0.5" },
  });

  it("is named: its GPU is nobody's", () => {
    const snapshot = snapshotOf({ nodes, pods: [kept], queues });
    expect(lineOf(snapshot, "reservation-unserved")).toMatch(/runai-reservation\/kept on node n0 .*group g/);
  });

  it("is not, where one of them is in its group", () => {
    const codes = snapshotOf({ nodes, pods: [kept, user], queues }).problems.map(({ code }) => code);
    expect(codes).not.toContain("reservation-unserved");
  });
});

describe("a gang of labels", () => {
  const lone = (labels: Record<string, string>, annotations: Record<string, string>) => {
    const one = gpuPod("p", "n", 1, { labels, annotations, createdAt: now - 90_000, scheduledAt: now - 90_000 });
    const telemetry = [page("n", [reading("GPU-0", 0, "p")])];
    return snapshotOf({ nodes: [gpuNode("n", 1)], pods: [one], telemetry });
  };

  it("is none, so that what is idle in it is not called a wait", () => {
    const group = lone({ "kueue.x-k8s.io/pod-group-name": "g" }, { "kueue.x-k8s.io/pod-group-total-count": "2" });
    const lws = lone({ "leaderworkerset.sigs.k8s.io/name": "llm" }, { "leaderworkerset.sigs.k8s.io/size": "2" });
    for (const snapshot of [group, lws]) {
      expect(podOf(snapshot, "p").gang).toBeNull();
      expect(statesOf(snapshot)).not.toHaveProperty("gang_wait");
    }
  });
});
