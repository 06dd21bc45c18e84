import { afterEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { recommendation } from "../../../exporter/publish/document/recommendationSchema.ts";
import { webhook } from "../../../exporter/publish/http/adviceSchema.ts";
import type { Outputs } from "../../../exporter/publish/http/outputs.ts";
import type { RunningServer } from "../../../exporter/publish/http/server.ts";
import { asKim, scriptedAdviser, startAdvised, users } from "../adviceServer.ts";
import { reclaimAdvice } from "../someAdvice.ts";

const running: RunningServer[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.close()));
});

async function start(adviser: NonNullable<Outputs["adviser"]>, known: Outputs["users"] = users): Promise<string> {
  const server = await startAdvised(adviser, { users: known });
  running.push(server);
  return server.url;
}

async function ask(url: string, body?: unknown, headers: Record<string, string> = asKim) {
  const json = { "content-type": "application/json" };
  const sent = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
  const response = await fetch(url, { ...sent, headers: { ...json, ...headers } });
  return { status: response.status, body: await response.json() };
}

describe("/api/v1/recommendations", () => {
  test("lists them, chooses among them, and shows one", async () => {
    const url = await start(scriptedAdviser().adviser);
    const all = await ask(`${url}/api/v1/recommendations`);
    expect(all.body).toMatchObject({ total: 1, items: [{ id: reclaimAdvice.id, state: "open", forTeam: "search" }] });
    expect((await ask(`${url}/api/v1/recommendations?team=ads`)).body).toMatchObject({ total: 1 });
    expect((await ask(`${url}/api/v1/recommendations?team=vision`)).body).toMatchObject({ total: 0 });
    expect((await ask(`${url}/api/v1/withheld`)).body).toMatchObject({ total: 1, items: [{ why: "guard" }] });
    const one = await ask(`${url}/api/v1/recommendations/${reclaimAdvice.id}`);
    expect(recommendation.parse(one.body).steps[0]?.request.body).toEqual(reclaimAdvice.steps[0]?.request.body);
    expect(await ask(`${url}/api/v1/recommendations/r-0`)).toMatchObject({
      status: 404,
      body: { nextStep: expect.stringMatching(/\S/) },
    });
  });

  test("are dismissed with a reason, by whom the password says, once", async () => {
    const { adviser, dismissed } = scriptedAdviser();
    const url = await start(adviser);
    const dismiss = (body: unknown) => ask(`${url}/api/v1/recommendations/${reclaimAdvice.id}/dismiss`, body);
    for (const wrong of [{}, { reason: " " }, { reason: 1 }, { reason: "x", by: "root" }, { reason: "x".repeat(501) }])
      expect(await dismiss(wrong)).toMatchObject({ status: 400 });
    expect(dismissed).toEqual([]);
    expect(await dismiss({ reason: "ads has a deadline" })).toMatchObject({
      status: 200,
      body: { state: "dismissed", closedBecause: "kim: ads has a deadline" },
    });
    expect(dismissed).toEqual([[reclaimAdvice.id, "kim", "ads has a deadline"]]);
    expect(await dismiss({ reason: "again" })).toMatchObject({ status: 409 });
    expect(await ask(`${url}/api/v1/recommendations/r-0/dismiss`, { reason: "x" })).toMatchObject({ status: 404 });
  });
});

describe("advice that a person says is done", () => {
  test("is taken, by whom the password says, once", async () => {
    const { adviser, taken } = scriptedAdviser();
    const url = await start(adviser);
    const take = (body: unknown) => ask(`${url}/api/v1/recommendations/${reclaimAdvice.id}/take`, body);
    for (const wrong of [{ by: "root" }, { reason: "x" }, []]) expect(await take(wrong)).toMatchObject({ status: 400 });
    expect(taken).toEqual([]);
    expect(await take({})).toMatchObject({
      status: 200,
      body: { state: "taken", closedBecause: "kim says that it is done" },
    });
    expect(taken).toEqual([[reclaimAdvice.id, "kim"]]);
    expect(await take({})).toMatchObject({ status: 409 });
    expect(await ask(`${url}/api/v1/recommendations/r-0/take`, {})).toMatchObject({ status: 404 });
  });

  test("needs a user", async () => {
    const { adviser, taken } = scriptedAdviser();
    const open = await start(adviser, {});
    expect(await ask(`${open}/api/v1/recommendations/${reclaimAdvice.id}/take`, {}, {})).toMatchObject({ status: 403 });
    expect(taken).toEqual([]);
  });
});

/** What Alertmanager 0.25 sends, as its documentation has it, with a field of a later version. */
const call = {
  version: "4",
  groupKey: '{}:{alertname="GpuTeamStarved"}',
  truncatedAlerts: 0,
  status: "firing",
  receiver: "fairlead",
  groupLabels: { alertname: "GpuTeamStarved" },
  commonLabels: {},
  commonAnnotations: {},
  externalURL: "http://alertmanager:9093",
  notification_reason: "first",
  alerts: [
    {
      status: "firing",
      labels: { alertname: "GpuTeamStarved", team: "search", __proto__x: "y" },
      annotations: { summary: "s" },
      startsAt: "2026-11-16T13:00:00.5Z",
      endsAt: "0001-01-01T00:00:00Z",
      generatorURL: "http://prometheus/graph",
      fingerprint: "c0ffee",
    },
    {
      status: "resolved",
      labels: { alertname: "GpuIdleAllocated", team: "ads" },
      annotations: {},
      startsAt: "2026-11-16T12:00:00+01:00",
      endsAt: "2026-11-16T12:30:00+01:00",
      fingerprint: "beef",
      generatorURL: "",
    },
  ],
};

