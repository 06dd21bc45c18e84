import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readServingPage } from "../../../exporter/sources/serving/readPage.ts";
import { pagesOfSeries, servingQuery, servingUrl } from "../../../exporter/sources/serving/serverSeries.ts";
import { withCountedValues } from "./countedValues.ts";

const captured = (name: string): string =>
  readFileSync(join(import.meta.dirname, `../../captured/serving-${name}/metrics.txt`), "utf8");

const target = { namespace: "chat", pod: "llm-0", job: "pods", instance: "10.0.0.1:8000", container: "server" };
const pods = [{ uid: "uid-0", namespace: "chat", name: "llm-0" }];

/** What a server answers that scraped this page with these target labels. */
function scraped(page: string, labels: Readonly<Record<string, string>> = target): readonly object[] {
  return page.split("\n").flatMap((line) => {
    const found = /^([\w:]+)(?:\{(.*)\})? (\S+)$/.exec(line);
    if (found === null) return [];
    const own = [...(found[2] ?? "").matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name, value] as const);
    return [{ metric: { __name__: found[1], ...Object.fromEntries(own), ...labels }, value: [1000, found[3]] }];
  });
}

describe("what a server scraped", () => {
  test.each(["vllm", "sglang", "sglang-gauges", "triton", "nim", "vllm-dynamo"])(
    "is the same as the page: %s",
    (name) => {
      const page = captured(name);
      const direct = readServingPage(Buffer.from(page));
      if (!direct.ok) throw new Error(direct.because);
      const { pages, unread, ofOthers } = pagesOfSeries(scraped(page), pods, 1000);
      expect({ pages: pages.map(withCountedValues), unread, ofOthers }).toEqual({
        pages: [{ ...withCountedValues(direct.record), pod: "uid-0", receivedAt: 1000 }],
        unread: 0,
        ofOthers: 0,
      });
    },
  );

  test("twice, by two jobs or two servers, is there once", () => {
    const page = captured("vllm");
    const twice = [...scraped(page), ...scraped(page, { ...target, job: "other", prometheus_replica: "b" })];
    expect(pagesOfSeries(twice, pods, 1000).pages).toMatchObject([{ finished: 1, generatedTokens: 7 }]);
  });

  test("of two ports of a pod is two servers", () => {
    const page = captured("vllm");
    const both = [...scraped(page), ...scraped(page, { ...target, instance: "10.0.0.1:8001" })];
    expect(pagesOfSeries(both, pods, 1000).pages).toMatchObject([{ finished: 2, generatedTokens: 14 }]);
  });

  test("from pods that hold no GPUs, or from nobody, is left out and counted", () => {
    const page = captured("vllm");
    const others = [...scraped(page, { ...target, pod: "ghost" }), ...scraped(page, { job: "static" })];
    const found = pagesOfSeries(others, pods, 1000);
    expect(found.pages).toEqual([]);
    expect(found.ofOthers).toBe(others.length);
  });

  test("in a form that no server has is left out and counted", () => {
    expect(pagesOfSeries([null, { metric: {} }, { metric: { __name__: 4 }, value: [1, "2"] }], pods, 0)).toEqual({
      pages: [],
      unread: 3,
      ofOthers: 0,
    });
  });
});

test("one query asks for all names, within the matchers", () => {
  expect(servingQuery({ cluster: 'a"b' })).toMatch(
    /^\{__name__=~"dynamo_component_inflight_requests\|.*",cluster="a\\"b"\}$/,
  );
  const url = new URL(servingUrl("http://prometheus:9090/x?tenant=1", {}, 20));
  expect(url.pathname).toBe("/x/api/v1/query");
  expect(url.searchParams.get("timeout")).toBe("20s");
  expect(url.searchParams.get("query")).toContain("vllm:request_success_total");
});
