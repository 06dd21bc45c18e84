import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RunningPrometheus } from "../../cli/demo/prometheus.ts";
import type { DeviceReading } from "../../exporter/model/telemetry.ts";
import { telemetryUrl } from "../../exporter/sources/dcgm/prometheusQuery.ts";
import { type Listener, listen } from "../../simulator/listen.ts";
import { plainData } from "../plainData.ts";
import { readPage } from "../sources/dcgm/pages.ts";
import {
  count,
  hasPrometheus,
  hasVictoriaMetrics,
  inOrder,
  scrapeWithPrometheus,
  scrapeWithVictoriaMetrics,
  serverSource,
} from "./scrapedByPrometheus.ts";

const folder = join(import.meta.dirname, "../captured");
const captures = readdirSync(folder).filter((name) => existsSync(join(folder, name, "page.prom")));
/** Prometheus refuses a page as a whole for one line that it cannot read; Fairlead skips the line. */
const refusedByPrometheus = ["a800-mig-mixed-node", "dgx-a100-broken-comments", "readme-blank-value"];

const isInstalled = hasPrometheus();

/** The servers that scrape the captures, and the pages that each of them refuses as a whole. */
const servers = [
  { server: "Prometheus", isThere: isInstalled, start: scrapeWithPrometheus, refused: refusedByPrometheus },
  { server: "VictoriaMetrics", isThere: hasVictoriaMetrics(), start: scrapeWithVictoriaMetrics, refused: [] },
] as const;

describe.each(servers)("captured pages, read through a real $server", ({ isThere, start, refused }) => {
  let exporter: Listener;
  let server: RunningPrometheus;
  beforeAll(async () => {
    if (!isThere) return;
    exporter = await listen((request, response) => {
      const name = (request.url ?? "").slice(1);
      if (!captures.includes(name)) response.writeHead(404).end();
      else response.end(pageOf(name));
    });
    const targets = captures.map((name) => ({
      address: `127.0.0.1:${exporter.port}`,
      path: `/${name}`,
      labels: { capture: name, namespace: "gpu-operator", pod: "nvidia-dcgm-exporter-x7k2p", container: "exporter" },
    }));
    server = await start([
      { name: "honored", honorLabels: true, targets },
      { name: "operator", honorLabels: false, targets },
    ]);
  });
  afterAll(async () => {
    if (!isThere) return;
    await server.stop();
    await exporter.close();
  });

  it.skipIf(!isThere)("pages that are known to be malformed are refused, and no other", async () => {
    const answer = await fetch(`${server.url}/api/v1/query?query=${encodeURIComponent('up{job="operator"} == 0')}`);
    const down = [...(await answer.text()).matchAll(/"capture":"([^"]+)"/g)].map((match) => match[1]);
    expect(down.sort()).toEqual(refused);
  });

  const readable = captures.filter((name) => !refused.some((other) => other === name));
  describe.each(["honored", "operator"])("job %s", (job) => {
    it.skipIf(!isThere).each(readable)("%s: the devices are those of the page itself", async (name) => {
      const source = serverSource(server.url, { server: { matchers: { job, capture: name }, nodeLabel: "capture" } });
      await source.scrapeOnce(Date.now() / 1000);
      const { pages } = source.read();
      await source.stop();
      expect(source.problems().filter(({ code }) => code.startsWith("server-"))).toEqual([]);
      expect(pages.map(({ node }) => node)).toEqual([name]);
      const found = inOrder(pages.flatMap(({ devices }) => devices));
      expect(plainData(found)).toEqual(plainData(inOrder(devicesOf(name))));
    });
  });
});

/** Captures that show only metrics which are not asked for; under the name of one that is, their labels can be compared. */
const renamed: Readonly<Record<string, string>> = {
  "gh200-dra-shared-claim": "PROF_PCIE_RX_BYTES",
  "readme-blank-value": "DEV_SM_CLOCK",
};

function pageOf(name: string): Buffer {
  const text = readFileSync(join(folder, name, "page.prom"), "utf8");
  return Buffer.from(text.replaceAll(renamed[name] ?? "\0", "DEV_GPU_TEMP"));
}

function devicesOf(name: string): readonly DeviceReading[] {
  const { page } = readPage(pageOf(name), { target: name, node: name, receivedAt: 0, origin: "file" });
  return page?.devices ?? [];
}

const recorded = join(import.meta.dirname, "../sources/dcgm/recorded");

