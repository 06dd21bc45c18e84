import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import type { RunningPrometheus } from "../../cli/demo/prometheus.ts";
import { histogramQuantile } from "../../exporter/kernel/histogramQuantile.ts";
import { createGetPool } from "../../exporter/sources/http/getPool.ts";
import { readServingPage } from "../../exporter/sources/serving/readPage.ts";
import { createServingServerSource } from "../../exporter/sources/serving/serverSource.ts";
import type { ServingSource } from "../../exporter/sources/serving/servingSource.ts";
import { type Listener, listen } from "../../simulator/listen.ts";
import { createRandomStream } from "../../simulator/random.ts";
import { withCountedValues } from "../sources/serving/countedValues.ts";
import { hasPrometheus, type ScrapeJob, scrapeWithPrometheus } from "./scrapedByPrometheus.ts";

const names = ["vllm", "sglang", "sglang-gauges", "triton", "nim", "vllm-dynamo"];
const pageOf = (name: string): string =>
  readFileSync(join(import.meta.dirname, `../captured/serving-${name}/metrics.txt`), "utf8");

/** A hundred histograms with the bounds of vLLM, some empty, some with most above all bounds. */
const random = createRandomStream(7);
const generated = Array.from({ length: 100 }, (_, i) => {
  let sum = 0;
  const bounds = [0.001, 0.005, 0.01, 0.02, 0.04, 0.1, 0.25, 0.5, 1, 2.5, 10, Number.POSITIVE_INFINITY];
  const most = i % 10 === 0 ? 0 : 40;
  return new Map(
    bounds.map((bound, at) => {
      sum += Math.floor(random.between(0, at === bounds.length - 1 && i % 7 === 1 ? 100 * most : most));
      return [bound, sum] as const;
    }),
  );
});
const generatedPage = (): string =>
  generated
    .flatMap((counts, i) =>
      [...counts].map(
        ([bound, count]) =>
          `generated_bucket{case="${i}",le="${bound === Number.POSITIVE_INFINITY ? "+Inf" : bound}"} ${count}\n`,
      ),
    )
    .join("");
const generatedAnswer = z.object({
  data: z.object({
    result: z.array(z.object({ metric: z.object({ case: z.string() }), value: z.tuple([z.number(), z.string()]) })),
  }),
});

describe.skipIf(!hasPrometheus())("pages of real servers, read through a real Prometheus", () => {
  let pages: Listener;
  let prometheus: RunningPrometheus;
  let source: ServingSource;

  beforeAll(async () => {
    pages = await listen((request, response) => {
      response.setHeader("content-type", "text/plain; version=0.0.4");
      const name = (request.url ?? "").slice(1);
      response.end(name === "generated" ? generatedPage() : pageOf(name));
    });
    const targets = [...names, "generated"].map((name) => ({
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

  it("has quantiles of its histograms as Prometheus has them", async () => {
    const query = "histogram_quantile(0.95, sum by (le, case) (generated_bucket))";
    const answer = await fetch(`${prometheus.url}/api/v1/query?query=${encodeURIComponent(query)}`);
    const { data } = generatedAnswer.parse(await answer.json());
    // Two jobs scrape the page: the sums are twice as high, and their quantiles the same.
    const theirs = new Map(data.result.map(({ metric, value }) => [metric.case, Number(value[1])] as const));
    for (const [i, counts] of generated.entries()) {
      const ours = histogramQuantile(0.95, counts);
      const wanted = theirs.get(`${i}`) ?? Number.NaN;
      if (ours === null) expect(wanted).toBeNaN();
      else expect(ours.value).toBeCloseTo(wanted, 9);
    }
    expect(generated.some((counts) => histogramQuantile(0.95, counts)?.isAtLeast === true)).toBe(true);
  });

  it("has nothing to complain about", () => {
    expect(source.problems()).toEqual([]);
  });
});
