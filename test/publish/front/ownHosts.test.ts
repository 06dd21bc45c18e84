import { request } from "node:http";
import express, { type Express } from "express";
import { afterEach, describe, expect, test } from "vitest";
import { serviceNames } from "../../../cli/ownHosts.ts";
import { webSchema } from "../../../exporter/config/schema.ts";
import { openWebConfig } from "../../../exporter/config/webConfig.ts";
import { createFront } from "../../../exporter/publish/front/front.ts";
import { ownHostsOnly } from "../../../exporter/publish/front/ownHosts.ts";
import { type RunningServer, startServer } from "../../../exporter/publish/http/server.ts";

const running: RunningServer[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.close()));
});

/** What a browser is answered that was led here by a name. */
function statusFor(host: string, hosts: readonly string[] | null): Promise<number> {
  const app = express();
  app.use(ownHostsOnly(hosts), (_request, response) => void response.send("here"));
  return statusOf(app, "/", host);
}

async function statusOf(app: Express, path: string, host: string): Promise<number> {
  const started = await startServer({
    handler: app,
    listenAddress: "127.0.0.1:0",
    web: openWebConfig,
    onProblem: (message) => expect.fail(message),
  });
  if (!started.ok) throw new Error(started.error);
  running.push(started.server);
  return await new Promise((resolve, reject) => {
    request(`${started.server.url}${path}`, { headers: { host }, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    })
      .on("error", reject)
      .end();
  });
}

/** As a pod of a StatefulSet sees it. */
const resolver = "nameserver 10.96.0.10\nsearch dev.svc.corp.example svc.corp.example corp.example\noptions ndots:5\n";
const hosts = ["fairlead.example.com", "*.gpu.example.com", ...serviceNames(resolver, "fairlead-0")];

describe("names under which Fairlead is asked", () => {
  test.each([
    ["127.0.0.1:10836", 200],
    ["10.4.3.2:10836", 200],
    ["[::1]:10836", 200],
    ["[fd00::1]", 200],
    ["localhost:8080", 200],
    ["LOCALHOST", 200],
    ["app.localhost:80", 200],
    ["fairlead", 200],
    ["fairlead:10836", 200],
    ["fairlead.dev", 200],
    ["fairlead.dev.svc", 200],
    ["fairlead.dev.svc.cluster.local:10836", 200],
    ["fairlead-0.fairlead-replicas.dev.svc.corp.example.", 200],
    ["fairlead.example.com", 200],
    ["Fairlead.Example.com:443", 200],
    ["team.gpu.example.com", 200],
    ["gpu.example.com", 421],
    ["attacker.example", 421],
    ["evil.dev", 421],
    ["fairlead.example.com.attacker.example", 421],
    ["svc.attacker.example", 421],
    ["anything.corp.example", 421],
    ["127.0.0.1.nip.io", 421],
    ["localhost.attacker.example", 421],
  ])("%s: %i", async (host, status) => {
    expect(await statusFor(host, hosts)).toBe(status);
  });

  test("all are answered where a password or a certificate keeps strangers out, or the configuration says so", async () => {
    expect(await statusFor("attacker.example", null)).toBe(200);
    expect(await statusFor("attacker.example", ["*"])).toBe(200);
  });

  test("are looked at before anything is served, but for the probes", async () => {
    const front = createFront({
      finished: {
        page: () => ({ at: 100, intervalSeconds: 30, page: Buffer.from("up 1\n") }),
        start: () => null,
        probe: () => ({ startedAt: 0, lastCycleAt: 100, intervalSeconds: 30, missing: [] }),
        now: () => 101,
      },
      answers: express().use((_request, response) => void response.send("here")),
      telemetryPath: "/metrics",
      users: {},
      hosts,
    });
    for (const path of ["/metrics", "/", "/api/v1/snapshot"]) {
      expect(await statusOf(front, path, "attacker.example")).toBe(421);
      expect(await statusOf(front, path, "fairlead.example.com")).toBe(200);
    }
    for (const path of ["/livez", "/readyz"]) expect(await statusOf(front, path, "attacker.example")).toBe(200);
  });

  test("are configured without scheme and port", () => {
    for (const host of ["*", "*.example.com", "fairlead.example.com"])
      expect(webSchema.safeParse({ allowedHosts: [host] }).success).toBe(true);
    for (const host of ["http://a.example", "a.example:80", "", "a.*.example", "-a"])
      expect(webSchema.safeParse({ allowedHosts: [host] }).success).toBe(false);
  });
});
