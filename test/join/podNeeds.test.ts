import { describe, expect, it } from "vitest";
import { join } from "../../exporter/join/join.ts";
import { createJoinCache } from "../../exporter/join/joinCache.ts";
import { emptyMemory } from "../../exporter/join/memory.ts";
import { createNeedsCache, forgetNeeds, needsOf } from "../../exporter/join/podNeeds.ts";
import { cluster, gpuNode, gpuPod, now, page, pod, reading } from "./clusterBuilder.ts";
import { defaultSettings, podOf, snapshotOf } from "./outcomes.ts";

const nodes = [gpuNode("n", 8)];
const inZone = [[{ key: "zone", operator: "In", values: ["a"] }]];

describe("what a pod asks of its node", () => {
  it("are its requests, in cores and bytes, and its rules", () => {
    const rules = { nodeSelector: { gpu: "h100" }, nodeAffinity: inZone, tolerations: [] };
    const pods = [gpuPod("p", "n", 2, { cpuMilli: 1500, memoryBytes: 1024, ...rules })];
    const [view] = snapshotOf({ nodes, pods }).pods;
    expect(view?.needs).toEqual({ requests: { cpu: 1.5, memory: 1024, "nvidia.com/gpu": 2 }, ...rules });
  });

  it("leaves out what is not asked for, and the GPUs of a fraction, which the pod's own amount says", () => {
    const fraction = {
      schedulerName: "kai-scheduler",
      annotations: { "gpu-fraction": "0.5" },
      cpuMilli: 0,
      memoryBytes: 0,
    };
    const [view] = snapshotOf({ nodes, pods: [pod("p", null, fraction)] }).pods;
    expect(view?.needs?.requests).toEqual({});
    expect(view?.gpus).toBe(0.5);
  });

  it("is unknown of pods that telemetry alone names", () => {
    const telemetry = [page("n", [reading("GPU-0", 0.8, "job")])];
    expect(podOf(snapshotOf({ known: new Set(), telemetry }), "job").needs).toBeNull();
  });
});

describe("pods that ask alike", () => {
  it("share one object, allocated and waiting, and over cycles", () => {
    const cache = createJoinCache();
    const pods = [gpuPod("a", "n", 1), gpuPod("b", "n", 1), gpuPod("c", null, 1), gpuPod("d", "n", 2)];
    const first = join(cluster({ nodes, pods }), emptyMemory, defaultSettings, now, cache);
    const later = join(
      cluster({ nodes, pods: [...pods, gpuPod("e", null, 1)] }),
      first.memory,
      defaultSettings,
      now + 30,
      cache,
    );
    const views = [...first.snapshot.pods, ...later.snapshot.pods];
    const small = new Set(views.filter(({ name }) => name !== "d").map(({ needs }) => needs));
    expect(small.size).toBe(1);
    expect(views.find(({ name }) => name === "d")?.needs).not.toBe([...small][0]);
  });

  it.each([
    ["CPU", { cpuMilli: 2000 }],
    ["memory", { memoryBytes: 7 }],
    ["labels", { nodeSelector: { a: "b" } }],
    ["affinity", { nodeAffinity: inZone }],
    ["tolerations", { tolerations: [] }],
    ["GPUs", { gpu: { resources: { "nvidia.com/gpu": 2 } } }],
    ["another resource", { gpu: { resources: { "nvidia.com/gpu": 1, "nvidia.com/mig-1g.10gb": 1 } } }],
  ])("do not share with one that differs in %s", (_what, parts) => {
    const cache = createNeedsCache();
    expect(needsOf(gpuPod("b", null, 1, parts), cache)).not.toBe(needsOf(gpuPod("a", null, 1), cache));
  });

  it("are not mistaken for others by hostile texts", () => {
    const cache = createNeedsCache();
    const one = pod("a", null, { nodeSelector: { a: "1:b1:c", d: "" } });
    const other = pod("b", null, { nodeSelector: { a: "", "1:b": "1:c1:d0:" } });
    expect(needsOf(one, cache)).not.toBe(needsOf(other, cache));
  });

  it("share whatever the order of their labels is", () => {
    const cache = createNeedsCache();
    const one = needsOf(pod("a", null, { nodeSelector: { a: "1", b: "2" } }), cache);
    expect(needsOf(pod("b", null, { nodeSelector: { b: "2", a: "1" } }), cache)).toBe(one);
  });
});

describe("what pods asked for", () => {
  it("is forgotten when no pod asks for it any more, but not while one does", () => {
    const cache = createNeedsCache();
    const ask = (cpuMilli: number) => needsOf(pod("p", null, { cpuMilli }), cache);
    const kept = { needs: ask(1) };
    for (let cpuMilli = 2; cpuMilli <= 1000; cpuMilli += 1) ask(cpuMilli);
    forgetNeeds(cache, [kept]);
    expect(cache.byContent.size).toBe(1000);
    ask(1001);
    forgetNeeds(cache, [kept]);
    expect(cache.byContent.size).toBe(1);
    expect(ask(1)).toBe(kept.needs);
  });
});

describe("waiting pods", () => {
  it("are distinguished by every rule, and by the size of their fraction", () => {
    const owner = { apiVersion: "batch/v1", kind: "Job", name: "j", uid: "j" };
    const unschedulable = "0/1 nodes are available: 1 Insufficient nvidia.com/gpu.";
    const byKai = { owner, schedulerName: "kai-scheduler", unschedulable };
    const pods = [
      gpuPod("a", null, 1, { owner }),
      gpuPod("b", null, 1, { owner }),
      gpuPod("c", null, 1, {
        owner,
        nodeAffinity: [[{ key: "nvidia.com/gpu.count", operator: "Exists", values: [] }]],
      }),
      gpuPod("d", null, 1, { owner, tolerations: [] }),
      pod("e", null, { ...byKai, annotations: { "gpu-fraction": "0.5" } }),
      pod("f", null, { ...byKai, annotations: { "gpu-fraction": "0.25" } }),
    ];
    const [gang] = snapshotOf({ nodes, pods }).queueing.gangs;
    expect(gang?.parts.map((part) => [part.pods, part.gpusPerPod])).toEqual([
      [2, 1],
      [1, 1],
      [1, 1],
      [1, 0.5],
      [1, 0.25],
    ]);
  });
});
