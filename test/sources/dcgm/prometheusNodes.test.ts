import { describe, expect, test } from "vitest";
import type { TelemetryPage } from "../../../exporter/model/telemetry.ts";
import type { DiscoveredPod } from "../../../exporter/sources/dcgm/discover.ts";
import { preferPages } from "../../../exporter/sources/dcgm/preferPages.ts";
import { nodeNamer } from "../../../exporter/sources/dcgm/prometheusNodes.ts";
import { askedMetrics, telemetryQuery, telemetryUrl } from "../../../exporter/sources/dcgm/prometheusQuery.ts";

function exporterOn(nodeName: string, more: Partial<DiscoveredPod> = {}): DiscoveredPod {
  const ports = { metrics: 9400 };
  return { namespace: "gpu-operator", name: `exporter-${nodeName}`, nodeName, podIp: "", ports, ready: true, ...more };
}

const exporters = [
  exporterOn("a", { podIp: "10.0.0.1" }),
  exporterOn("b", { podIp: "fd00::2" }),
  // One address for two nodes, as behind a port mapping: only the ports distinguish them.
  exporterOn("c", { podIp: "10.9.9.9", ports: { metrics: 9401 } }),
  exporterOn("d", { podIp: "10.9.9.9", ports: { metrics: 9402 } }),
];

describe("the node of a row", () => {
  const nodeOf = nodeNamer(null, exporters);
  test.each([
    [{ namespace: "gpu-operator", pod: "exporter-a", instance: "fd00::2", Hostname: "b" }, "a"],
    [{ namespace: "elsewhere", pod: "exporter-a", Hostname: "f" }, "f"],
    [{ namespace: "elsewhere", pod: "fake-exporter", instance: "10.0.0.77:9400", Hostname: "a" }, null],
    [{ namespace: "research", pod: "train-0", instance: "10.0.0.1:9400", Hostname: "liar" }, "a"],
    [{ instance: "10.0.0.1:12345" }, "a"],
    [{ instance: "[fd00::2]:9400" }, "b"],
    [{ instance: "10.9.9.9:9401" }, "c"],
    [{ instance: "10.9.9.9:9402" }, "d"],
    [{ instance: "10.9.9.9:9999" }, null],
    [{ instance: "10.9.9.9:9999", hostname: "e" }, "e"],
    [{ hostname: "new", Hostname: "old" }, "new"],
    [{ node: "a" }, null],
  ])("%j is %j", (labels, node) => {
    expect(nodeOf(new Map(Object.entries(labels)))).toBe(node);
  });

  test("a configured label alone decides", () => {
    const nodeOfLabel = nodeNamer("node", exporters);
    expect(
      nodeOfLabel(
        new Map([
          ["node", "z"],
          ["Hostname", "a"],
        ]),
      ),
    ).toBe("z");
    expect(nodeOfLabel(new Map([["Hostname", "a"]]))).toBeNull();
  });
});

describe("the query", () => {
  test("asks for each metric's value and time, under the same matchers", () => {
    const query = telemetryQuery({ matchers: { cluster: 'a"b\\', job: "dcgm" }, nodeLabel: "machine" });
    const matchers = 'cluster="a\\"b\\\\",job="dcgm"';
    for (const name of askedMetrics) expect(query).toContain(`timestamp(${name}{${matchers}})`);
    expect(query).toContain(`|DCGM_FI_DEV_GPU_TEMP|`);
    expect(query).toContain(`",${matchers}})`);
    expect(query.match(/,machine\)/g)).toHaveLength(2);
  });

  test("fits into the 8 KB that proxies take", () => {
    const url = telemetryUrl(
      "https://thanos.example/prefix/",
      { matchers: { cluster: "eu-west-1" }, nodeLabel: null },
      10,
    );
    expect(url.length).toBeLessThan(6000);
  });

  test("comes after the path and the parameters of the configured URL, and carries none of its credentials", () => {
    const url = telemetryUrl(
      "https://user:secret@host:1/select/0/prometheus/?tenant=x#y",
      { matchers: {}, nodeLabel: null },
      0.5,
    );
    expect(
      url.startsWith("https://host:1/select/0/prometheus/api/v1/query?tenant=x&query=max%20by(__name__,UUID,"),
    ).toBe(true);
    expect(url.endsWith("&timeout=1s")).toBe(true);
    expect(url).not.toContain("secret");
  });
});

describe("pages of several sources", () => {
  const page = (node: string | null, target: string): TelemetryPage => {
    return { node, target, hostLabel: null, receivedAt: 1, devices: [], dropped: {} };
  };
  test("a node is taken from the best source that has it, with all of its pages there", () => {
    const scraped = [page("a", "direct"), page(null, "direct")];
    const served = [page("a", "server"), page("b", "server"), page("b", "server"), page(null, "server")];
    expect(preferPages([scraped, served]).map(({ node, target }) => `${node} ${target}`)).toEqual([
      "a direct",
      "null direct",
      "b server",
      "b server",
      "null server",
    ]);
  });
});
