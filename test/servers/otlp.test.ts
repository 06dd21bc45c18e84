import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import type { Analysis } from "../../exporter/analysis/analysis.ts";
import { definitionOf, metricNames } from "../../exporter/catalogue/catalogue.ts";
import { renderPage } from "../../exporter/publish/prometheus/render.ts";
import { buildPublication } from "../../exporter/publish/publication.ts";
import { demoScenario } from "../../simulator/scenarios/demo.ts";
import { startSimulator } from "../../simulator/simulator.ts";
import { entriesOf } from "../analysis/entriesOf.ts";
import { health, pod, smallMoment } from "../publish/moment.ts";
import { exportOnce, limits, published, start } from "../publish/otlp/publishing.ts";
import { seriesLine } from "../publish/otlp/receiver.ts";
import { readPage } from "../publish/readPage.ts";
import { until } from "./kubernetesAdmin.ts";
import {
  type CollectedPoint,
  type Collector,
  installReceivers,
  type OtlpPrometheus,
  startCollector,
  startOtlpPrometheus,
} from "./otelReceivers.ts";
import { serve } from "./served.ts";

const teamCount = 2500;
const nowSeconds = () => Math.floor(Date.now() / 1000);
const stops: (() => Promise<void>)[] = [];
let assets: string;

beforeAll(async () => {
  assets = await installReceivers();
}, 2_400_000);
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

/** A moment with so many teams that several metrics have more than 2,000 series. */
function manyTeams(at: number): Analysis {
  const names = Array.from({ length: teamCount }, (_, index) => `team-${index}`);
  return {
    ...smallMoment,
    snapshot: { ...smallMoment.snapshot, at, pods: names.map((team) => pod({ team })) },
    teams: names.map((team, index) => ({
      team,
      allocated: 1,
      active: 1 / (index + 3),
      utilization: 1 / (index + 3),
      states: { active: 1 / (index + 3), underutilized: 1 - 1 / (index + 3) },
      estimated: 0,
      idleOptedOut: 0,
      pending: 2,
    })),
    accountingEntries: entriesOf(
      names.map((_, index) => ({
        gpus: 1,
        state: "underutilized",
        node: "h100-01",
        pool: "H100",
        device: null,
        pod: index,
        estimated: false,
      })),
    ),
  };
}

/** What a process would publish whose last cycle ended at `at`. */
function publishing(at: number) {
  const own = health({ lastCycleAt: at, startedAt: at - 60 });
  const publication = buildPublication({ analysis: manyTeams(at), health: own, limits }, "");
  return {
    page: publication.page.toString("utf8"),
    source: published({ latest: () => publication, health: () => own, now: nowSeconds }),
  };
}

const pageLines = (page: string) =>
  readPage(page)
    .filter(({ name }) => name.startsWith("fairlead_"))
    .map(({ name, labels, value }) => seriesLine(name, labels, value))
    .sort();
const collectedLines = (points: readonly CollectedPoint[]) =>
  points.map(({ name, labels, value }) => seriesLine(name, labels, value)).sort();

function largestFamily(lines: readonly string[]): number {
  const sizes = new Map<string, number>();
  for (const line of lines) sizes.set(line.split("[")[0] ?? "", (sizes.get(line.split("[")[0] ?? "") ?? 0) + 1);
  return Math.max(...sizes.values());
}

async function collector(): Promise<Collector> {
  const started = await startCollector(assets);
  stops.push(started.stop);
  return started;
}

async function prometheus(): Promise<OtlpPrometheus> {
  const started = await startOtlpPrometheus(assets);
  stops.push(started.stop);
  return started;
}

