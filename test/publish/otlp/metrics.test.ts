import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { definitionOf, metricNames } from "../../../exporter/catalogue/catalogue.ts";
import { ucumUnit, ucumUnits } from "../../../exporter/publish/otlp/metricProducer.ts";
import { renderPage } from "../../../exporter/publish/prometheus/render.ts";
import { buildPublication } from "../../../exporter/publish/publication.ts";
import { at, health, hostileNames, smallMoment } from "../moment.ts";
import { queueMoment, queueTotals } from "../queueMoment.ts";
import { readPage } from "../readPage.ts";
import { exportOnce, limits, published, wide } from "./publishing.ts";
import { metricsOf, type Receiver, seriesLine, seriesOf, startReceiver } from "./receiver.ts";

let receiver: Receiver;
beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await receiver.close();
});

const pageOf = (page: Buffer) =>
  readPage(page.toString("utf8"))
    .map(({ name, labels, value }) => seriesLine(name, labels, value))
    .sort();

describe("metrics by OTLP", () => {
  test("are the page of /metrics, series by series", async () => {
    const { latest, ...rest } = published();
    await exportOnce(receiver.url, { traces: false }, { published: { latest, ...rest } });
    expect(seriesOf(receiver.requests)).toEqual(pageOf(latest()?.page ?? Buffer.alloc(0)));
    expect(receiver.requests.map(({ path }) => path)).toEqual(["/v1/metrics"]);
  });

  test("have the histograms of the page, as cumulative points with explicit buckets that began with the process", async () => {
    const publication = buildPublication(
      { analysis: queueMoment, health: health(), limits, accounts: queueTotals() },
      "",
    );
    await exportOnce(receiver.url, { traces: false }, { published: published({ latest: () => publication }) });
    expect(seriesOf(receiver.requests)).toEqual(pageOf(publication.page));
    const all = receiver.requests.flatMap((request) => metricsOf(request).metrics);
    const found = all.find(({ name }) => name === "fairlead_queue_wait_seconds");
    expect(found).toMatchObject({ unit: "s", histogram: { aggregationTemporality: 2 } });
    expect(found?.histogram?.dataPoints[0]).toMatchObject({
      startTimeUnixNano: (at - 300) * 1e9,
      timeUnixNano: at * 1e9,
      count: 2,
      sum: 2560,
      bucketCounts: [0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0],
    });
  });

  test("of hostile names say the same as the page", async () => {
    const teams = smallMoment.teams
      .slice(0, 1)
      .flatMap((team) => hostileNames.map((name) => ({ ...team, team: name })));
    const publication = buildPublication({ analysis: { ...smallMoment, teams }, health: health(), limits }, "");
    await exportOnce(receiver.url, { traces: false }, { published: published({ latest: () => publication }) });
    expect(seriesOf(receiver.requests)).toEqual(pageOf(publication.page));
  });

  test("carry who sends them, when they were true, and what they are", async () => {
    await exportOnce(receiver.url, { traces: false });
    const [request] = receiver.requests;
    if (request === undefined) throw new Error("nothing arrived");
    const { resource, scopes, metrics } = metricsOf(request);
    expect(resource.get("service.name")).toBe("fairlead");
    expect(resource.get("service.version")).toBe("1.2.3");
    expect(resource.get("k8s.cluster.name")).toBe("harbor");
    expect(scopes).toEqual([{ name: "fairlead", version: "1.2.3" }]);
    const counter = metrics.find(({ name }) => name === "fairlead_cycles_total");
    expect(counter?.sum).toMatchObject({ aggregationTemporality: 2, isMonotonic: true });
    expect(counter?.gauge).toBeUndefined();
    expect(counter?.sum?.dataPoints[0]).toMatchObject({ startTimeUnixNano: (at - 300) * 1e9, timeUnixNano: at * 1e9 });
    const gauge = metrics.find(({ name }) => name === "fairlead_gpus");
    expect(gauge?.sum).toBeUndefined();
    expect(gauge).toMatchObject({ unit: "{gpu}", description: definitionOf("fairlead_gpus").help });
    expect(gauge?.gauge?.dataPoints[0]?.timeUnixNano).toBe(at * 1e9);
  });

  test("of 10,000 series in one metric all arrive, in requests of bounded size", async () => {
    const publication = wide(10_000);
    await exportOnce(receiver.url, { traces: false }, { published: published({ latest: () => publication }) });
    expect(seriesOf(receiver.requests)).toEqual(pageOf(renderPage(publication.families)));
    expect(receiver.requests.length).toBeGreaterThan(5);
    for (const request of receiver.requests) {
      const points = metricsOf(request).metrics.flatMap(({ gauge, sum }) => (gauge ?? sum)?.dataPoints ?? []);
      expect(points.length).toBeLessThanOrEqual(2000);
      expect(request.body.length).toBeLessThan(2_000_000);
    }
  });

  test("of a last cycle that is too old are Fairlead's own health alone, as of now", async () => {
    const now = () => at + 91;
    await exportOnce(receiver.url, { traces: false }, { published: published({ now }) });
    const names = new Set(receiver.requests.flatMap((request) => metricsOf(request).metrics.map(({ name }) => name)));
    expect(names).toContain("fairlead_last_cycle_timestamp_seconds");
    expect(names).not.toContain("fairlead_gpus");
    const points = receiver.requests.flatMap((request) =>
      metricsOf(request).metrics.flatMap(({ gauge, sum }) => (gauge ?? sum)?.dataPoints ?? []),
    );
    expect(new Set(points.map(({ timeUnixNano }) => timeUnixNano))).toEqual(new Set([(at + 91) * 1e9]));
  });

  test("of the last moment that is fresh are all there", async () => {
    await exportOnce(receiver.url, { traces: false }, { published: published({ now: () => at + 90 }) });
    expect(seriesOf(receiver.requests).some((line) => line.startsWith("fairlead_gpus["))).toBe(true);
  });

  test.each([
    ["/", "/v1/metrics"],
    ["/api/v1/otlp/", "/api/v1/otlp/v1/metrics"],
    ["/otlp?tenant=a", "/otlp/v1/metrics?tenant=a"],
  ])("to an endpoint that ends in %s go to %s", async (end, target) => {
    await exportOnce(`${receiver.url}${end}`, { traces: false });
    expect(receiver.requests.map(({ path }) => path)).toEqual([target]);
  });

  test("can be switched off", async () => {
    await exportOnce(receiver.url, { metrics: false, traces: false });
    expect(receiver.requests).toEqual([]);
  });

  test("follow the environment's headers, compression and attributes, but the configuration wins", async () => {
    vi.stubEnv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1");
    vi.stubEnv("OTEL_EXPORTER_OTLP_HEADERS", "x-from=environment,x-both=environment");
    vi.stubEnv("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip");
    vi.stubEnv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test,k8s.cluster.name=other");
    await exportOnce(receiver.url, { traces: false, headers: { "X-Both": "configuration" } });
    const [request] = receiver.requests;
    expect(request?.headers).toMatchObject({
      "x-from": "environment",
      "x-both": "configuration",
      "content-encoding": "gzip",
      "content-type": "application/x-protobuf",
    });
    const resource = request === undefined ? new Map() : metricsOf(request).resource;
    expect(resource.get("deployment.environment.name")).toBe("test");
    expect(resource.get("k8s.cluster.name")).toBe("harbor");
  });
});

describe("units", () => {
  test("are sent only with a name that says them, so that no receiver appends them", () => {
    const words = new Map([
      ["s", "seconds"],
      ["By", "bytes"],
      ["W", "watts"],
      ["J", "joules"],
      ["1", "ratio"],
    ]);
    for (const name of metricNames) {
      const unit = ucumUnits.get(name) ?? "missing";
      if (unit === "" || /^s?\{[a-z]+\}$/.test(unit)) continue;
      expect(name.split("_"), `${name} has unit ${unit}`).toContain(words.get(unit));
    }
  });

  test("of a name that does not say them stay away", () => {
    expect(ucumUnit("fairlead_age_seconds", "seconds")).toBe("s");
    expect(ucumUnit("fairlead_age", "seconds")).toBe("");
    expect(ucumUnit("fairlead_share", "ratio")).toBe("");
    expect(ucumUnit("fairlead_gpu_seconds_total", "gpu_seconds")).toBe("s{gpu}");
    expect(ucumUnit("fairlead_gpus", "gpus")).toBe("{gpu}");
    expect(ucumUnit("fairlead_cycles_total", "count")).toBe("");
  });
});
