import fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import { pricesSchema } from "../../../exporter/config/moneySchema.ts";
import { createGetPool } from "../../../exporter/sources/http/getPool.ts";
import {
  createOpenCostReader,
  type OpenCostReader,
  openCostQuery,
  openCostUrl,
  readOpenCostAnswer,
} from "../../../exporter/sources/prices/openCost.ts";
import { type Listener, listen } from "../../../simulator/listen.ts";

type Series = readonly [name: string, node: string, value: string];

function answerOf(series: readonly Series[], nodeLabel = "node"): string {
  const result = series.map(([name, node, value]) => ({
    metric: { __name__: name, [nodeLabel]: node },
    value: [1_700_000_000, value],
  }));
  return JSON.stringify({ status: "success", data: { resultType: "vector", result } });
}

const p5: readonly Series[] = [
  ["node_gpu_count", "p5", "8"],
  ["node_gpu_hourly_cost", "p5", "2.34"],
  ["node_total_hourly_cost", "p5", "55.04"],
];

describe("the query", () => {
  test("asks for three metrics, by node, of the cluster that the matchers name", () => {
    expect(openCostQuery({ matchers: { cluster: 'a"b' }, nodeLabel: "exported_node" })).toBe(
      'max by(__name__,exported_node)({__name__=~"node_gpu_hourly_cost|node_total_hourly_cost|node_gpu_count",cluster="a\\"b"})',
    );
  });

  test("keeps what is in the URL", () => {
    const url = openCostUrl("http://x:9090/prom/?tenant=1", { matchers: {}, nodeLabel: "node" }, 4.2);
    expect(url).toMatch(/^http:\/\/x:9090\/prom\/api\/v1\/query\?tenant=1&query=max%20by.*&timeout=5s$/);
  });
});

describe("an answer", () => {
  const read = (text: string) => readOpenCostAnswer(Buffer.from(text), "node", 100);

  test("has the prices of a GPU and of the node", () => {
    expect(read(answerOf(p5))).toEqual({
      ok: true,
      quoted: new Map([["p5", { perGpuHour: 2.34, perNodeHour: 55.04, at: 100 }]]),
      nodes: 1,
      withoutGpus: 0,
    });
  });

  test("says nothing of a node whose GPUs OpenCost does not count, or prices at 0: its total lacks them", () => {
    const series: Series[] = [
      ["node_gpu_count", "mig", "0"],
      ["node_gpu_hourly_cost", "mig", "0.95"],
      ["node_total_hourly_cost", "mig", "3.1"],
      ["node_gpu_hourly_cost", "unknown-family", "0"],
      ["node_total_hourly_cost", "unknown-family", "3.1"],
    ];
    expect(read(answerOf(series))).toMatchObject({ ok: true, quoted: new Map(), nodes: 2, withoutGpus: 2 });
  });

  test("is read without what is no number or no price", () => {
    const series = ["NaN", "+Inf", "-1", "", "abc", "1e30"].map(
      (value, index): Series => ["node_total_hourly_cost", `n${index}`, value],
    );
    expect(read(answerOf(series))).toMatchObject({ ok: true, nodes: 0 });
  });

  test("that is an error gives the server's reason", () => {
    expect(read('{"status":"error","errorType":"bad_data","error":"parse error"}')).toEqual({
      ok: false,
      message: "refuses the query: bad_data: parse error",
    });
  });

  test("of any bytes never throws, and of any series has only prices that can be", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        expect(typeof read(text).ok).toBe("boolean");
      }),
      { seed: 1, numRuns: 300 },
    );
    const entry = fc.record({
      metric: fc.dictionary(fc.constantFrom("__name__", "node", "__proto__"), fc.anything()),
      value: fc.anything(),
    });
    fc.assert(
      fc.property(fc.array(entry), (result) => {
        const answer = read(JSON.stringify({ status: "success", data: { resultType: "vector", result } }) ?? "");
        if (!answer.ok) throw new Error(answer.message);
        for (const { perGpuHour, perNodeHour } of answer.quoted.values())
          expect((perGpuHour ?? 1) > 0 && (perNodeHour ?? 0) >= 0).toBe(true);
      }),
      { seed: 2, numRuns: 300 },
    );
  });
});

