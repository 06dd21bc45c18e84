import { Readable } from "node:stream";
import { afterEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { defaultConfig } from "../../../exporter/config/defaults.ts";
import { openWebConfig } from "../../../exporter/config/webConfig.ts";
import type { History } from "../../../exporter/history/history.ts";
import { documentSchema } from "../../../exporter/publish/document/schema.ts";
import { explain } from "../../../exporter/publish/explain/explain.ts";
import type { Health } from "../../../exporter/publish/health.ts";
import { createApp } from "../../../exporter/publish/http/app.ts";
import type { Outputs } from "../../../exporter/publish/http/outputs.ts";
import { type RunningServer, startServer } from "../../../exporter/publish/http/server.ts";
import { buildPublication } from "../../../exporter/publish/publication.ts";
import { plainTerminal } from "../../../exporter/publish/terminal/layout.ts";
import { overview } from "../../../exporter/publish/terminal/overview.ts";
import { overviewSchema } from "../../../exporter/publish/terminal/overviewSchema.ts";
import { knownBudgets } from "../knownBudgets.ts";
import { at, health, hostileNames, smallMoment } from "../moment.ts";
import { queueMoment } from "../queueMoment.ts";

const emptyHistory: History = {
  name: "ledger.db",
  kind: "ledger",
  totals: async ({ from, to }) => ({ ok: true, answer: { rows: [], coveredSeconds: 0, from, to } }),
};

const limits = { teams: 1000, series: 50_000 };
const running: RunningServer[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.close()));
});

function outputs(values: Partial<Outputs> = {}): Outputs {
  const publication = buildPublication({ analysis: smallMoment, health: health(), limits }, "");
  return {
    cluster: health().cluster,
    latest: () => publication,
    health: () => health(),
    explain: (kind, name) =>
      explain(kind, name, { analysis: smallMoment, settings: defaultConfig, problems: [], accountedTime: null }),
    now: () => at + 5,
    limits,
    processMetrics: async () => "process_x 1\n",
    telemetryPath: "/metrics",
    users: {},
    ...values,
  };
}

async function serve(values: Partial<Outputs> = {}): Promise<(path: string, init?: RequestInit) => Promise<Response>> {
  const started = await startServer({
    handler: createApp(outputs(values)),
    listenAddress: "127.0.0.1:0",
    web: openWebConfig,
    onProblem: (message) => expect.fail(message),
  });
  if (!started.ok) throw new Error(started.error);
  running.push(started.server);
  return (path, init) => fetch(`${started.server.url}${path}`, init);
}

const noBytes = { bytes: 0, read: () => Readable.from([]), close: async () => {} };

const nothingAccounted = {
  rows: [],
  totalRows: 0,
  totals: {
    gpuSeconds: 0,
    estimatedGpuSeconds: 0,
    energyJoules: null,
    meteredGpuSeconds: 0,
    costs: new Map(),
    cost: null,
    pricedGpuSeconds: 0,
  },
  coverage: { windowSeconds: 0, coveredSeconds: 0, ratio: 0, gaps: [], gapsLeftOut: 0 },
};

const notReady: Partial<Health> = {
  lastCycleAt: null,
  sources: [
    {
      source: "kubernetes",
      parts: [{ part: "nodes", ageSeconds: null, fresh: false }],
      required: ["nodes", "pods"],
      telemetry: false,
    },
  ],
};

