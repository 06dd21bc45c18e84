import { afterEach, describe, expect, test } from "vitest";
import type { GetPool } from "../../../exporter/sources/http/getPool.ts";
import { createServingServerSource } from "../../../exporter/sources/serving/serverSource.ts";
import type { ServingSource } from "../../../exporter/sources/serving/servingSource.ts";

const sources: ServingSource[] = [];
afterEach(async () => {
  for (const source of sources.splice(0)) await source.stop();
});

interface World {
  at: number;
  body: string;
}

function sourceOf(world: World): ServingSource {
  const pool: GetPool = {
    get: async (_request, consume) => ({ ok: true, value: consume(Buffer.from(world.body)) }),
    retain: () => {},
    close: async () => {},
  };
  const source = createServingServerSource({
    server: {
      url: "http://prometheus:9090",
      auth: { kind: "none" },
      insecureSkipVerify: false,
      headers: {},
      matchers: {},
      timeoutSeconds: 20,
    },
    pods: () => [{ uid: "uid-0", namespace: "chat", name: "llm-0" }],
    pool,
    intervalSeconds: 30,
    now: () => world.at,
    schedule: () => () => {},
  });
  sources.push(source);
  return source;
}

const answer = (pod: string): string => {
  const metric = { __name__: "vllm:request_success_total", namespace: "chat", pod };
  const result = [{ metric, value: [1000, "5"] }];
  return JSON.stringify({ status: "success", data: { resultType: "vector", result } });
};

describe("a server that scrapes servers", () => {
  test("gives the pages of pods", async () => {
    const source = sourceOf({ at: 1000, body: answer("llm-0") });
    await source.scrapeOnce(1000);
    expect(source.read().pages).toMatchObject([{ pod: "uid-0", finished: 5, isEmpty: null, receivedAt: 1000 }]);
    expect(source.problems()).toEqual([]);
  });

  test.each([
    ["that refuses", JSON.stringify({ status: "error", errorType: "bad_data", error: "no" }), "serving-server-failed"],
    ["that answers with a page for people", "<html>", "serving-server-failed"],
    ["that has series of nobody here", answer("ghost"), "serving-server-no-series"],
    [
      "that has none",
      JSON.stringify({ status: "success", data: { resultType: "vector", result: [] } }),
      "serving-server-no-series",
    ],
  ])("%s gives none, and says so", async (_case, body, code) => {
    const source = sourceOf({ at: 1000, body });
    await source.scrapeOnce(1000);
    expect(source.read().pages).toEqual([]);
    expect(source.problems()).toMatchObject([{ source: "serving-prometheus", code }]);
  });

  test("whose answer fails is believed for three intervals more", async () => {
    const world = { at: 1000, body: answer("llm-0") };
    const source = sourceOf(world);
    await source.scrapeOnce(1000);
    world.body = "";
    world.at = 1080;
    await source.scrapeOnce(1080);
    expect(source.read().pages).toHaveLength(1);
    world.at = 1091;
    expect(source.read().pages).toEqual([]);
  });
});
