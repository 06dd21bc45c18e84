import { describe, expect, it } from "vitest";
import type { AdviceMoment } from "../../../exporter/advice/moment.ts";
import type { Pod } from "../../../exporter/model/pod.ts";
import { type KueueCase, kueueMoment } from "../../advice/kinds/kueueCluster.ts";
import { adviceOf, titlesOf } from "../../advice/wholeAdvice.ts";
import { everyKind, gpuPod, now } from "../../join/clusterBuilder.ts";

/** Ads runs on both nodes, 8 GPUs above what it is sure of; tenants is sure of 8. */
const given: KueueCase = {
  nodes: { a: 8, b: 8 },
  queues: [
    { name: "ads", nominal: 8 },
    { name: "tenants", nominal: 8 },
  ],
  running: [
    { name: "embed", queue: "ads", nodes: ["a"], gpusPerPod: 8, hours: 5 },
    { name: "crawl", queue: "ads", nodes: ["b"], gpusPerPod: 8, hours: 1 },
  ],
};

/** A pod that waits in the tenant's own LocalQueue. */
const waits = (parts: Partial<Pod> = {}, gpus = 8): Pod =>
  gpuPod("made-up", null, gpus, {
    namespace: "tenants",
    createdAt: now - 1800,
    labels: { "kueue.x-k8s.io/queue-name": "main" },
    ...parts,
  });

const hosts = { a: { "kubernetes.io/hostname": "a" }, b: { "kubernetes.io/hostname": "b" } };
const momentWith = (pods: readonly Pod[], more: KueueCase["more"] = {}): AdviceMoment =>
  kueueMoment({ ...given, labels: hosts, addedPods: pods, more: { neighbors: [], ...more } });

const said = (message: string): Partial<Pod> => ({ unschedulable: message });

/** What is shown of the tenant's demand. */
function demandOf({ analysis }: AdviceMoment) {
  const { gangs, queues } = analysis.snapshot.queueing;
  const index = queues.findIndex(({ name, isLeaf }) => isLeaf && name === "tenants");
  const at = gangs.findIndex(({ name }) => name === "made-up");
  return {
    gpus: gangs[at]?.gpus,
    never: gangs[at]?.never,
    pending: queues[index]?.pending,
    shortfall: analysis.fairness.queues[index]?.shortfall,
    cause: analysis.waiting.work[at]?.cause,
  };
}

const stops = (moment: AdviceMoment): readonly string[] =>
  adviceOf(moment)
    .recommendations.filter(({ cost }) => cost.pods > 0)
    .map(({ title }) => title);

const noNode = "0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector.";
const toNobody: Pod["placement"] = {
  affinity: [
    {
      topologyKey: "kubernetes.io/hostname",
      selector: [{ key: "app", operator: "In", values: ["nobody"] }],
      namespaces: [],
    },
  ],
  antiAffinity: [],
  spread: [],
  hostPorts: [],
  unknown: [],
};

