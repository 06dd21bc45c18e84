import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RunningPrometheus } from "../../cli/demo/prometheus.ts";
import { createGetPool } from "../../exporter/sources/http/getPool.ts";
import { readServingPage } from "../../exporter/sources/serving/readPage.ts";
import { createServingServerSource } from "../../exporter/sources/serving/serverSource.ts";
import type { ServingSource } from "../../exporter/sources/serving/servingSource.ts";
import { type Listener, listen } from "../../simulator/listen.ts";
import { withCountedValues } from "../sources/serving/countedValues.ts";
import { hasPrometheus, type ScrapeJob, scrapeWithPrometheus } from "./scrapedByPrometheus.ts";

const names = ["vllm", "sglang", "sglang-gauges", "triton", "nim", "vllm-dynamo"];
const pageOf = (name: string): string =>
  readFileSync(join(import.meta.dirname, `../captured/serving-${name}/metrics.txt`), "utf8");

describe.skipIf(!hasPrometheus())("pages of real servers, read through a real Prometheus", () => {
  let pages: Listener;
  let prometheus: RunningPrometheus;
  let source: ServingSource;

  beforeAll(async () => {
    pages = await listen((request, response) => {
      response.setHeader("content-type", "text/plain; version=0.0.4");
      response.end(pageOf((request.url ?? "").slice(1)));
    });
    const targets = names.map((name) => ({
      address: `127.0.0.1:${pages.port}`,
      path: `/${name}`,
      labels: { namespace: "chat", pod: name },
    }));
    const jobs: readonly ScrapeJob[] = ["one", "other"].map((name) => ({ name, honorLabels: false, targets }));
    prometheus = await scrapeWithPrometheus(jobs);
    source = createServingServerSource({
      server: {
        url: prometheus.url,
        auth: { kind: "none" },
        insecureSkipVerify: false,
        headers: {},
        matchers: {},
        timeoutSeconds: 20,
      },
      pods: () => names.map((name) => ({ uid: `uid-${name}`, namespace: "chat", name })),
      pool: createGetPool({
        timeoutSeconds: 20,
        maxBytes: 10_000_000,
        concurrency: 1,
        backOff: { firstSeconds: 1, maxSeconds: 1 },
        accept: "application/json",
        keepAliveSeconds: 60,
        now: () => 0,
        random: () => 0.5,
      }),
      intervalSeconds: 30,
      now: () => 1000,
      schedule: () => () => {},
    });
    await source.scrapeOnce(1000);
  });

  afterAll(async () => {
    await source.stop();
    await prometheus.stop();
    await pages.close();
  });

  it.each(names)("says of %s what its page says, although two jobs scrape it", (name) => {
    const direct = readServingPage(Buffer.from(pageOf(name)));
    if (!direct.ok) throw new Error(direct.because);
    const found = source.read().pages.find(({ pod }) => pod === `uid-${name}`);
    if (found === undefined) throw new Error("no page");
    const wanted = { ...withCountedValues(direct.record), pod: `uid-${name}`, receivedAt: 1000 };
    expect(withCountedValues(found)).toEqual(wanted);
  });

  it("has nothing to complain about", () => {
    expect(source.problems()).toEqual([]);
  });
});