describe("a real OpenTelemetry Collector", () => {
  it("gets every series of /metrics with its value, also where a metric has more than 2,000", async () => {
    const receiver = await collector();
    const at = nowSeconds();
    const { page, source } = publishing(at);
    const tally = await exportOnce(receiver.url, { traces: false }, { published: source });
    expect(tally.problems()).toEqual([]);
    const wanted = pageLines(page);
    expect(largestFamily(wanted)).toBeGreaterThan(2000);
    await until("all points are written", async () => (await receiver.points()).length >= wanted.length);
    const points = await receiver.points();
    expect(collectedLines(points)).toEqual(wanted);
    expect(new Set(points.map((point) => point.at))).toEqual(new Set([at]));
    const counters = new Set(points.filter(({ monotonic }) => monotonic).map(({ name }) => name));
    expect([...counters].every((name) => name.endsWith("_total"))).toBe(true);
    expect(counters).toContain("fairlead_cycles_total");
  });

  it("that is killed is one problem, and gets everything again when it is back", async () => {
    const receiver = await collector();
    const { source } = publishing(nowSeconds());
    const { otlp, tally } = start(receiver.url, { intervalSeconds: 1 }, { published: source });
    stops.push(otlp.stop);
    await until("the first points", async () => (await receiver.points()).length > 0);
    await receiver.kill();
    await until("the problem", () => tally.problems().length > 0);
    expect(tally.problems().map(({ code }) => code)).toEqual(["otlp-export-failed"]);
    expect(tally.problems()[0]?.message).toMatch(/ECONNREFUSED|ECONNRESET|EPIPE|hang up/);
    const before = (await receiver.points()).length;
    await receiver.start();
    await until("no problem any more", () => tally.problems().length === 0);
    await until("points after the restart", async () => (await receiver.points()).length > before);
  });

  it("gets the metrics and the cycles of fairlead serve", async () => {
    const receiver = await collector();
    const { page, exitCode } = await serveOnSimulator(receiver);
    expect(exitCode).toBe(0);
    const wanted = pageLines(page);
    const cycleAt = cycleOf(page);
    const points = await receiver.points();
    const same = new Set(collectedLines(points.filter(({ at }) => Math.abs(at - cycleAt) < 1e-3)));
    expect([...same].sort()).toEqual(wanted);
    expect(wanted.some((line) => line.startsWith("fairlead_team_gpus["))).toBe(true);
    for (const resource of await receiver.resources()) {
      expect(resource.get("service.name")).toBe("fairlead");
      expect(resource.get("k8s.cluster.name")).toBe("harbor");
    }
    const spans = await receiver.spans();
    const roots = spans.filter(({ parentSpanId }) => parentSpanId === "");
    expect(roots.length).toBeGreaterThan(1);
    expect(new Set(roots.map(({ name }) => name))).toEqual(new Set(["cycle"]));
    for (const root of roots) {
      const children = spans.filter(({ parentSpanId }) => parentSpanId === root.spanId);
      expect(children.map(({ name }) => name)).toEqual(["collect", "join", "analyse", "accrue", "advise", "publish"]);
      expect(new Set(children.map(({ traceId }) => traceId))).toEqual(new Set([root.traceId]));
      expect(root.attributes.has("fairlead.nodes")).toBe(true);
    }
  });
});

