import { readFileSync } from "node:fs";
import type { IncomingMessage, RequestListener } from "node:http";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { type Listener, listen } from "../../../simulator/listen.ts";
import { serverSource } from "../../e2e/scrapedByPrometheus.ts";

const good = readFileSync(join(import.meta.dirname, "recorded/honor-false.json"), "utf8");
const listeners: Listener[] = [];
afterEach(async () => {
  await Promise.all(listeners.splice(0).map(({ close }) => close()));
});

async function serve(handler: RequestListener): Promise<string> {
  const listener = await listen(handler);
  listeners.push(listener);
  return `http://127.0.0.1:${listener.port}`;
}

const reply =
  (status: number, body: string, headers: Readonly<Record<string, string>> = {}): RequestListener =>
  (_request, response) => {
    response.writeHead(status, headers).end(body);
  };

const never: RequestListener = () => {};

/** What the source says after one answer. */
async function problemAfter(handler: RequestListener, maxAnswerBytes = 100_000): Promise<string> {
  // An answer that comes has all the time in the world: how long it takes is not what is tested.
  const server = { timeoutSeconds: handler === never ? 0.2 : 60 };
  const source = serverSource(await serve(handler), { now: () => 1000, server, maxAnswerBytes });
  await source.scrapeOnce(1000);
  const { pages, targetsUp } = source.read();
  expect(pages).toEqual([]);
  expect(targetsUp).toBe(0);
  expect(source.freshness()).toMatchObject([{ ageSeconds: null, fresh: false }]);
  const [problem, ...others] = source.problems();
  expect(others).toEqual([]);
  expect(problem?.severity).toBe("error");
  expect(problem?.nextStep.length).toBeGreaterThan(20);
  await source.stop();
  return `${problem?.code}: ${problem?.message}`;
}

describe("a server that gives no telemetry", () => {
  const html = "<!doctype html><title>Log in</title>";
  test.each<readonly [string, RequestListener, RegExp]>([
    ["wants credentials", reply(401, html), /^server-status: .*HTTP 401: it wants credentials/],
    ["forbids", reply(403, "no"), /^server-status: .*HTTP 403/],
    [
      "finds the query too large",
      reply(422, '{"status":"error","errorType":"execution","error":"too many samples"}'),
      /HTTP 422 \(execution: too many samples\)/,
    ],
    [
      "is overloaded",
      reply(503, '{"status":"error","errorType":"timeout","error":"query timed out"}'),
      /HTTP 503.*\(timeout: query timed out\)/,
    ],
    ["fails without words", reply(503, html), /HTTP 503: the server failed; failing since/],
    [
      "says error with 200",
      reply(200, '{"status":"error","errorType":"bad_data","error":"no"}'),
      /^server-query-failed: .*bad_data: no/,
    ],
    [
      "redirects to a login page",
      reply(302, "", { location: "https://login.example/" }),
      /^server-bad-redirect: .*HTTP 302/,
    ],
    ["shows a web page", reply(200, html), /^server-not-json: .*answers with a web page/],
    ["says nothing", reply(200, ""), /^server-not-json: .*answers with nothing/],
    [
      "is cut off",
      (_request, response) =>
        void response.writeHead(200, { "content-length": "9999" }).write(good.slice(0, 500), () => response.destroy()),
      /^server-reset: /,
    ],
    ["ends in the middle", reply(200, good.slice(0, 500)), /^server-not-json: /],
    ["hangs", never, /^server-timeout: /],
    [
      "answers without end",
      (_request, response) =>
        void setImmediate(function more() {
          if (response.write("x".repeat(65_536))) setImmediate(more);
          else response.once("drain", more);
        }),
      /^server-too-large: /,
    ],
    [
      "fails without end",
      (_request, response) => {
        response.writeHead(500);
        setImmediate(function more() {
          if (response.write("x".repeat(65_536))) setImmediate(more);
          else response.once("drain", more);
        });
      },
      /^server-status: .*HTTP 500/,
    ],
    ["answers with a number", reply(200, "7"), /^server-odd-answer: /],
    [
      "answers with a matrix",
      reply(200, '{"status":"success","data":{"resultType":"matrix","result":[]}}'),
      /^server-odd-answer: .*not a vector/,
    ],
    ["has data of a wrong type", reply(200, '{"status":"success","data":[]}'), /^server-odd-answer: /],
    ["nests without end", reply(200, "[".repeat(90_000)), /^server-not-json: /],
    [
      "has nothing that matches",
      reply(200, '{"status":"success","data":{"resultType":"vector","result":[]}}'),
      /^server-no-gpu-series: .*no data, not idle GPUs/,
    ],
  ])("%s", async (_name, handler, wanted) => {
    expect(await problemAfter(handler)).toMatch(wanted);
  });

  test("credentials and headers go to the server and to nobody else", async () => {
    const seen: IncomingMessage[] = [];
    const elsewhere = await serve((request, response) => {
      seen.push(request);
      response.end(good);
    });
    const url = await serve((request, response) => {
      seen.push(request);
      response.writeHead(307, { location: `${elsewhere}/api/v1/query` }).end();
    });
    const source = serverSource(url, {
      server: {
        auth: { kind: "basic", username: "u", passwordFile: import.meta.filename },
        headers: { "X-Scope-OrgID": "team-a" },
      },
    });
    await source.scrapeOnce(1000);
    expect(seen, "a file of many lines is no password, and nothing was sent without it").toEqual([]);
    expect(source.problems()).toMatchObject([{ code: "server-credentials" }]);
    const open = serverSource(url, { server: { headers: { "X-Scope-OrgID": "team-a" } } });
    await open.scrapeOnce(1000);
    expect(seen.map(({ headers }) => headers["x-scope-orgid"])).toEqual(["team-a"]);
    expect(open.problems()).toMatchObject([{ code: "server-bad-redirect" }]);
    await Promise.all([source.stop(), open.stop()]);
  });
});

