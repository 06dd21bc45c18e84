import { describe, expect, test } from "vitest";
import { createExporterBelief } from "../../../exporter/sources/dcgm/believedExporters.ts";
import type { DiscoveredPod } from "../../../exporter/sources/dcgm/discover.ts";
import { nodeNamer } from "../../../exporter/sources/dcgm/prometheusNodes.ts";

const daemonSet = { kind: "DaemonSet", name: "nvidia-dcgm-exporter" };
/** The pod of a DaemonSet on a node. */
const real = (nodeName: string, more: Partial<DiscoveredPod> = {}): DiscoveredPod => ({
  namespace: "gpu-operator",
  name: `real-${nodeName}`,
  nodeName,
  podIp: "10.0.0.1",
  ports: {},
  ready: true,
  owner: daemonSet,
  createdAt: 1000,
  ...more,
});
/** A pod that a tenant put into a namespace that it made. */
const fake = (nodeName: string, more: Partial<DiscoveredPod> = {}): DiscoveredPod =>
  real(nodeName, { namespace: "dcgm-exporter", name: `fake-${nodeName}`, createdAt: 2000, owner: null, ...more });

const nodes = new Set(["a", "b", "c"]);
const reals = [...nodes].map((node) => real(node));

/** Names of the pods that are believed after each of these moments: pods, and seconds. */
function believedAfter(...moments: readonly (readonly [pods: readonly DiscoveredPod[], now: number])[]) {
  const belief = createExporterBelief();
  const found = moments.map(([pods, now]) => belief.believe(pods, nodes, now));
  const last = found.at(-1);
  return {
    believed: last?.pods.map(({ name }) => name).sort(),
    rejected: last?.rejected.map(({ name }) => name).sort(),
    problems: last?.problems ?? [],
  };
}

const all = ["real-a", "real-b", "real-c"];

