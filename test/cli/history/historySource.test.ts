import { afterEach, describe, expect, it } from "vitest";
import { configuredHistory, serverHistory } from "../../../cli/history/historySource.ts";
import { configSchema } from "../../../exporter/config/schema.ts";
import { type Listener, listen } from "../../../simulator/listen.ts";

const servers: Listener[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

/** A server that has nothing, and the queries that it was asked. */
async function emptyServer(): Promise<{ readonly url: string; readonly queries: string[] }> {
  const queries: string[] = [];
  const server = await listen((request, response) => {
    queries.push(new URL(request.url ?? "", "http://server").searchParams.get("query") ?? "");
    response.end('{"status":"success","data":{"resultType":"vector","result":[]}}');
  });
  servers.push(server);
  return { url: `http://127.0.0.1:${server.port}`, queries };
}

const now = () => 1_000_000;
const question = { from: 900_000, to: 910_000, by: [], where: {} } as const;

describe("who answers questions about the past", () => {
  it("the server of the configuration, for the configuration's cluster and with its matchers", async () => {
    const { url, queries } = await emptyServer();
    const ledger = { path: "/ledger.db" };
    const prometheus = { url, matchers: { job: "fairlead" } };
    const config = configSchema.parse({ cluster: "harbor", ledger, history: { prometheus } });
    const found = configuredHistory(config, null, now, now);
    expect(found?.history).toMatchObject({ kind: "prometheus", name: url });
    await found?.history.totals(question);
    await found?.close();
    expect(queries[0]).toContain('{cluster="harbor", job="fairlead"}');
  });

  it("takes the word of who names the cluster's label by hand", async () => {
    const { url, queries } = await emptyServer();
    const prometheus = { url, matchers: { exported_cluster: "harbor" } };
    const settings = configSchema.parse({ history: { prometheus } }).history.prometheus;
    if (settings === undefined) throw new Error("it is set");
    const { history, close } = serverHistory(settings, "harbor", now, now);
    await history.totals(question);
    await close();
    expect(queries[0]).toContain('fairlead_covered_seconds_total{exported_cluster="harbor"}');
  });

  it("the ledger, where there is no server; nobody without either", () => {
    const failure = { ok: false, fault: "ledger", error: "", nextStep: "" } as const;
    const config = configSchema.parse({ ledger: { path: "/ledger.db" } });
    expect(configuredHistory(config, async () => failure, now, now)?.history).toMatchObject({ kind: "ledger" });
    expect(configuredHistory(configSchema.parse({}), null, now, now)).toBeNull();
  });
});
