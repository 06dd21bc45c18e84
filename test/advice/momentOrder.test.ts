import { describe, expect, it } from "vitest";
import { momentOrder } from "../../exporter/advice/momentOrder.ts";
import { analyse, analysisSettings } from "../../exporter/analysis/analyse.ts";
import { defaultConfig } from "../../exporter/config/defaults.ts";
import type { NodeView, PodView } from "../../exporter/join/snapshot.ts";
import type { PodNeeds } from "../../exporter/model/queues/podNeeds.ts";
import { moment, nodeView, podView } from "../analysis/momentBuilder.ts";
import { workloadView } from "./guards/guardMoment.ts";

/** Nodes with these names, and pods on them, each with a workload of its own that has its name. */
function orderOf(nodes: readonly Partial<NodeView>[], pods: readonly Partial<PodView>[]) {
  const snapshot = moment({
    nodes: nodes.map((node) => nodeView({ devices: [], ...node })),
    devices: [],
    pods: pods.map((pod, workload) => podView({ workload, ...pod })),
    workloads: pods.map(({ name = "" }, pod) => workloadView({ name, pods: [pod] })),
  });
  const order = momentOrder(analyse(snapshot, analysisSettings(defaultConfig)));
  const sorted = (count: number, by: (a: number, b: number) => number) => [...Array(count).keys()].sort(by);
  return {
    nodes: sorted(nodes.length, order.nodes),
    pods: sorted(pods.length, order.pods),
    workloads: sorted(pods.length, order.workloads),
  };
}

const choosing = (node: string): PodNeeds => ({
  requests: {},
  nodeSelector: { host: node },
  nodeAffinity: [],
  tolerations: [],
});

describe("the order of a moment", () => {
  it("begins with what is there for longest, and does not heed names where things differ", () => {
    expect(
      orderOf(
        [
          { name: "a", createdAt: 20 },
          { name: "b", createdAt: 10 },
        ],
        [],
      ).nodes,
    ).toEqual([1, 0]);
    const sizes = [{ physicalGpus: 4 }, { physicalGpus: 8 }, { physicalGpus: 2 }];
    const named = (names: readonly string[]) =>
      orderOf(
        sizes.map((size, i) => ({ ...size, name: names[i] ?? "" })),
        [],
      );
    expect(named(["a", "b", "c"]).nodes).toEqual(named(["c", "a", "b"]).nodes);
  });

  it("distinguishes alike nodes by their pods, and alike pods by their nodes", () => {
    const ofNames = (one: string, other: string) =>
      orderOf(
        [{ name: one }, { name: other }],
        [
          { name: `pod-of-${one}`, node: one, gpus: 1 },
          { name: `pod-of-${other}`, node: other, gpus: 2 },
        ],
      ).nodes;
    expect(ofNames("a", "b")).toEqual(ofNames("b", "a"));
  });

  it("distinguishes alike nodes by who chooses them", () => {
    const ofNames = (one: string, other: string) =>
      orderOf(
        [one, other].map((name) => ({ name, labels: { host: name } })),
        [{ name: "waits", node: null, status: "pending", gpus: 1, needs: choosing(one) }],
      ).nodes;
    expect(ofNames("a", "b")).toEqual(ofNames("b", "a"));
  });

  it("takes the pods and workloads of alike nodes in the order of the nodes, whatever these are called", () => {
    for (const [first, second] of [
      ["x", "y"],
      ["y", "x"],
    ] as const) {
      const { nodes, pods, workloads } = orderOf(
        [{ name: "a" }, { name: "b" }],
        [
          { name: first, node: "a", gpus: 1 },
          { name: second, node: "b", gpus: 1 },
        ],
      );
      expect([nodes, pods, workloads]).toEqual([
        [0, 1],
        [0, 1],
        [0, 1],
      ]);
    }
  });

  it("is not changed by pods that cost nothing: those that ask for no GPUs, and those that can never run", () => {
    const nodes = ["a", "b"].map((name) => ({ name, labels: { host: name } }));
    const more: readonly Partial<PodView>[] = [
      { name: "free", node: "b", gpus: 0, needs: choosing("b") },
      {
        name: "never",
        node: null,
        status: "pending",
        gpus: 1,
        needs: choosing("b"),
        impossible: { never: "no-node", reason: "" },
      },
    ];
    for (const pod of more) expect(orderOf(nodes, [pod]).nodes).toEqual([0, 1]);
  });
});