describe("a good answer after which the server ends", () => {
  test("is used up to the age limit, and then no more", async () => {
    let clock = 1000;
    let handler = reply(200, good);
    const source = serverSource(await serve((request, response) => handler(request, response)), { now: () => clock });
    await source.scrapeOnce(clock);
    expect(source.read()).toMatchObject({ pages: [{ node: "node-a" }], targets: 1, targetsUp: 1 });
    expect(source.problems()).toEqual([]);
    handler = reply(503, "");
    clock += 80;
    await source.scrapeOnce(clock);
    expect(source.read()).toMatchObject({ pages: [{ node: "node-a" }], targetsUp: 0 });
    expect(source.problems()).toMatchObject([{ severity: "warning", message: expect.stringContaining("still used") }]);
    clock += 11;
    await source.scrapeOnce(clock);
    expect(source.read().pages).toEqual([]);
    expect(source.problems()).toMatchObject([{ severity: "error", message: expect.stringContaining("unknown") }]);
    expect(source.freshness()).toMatchObject([{ fresh: false, ageSeconds: 91 }]);
    await source.stop();
  });

  test("what the server says is missing is reported", async () => {
    const warned = JSON.stringify({
      ...JSON.parse(good),
      warnings: ["store eu-2 did not answer", "x".repeat(10_000), 7],
    });
    const source = serverSource(await serve(reply(200, warned)), { now: () => 1000 });
    await source.scrapeOnce(1000);
    const [problem] = source.problems();
    expect(source.read().pages).toHaveLength(1);
    expect(problem).toMatchObject({ code: "server-incomplete-answer", message: expect.stringContaining("store eu-2") });
    expect(problem?.message.length).toBeLessThan(500);
    await source.stop();
  });
});

describe("the interval", () => {
  test("the server is asked at the start, once in each interval, and not after the end", async () => {
    let asked = 0;
    const url = await serve((request, response) => {
      asked += 1;
      reply(200, good)(request, response);
    });
    const waiting: { readonly seconds: number; readonly callback: () => void }[] = [];
    const source = serverSource(url, {
      now: () => 1000,
      schedule: (seconds, callback) => {
        const entry = { seconds, callback };
        waiting.push(entry);
        return () => void waiting.splice(waiting.indexOf(entry), 1);
      },
    });
    await source.start();
    expect({ asked, waits: waiting.map(({ seconds }) => seconds) }).toEqual({ asked: 1, waits: [30] });
    waiting.shift()?.callback();
    await source.scrapeOnce(1000);
    expect({ asked, waits: waiting.length }, "one question at a time").toEqual({ asked: 2, waits: 1 });
    await source.stop();
    expect(waiting).toEqual([]);
  });
});