describe.skipIf(!isInstalled)("what a real Prometheus does with exporters that end", () => {
  let exporters: ReadonlyMap<string, Listener>;
  let prometheus: RunningPrometheus;
  /** An hour that this exporter writes on its samples, as one behind a federation does. */
  const frozenAt = Date.now() - 200_000;

  beforeAll(async () => {
    const page = readFileSync(join(recorded, "page.prom"), "utf8");
    const serve = (text: string): Promise<Listener> => listen((_request, response) => response.end(text));
    exporters = new Map([
      ["lasting", await serve(page)],
      ["ending", await serve(page.replaceAll("GPU-", "GPU-ending-"))],
      ["frozen", await serve(page.replaceAll("GPU-", "GPU-frozen-").replaceAll(/ ([\d.]+)$/gm, ` $1 ${frozenAt}`))],
    ]);
    const targets = [...exporters].map(([node, { port }]) => ({
      address: `127.0.0.1:${port}`,
      path: "/metrics",
      labels: { node, namespace: "gpu-operator", pod: `nvidia-dcgm-exporter-${node}`, container: "exporter" },
    }));
    prometheus = await scrapeWithPrometheus([
      { name: "operator", honorLabels: false, targets },
      { name: "honored", honorLabels: true, targets: targets.slice(0, 1) },
    ]);
    if (process.env.FAIRLEAD_RECORD !== undefined) await record(prometheus.url);
  });
  afterAll(async () => {
    await prometheus.stop();
    await Promise.all([...exporters.values()].map(({ close }) => close()));
  });

  it("uses no sample that is older than the limit, though the server still shows it", async () => {
    expect(await count(prometheus.url, 'DCGM_FI_DEV_POWER_USAGE{node="frozen"}')).toBeGreaterThan(0);
    const source = serverSource(prometheus.url, { server: { nodeLabel: "node", matchers: { node: "frozen" } } });
    await source.scrapeOnce(Date.now() / 1000);
    expect(source.read().pages).toEqual([]);
    expect(source.problems()).toMatchObject([{ code: "server-samples-too-old" }]);
    await source.stop();
  });

  it("leaves the devices of an ended exporter unobserved within the age limit, and keeps the others", async () => {
    let clock = 1000;
    const source = serverSource(prometheus.url, {
      server: { nodeLabel: "node", matchers: { job: "operator" } },
      now: () => clock,
    });
    const nodes = (): readonly (string | null)[] => [...new Set(source.read().pages.map(({ node }) => node))].sort();
    await source.scrapeOnce(clock);
    expect(nodes()).toEqual(["ending", "lasting"]);
    await exporters.get("ending")?.close();
    for (let tries = 0; tries < 50 && (await count(prometheus.url, 'up{node="ending"} == 1')) > 0; tries++) {
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    expect(await count(prometheus.url, 'DCGM_FI_DEV_POWER_USAGE{node="ending"}')).toBe(0);
    clock += 30;
    await source.scrapeOnce(clock);
    expect(nodes(), "one failed scrape costs nothing").toEqual(["ending", "lasting"]);
    clock += 61;
    await source.scrapeOnce(clock);
    expect(nodes(), "90 s after the last sample").toEqual(["lasting"]);
    await source.stop();
  });
});

/** Writes the server's answers into the folder of the unit tests: `FAIRLEAD_RECORD=1 vitest run promDcgmPages`. */
async function record(url: string): Promise<void> {
  mkdirSync(recorded, { recursive: true });
  const answers = {
    "honor-false": telemetryUrl(url, { matchers: { job: "operator", node: "lasting" }, nodeLabel: null }, 10),
    "honor-true": telemetryUrl(url, { matchers: { job: "honored" }, nodeLabel: null }, 10),
    "two-jobs": telemetryUrl(url, { matchers: { node: "lasting" }, nodeLabel: "node" }, 10),
    nothing: telemetryUrl(url, { matchers: { node: "nobody" }, nodeLabel: null }, 10),
    "bad-query": `${url}/api/v1/query?query=${encodeURIComponent("max by(")}`,
    "failed-query": `${url}/api/v1/query?query=${encodeURIComponent('timestamp({__name__=~"DCGM_.*"})')}`,
  };
  for (const [name, address] of Object.entries(answers)) {
    const text = await fetch(address).then((response) => response.text());
    writeFileSync(join(recorded, `${name}.json`), `${JSON.stringify(JSON.parse(text), null, 2)}\n`);
  }
}