describe("the reader", () => {
  const clock = { now: 1_000_000 };
  const now = (): number => clock.now;
  let server: Listener | null = null;
  let reader: OpenCostReader | null = null;
  const reply = { status: 200, body: "" };
  const asked: string[] = [];

  async function start(settings: Readonly<Record<string, unknown>> = {}): Promise<OpenCostReader> {
    server = await listen((request, response) => {
      asked.push(request.url ?? "");
      response.writeHead(reply.status, { "content-type": "application/json" }).end(reply.body);
    });
    const url = `http://user:secret@127.0.0.1:${server.port}`;
    const { openCost } = pricesSchema.parse({ openCost: { url, maxAgeSeconds: 600, ...settings } });
    if (openCost === undefined) throw new Error("no settings");
    const pool = createGetPool({
      timeoutSeconds: 60,
      maxBytes: 1 << 20,
      concurrency: 1,
      backOff: { firstSeconds: 0, maxSeconds: 0 },
      accept: "application/json",
      keepAliveSeconds: 60,
      now,
      random: () => 0.5,
    });
    reader = createOpenCostReader(openCost, pool, now);
    return reader;
  }

  afterEach(async () => {
    await reader?.close();
    await server?.close();
    asked.length = 0;
    Object.assign(reply, { status: 200, body: "" });
  });

  test("a node that an answer lacks keeps its price up to the age limit", async () => {
    const opened = await start();
    reply.body = answerOf([...p5, ["node_total_hourly_cost", "gone", "4"]]);
    await opened.ask();
    clock.now += 400;
    reply.body = answerOf(p5);
    await opened.ask();
    expect([...opened.quoted().keys()].sort()).toEqual(["gone", "p5"]);
    expect(opened.quoted()).toBe(opened.quoted());
    clock.now += 201;
    expect([...opened.quoted().keys()]).toEqual(["p5"]);
    expect(opened.problems()).toEqual([]);
  });

  test("a server that fails is reported, and its last prices stay", async () => {
    const opened = await start();
    reply.body = answerOf(p5);
    await opened.ask();
    Object.assign(reply, { status: 503, body: "" });
    await opened.ask();
    expect(opened.quoted().size).toBe(1);
    expect(opened.problems()).toMatchObject([{ code: "opencost-unreachable", severity: "warning" }]);
    expect(opened.problems()[0]?.message).toContain("its last prices stay in use");
    expect(JSON.stringify(opened.problems())).not.toContain("secret");
    expect(opened.freshness()).toMatchObject({ fresh: true });
    clock.now += 601;
    expect([opened.quoted().size, opened.freshness().fresh]).toEqual([0, false]);
    Object.assign(reply, { status: 200, body: answerOf(p5) });
    await opened.ask();
    expect([opened.quoted().size, opened.problems()]).toEqual([1, []]);
  });

  test("a web page, and no series at all, are no prices", async () => {
    const opened = await start();
    reply.body = "<html>";
    await opened.ask();
    expect(opened.problems()).toMatchObject([{ code: "opencost-odd-answer" }]);
    reply.body = answerOf([]);
    await opened.ask();
    expect(opened.problems()).toMatchObject([{ code: "opencost-no-series" }]);
    expect(opened.problems()[0]?.nextStep).toContain("exported_node");
  });

  test("the label of the node is the one that is configured", async () => {
    const opened = await start({ nodeLabel: "exported_node" });
    reply.body = answerOf(p5, "exported_node");
    await opened.ask();
    expect([...opened.quoted().keys()]).toEqual(["p5"]);
    expect(asked[0]).toContain("exported_node");
  });
});