describe("POST /api/v1/alerts", () => {
  test("hears Alertmanager's webhook, unknown fields and all", async () => {
    const { adviser, received } = scriptedAdviser();
    const url = await start(adviser);
    expect(await ask(`${url}/api/v1/alerts`, call)).toEqual({ status: 200, body: { received: 2, firing: 1 } });
    expect(received).toMatchObject([
      {
        status: "firing",
        alertname: "GpuTeamStarved",
        fingerprint: "c0ffee",
        endsAt: null,
        startsAt: Date.parse("2026-11-16T13:00:00.5Z") / 1000,
      },
      { status: "resolved", endsAt: Date.parse("2026-11-16T11:30:00Z") / 1000, labels: { team: "ads" } },
    ]);
  });

  test.each([
    ["no JSON object", []],
    ["another version", { ...call, version: "3" }],
    ["an alert without a fingerprint", { ...call, alerts: [{ ...call.alerts[0], fingerprint: "" }] }],
    ["a time that is none", { ...call, alerts: [{ ...call.alerts[0], startsAt: "yesterday" }] }],
  ])("says what is wrong with %s", async (_, body) => {
    const { adviser, received } = scriptedAdviser();
    const answer = await ask(`${await start(adviser)}/api/v1/alerts`, body);
    expect(answer).toMatchObject({ status: 400, body: { error: expect.stringContaining("webhook (version 4)") } });
    expect(received).toEqual([]);
  });

  test("needs exactly the fields that its description calls required", async () => {
    const requiredOf = (schema: z.ZodObject): readonly string[] => {
      const { $defs = {}, required } = z.toJSONSchema(schema);
      return required ?? Object.values($defs)[0]?.required ?? [];
    };
    const [ofCall, ofAlert] = [requiredOf(webhook), requiredOf(webhook.shape.alerts.element)];
    const [alert] = call.alerts;
    const without = (object: object, field: string) =>
      Object.fromEntries(Object.entries(object).filter(([name]) => name !== field));
    const url = await start(scriptedAdviser().adviser);
    const status = async (body: object) => (await ask(`${url}/api/v1/alerts`, body)).status;
    for (const field of Object.keys(call))
      expect(await status(without(call, field)), field).toBe(ofCall.includes(field) ? 400 : 200);
    for (const field of Object.keys(alert ?? {})) {
      const isRequired = ofAlert.includes(field);
      const body = { ...call, alerts: [without(alert ?? {}, field)] };
      expect(await status(body), field).toBe(isRequired ? 400 : 200);
    }
  });

  test("takes no body that is too large, broken, or not JSON", async () => {
    const url = await start(scriptedAdviser().adviser);
    const post = async (body: string, type: string) => {
      const headers = { ...asKim, "content-type": type };
      return (await fetch(`${url}/api/v1/alerts`, { method: "POST", body, headers })).status;
    };
    expect(await post("x".repeat(2_000_000), "application/json")).toBe(413);
    expect(await post("{", "application/json")).toBe(400);
    expect(await post("a=b", "application/x-www-form-urlencoded")).toBe(415);
    expect(await post("{}", "text/plain")).toBe(415);
  });
});

describe("who may write", () => {
  const dismissal = `/api/v1/recommendations/${reclaimAdvice.id}/dismiss`;

  test("nobody, where no users are configured", async () => {
    const { adviser, dismissed, received } = scriptedAdviser();
    const url = await start(adviser, {});
    expect(await ask(`${url}${dismissal}`, { reason: "x" }, {})).toMatchObject({ status: 403 });
    expect(await ask(`${url}/api/v1/alerts`, call, {})).toMatchObject({ status: 403 });
    expect([dismissed, received]).toEqual([[], []]);
    expect((await ask(`${url}/api/v1/recommendations`, undefined, {})).status).toBe(200);
  });

  test("only who has a password", async () => {
    const { adviser, dismissed } = scriptedAdviser();
    const url = await start(adviser);
    const wrong = { authorization: `Basic ${Buffer.from("kim:guess").toString("base64")}` };
    for (const headers of [{}, wrong]) {
      const response = await fetch(`${url}${dismissal}`, { method: "POST", body: "{}", headers });
      expect(response.status).toBe(401);
    }
    expect(dismissed).toEqual([]);
  });

  test("and nothing else", async () => {
    const url = await start(scriptedAdviser().adviser);
    for (const path of ["/", "/metrics", "/api/v1/recommendations", "/api/v1/snapshot", "/recommendations/x"])
      expect((await fetch(`${url}${path}`, { method: "POST", headers: asKim })).status).toBe(405);
    for (const method of ["PUT", "DELETE", "PATCH", "OPTIONS"])
      expect((await fetch(`${url}${dismissal}`, { method, headers: asKim })).status).toBe(405);
  });
});
