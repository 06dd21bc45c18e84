import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { hashSync } from "bcryptjs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { type PlayedCluster, playCluster } from "../../cli/demo/playCluster.ts";
import { playFully } from "../../cli/demo/playFully.ts";
import { type LedgerOutput, prepareLedger } from "../../cli/ledgerOutput.ts";
import { accountDimensions } from "../../exporter/accounts/ledger/accountsQuery.ts";
import { ledgerTables } from "../../exporter/accounts/ledger/ledgerTableQuery.ts";
import { dimensionsOf } from "../../exporter/accounts/ledger/ledgerTableSources.ts";
import { configSchema } from "../../exporter/config/schema.ts";
import { openWebConfig } from "../../exporter/config/webConfig.ts";
import { totalsDimensions } from "../../exporter/history/history.ts";
import { documentSchema, type FairleadDocument } from "../../exporter/publish/document/schema.ts";
import { explainedKinds } from "../../exporter/publish/explain/kinds.ts";
import { buildOpenApi } from "../../exporter/publish/http/openapi.ts";
import { type RunningServer, startServer } from "../../exporter/publish/http/server.ts";
import { weekScenario } from "../../simulator/scenarios/advice/week.ts";

const cycleSeconds = 600;
const cycles = 8;
const users = { root: hashSync("root", 4), ada: hashSync("ada", 4), both: hashSync("both", 4) };
type User = keyof typeof users;
const teams = { ada: ["ads"], both: ["ads", "vision"] } as const;

const openApi = z
  .object({ paths: z.record(z.string(), z.record(z.string(), z.unknown())) })
  .parse(JSON.parse(JSON.stringify(buildOpenApi())));

/** Pages and what is not in the OpenAPI document. */
const pages = ["/", "/metrics", "/review", "/review?format=json", "/review?team=ads&format=csv", "/recommendations"];

let document: FairleadDocument;
let url = "";

async function ask(place: string, user: User | null, init: RequestInit = {}) {
  const login = user === null ? {} : { authorization: `Basic ${Buffer.from(`${user}:${user}`).toString("base64")}` };
  const response = await fetch(`${url}${place}`, { ...init, headers: { ...login, ...init.headers } });
  return { status: response.status, text: await response.text() };
}

/** Every path of the API with every way to group and to choose, as someone would ask who looks for what is others'. */
function everyQuestion(): readonly string[] {
  const names = {
    id: document.recommendations.map(({ id }) => id),
    team: document.teams.map(({ team }) => team),
    namespace: [...new Set(document.workloads.map(({ namespace }) => namespace))],
    queue: [...new Set(document.queues.map(({ name }) => name))],
  };
  const lists = Object.keys(openApi.paths).flatMap((place) => {
    if (!place.includes("{")) return [place, `${place}/`, `${place}?limit=10000`];
    return names.id.map((id) => place.replace(/\{[^}]+\}/, encodeURIComponent(id)));
  });
  const chosen = Object.entries(names).flatMap(([name, values]) =>
    values.flatMap((value) =>
      ["teams", "workloads", "pending", "queues", "devices", "evictions", "blocked", "ledger", "history"].map(
        (list) => `/api/v1/${list}?${name}=${encodeURIComponent(value)}`,
      ),
    ),
  );
  const ledger = [
    ...accountDimensions.map((by) => `by=team,${by}`),
    ...accountDimensions.map((by) => `by=${by}`),
    "of=prices",
    "team=",
    ...ledgerTables.flatMap((of) => dimensionsOf(of).map((by) => `of=${of}&by=${by}`)),
  ].map((question) => `/api/v1/ledger?from=1d&${question}`);
  const history = totalsDimensions.map((by) => `/api/v1/history?from=1d&by=${by}`);
  const explained = explainedKinds.flatMap((kind) =>
    [...names.team, ...names.queue].map((name) => `/api/v1/explain?kind=${kind}&name=${encodeURIComponent(name)}`),
  );
  return [...new Set([...lists, ...chosen, ...ledger, ...history, ...explained, ...pages])];
}

/** Names and costs that only whoever sees everything may read. */
function foreign(own: readonly string[]): readonly string[] {
  const isOwn = (team: string): boolean => own.includes(team);
  const others = document.workloads.filter(({ team }) => !isOwn(team));
  const holders = document.devices.flatMap((device) => device.holders).filter(({ team }) => !isOwn(team));
  const waiting = document.pending.filter(({ team }) => !isOwn(team));
  const seen = new Set<unknown>([
    ...document.workloads
      .filter(({ team }) => isOwn(team))
      .flatMap((one) => [one.name, one.namespace, one.costPerHour]),
    ...document.teams.filter(({ team }) => isOwn(team)).flatMap((one) => [one.team, one.costPerHour]),
  ]);
  const costs = [...others, ...document.teams.filter(({ team }) => !isOwn(team))].map((one) => one.costPerHour);
  return [
    ...document.teams.map(({ team }) => team).filter((team) => !isOwn(team)),
    ...others.flatMap(({ name, namespace }) => [name, namespace]),
    ...holders.flatMap(({ namespace, pod }) => [namespace, pod]),
    ...waiting.flatMap(({ name, namespace }) => [name, namespace]),
    ...costs.filter((cost) => cost !== null && `${cost}`.length > 3).map(String),
  ].filter((text, i, all) => all.indexOf(text) === i && !seen.has(text) && !seen.has(Number(text)));
}

const contains = (text: string, name: string): boolean =>
  new RegExp(`(?<![\\w.-])${name.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")}(?![\\w-])`).test(text);