describe("/metrics", () => {
  test("is the prebuilt page, in the text format of Prometheus", async () => {
    const get = await serve();
    const response = await get("/metrics", { headers: { "Accept-Encoding": "identity" } });
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    expect(response.headers.get("content-encoding")).toBeNull();
    expect(response.headers.get("vary")).toBe("Accept-Encoding");
    const text = await response.text();
    expect(text).toContain('fairlead_team_gpus{cluster="harbor",team="ads",pool="H100",state="active"} 0.75');
    expect(response.headers.get("content-length")).toBe(`${Buffer.byteLength(text)}`);
  });

  test("is compressed for those who accept it, and says the same", async () => {
    const get = await serve();
    const plain = await get("/metrics", { headers: { "Accept-Encoding": "identity" } });
    const zipped = await get("/metrics", { headers: { "Accept-Encoding": "gzip" } });
    expect(zipped.headers.get("content-encoding")).toBe("gzip");
    expect(zipped.headers.get("vary")).toBe("Accept-Encoding");
    const text = await plain.text();
    expect(Number(zipped.headers.get("content-length"))).toBeLessThan(Buffer.byteLength(text) / 2);
    expect(await zipped.text()).toBe(text);
  });

  test("older than three intervals is not served as if it were fresh: only health is", async () => {
    const text = await (await (await serve({ now: () => at + 91 }))("/metrics")).text();
    expect(text).toContain("fairlead_last_cycle_timestamp_seconds");
    expect(text).toContain("process_x 1");
    expect(text).not.toContain("fairlead_gpus");
    const fresh = await (await (await serve({ now: () => at + 90 }))("/metrics")).text();
    expect(fresh).toContain("fairlead_gpus");
  });

  test("is as old as what is on it, whatever cycles have done since", async () => {
    const now = { now: () => at + 91, health: () => health({ lastCycleAt: at + 90 }) };
    const text = await (await (await serve(now))("/metrics")).text();
    expect(text).not.toContain("fairlead_gpus");
    expect(await (await (await serve(now))("/")).text()).toContain("These numbers are 91 s old.");
  });

  test("before the first cycle there is health alone", async () => {
    const get = await serve({ latest: () => null, health: () => health(notReady) });
    const text = await (await get("/metrics")).text();
    expect(text).toContain('fairlead_source_up{cluster="harbor",source="kubernetes"} 0');
    expect(text).not.toContain("fairlead_gpus");
  });

  test("can be at another path, also one that looks like a pattern", async () => {
    const get = await serve({ telemetryPath: "/gpu/(metrics)*" });
    expect((await get("/gpu/(metrics)*")).status).toBe(200);
    expect((await get("/metrics")).status).toBe(404);
  });
});

describe("probes", () => {
  test("the process lives until ten intervals have passed without a cycle", async () => {
    const get = await serve({ now: () => at + 300 });
    expect((await get("/livez")).status).toBe(200);
    const dead = await (await serve({ now: () => at + 301 }))("/livez");
    expect(dead.status).toBe(503);
    expect(await dead.text()).toBe(
      "No cycle has been completed for 301 s; the process should be restarted. See its log.\n",
    );
  });

  test("a process that never completes a cycle dies, too", async () => {
    const never = { health: () => health(notReady), latest: () => null };
    expect((await (await serve({ ...never, now: () => at - 300 + 299 }))("/livez")).status).toBe(200);
    expect((await (await serve({ ...never, now: () => at - 300 + 301 }))("/livez")).status).toBe(503);
  });

  test("readiness says what is missing", async () => {
    expect(await (await (await serve())("/readyz")).text()).toBe("ok\n");
    const response = await (await serve({ health: () => health(notReady), latest: () => null }))("/readyz");
    expect(response.status).toBe(503);
    expect(await response.text()).toBe(
      "not ready:\n- kubernetes: nodes not read yet\n- kubernetes: pods not read yet\n- the first cycle is not complete yet\n",
    );
  });
});

describe("start page", () => {
  test("says what is there, what is wrong, and what to do", async () => {
    const response = await (await serve())("/");
    expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
    const page = await response.text();
    expect(page).toContain("<h1>GPUs of cluster harbor</h1>");
    expect(page).toContain("<dt>physical GPUs</dt><dd>3</dd>");
    expect(page).toContain("Next: Install GPU Feature Discovery, or set gpu.resources.");
    expect(page).toContain('<a href="/metrics">');
    expect(page).toMatch(/<th scope="row">dcgm<\/th><td class="warning">partly<\/td><td>1 of 3<\/td><td>12 s<\/td>/);
  });

  test("before the first cycle it says what is missing; later, that numbers are old", async () => {
    const early = await (await serve({ latest: () => null, health: () => health(notReady) }))("/");
    expect(await early.text()).toContain("No answers yet: kubernetes: nodes not read yet");
    const late = await (await serve({ now: () => at + 200 }))("/");
    expect(await late.text()).toContain("These numbers are 200 s old.");
  });

  test("nothing that a cluster says becomes markup", async () => {
    const problems = hostileNames.map((name) => ({
      source: name,
      code: "x",
      severity: "error" as const,
      subject: name,
      message: `${name}"'><img src=x onerror=alert(1)>`,
      nextStep: name,
    }));
    const page = await (await (await serve({ health: () => health({ problems, cluster: "<b>" }) }))("/")).text();
    expect(page.match(/<script/g)).toHaveLength(1);
    expect(page).not.toContain("<img");
    expect(page).not.toContain("<b>");
    expect(page).toContain("&lt;script&gt;alert(1)&lt;/script&gt;");
  });
});