/** Runs `fairlead serve` on a simulated cluster until one of the pages that were read has surely been exported. */
async function serveOnSimulator(receiver: Collector): Promise<{ readonly page: string; readonly exitCode: number }> {
  const simulator = await startSimulator({ scenario: demoScenario(), seed: 1, startAt: nowSeconds() });
  const folder = await mkdtemp(join(tmpdir(), "fairlead-otlp-"));
  stops.push(simulator.stop, () => rm(folder, { recursive: true, force: true }));
  const kubeconfig = join(folder, "kubeconfig.yaml");
  await writeFile(
    kubeconfig,
    `apiVersion: v1\nkind: Config\nclusters: [{name: t, cluster: {server: "${simulator.apiUrl}"}}]\nusers: [{name: t, user: {}}]\ncontexts: [{name: t, context: {cluster: t, user: t}}]\ncurrent-context: t\n`,
  );
  const file = join(folder, "fairlead.yaml");
  // A request may take nine tenths of an interval. Spans that a busy receiver takes longer for are dropped, as they should be.
  await writeFile(
    file,
    `cluster: harbor\ninterval: 5\nkubernetes: { kubeconfig: ${kubeconfig} }\notlp: { endpoint: "${receiver.url}", intervalSeconds: 5 }\n`,
  );
  const { url, stop } = await serve(file);
  stops.push(async () => void (await stop()));
  const pages = new Map<number, string>();
  let exported = 0;
  // A page that is gone before the next export is never exported, and one that is exported has come whole when points of a
  // later one arrive.
  await until("a page that was read is exported, and a later one", async () => {
    const page = await (await fetch(`${url}/metrics`)).text();
    if (page.includes("fairlead_team_gpus{")) pages.set(cycleOf(page), page);
    const moments = [...new Set((await receiver.points()).map(({ at }) => at))].toSorted((a, b) => a - b);
    const whole = moments.slice(0, -1).map((at) => [...pages.keys()].find((one) => Math.abs(one - at) < 1e-3));
    exported = whole.find((at) => at !== undefined) ?? 0;
    return exported > 0;
  });
  const page = pages.get(exported) ?? "";
  const exitCode = await stop();
  await until("the spans of all cycles are written", async () => areWhole(await receiver.spans()));
  return { page, exitCode };
}

const cycleOf = (page: string): number =>
  readPage(page).find(({ name }) => name === "fairlead_last_cycle_timestamp_seconds")?.value ?? 0;

/** Whether there are at least two cycles, and a span `publish` in each. */
function areWhole(spans: Awaited<ReturnType<Collector["spans"]>>): boolean {
  const roots = spans.filter(({ parentSpanId }) => parentSpanId === "");
  const ended = new Set(spans.filter(({ name }) => name === "publish").map(({ parentSpanId }) => parentSpanId));
  return roots.length > 1 && roots.every(({ spanId }) => ended.has(spanId));
}

const vector = z.object({
  data: z.object({
    result: z.array(z.object({ metric: z.record(z.string(), z.string()), value: z.tuple([z.number(), z.string()]) })),
  }),
});

describe("a real Prometheus that takes OTLP", () => {
  it("calls every series what /metrics calls it", async () => {
    const receiver = await prometheus();
    const at = nowSeconds();
    const { page, source } = publishing(at);
    const tally = await exportOnce(`${receiver.url}/api/v1/otlp`, { traces: false }, { published: source });
    expect(tally.problems()).toEqual([]);
    expect(await storedSeries(receiver, at)).toEqual(pageLines(page));
  });

  it("calls every metric of the catalogue by its name", async () => {
    const receiver = await prometheus();
    const at = nowSeconds();
    const { source } = publishing(at);
    const latest = source.latest();
    const families = metricNames.map((name, index) => {
      const { type, help, labels } = definitionOf(name);
      const series = [{ labelValues: labels.map((label) => `some ${label}`), value: index + 0.5 }];
      return { name, type, help, labelNames: labels, series };
    });
    const all = { ...source, latest: () => (latest === null ? null : { ...latest, families }) };
    await exportOnce(`${receiver.url}/api/v1/otlp`, { traces: false }, { published: all });
    expect(await storedSeries(receiver, at)).toEqual(pageLines(renderPage(families).toString("utf8")));
  });
});

/** All series of Fairlead that Prometheus has at a time. */
async function storedSeries(receiver: OtlpPrometheus, at: number): Promise<string[]> {
  const query = encodeURIComponent('{__name__=~"fairlead_.+"}');
  const response = await fetch(`${receiver.url}/api/v1/query?query=${query}&time=${at + 1}`);
  const { data } = vector.parse(await response.json());
  return data.result
    .map(({ metric, value }) => {
      const { __name__: name = "", job, ...labels } = metric;
      expect(job).toBe("fairlead");
      return seriesLine(name, new Map(Object.entries(labels)), Number(value[1]));
    })
    .sort();
}

afterAll(() => {
  expect(stops).toEqual([]);
});