describe("of several exporters on one node", () => {
  test.each<[string, readonly DiscoveredPod[]]>([
    ["one pod with the lower name", [fake("a")]],
    ["a pod that is older", [fake("a", { createdAt: 1 })]],
    ["pods on all nodes", [fake("a"), fake("b"), fake("c")]],
    ["a younger DaemonSet on all nodes", ["a", "b", "c"].map((node) => fake(node, { owner: daemonSet }))],
    [
      "a DaemonSet on more nodes, that have no GPUs",
      ["a", "b", "c", "x", "y"].map((node) => fake(node, { owner: daemonSet })),
    ],
    ["an older DaemonSet on fewer nodes", ["a", "b"].map((node) => fake(node, { owner: daemonSet, createdAt: 1 }))],
  ])("that of the DaemonSet that covers the nodes is believed at once, not %s", (_what, fakes) => {
    const { believed, problems } = believedAfter([[...fakes, ...reals], 0]);
    expect(believed).toEqual(expect.arrayContaining(all));
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatchObject({ code: "several-exporters", subject: "a" });
    expect(problems[0]?.message).toContain("gpu-operator/real-a and dcgm-exporter/fake-a both look like the exporter");
    expect(problems[0]?.message).toContain("gpu-operator/real-a alone is believed");
  });

  test("the one that was believed stays so, whatever comes later", () => {
    const many = [...nodes].flatMap((node) => fake(node, { owner: daemonSet, createdAt: 1 }));
    const few = reals.slice(0, 2);
    const { believed } = believedAfter([few, 0], [[...many, ...few], 30]);
    expect(believed).toEqual(["fake-c", "real-a", "real-b"]);
  });

  test("one that is not ready is not replaced by another controller's that is", () => {
    const ill = real("a", { ready: false });
    const { believed } = believedAfter([reals, 0], [[fake("a"), ill, ...reals.slice(1)], 30]);
    expect(believed).toEqual(all);
  });

  test("an absent one is not replaced while its DaemonSet makes it anew, and speaks again when it is back", () => {
    const gap = [fake("a"), ...reals.slice(1)];
    const { believed, rejected, problems } = believedAfter([reals, 0], [gap, 30]);
    expect([believed, rejected]).toEqual([["real-b", "real-c"], ["fake-a"]]);
    expect(problems[0]?.message).toBe(
      "dcgm-exporter/fake-a looks like the exporter of node a, for which gpu-operator/real-a spoke until now; nothing is taken of it",
    );
    const again = real("a", { name: "real-a2" });
    expect(believedAfter([reals, 0], [gap, 30], [[fake("a"), again, ...reals.slice(1)], 60]).believed).toEqual([
      "real-a2",
      "real-b",
      "real-c",
    ]);
  });

  test("on the only node a stranger does not come in between either", () => {
    expect(believedAfter([[real("a")], 0], [[fake("a")], 30]).believed).toEqual([]);
    expect(believedAfter([[real("a")], 0], [[], 30], [[fake("a")], 60]).believed).toEqual([]);
  });

  test("a rolling update of the DaemonSet says nothing, also where old and new pods overlap", () => {
    const next = reals.map((pod) => ({ ...pod, name: `${pod.name}-new`, createdAt: 5000 }));
    const moments = [reals, [...next.slice(0, 1), ...reals], [...next.slice(0, 1), ...reals.slice(1)], next];
    for (const until of [1, 2, 3, 4]) {
      const found = believedAfter(...moments.slice(0, until).map((pods, i) => [pods, 30 * i] as const));
      expect(found.problems).toEqual([]);
      expect(found.rejected).toEqual([]);
      expect(found.believed).toHaveLength((moments[until - 1] ?? []).length);
    }
  });

  test("a DaemonSet that moves to another namespace is believed after two minutes, or node by node after ten", () => {
    const moved = reals.map((pod) => ({ ...pod, namespace: "monitoring", name: `moved-${pod.nodeName}` }));
    expect(believedAfter([reals, 0], [moved, 30], [moved, 140]).believed).toEqual([]);
    expect(believedAfter([reals, 0], [moved, 30], [moved, 150]).believed).toEqual(["moved-a", "moved-b", "moved-c"]);
    const half = [...moved.slice(0, 1), ...reals.slice(1)];
    expect(believedAfter([reals, 0], [half, 30], [half, 600]).believed).toEqual(["real-b", "real-c"]);
    expect(believedAfter([reals, 0], [half, 30], [half, 630]).believed).toEqual(["moved-a", "real-b", "real-c"]);
  });

  test("two DaemonSets, each for its own nodes, are both believed, and a node may change hands to the larger one", () => {
    const other = real("c", { namespace: "monitoring", name: "other-c" });
    const found = believedAfter([[...reals.slice(0, 2), other], 0]);
    expect(found).toMatchObject({ believed: ["other-c", "real-a", "real-b"], problems: [], rejected: [] });
    const other2 = real("d", { namespace: "monitoring", name: "other-d" });
    expect(believedAfter([[...reals.slice(0, 2), other, other2], 0], [[...reals, other2], 30]).believed).toEqual([
      "other-d",
      ...all,
    ]);
  });

  test("the order of the pods means nothing", () => {
    const pods = [fake("a"), fake("b"), ...reals];
    expect(believedAfter([pods, 0])).toEqual(believedAfter([pods.toReversed(), 0]));
  });
});

describe("through Prometheus", () => {
  test.each([null, "node"])("rows of a pod that is not believed speak for no node (node label: %s)", (label) => {
    const nodeOf = nodeNamer(label, reals, [fake("a", { podIp: "10.0.0.9" })]);
    const row = (namespace: string, pod: string, instance: string) =>
      nodeOf(new Map(Object.entries({ namespace, pod, instance, node: "a", Hostname: "a" })));
    expect(row("gpu-operator", "real-a", "10.0.0.1:9400")).toBe("a");
    expect(row("dcgm-exporter", "fake-a", "10.0.0.9:9400")).toBeNull();
    expect(nodeNamer(null, [], [fake("a")])(new Map([["Hostname", "a"]]))).toBeNull();
  });
});
