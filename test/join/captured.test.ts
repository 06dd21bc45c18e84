import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import type { ClusterState } from "../../exporter/model/cluster.ts";
import { decodeNode } from "../../exporter/sources/kubernetes/decodeCluster.ts";
import { decodeResourceSlice } from "../../exporter/sources/kubernetes/decodeDevices.ts";
import type { Decoded } from "../../exporter/sources/kubernetes/decoded.ts";
import { decodePod } from "../../exporter/sources/kubernetes/decodePod.ts";
import { node as plainNode } from "./clusterBuilder.ts";
import { holdingsOf, nodeOf, snapshotOf, statesOf } from "./outcomes.ts";

const folder = new URL("../captured/", import.meta.url);
const text = (path: string): string => readFileSync(new URL(path, folder), "utf8");
const expected = (name: string) => JSON.parse(text(`objects-${name}/expected-objects.json`));

function decoded<T>(result: Decoded<T>): T {
  if (!result.ok) throw new Error(result.problem.message);
  return result.value;
}

/** A Node object around captured labels and amounts, as the API would give it. */
function capturedNode(labels: unknown, status: Record<string, unknown> = {}) {
  return decoded(decodeNode({ metadata: { name: "n", uid: "u", labels }, spec: {}, status }));
}

const nodes = {
  "mig-single-a100": () => capturedNode(JSON.parse(text("objects-mig-single-a100/node-labels.json"))),
  "mig-mixed-a100": () => {
    const status = parse(text("objects-mig-mixed-a100/node-capacity.yaml"));
    const labels = JSON.parse(text("objects-mig-mixed-a100/node-labels.json"));
    return capturedNode(labels, { capacity: status.Capacity, allocatable: status.Allocatable });
  },
  "mig-mixed-h20": () =>
    capturedNode(
      parse(text("objects-mig-mixed-h20/node-labels.yaml")),
      parse(text("objects-mig-mixed-h20/node-status.yaml")),
    ),
  "timeslicing-rtx2000": () => {
    // The source's own shorthand has two keys in one line.
    const amount = /nvidia\.com\/gpu: "(\d+)"/.exec(text("objects-timeslicing-rtx2000/node-capacity.txt"))?.[1];
    const resources = { "nvidia.com/gpu": amount };
    const labels = parse(text("objects-timeslicing-rtx2000/node-labels.yaml"));
    return capturedNode(labels, { capacity: resources, allocatable: resources });
  },
} as const;

describe("captured nodes have the physical GPUs that a person reads", () => {
  it.each(Object.entries(nodes))("%s", (name, build) => {
    const snapshot = snapshotOf({ nodes: [build()] });
    expect(nodeOf(snapshot, "n").physicalGpus).toBe(expected(name).physicalGpus);
    expect(snapshot.problems.filter((problem) => problem.code === "gpu-count-conflict")).toEqual([]);
  });

  it("a DRA slice, by UUID", () => {
    const captured = decoded(decodeResourceSlice(parse(text("objects-dra-t4-slice/resourceslice.yaml"))));
    const name = captured.nodeName ?? "";
    const state: Partial<ClusterState> = { nodes: [plainNode(name)], resourceSlices: [captured] };
    const snapshot = snapshotOf(state);
    const { physicalGpus, devices } = expected("dra-t4-slice");
    expect(nodeOf(snapshot, name).physicalGpus).toBe(physicalGpus);
    expect(snapshot.devices.map((device) => device.uuid).sort()).toEqual(
      devices.map((device: { uuid: string }) => device.uuid).sort(),
    );
    expect(snapshot.devices.map((device) => device.model)).toEqual(["T4", "T4"]);
    // Its source ran the same node time-sliced: four replicas each, still two GPUs.
    const sliced = plainNode(name, { capacity: { "nvidia.com/gpu": 8 }, labels: { "nvidia.com/gpu.replicas": "4" } });
    expect(nodeOf(snapshotOf({ nodes: [sliced] }), name).physicalGpus).toBe(physicalGpus);
  });
});

describe("the captured HAMi pod", () => {
  const { gpuPod: pod } = decoded(decodePod(parse(text("objects-hami-pod/pod.yaml"))));
  if (pod === null) throw new Error("the captured pod has GPUs");
  const { share, allocatedNow, physicalGpus } = expected("hami-pod");
  const labels = { "nvidia.com/gpu.product": "NVIDIA-A800-SXM4-80GB" };
  const annotations = { "hami.io/node-nvidia-register": `${share.uuid},10,81920,100,NVIDIA-A800,0,true:` };
  const state: Partial<ClusterState> = {
    nodes: [plainNode(share.node, { labels, annotations, capacity: { "nvidia.com/vgpu": 10 } })],
  };

  it("asked for memory and cores of the GPU that it shares", () => {
    expect(pod.gpu).toMatchObject({
      resources: { "nvidia.com/vgpu": 1 },
      shares: { "nvidia.com/gpumem": 1024, "nvidia.com/gpucores": 20 },
    });
  });

  it("has ended and holds nothing", () => {
    const allocated = snapshotOf({ ...state, pods: [{ ...pod, nodeName: share.node }] });
    expect(allocated.pods).toHaveLength(allocatedNow);
    expect(statesOf(allocated)).not.toHaveProperty("underutilized");
  });

  it("held the larger of its core and its memory share while it ran", () => {
    const running = { ...pod, phase: "Running" as const, nodeName: share.node };
    const allocated = holdingsOf(snapshotOf({ ...state, pods: [running] }), pod.name);
    expect(allocated).toMatchObject([{ on: share.uuid, share: share.coresPercent / 100, source: "annotation" }]);
  });

  it("its node has one GPU although the renamed resource offers ten", () => {
    expect(nodeOf(snapshotOf(state), share.node).physicalGpus).toBe(physicalGpus);
  });
});
