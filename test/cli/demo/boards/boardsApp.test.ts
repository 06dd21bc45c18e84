import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createBoardsApp } from "../../../../cli/demo/boards/boardsApp.ts";
import { createAdviceDoer } from "../../../../cli/demo/boards/carryOut.ts";
import type { ApiRequest, Recommendation } from "../../../../exporter/model/recommendation.ts";
import { type Listener, listen } from "../../../../simulator/listen.ts";
import { reclaimAdvice } from "../../../publish/someAdvice.ts";

const boards = [
  { file: "fairlead-fleet.json", title: "fleet overview" },
  { file: "fairlead-waste.json", title: "waste" },
];
const now = Date.parse("2026-11-16T14:00:00Z") / 1000;

/** A step like those of the advice, of a plan that waits for nothing. */
const asked: ApiRequest = {
  verb: "DELETE",
  path: "/api/v1/namespaces/ads/pods/embed-0",
  contentType: null,
  body: null,
};
const step = { title: "delete", request: asked, precondition: "", command: "", dryRun: null, waitFor: null };
const one: Recommendation = { ...reclaimAdvice, id: "r-1", state: "open", steps: [step] };

let folder = "";
let server: Listener;
let prometheus: Listener;
let recommendations: readonly Recommendation[] = [];
let written: ApiRequest[] = [];
let queries: string[] = [];

const urlOf = ({ port }: Listener): string => `http://127.0.0.1:${port}`;

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), "fairlead-boards-test-"));
  for (const { file, title } of boards) writeFileSync(path.join(folder, file), JSON.stringify({ title }));
  prometheus = await listen(async (question, response) => {
    queries.push(`${question.method} ${question.url} ${await text(question)}`);
    response.writeHead(400).end('{"status":"error","error":"parse error"}');
  });
  const doer = createAdviceDoer({
    write: async (change) => {
      written.push(change);
      return { code: 200, message: "" };
    },
    ask: () => false,
  });
  const sources = { root: folder, build: folder, dashboards: folder, prometheus: urlOf(prometheus) };
  const options = { stepSeconds: 5, speed: 6, simulatedNow: () => now, recommendations: () => recommendations, doer };
  server = await listen(createBoardsApp({ ...options, sources, boards }));
});
afterAll(async () => {
  await Promise.all([server.close(), prometheus.close()]);
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(() => {
  recommendations = [one];
  written = [];
  queries = [];
});

const get = (where: string) => fetch(`${urlOf(server)}${where}`, { redirect: "manual" });
const bodyOf = async (where: string) => await (await get(where)).text();
const page = "/?dashboard=fairlead-waste.json&from=now-15m&refresh=5&scrape=5&rows=open";

async function press(fields: Readonly<Record<string, string>>): Promise<Response> {
  return await fetch(`${urlOf(server)}/carry-out`, {
    method: "POST",
    body: new URLSearchParams(fields),
    redirect: "manual",
  });
}

async function tokenOfPage(): Promise<string> {
  return /name="token" value="([^"]+)"/.exec(await bodyOf(page))?.[1] ?? "";
}

