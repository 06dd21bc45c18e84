import { describe, expect, test } from "vitest";
import {
  type DiscoveredPod,
  type DiscoveryRule,
  discoverTargets,
  type ListedTarget,
} from "../../../exporter/sources/dcgm/discover.ts";

const pod: DiscoveredPod = {
  namespace: "gpu-operator",
  name: "nvidia-dcgm-exporter-a",
  nodeName: "node-a",
  podIp: "10.0.0.1",
  ports: { metrics: 9400 },
  ready: true,
};
const rule: DiscoveryRule = { namespaces: ["gpu-operator"], port: "metrics", path: "/metrics", scheme: "http" };
const listed: ListedTarget = {
  url: "https://gpu.example:9400/metrics",
  auth: { kind: "bearer", tokenFile: "/token" },
  insecureSkipVerify: false,
};
const urls = (pods: readonly Partial<DiscoveredPod>[], rules: readonly DiscoveryRule[] = [rule]) =>
  discoverTargets(
    pods.map((more) => ({ ...pod, ...more })),
    rules,
    [],
  ).map(({ url }) => url);

describe("one exporter pod", () => {
  test("becomes a target that speaks for its node, without credentials", () => {
    expect(discoverTargets([pod], [{ ...rule, scheme: "https", caFile: "/ca" }], [])).toEqual([
      {
        url: "https://10.0.0.1:9400/metrics",
        node: "node-a",
        auth: { kind: "none" },
        caFile: "/ca",
        insecureSkipVerify: false,
      },
    ]);
  });

  test.each<[string, Partial<DiscoveredPod>, Partial<DiscoveryRule>, string]>([
    ["IPv6", { podIp: "fd00::1" }, {}, "http://[fd00::1]:9400/metrics"],
    ["a port by number", {}, { port: 9999 }, "http://10.0.0.1:9999/metrics"],
    ["a port by name", { ports: { web: 1, metrics: 2 } }, { port: "web" }, "http://10.0.0.1:1/metrics"],
    ["the operator's port name", { ports: { "gpu-metrics": 3 } }, {}, "http://10.0.0.1:3/metrics"],
    ["no named port", { ports: {} }, {}, "http://10.0.0.1:9400/metrics"],
    ["a port that is only inherited", { ports: {} }, { port: "constructor" }, "http://10.0.0.1:9400/metrics"],
    ["another path", {}, { path: "/gpu" }, "http://10.0.0.1:9400/gpu"],
  ])("%s", (_case, podPart, rulePart, url) => {
    expect(urls([podPart], [{ ...rule, ...rulePart }])).toEqual([url]);
  });

  test.each<[string, Partial<DiscoveredPod>]>([
    ["in a namespace that no rule names", { namespace: "team-a" }],
    ["without an address", { podIp: "" }],
    ["with a name for an address", { podIp: "evil.example/x?" }],
    ["on no node", { nodeName: "" }],
  ])("is left out %s", (_case, part) => {
    expect(urls([part])).toEqual([]);
  });
});

test("two exporters on one node: the ready one, then the first by name, in whatever order", () => {
  const twins = [
    { name: "b", podIp: "10.0.0.2" },
    { name: "a", podIp: "10.0.0.3", ready: false },
    { name: "c", podIp: "10.0.0.4" },
  ];
  expect(urls(twins)).toEqual(["http://10.0.0.2:9400/metrics"]);
  expect(urls([...twins].reverse())).toEqual(["http://10.0.0.2:9400/metrics"]);
});

test("of two rules for a namespace, the one whose port the pod has", () => {
  const rules = [rule, { ...rule, port: "web", path: "/gpu" }];
  expect(urls([{ ports: { web: 8080 } }], rules)).toEqual(["http://10.0.0.1:8080/gpu"]);
});

test("a listed target is beside the discovered ones, and instead of the one of its node", () => {
  expect(discoverTargets([pod], [rule], [listed])).toMatchObject([
    { ...listed, node: null, caFile: null },
    { node: "node-a" },
  ]);
  expect(discoverTargets([pod], [rule], [{ ...listed, node: "node-a" }])).toHaveLength(1);
});
