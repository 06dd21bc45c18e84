import { afterEach, describe, expect, it } from "vitest";
import type { TotalsResult } from "../../exporter/history/history.ts";
import { createPrometheusHistory } from "../../exporter/history/prometheusHistory.ts";
import { type Listener, listen } from "../../simulator/listen.ts";
import { clientOf } from "./contract/client.ts";

const servers: Listener[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

interface Said {
  readonly status?: number;
  readonly body: string;
}

/** What a history says whose server answers every query like this; and the queries. */
async function askOf(answer: (query: string) => Said, more: { readonly maxBytes?: number } = {}) {
  const queries: string[] = [];
  const server = await listen((request, response) => {
    const query = new URL(request.url ?? "", "http://server").searchParams.get("query") ?? "";
    queries.push(query);
    const { status = 200, body } = answer(query);
    response.writeHead(status, { "content-type": "application/json" }).end(body);
  });
  servers.push(server);
  const client = clientOf(`http://user:secret@127.0.0.1:${server.port}/prometheus/?tenant=7`, more);
  const scope = { cluster: 'har"bor', matchers: { job: "fairlead" } };
  const history = createPrometheusHistory({ client, scope, now: () => 200_000 });
  const result = await history.totals({ from: 86_400, to: 172_800, by: ["team"], where: {} });
  return { result, queries, history };
}

const vector = (...series: readonly object[]): Said => ({
  body: JSON.stringify({ status: "success", data: { resultType: "vector", result: series } }),
});
const one = (metric: object, value: string): object => ({ metric, value: [172_800, value] });

function failureOf(result: TotalsResult): { readonly error: string; readonly nextStep: string } {
  if (result.ok) throw new Error("it answered");
  return result;
}

describe("a Prometheus server that does not answer as it should", () => {
  it("is asked with names and labels of the catalogue, quoted, and its address holds no password in messages", async () => {
    const { queries, history } = await askOf((query) =>
      query.includes("covered") ? vector(one({ cluster: "har", job: "fairlead" }, "86400")) : vector(),
    );
    expect(queries).toContain('increase(fairlead_covered_seconds_total{cluster="har\\"bor", job="fairlead"}[86400s])');
    expect(queries).toContain(
      'sum by (cluster, team) (increase(fairlead_gpu_seconds_total{cluster="har\\"bor", job="fairlead"}[86400s]))',
    );
    expect(history.name).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/prometheus$/);
  });

  it.each([
    [
      400,
      '{"status":"error","errorType":"bad_data","error":"too many samples"}',
      /bad_data: too many samples/,
      /limits/,
    ],
    [401, "no", /401/, /history\.prometheus\.auth/],
    [404, "not here", /404/, /where \/api\/v1 begins/],
    [503, "{}", /503/, /overloaded/],
    [200, "<html>log in</html>", /a web page/, /history\.prometheus\.url/],
    [200, "", /no JSON/, /history\.prometheus\.url/],
    [
      200,
      '{"status":"success","data":{"resultType":"scalar","result":[1,"2"]}}',
      /no vector/,
      /history\.prometheus\.url/,
    ],
    [200, '{"status":"error","error":"timed out"}', /timed out/, /shorter window/],
    [
      200,
      '{"status":"success","isPartial":true,"data":{"resultType":"vector","result":[]}}',
      /only in part/,
      /Read the server's reason/,
    ],
  ])("%i %s", async (status, body, error, nextStep) => {
    const failure = failureOf((await askOf(() => ({ status, body }))).result);
    expect(failure.error).toMatch(error);
    expect(failure.nextStep).toMatch(nextStep);
    expect(failure.error).not.toContain("secret");
  });

  it("an answer without series is no data, and not idle GPUs", async () => {
    const { result } = await askOf(() => vector());
    expect(result).toMatchObject({ ok: false, isEmpty: true });
    expect(failureOf(result).error).toContain("no data, not idle GPUs");
  });

  it("several clusters are never added up", async () => {
    const both = vector(one({ cluster: "a" }, "1000"), one({ cluster: "b" }, "1000"));
    expect(failureOf((await askOf(() => both)).result).error).toContain("2 clusters");
  });

  it("an answer that is too large is refused", async () => {
    const large = { body: `{"status":"${"x".repeat(5000)}"}` };
    expect(failureOf((await askOf(() => large, { maxBytes: 2000 })).result).nextStep).toContain("maxAnswerBytes");
  });

  it("a server that is not there is named with what to check", async () => {
    const { history } = await askOf(() => vector());
    await servers.pop()?.close();
    const failure = failureOf(await history.totals({ from: 86_400, to: 172_800, by: ["state"], where: {} }));
    expect(failure.nextStep).toContain("history.prometheus.url");
  });

  it("values that are no numbers and labels that mean something in JavaScript do no harm", async () => {
    const odd = (query: string): Said => {
      if (query.includes("covered")) return vector(one({ cluster: "a" }, "86400"));
      if (!query.includes("gpu_seconds")) return vector();
      return { body: vectorText('{"__proto__":"x","team":"__proto__"}', "5", '{"team":"b"}', "NaN") };
    };
    const { result } = await askOf(odd);
    expect(result).toMatchObject({ ok: true, answer: { rows: [{ values: ["__proto__"], gpuSeconds: 5 }] } });
  });
});

/** As a server writes it: `JSON.stringify` would lose a label `__proto__`. */
function vectorText(...parts: readonly string[]): string {
  const series = [0, 2].map((i) => `{"metric":${parts[i]},"value":[1,"${parts[i + 1]}"]}`);
  return `{"status":"success","data":{"resultType":"vector","result":[${series.join(",")}]}}`;
}