describe("the pages of a demo's boards", () => {
  test("begin with the first board, and move on", async () => {
    for (const path of ["/", "/?dashboard=../../etc/passwd", "/?dashboard=fairlead-fleet.json"]) {
      const answer = await get(path);
      expect(answer.status).toBe(302);
      expect(answer.headers.get("location")).toBe(page.replace("waste", "fleet"));
    }
    const shown = await bodyOf(page);
    expect(shown).toContain('aria-current="page">waste</a>');
    expect(shown).toContain("it is Mon, 16 Nov 2026 14:00 UTC, and time passes 6 times as fast as here");
  });

  test("load nothing of another origin", async () => {
    for (const path of [page, "/advice", "/dashboards/fairlead-waste.json"]) {
      const policy = (await get(path)).headers.get("content-security-policy") ?? "";
      expect(policy).toMatch(/^default-src 'none'; script-src 'self';/);
      expect(policy).toContain("form-action 'self'; frame-ancestors 'none'");
    }
  });

  test("what a cluster says stays text", async () => {
    recommendations = [{ ...one, title: '"><script>alert(1)</script>' }];
    for (const path of [page, "/advice"]) {
      expect(await bodyOf(path)).toContain("&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;");
      expect(await bodyOf(path)).not.toContain("<script>");
    }
  });

  test("ask Prometheus, whose own words come back", async () => {
    const answer = await fetch(`${urlOf(server)}/prometheus/api/v1/query`, {
      method: "POST",
      body: new URLSearchParams({ query: "up{" }),
    });
    expect(await answer.text()).toBe('{"status":"error","error":"parse error"}');
    expect(queries).toEqual(["POST /api/v1/query query=up%7B"]);
    expect((await get("/prometheus/-/quit")).status).toBe(404);
    expect(queries).toHaveLength(1);
  });

  test("read no file outside of their folders", async () => {
    expect((await get("/dashboards/fairlead-waste.json")).status).toBe(200);
    for (const path of ["/dashboards/..%2f..%2fetc%2fpasswd", "/dashboards/%2e%2e/x", "/package.json", "/build/"])
      expect((await get(path)).status).toBe(404);
  });

  test("answer no stranger's name", async () => {
    const status = await new Promise((resolve, reject) => {
      const question = request(urlOf(server), { headers: { host: "demo.example.com" } }, (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      });
      question.on("error", reject).end();
    });
    expect(status).toBe(421);
  });
});

describe("the button of a recommendation", () => {
  test("sends its requests, leads back to the board and says what came of it", async () => {
    const answer = await press({ token: await tokenOfPage(), id: "r-1", dashboard: "fairlead-waste.json" });
    expect(answer.status).toBe(303);
    expect(answer.headers.get("location")).toBe(page);
    expect(written).toEqual([asked]);
    expect(await bodyOf("/advice")).toContain("1 request sent. The API accepted all of them.");
  });

  test.each([{}, { token: "" }, { token: "x".repeat(43) }])("does nothing without its token: %j", async (fields) => {
    expect((await press({ ...fields, id: "r-1", dashboard: "fairlead-waste.json" })).status).toBe(403);
    expect(written).toEqual([]);
  });

  test("says that advice has gone", async () => {
    await press({ token: await tokenOfPage(), id: "r-gone", dashboard: "fairlead-waste.json" });
    expect(written).toEqual([]);
    expect(await bodyOf("/advice")).toContain("This is not recommended any more.");
  });

  test("is there for what can be done or asked alone", async () => {
    recommendations = [
      { ...one, id: "r-taken", state: "taken" },
      { ...one, id: "r-watch", steps: [] },
      { ...one, id: "r-ask", steps: [], kind: "release_idle" },
    ];
    const shown = await bodyOf("/advice");
    expect([...shown.matchAll(/name="id" value="([^"]+)"/g)].map(([, id]) => id)).toEqual(["r-ask"]);
    expect(shown).toContain("Ask the owner");
  });
});

describe("carrying advice out", () => {
  test("takes the steps after what has to happen later, and each once", async () => {
    const sent: string[] = [];
    const doer = createAdviceDoer({
      write: async ({ path }) => {
        sent.push(path);
        return { code: path === "/second" ? 409 : 200, message: "" };
      },
      ask: () => false,
    });
    const steps = ["/first", "/second"].map((path) => ({
      ...step,
      request: { ...asked, path },
      waitFor: path === "/first" ? "the pods are gone" : null,
    }));
    expect(await doer.begin({ ...one, steps }, now)).toBe("1 request sent. The API accepted all of them.");
    expect(sent).toEqual(["/first"]);
    await doer.goOn(now + 30);
    await doer.goOn(now + 60);
    expect(sent).toEqual(["/first", "/second"]);
    expect(await doer.begin({ ...one, steps: steps.slice(1) }, now + 90)).toBe(
      "1 request sent. The API refused 1 of them.",
    );
  });

  test("asks owners, who may keep their work", async () => {
    const doer = createAdviceDoer({
      write: async () => ({ code: 200, message: "" }),
      ask: (target) => target.endsWith("0"),
    });
    const question = { ...one, kind: "release_idle" as const, steps: [], targets: ["Job ads/a-0", "Job ads/a-1"] };
    expect(await doer.begin(question, now)).toBe("2 owners asked: 1 let the work go, the others want to keep it.");
    expect(await doer.begin(question, now + 60)).toBe("The owners were asked less than a day ago (of simulated time).");
  });
});
