import { describe, expect, it } from "vitest";
import { explainWaiting } from "../../../exporter/analysis/waiting/explainWaiting.ts";
import type { ClusterState } from "../../../exporter/model/cluster.ts";
import { gfdLabels, gpuNode, gpuPod, instance, node, page, pod } from "../../join/clusterBuilder.ts";
import { snapshotOf } from "../../join/outcomes.ts";
import { blockedAt } from "./blockedWork.ts";

/** What is blocked of a cluster's waiting pods, and the cause of their wait, by name. */
function found(parts: Partial<ClusterState>) {
  const snapshot = snapshotOf(parts);
  const { gangs } = snapshot.queueing;
  const { work } = explainWaiting(snapshot, { waitTargets: [] });
  const causes = new Map(work.map(({ gang, cause }) => [gangs[gang]?.name, cause]));
  return blockedAt(snapshot).work.map(({ gang, pools, gpus, freeGpus, blocker }) => {
    const name = gangs[gang]?.name;
    return { name, pools, gpus, freeGpus, blocker, cause: causes.get(name) };
  });
}

const product = "nvidia.com/gpu.product";
const [h100, a100] = ["NVIDIA-H100-80GB-HBM3", "NVIDIA-A100-SXM4-80GB"];
const anyTaint = [{ key: "", operator: "Exists", value: "", effect: null }] as const;

describe("blocked work of a cluster that was joined", () => {
  it("are pods for which the free GPUs lie on two nodes", () => {
    const nodes = [gpuNode("n1", 8), gpuNode("n2", 8)];
    const pods = [gpuPod("a", "n1", 4), gpuPod("b", "n2", 4), gpuPod("large", null, 8), gpuPod("small", null, 4)];
    expect(found({ nodes, pods })).toEqual([
      { name: "large", pools: ["H100-80GB-HBM3"], gpus: 8, freeGpus: 8, blocker: "spread", cause: "fragmentation" },
    ]);
  });

  it("are not pods that fit into another pool, where no queue system keeps them in one", () => {
    const half = (name: string) => gpuNode(name, 8, { labels: gfdLabels(8, a100) });
    const nodes = [half("n1"), half("n2"), gpuNode("n3", 8)];
    const allocated = [gpuPod("a", "n1", 4), gpuPod("b", "n2", 4)];
    expect(found({ nodes, pods: [...allocated, gpuPod("any", null, 8)] })).toEqual([]);
    const both = [...allocated, gpuPod("c", "n3", 1), gpuPod("any", null, 8)];
    expect(found({ nodes, pods: both })).toEqual([
      {
        name: "any",
        pools: ["A100-SXM4-80GB", "H100-80GB-HBM3"],
        gpus: 8,
        freeGpus: 15,
        blocker: "spread",
        cause: "fragmentation",
      },
    ]);
  });

  it("are no pods that lack the model that is taken: its pool has nothing free", () => {
    const nodes = [gpuNode("n1", 8), gpuNode("n2", 8, { labels: gfdLabels(8, a100) })];
    const nodeAffinity = [[{ key: product, operator: "In", values: [h100] }]];
    const pods = [gpuPod("allocated", "n1", 8), gpuPod("picky", null, 8, { nodeAffinity }), gpuPod("any", null, 8)];
    expect(found({ nodes, pods })).toEqual([]);
  });

  it("are pods that do not tolerate the taint of the nodes with free GPUs", () => {
    const taints = [{ key: "nvidia.com/gpu", value: "present", effect: "NoSchedule" }] as const;
    const nodes = [gpuNode("n1", 8, { taints }), gpuNode("n2", 8)];
    const pods = [
      gpuPod("allocated", "n2", 8),
      gpuPod("without", null, 1, { tolerations: [] }),
      gpuPod("with", null, 1, { tolerations: anyTaint }),
      gpuPod("other", null, 1, { tolerations: [{ key: "team", operator: "Exists", value: "", effect: null }] }),
    ];
    expect(found({ nodes, pods }).map(({ name, blocker, cause }) => [name, blocker, cause])).toEqual([
      ["other", "selector", "capacity"],
      ["without", "selector", "capacity"],
    ]);
    // Where every node has it they can never run: nothing that is rearranged would help.
    expect(found({ nodes: nodes.slice(0, 1), pods: pods.slice(1) })).toEqual([]);
  });

  it("are pods for which other pods, also without GPUs, left no CPU", () => {
    const nodes = [gpuNode("n1", 8, { allocatableCpuMilli: 96_000 })];
    const pods = [gpuPod("train", null, 2, { cpuMilli: 20_000 })];
    const requestsByNode = new Map([["n1", { pods: 30, cpuMilli: 80_000, memoryBytes: 0 }]]);
    expect(found({ nodes, pods, requestsByNode })[0]).toMatchObject({ blocker: "cpu", cause: "fragmentation" });
    const less = new Map([["n1", { pods: 30, cpuMilli: 76_000, memoryBytes: 0 }]]);
    expect(found({ nodes, pods, requestsByNode: less })).toEqual([]);
  });

  it("are pods that ask for an instance where only smaller ones are free", () => {
    const [large, small] = ["nvidia.com/mig-3g.40gb", "nvidia.com/mig-1g.10gb"];
    const nodes = [
      node("n", {
        labels: { ...gfdLabels(1, a100), "nvidia.com/mig.strategy": "mixed" },
        capacity: { [large]: 1, [small]: 4 },
      }),
    ];
    const rows = [
      instance("GPU-0", "1", "3g.40gb", 0.5, "allocated"),
      ...["2", "3", "4", "5"].map((id) => instance("GPU-0", id, "1g.10gb", 0)),
    ];
    const pods = [gpuPod("allocated", "n", 1, {}, large), gpuPod("waits", null, 1, {}, large)];
    expect(found({ nodes, pods, telemetry: [page("n", rows)] })).toEqual([
      {
        name: "waits",
        pools: ["A100-SXM4-80GB"],
        // Half of the memory, and four sevenths of the compute: together more than the GPU, which they fill.
        gpus: expect.closeTo(7 / 15, 9),
        freeGpus: expect.closeTo(8 / 15, 9),
        blocker: "mig_geometry",
        cause: "fragmentation",
      },
    ]);
  });

  it("are fractions for which no GPU has enough left", () => {
    const fraction = (name: string, on: string | null, part: string, group = "") =>
      pod(name, on, {
        annotations: { "gpu-fraction": part },
        ...(group === "" ? {} : { labels: { "runai-gpu-group": group } }),
        schedulerName: "kai-scheduler",
        ...(on === null ? { unschedulable: "no node has enough" } : {}),
      });
    const nodes = [gpuNode("n1", 1), gpuNode("n2", 1)];
    const kept = (group: string, on: string) =>
      gpuPod(`gpu-reservation-${group}`, on, 1, {
        namespace: "kai-resource-reservation",
        labels: { "runai-gpu-group": group },
      });
    const placed = [fraction("a", "n1", "0.6", "g-a"), fraction("b", "n2", "0.6", "g-b")];
    const pods = [kept("g-a", "n1"), kept("g-b", "n2"), ...placed, fraction("waits", null, "0.5")];
    expect(found({ nodes, pods }).map(({ name, gpus, blocker }) => [name, gpus, blocker])).toEqual([
      ["waits", 0.5, "spread"],
    ]);
  });
});
