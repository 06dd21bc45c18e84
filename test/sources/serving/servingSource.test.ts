import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { afterEach, describe, expect, test } from "vitest";
import { createGetPool } from "../../../exporter/sources/http/getPool.ts";
import { createServingSource, type ServingSource } from "../../../exporter/sources/serving/servingSource.ts";
import type { ServingTarget } from "../../../exporter/sources/serving/targets.ts";

type Listener = (request: IncomingMessage, response: ServerResponse) => void;

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function serve(listener: Listener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  ends.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return `http://127.0.0.1:${address.port}/metrics`;
}

const targetOf = (url: string, pod = "uid-1"): ServingTarget => ({ pod, name: `serving/${pod}`, url });

interface Clock {
  at: number;
}

function sourceOf(targets: () => readonly ServingTarget[], clock: Clock): ServingSource {
  const pool = createGetPool({
    timeoutSeconds: 5,
    maxBytes: 10_000,
    concurrency: 4,
    backOff: { firstSeconds: 30, maxSeconds: 120 },
    accept: "text/plain;version=0.0.4",
    keepAliveSeconds: 90,
    now: () => clock.at,
    random: () => 0.5,
  });
  const schedule = () => () => {};
  const source = createServingSource({ targets, pool, intervalSeconds: 30, now: () => clock.at, schedule });
  ends.push(() => source.stop());
  return source;
}

const page = (finished: number, running = 0) =>
  `vllm:num_requests_running ${running}\nvllm:num_requests_waiting 0\nvllm:request_success_total{finished_reason="stop"} ${finished}\n`;

describe("pages of pods", () => {
  test("each speaks for its own pod", async () => {
    const one = await serve((_request, response) => response.end(page(4)));
    const other = await serve((_request, response) => response.end(page(7, 1)));
    const clock = { at: 1000 };
    const source = sourceOf(() => [targetOf(one, "a"), targetOf(other, "b")], clock);
    await source.scrapeOnce(1000);
    expect(source.read().pages).toMatchObject([
      { pod: "a", finished: 4, isEmpty: true, receivedAt: 1000 },
      { pod: "b", finished: 7, isEmpty: false, receivedAt: 1000 },
    ]);
    expect(source.problems()).toEqual([]);
    expect(source.freshness()).toEqual([{ part: "pods", ageSeconds: 0, fresh: true }]);
  });

  test("no credentials are sent, and redirects are not followed", async () => {
    const seen: (string | undefined)[] = [];
    let asked = 0;
    const elsewhere = await serve((_request, response) => {
      asked += 1;
      response.end(page(1));
    });
    const url = await serve((request, response) => {
      seen.push(request.headers.authorization);
      response.writeHead(302, { location: elsewhere }).end();
    });
    const source = sourceOf(() => [targetOf(url)], { at: 0 });
    await source.scrapeOnce(0);
    expect(seen).toEqual([undefined]);
    expect(asked).toBe(0);
    expect(source.read().pages).toEqual([]);
    expect(source.problems()).toMatchObject([
      { source: "serving", code: "pod-bad-redirect", subject: "serving/uid-1" },
    ]);
  });

  test("a page of something else is no failure, and no record", async () => {
    const url = await serve((_request, response) => response.end("go_goroutines 12\n"));
    const source = sourceOf(() => [targetOf(url)], { at: 0 });
    await source.scrapeOnce(0);
    expect(source.read().pages).toEqual([]);
    expect(source.problems()).toEqual([]);
  });

  test("a page that is too large or malformed gives no record", async () => {
    const large = await serve((_request, response) => response.end(`${page(1)}# ${"x".repeat(20_000)}\n`));
    const broken = await serve((_request, response) => response.end("vllm:num_requests_running{ 1\n"));
    const source = sourceOf(() => [targetOf(large, "a"), targetOf(broken, "b")], { at: 0 });
    await source.scrapeOnce(0);
    expect(source.read().pages).toEqual([]);
    expect(source.problems().map(({ code }) => code)).toEqual(["pod-too-large", "pod-malformed"]);
  });

  test("many pods that fail alike are one problem", async () => {
    const url = await serve((_request, response) => response.writeHead(500).end());
    const targets = Array.from({ length: 30 }, (_one, i) => targetOf(`${url}?${i}`, `pod-${i}`));
    const source = sourceOf(() => targets, { at: 0 });
    await source.scrapeOnce(0);
    expect(source.problems()).toHaveLength(1);
    expect(source.problems()[0]?.message).toContain("and 29 more of 30");
  });
});

describe("age", () => {
  test("a last good page is used for three intervals, and is then unknown", async () => {
    let isDown = false;
    const url = await serve((_request, response) => (isDown ? response.writeHead(503).end() : response.end(page(4))));
    const clock = { at: 1000 };
    const source = sourceOf(() => [targetOf(url)], clock);
    await source.scrapeOnce(1000);
    isDown = true;
    clock.at = 1060;
    await source.scrapeOnce(1060);
    expect(source.read().pages).toMatchObject([{ finished: 4, receivedAt: 1000 }]);
    clock.at = 1091;
    expect(source.read().pages).toEqual([]);
  });

  test("a pod that is gone is forgotten, and one at another address has none of its pages", async () => {
    const url = await serve((_request, response) => response.end(page(4)));
    const dead = await serve((_request, response) => response.writeHead(503).end());
    let targets = [targetOf(url)];
    const source = sourceOf(() => targets, { at: 0 });
    await source.scrapeOnce(0);
    targets = [targetOf(dead)];
    await source.scrapeOnce(30);
    expect(source.read().pages).toEqual([]);
    targets = [];
    await source.scrapeOnce(60);
    expect(source.problems()).toEqual([]);
  });
});