describe("API", () => {
  test("makes the text of a cycle's document once, however many ask at once or later", async () => {
    let made = 0;
    const ask = await serve({
      health: () => {
        made += 1;
        return health();
      },
    });
    const first = await (await ask("/api/v1/snapshot")).text();
    const once = made;
    const texts = await Promise.all(Array.from({ length: 5 }, async () => (await ask("/api/v1/snapshot")).text()));
    expect(new Set([first, ...texts]).size).toBe(1);
    // Only what asks whether there is a page looks at the health again.
    expect(once).toBeGreaterThan(0);
    expect(made).toBe(once);
  });

  test("serves the document as `inspect` prints it", async () => {
    const document = documentSchema.parse(await (await (await serve())("/api/v1/snapshot")).json());
    expect(document.cluster).toBe("harbor");
    expect(document.devices).toHaveLength(3);
  });

  test("chooses records and cuts them into pages", async () => {
    const get = await serve();
    const json = async (path: string) => (await get(path)).json();
    expect(await json("/api/v1/devices?team=ads")).toMatchObject({ total: 1, items: [{ uuid: "GPU-a" }] });
    expect(await json("/api/v1/devices?pool=H100&node=h100-01")).toMatchObject({ total: 2 });
    expect(await json("/api/v1/devices?limit=1&offset=1")).toMatchObject({
      total: 3,
      limit: 1,
      offset: 1,
      items: [{ uuid: "GPU-b" }],
    });
    expect(await json("/api/v1/nodes?pool=L4")).toMatchObject({ total: 1, items: [{ name: "l4-01" }] });
    expect(await json("/api/v1/workloads?namespace=search")).toMatchObject({ items: [{ name: "big" }] });
    expect(await json("/api/v1/queues")).toMatchObject({ total: 0, items: [] });
    expect(await json("/api/v1/problems")).toMatchObject({ total: 1, items: [{ code: "gpus-unknown" }] });
  });

  test("the lists of queues, of what waits and of findings can be chosen from", async () => {
    const publication = buildPublication({ analysis: queueMoment, health: health(), limits }, "");
    const get = await serve({
      latest: () => publication,
      explain: (kind, name) =>
        explain(kind, name, { analysis: queueMoment, settings: defaultConfig, problems: [], accountedTime: null }),
    });
    const json = async (path: string) => (await get(path)).json();
    expect(await json("/api/v1/domains?pool=A100")).toMatchObject({
      total: 1,
      items: [{ domain: "A100", allocated: 6 }],
    });
    expect(await json("/api/v1/queues?queue=search&domain=H100")).toMatchObject({
      total: 1,
      items: [{ entitled: 47, allocated: 31, deviation: -16 }],
    });
    expect(await json("/api/v1/queues?team=crawl")).toMatchObject({ total: 1, items: [{ name: "ads" }] });
    expect(await json("/api/v1/pending?cause=quota")).toMatchObject({ total: 1, items: [{ name: "rank-big" }] });
    expect(await json("/api/v1/evictions?team=crawl")).toMatchObject({ total: 1, items: [{ name: "crawl-42" }] });
    expect(await json("/api/v1/findings?code=kueue-no-reclaim")).toMatchObject({
      total: 1,
      items: [{ name: "search" }],
    });
    const { sections } = overviewSchema.parse(await json("/api/v1/overview?columns=120"));
    const text = overview(queueMoment, undefined, undefined, { ...plainTerminal, columns: 120 });
    expect(sections.slice(0, -1).map(({ lines }) => lines.join("\n"))).toEqual(text.split("\n\n").slice(0, -1));
    expect(await json("/api/v1/explain?kind=queue&name=search")).toMatchObject({
      kind: "queue",
      entitlements: [
        { domain: "H100", entitled: 47 },
        { domain: "A100", entitled: 4 },
      ],
    });
    const snapshot = documentSchema.parse(await json("/api/v1/snapshot"));
    expect(snapshot.queues).toHaveLength(10);
  });

  test.each([
    [
      "/api/v1/devices?color=red",
      'unknown parameter "color"',
      "Use one of: node, pool, team, namespace, state, limit, offset.",
    ],
    ["/api/v1/teams?limit=0", "limit is not a whole number in range", "Use 1 to 10000."],
    ["/api/v1/teams?limit=1e9", "limit is not a whole number in range", "Use 1 to 10000."],
    ["/api/v1/teams?offset=-1", "offset is not a whole number", "Use 0 or more."],
    ["/api/v1/teams?team=a&team=b", 'parameter "team" is given twice', "Give it once."],
  ])("%s is refused with the next step", async (path, error, nextStep) => {
    const response = await (await serve())(path);
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({ error, nextStep });
  });

  test.each(["columns=79", "columns=201", "columns=1e2", "columns=100&x=1"])(
    "/api/v1/overview?%s is refused with the next step",
    async (search) => {
      const response = await (await serve())(`/api/v1/overview?${search}`);
      expect(response.status).toBe(400);
      expect(await response.json()).toEqual({
        error: "expected no parameter but columns, a whole number in range",
        nextStep: "Ask for /api/v1/overview?columns=80 to 200.",
      });
    },
  );

  test("every list that the index and the description name exists, and the other way round", async () => {
    const get = await serve({
      ledger: async ({ from, to, groupBy }) => ({ ok: true, answer: { ...nothingAccounted, from, to, groupBy } }),
      past: { history: emptyHistory, notCharged: [] },
      budgets: () => knownBudgets,
      ledgerBackup: { take: async () => ({ ok: true, copy: noBytes }) },
    });
    const index = z.record(z.string(), z.string()).parse(await (await get("/api/v1")).json());
    const asked = (path: string) => path.replace("{kind}", "team").replace("{name}", "ads");
    for (const path of Object.values(index)) expect((await get(asked(path))).status, path).toBe(200);
    const description = z
      .object({
        paths: z.record(z.string(), z.record(z.string(), z.unknown())),
        components: z.object({ schemas: z.record(z.string(), z.unknown()) }),
      })
      .parse(await (await get("/api/v1/openapi.json")).json());
    const writable = ["/api/v1/alerts", "/api/v1/recommendations/{id}/dismiss", "/api/v1/recommendations/{id}/take"];
    const beside = ["/api/v1/recommendations/{id}", ...writable];
    expect(Object.keys(description.paths)).toEqual(expect.arrayContaining(beside));
    for (const [path, operations] of Object.entries(description.paths))
      expect(Object.keys(operations)).toEqual([writable.includes(path) ? "post" : "get"]);
    const asListed = Object.keys(description.paths).filter((path) => !beside.includes(path));
    expect(asListed.sort()).toEqual(
      Object.values(index)
        .map((path) => path.split("?")[0] ?? path)
        .filter((path) => !path.endsWith("openapi.json"))
        .sort(),
    );
    const references = JSON.stringify(description).match(/#\/components\/schemas\/\w+/g) ?? [];
    for (const reference of references)
      expect(description.components.schemas).toHaveProperty(reference.split("/").at(-1) ?? "");
  });

  test("before the first cycle there are no answers, and it says where to look", async () => {
    const response = await (await serve({ latest: () => null }))("/api/v1/teams");
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({ nextStep: "See /readyz for what is missing." });
  });
});

describe("every answer", () => {
  test.each(["/", "/metrics", "/livez", "/readyz", "/api/v1/teams", "/nothing"])(
    "%s has security headers",
    async (path) => {
      const { headers } = await (await serve())(path);
      expect(headers.get("content-security-policy")).toMatch(/^default-src 'none'; /);
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("x-powered-by")).toBeNull();
    },
  );

  test.each(["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])("%s is refused", async (method) => {
    const response = await (await serve())("/metrics", { method });
    expect(response.status).toBe(405);
    expect(response.headers.get("allow")).toBe("GET, HEAD");
  });

  test("HEAD has the headers of GET and no body", async () => {
    const response = await (await serve())("/metrics", { method: "HEAD" });
    expect(response.status).toBe(200);
    expect(Number(response.headers.get("content-length"))).toBeGreaterThan(1000);
    expect(await response.text()).toBe("");
  });

  test("unknown and broken paths name the next step", async () => {
    const get = await serve();
    const api = await get("/api/v1/__proto__");
    expect(api.status).toBe(404);
    expect(await api.json()).toEqual({
      error: "there is nothing at this path",
      nextStep: "See /api/v1 for what there is.",
    });
    expect(await (await get("/metric")).text()).toBe("There is nothing at this path. See / for what there is.\n");
    const broken = await get("/api/v1/%ZZ");
    expect(broken.status).toBe(400);
    expect(await broken.json()).toMatchObject({ nextStep: "See / for what there is." });
  });

  test("a fault inside is not shown to the caller", async () => {
    const get = await serve({
      health: () => {
        throw new Error("secret detail");
      },
    });
    const response = await get("/readyz");
    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain("secret");
  });
});