describe("a Fairlead of several teams", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "fairlead-teams-"));
  let ledger: LedgerOutput | null = null;
  let cluster: PlayedCluster | null = null;
  let server: RunningServer | null = null;

  beforeAll(async () => {
    const config = configSchema.parse({
      cluster: "harbor",
      interval: cycleSeconds,
      teams: [{ from: "namespace-label", key: "team" }],
      ledger: { path: path.join(folder, "ledger.db") },
      cost: { budgets: ["ads", "search", "vision"].map((team) => ({ team, perMonth: 20_000, currency: "USD" })) },
    });
    const prepared = await prepareLedger(config);
    if (!prepared.ok || prepared.output === null) throw new Error("no ledger");
    ledger = prepared.output;
    const startAt = Date.parse("2026-11-18T08:00:00Z") / 1000;
    cluster = await playCluster({
      scenario: weekScenario(),
      seed: 7,
      startAt,
      config,
      stack: { ledger, users, teams },
    });
    for (let cycle = 0; cycle < cycles; cycle++) await playFully(cluster, cycle === 0 ? 0 : cycleSeconds);
    const started = await startServer({
      handler: cluster.stack.app,
      listenAddress: "127.0.0.1:0",
      web: openWebConfig,
      onProblem: () => {},
    });
    if (!started.ok) throw new Error(started.error);
    server = started.server;
    url = server.url;
    document = documentSchema.parse(JSON.parse((await ask("/api/v1/snapshot", "root")).text));
  });
  afterAll(async () => {
    await server?.close();
    await cluster?.stop();
    await ledger?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  test.each(Object.entries(teams))("shows %s nothing of other teams in any answer", async (user, own) => {
    const words = foreign(own);
    expect(words.length).toBeGreaterThan(20);
    const everything = await ask("/api/v1/snapshot", "root");
    expect(words.filter((word) => !contains(everything.text, word))).toEqual([]);
    const counts = { shown: 0, refused: 0 };
    for (const place of everyQuestion()) {
      const { status, text } = await ask(place, user === "ada" ? "ada" : "both");
      counts[status === 200 ? "shown" : "refused"] += 1;
      // What was asked for may be in the message that refuses it.
      const said =
        status === 200
          ? text
          : decodeURIComponent(place)
              .split(/[=&/]/)
              .reduce((rest, word) => rest.replaceAll(word, ""), text);
      const found = place === "/api/v1/openapi.json" ? [] : words.filter((word) => contains(said, word));
      expect({ place, status, found }).toEqual({ place, status, found: [] });
      expect([200, 400, 403, 404]).toContain(status);
    }
    expect(counts.shown).toBeGreaterThan(60);
    expect(counts.refused).toBeGreaterThan(60);
  });

  test("shows each their own, and as much of it as whoever sees everything", async () => {
    const items = async (place: string, user: User): Promise<readonly unknown[]> =>
      z.object({ items: z.array(z.unknown()) }).parse(JSON.parse((await ask(place, user)).text)).items;
    for (const list of ["teams", "workloads", "pending"]) {
      const mine = await items(`/api/v1/${list}`, "ada");
      expect(mine).toEqual(await items(`/api/v1/${list}?team=ads`, "root"));
      expect(await items(`/api/v1/${list}?team=ads`, "ada")).toEqual(mine);
      expect(await items(`/api/v1/${list}?team=search`, "ada")).toEqual([]);
    }
    expect(await items("/api/v1/workloads", "ada")).not.toEqual([]);
    expect(await items("/api/v1/queues", "ada")).not.toEqual([]);
    expect(await items("/api/v1/devices", "ada")).not.toEqual([]);
    const ledgerOf = "/api/v1/ledger?from=1d&by=team,state";
    expect(await items(ledgerOf, "ada")).toEqual(await items(`${ledgerOf}&team=ads`, "root"));
    expect(await items(ledgerOf, "both")).toEqual(await items(`${ledgerOf}&team=ads&team=vision`, "root"));
    const history = "/api/v1/history?from=1d&by=team,state";
    expect(await items(history, "ada")).toEqual(await items(`${history}&team=ads`, "root"));
  });

  test.each([
    ...pages,
    "/api/v1/snapshot",
    "/api/v1/nodes",
    "/api/v1/overview",
    "/api/v1/costs",
    "/api/v1/explain?kind=team&name=ads",
  ])("%s, which cannot be cut to a team, is refused with what can be asked instead", async (place) => {
    const { status, text } = await ask(place, "ada");
    expect(status).toBe(403);
    expect(JSON.parse(text)).toEqual({
      error: 'this would show more than the teams that you may see ("ads")',
      nextStep: expect.stringContaining("/api/v1/workloads"),
    });
    expect((await ask(place, "root")).status).toBe(200);
  });

  test("a path that is written otherwise is no way around", async () => {
    for (const place of [
      "/API/V1/SNAPSHOT",
      "/api/v1//snapshot",
      "/api/v1/%73napshot",
      "/metrics/",
      "/Review",
      "/api/v1/nodes/",
    ])
      expect([place, (await ask(place, "ada")).status]).toEqual([place, 403]);
    const post = { method: "POST", body: '{"reason":"x"}', headers: { "content-type": "application/json" } };
    const id = document.recommendations[0]?.id ?? "none";
    expect((await ask(`/api/v1/recommendations/${id}/dismiss`, "ada", post)).status).toBe(403);
    expect((await ask("/api/v1/alerts", "ada", post)).status).toBe(403);
  });

  test("answers nobody without a user, but for the kubelet's probes", async () => {
    for (const place of everyQuestion()) expect([place, (await ask(place, null)).status]).toEqual([place, 401]);
    for (const probe of ["/livez", "/readyz"]) {
      const { status, text } = await ask(probe, null);
      expect([200, 503]).toContain(status);
      expect(foreign([]).filter((word) => contains(text, word))).toEqual([]);
    }
  });
});