describe("demand that a tenant makes up", () => {
  it("is what gets a borrower's work requeued where it is real", () => {
    const moment = momentWith([waits()]);
    expect(demandOf(moment)).toEqual({ gpus: 8, never: null, pending: 8, shortfall: 8, cause: "quota" });
    expect(stops(moment)).toEqual(["give tenants 8 H100-80GB-HBM3 back: requeue ads/crawl (8)"]);
  });

  it.each<[string, Partial<Pod>, string, string]>([
    ["names a scheduler that is not there", { schedulerName: "nobody" }, "no-scheduler", "scheduler"],
    ["mounts a claim that is not there", { volumeClaims: ["missing"] }, "unschedulable", "constraint"],
    ["wants to be near pods that are not there", { placement: toNobody }, "unschedulable", "constraint"],
    ["asks for labels that no node has", { nodeSelector: { zone: "moon" } }, "no-node", "constraint"],
    ["tolerates no node's taints", { nodeSelector: { tainted: "yes" }, tolerations: [] }, "no-node", "constraint"],
    ["asks for more CPU than any node has", { cpuMilli: 1_000_000 }, "no-node", "constraint"],
    ["asks for more memory than any node has", { memoryBytes: 2 ** 60 }, "no-node", "constraint"],
    ["is on no node by its scheduler's word", said(noNode), "unschedulable", "constraint"],
    [
      "lacks a claim by its scheduler's word",
      said('0/2 nodes are available: persistentvolumeclaim "missing" not found. not found'),
      "unschedulable",
      "constraint",
    ],
  ])("stops nobody's work and is owed nothing: it %s", (_what, parts, never, cause) => {
    const more = {
      known: new Set([...everyKind, "persistentVolumeClaims", "persistentVolumes"] as const),
      neighbors: [],
    };
    const labels = { b: { tainted: "yes" } };
    const taints = [{ key: "mine", value: "", effect: "NoSchedule" }] as const;
    const moment = kueueMoment({ ...given, labels, taints: { b: taints }, addedPods: [waits(parts)], more });
    expect(demandOf(moment)).toMatchObject({ never, pending: 0, shortfall: 0, cause });
    expect(stops(moment)).toEqual([]);
    expect(moment.analysis.snapshot.problems).toContainEqual(
      expect.objectContaining({
        code: "demand-impossible",
        subject: "tenants/made-up",
        message: expect.stringContaining("tenants/made-up"),
      }),
    );
  });

  it("is nothing that a pod asks for beyond what any node could have, of what no node is known to have, either", () => {
    const gpu = { resources: { "amd.com/gpu": 9e18 } };
    const moment = momentWith([waits({ gpu: { ...waits().gpu, ...gpu } })]);
    expect(demandOf(moment)).toMatchObject({ never: "no-node", pending: 0, shortfall: 0 });
    expect(stops(moment)).toEqual([]);
  });

  it("is none by a scheduler that only the tenant's own pods name, which were made on a node at once", () => {
    const own = gpuPod("own", "a", 0, { namespace: "tenants", schedulerName: "own" });
    const moment = momentWith([waits({ schedulerName: "own" }), own]);
    expect(demandOf(moment)).toMatchObject({ never: "no-scheduler", pending: 0, shortfall: 0 });
  });

  it.each([9, 1000, 9e18])("is nothing that a pod asks for beyond what a node has: %d GPUs", (gpus) => {
    const moment = momentWith([waits({}, gpus)]);
    expect(demandOf(moment)).toMatchObject({ never: "no-node", pending: 0, shortfall: 0, cause: "constraint" });
    expect(stops(moment)).toEqual([]);
    const sums = moment.analysis.waiting.queues.flatMap((one) => Object.values(one.gpus));
    expect(Math.max(0, ...sums)).toBeLessThanOrEqual(1000);
    expect(moment.analysis.snapshot.problems.map(({ subject }) => subject)).toContain("tenants/made-up");
  });
});

describe("demand that is not wholly known yet", () => {
  const stopped = ["give tenants 8 H100-80GB-HBM3 back: requeue ads/crawl (8)"];
  const other = (parts: Partial<Pod>): Pod => gpuPod("other", "a", 0, { namespace: "others", ...parts });

  it.each<[string, readonly Pod[]]>([
    [
      "its scheduler has bound another namespace's pod",
      [waits({ schedulerName: "own" }), other({ schedulerName: "own" })],
    ],
    [
      "its scheduler has spoken of it",
      [waits({ schedulerName: "own", ...said("0/2 nodes are available: 2 Insufficient nvidia.com/gpu.") })],
    ],
    [
      "its scheduler has spoken of another pod",
      [
        waits({ schedulerName: "own" }),
        gpuPod("also", null, 8, { namespace: "others", schedulerName: "own", gated: true, ...said("no node") }),
      ],
    ],
    [
      "its scheduler says that GPUs are missing",
      [
        waits(
          said(
            "0/2 nodes are available: 2 Insufficient nvidia.com/gpu. preemption: 0/2 nodes are available: 2 No preemption victims found for incoming pod.",
          ),
        ),
      ],
    ],
    [
      "its scheduler says that some nodes are not for it, and others are full",
      [
        waits(
          said(
            "0/2 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 1 Insufficient nvidia.com/gpu.",
          ),
        ),
      ],
    ],
    ["its volume is bound when it has a node", [waits({ volumeClaims: ["later"] })]],
    ["volumes cannot be read", [waits({ volumeClaims: ["unread"] })]],
    [
      "it is the first of pods that want to be together",
      [waits({ labels: { "kueue.x-k8s.io/queue-name": "main", app: "nobody" }, placement: toNobody })],
    ],
  ])("counts where %s", (_what, pods) => {
    const isRead = !pods.some(({ volumeClaims = [] }) => volumeClaims.includes("unread"));
    const known = isRead ? ["persistentVolumeClaims" as const, "persistentVolumes" as const] : [];
    const moment = momentWith(pods, {
      known: new Set([...everyKind, ...known]),
      persistentVolumeClaims: [{ namespace: "tenants", name: "later", volumeName: null, isForOneNode: true }],
    });
    expect(demandOf(moment)).toMatchObject({ never: null, pending: 8, shortfall: 8 });
    expect(titlesOf(adviceOf(moment)).length).toBeGreaterThanOrEqual(0);
    if (pods.every(({ volumeClaims }) => volumeClaims === undefined)) expect(stops(moment)).toEqual(stopped);
  });
});
