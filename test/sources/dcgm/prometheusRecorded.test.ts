import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { TelemetryPage } from "../../../exporter/model/telemetry.ts";
import type { DiscoveredPod } from "../../../exporter/sources/dcgm/discover.ts";
import { errorOf, parseAnswer } from "../../../exporter/sources/dcgm/prometheusAnswer.ts";
import { type AnswerContext, pagesOfRows, type ServerPages } from "../../../exporter/sources/dcgm/prometheusPages.ts";
import { readServerRows } from "../../../exporter/sources/dcgm/prometheusRows.ts";
import { plainData } from "../../plainData.ts";
import { readPage } from "./pages.ts";

/** Answers that Prometheus 2.42 gave to Fairlead's own query, and the page that it had scraped (see test/e2e/promDcgmPages.test.ts). */
const folder = join(import.meta.dirname, "recorded");

function pagesOf(name: string, more: Partial<AnswerContext> = {}): ServerPages {
  const answer = parseAnswer(readFileSync(join(folder, `${name}.json`)));
  if (!answer.ok) throw new Error(answer.fault.message);
  const nodeLabel = more.nodeLabel ?? null;
  return pagesOfRows(readServerRows(answer.result, { matchers: {}, nodeLabel }, 1000), {
    server: "http://prometheus:9090",
    nodeLabel,
    exporters: [],
    knownNodes: null,
    maxSampleAgeSeconds: 90,
    at: 1000,
    ...more,
  });
}

const direct = ((): TelemetryPage => {
  const bytes = readFileSync(join(folder, "page.prom"));
  const { page } = readPage(bytes, { target: "page.prom", node: "node-a", receivedAt: 1000, origin: "exporter" });
  if (page === null) throw new Error("no page");
  return page;
})();

/** The exporter as the Kubernetes API has it: on another node than its page says. */
const exporter: DiscoveredPod = {
  namespace: "gpu-operator",
  name: "nvidia-dcgm-exporter-lasting",
  nodeName: "node-b",
  podIp: "10.0.0.9",
  ports: { metrics: 9400 },
  ready: true,
};

describe("recorded answers", () => {
  test("the page itself has a busy GPU, one with blanks, NaN and infinity only, and an instance", () => {
    expect(
      direct.devices.map(({ gpuUtil, powerWatts, gpuInstance }) => ({ gpuUtil, powerWatts, gpuInstance })),
    ).toEqual([
      { gpuUtil: 0.87, powerWatts: 612.25, gpuInstance: null },
      { gpuUtil: 0, powerWatts: null, gpuInstance: null },
      { gpuUtil: null, powerWatts: 301.5, gpuInstance: "1" },
    ]);
    expect(direct.dropped).toEqual({ blank: 1, not_a_number: 2 });
  });

  test.each(["honor-false", "honor-true"])("%s: the page of the exporter, known by its host label", (name) => {
    const { byNode, problems } = pagesOf(name);
    const [page, ...others] = byNode.get("node-a") ?? [];
    expect(others).toEqual([]);
    expect(plainData(page)).toEqual(
      plainData({ ...direct, target: "http://prometheus:9090", receivedAt: page?.receivedAt }),
    );
    expect(page?.receivedAt).toBeGreaterThan(998);
    expect(page?.receivedAt).toBeLessThanOrEqual(1000);
    expect(problems).toEqual([]);
  });

  test("two jobs make two pages of the same devices, each of its own time", () => {
    const { byNode } = pagesOf("two-jobs");
    const pages = byNode.get("node-a") ?? [];
    expect(plainData(pages.map(({ devices }) => devices))).toEqual(plainData([direct.devices, direct.devices]));
    expect(new Set(pages.map(({ receivedAt }) => receivedAt)).size).toBe(2);
  });

  test("two jobs in one millisecond make one page, and double nothing", () => {
    const answer = parseAnswer(readFileSync(join(folder, "two-jobs.json")));
    const rows = readServerRows(answer.ok ? answer.result : [], { matchers: {}, nodeLabel: null }, 1000);
    const together = { ...rows, rows: rows.rows.map((row) => ({ ...row, ageSeconds: 0 })) };
    const context = {
      server: "s",
      nodeLabel: null,
      exporters: [],
      knownNodes: null,
      maxSampleAgeSeconds: 90,
      at: 1000,
    };
    const pages = pagesOfRows(together, context).byNode.get("node-a") ?? [];
    expect(pages.map(({ receivedAt, devices }) => ({ receivedAt, devices }))).toEqual([
      { receivedAt: 1000, devices: direct.devices },
    ]);
  });

  test("the node of the exporter's pod goes before what its page says", () => {
    const { byNode } = pagesOf("honor-false", { exporters: [exporter] });
    expect([...byNode.keys()]).toEqual(["node-b"]);
    expect(byNode.get("node-b")?.map(({ hostLabel }) => hostLabel)).toEqual(["node-a"]);
  });

  test("a configured label goes before all", () => {
    const { byNode } = pagesOf("two-jobs", { nodeLabel: "node", exporters: [{ ...exporter, nodeName: "lasting" }] });
    expect([...byNode.keys()]).toEqual(["lasting"]);
  });

  test("a label that the rows lack makes no page", () => {
    const { byNode, problems } = pagesOf("honor-false", { nodeLabel: "machine" });
    expect(byNode.size).toBe(0);
    expect(problems).toMatchObject([{ code: "server-rows-without-node", message: expect.stringContaining("machine") }]);
  });

  test("nodes that the API does not have are one problem, and an exporter without samples another", () => {
    const elsewhere = { ...exporter, name: "other", nodeName: "node-c" };
    const { byNode, problems } = pagesOf("honor-false", { knownNodes: new Set(["node-c"]), exporters: [elsewhere] });
    expect(byNode.size).toBe(0);
    expect(problems.map(({ code }) => code)).toEqual(["server-unknown-nodes", "server-missing-nodes"]);
    expect(problems.map(({ message }) => message).join()).toMatch(/node-a.*node-c/);
  });

  test("samples beyond the age limit make no page", () => {
    const { byNode, problems } = pagesOf("honor-false", { maxSampleAgeSeconds: 0 });
    expect(byNode.size).toBe(0);
    expect(problems).toMatchObject([{ code: "server-samples-too-old" }]);
  });

  test("the server's reasons are read", () => {
    const textOf = (name: string): string | null => errorOf(readFileSync(join(folder, `${name}.json`), "utf8"));
    expect(textOf("bad-query")).toMatch(/^bad_data: .*parse error/);
    expect(textOf("failed-query")).toMatch(/^execution: vector cannot contain metrics with the same labelset/);
    expect(textOf("nothing")).toBeNull();
    expect(parseAnswer(readFileSync(join(folder, "nothing.json")))).toEqual({ ok: true, result: [], warnings: [] });
  });
});
