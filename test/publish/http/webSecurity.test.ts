import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { get as getHttps, type RequestOptions } from "node:https";
import { tmpdir } from "node:os";
import path from "node:path";
import { hashSync } from "bcryptjs";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import {
  openWebConfig,
  type TlsServerConfig,
  type WebConfig,
  webConfigSchema,
} from "../../../exporter/config/webConfig.ts";
import { createApp } from "../../../exporter/publish/http/app.ts";
import { parseListenAddress } from "../../../exporter/publish/http/listenAddress.ts";
import { type RunningServer, startServer } from "../../../exporter/publish/http/server.ts";
import { at, health } from "../moment.ts";

const running: RunningServer[] = [];
let folder = "";

beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), "fairlead-tls-"));
  for (const name of ["server", "client", "stranger"]) {
    const files = ["-keyout", path.join(folder, `${name}.key`), "-out", path.join(folder, `${name}.pem`)];
    const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-days", "2"];
    const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
    execFileSync("openssl", ["req", "-x509", ...key, ...files, ...subject], { stdio: "ignore" });
  }
  const rsa = [
    "-newkey",
    "rsa:2048",
    "-nodes",
    "-keyout",
    path.join(folder, "rsa.key"),
    "-out",
    path.join(folder, "rsa.pem"),
  ];
  const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-days", "2"];
  execFileSync("openssl", ["req", "-x509", ...rsa, ...subject], { stdio: "ignore" });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));
afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.close()));
});

async function serve(web: WebConfig): Promise<RunningServer> {
  const handler = createApp({
    cluster: health().cluster,
    latest: () => null,
    health: () => health({ lastCycleAt: null }),
    explain: () => null,
    now: () => at,
    limits: { teams: 10, series: 1000 },
    processMetrics: async () => "",
    telemetryPath: "/metrics",
    users: web.basic_auth_users,
  });
  const started = await startServer({
    handler,
    listenAddress: "127.0.0.1:0",
    web,
    onProblem: (message) => expect.fail(message),
  });
  if (!started.ok) throw new Error(started.error);
  running.push(started.server);
  return started.server;
}

const file = (name: string) => path.join(folder, name);
function tls(values: Partial<TlsServerConfig> = {}): WebConfig {
  const base = {
    cert_file: file("server.pem"),
    key_file: file("server.key"),
    client_auth_type: "NoClientCert",
  } as const;
  return {
    basic_auth_users: {},
    tls_server_config: { ...base, min_version: "TLS12", max_version: "TLS13", ...values },
  };
}

/** Status of a request, or `refused`. */
function request(server: RunningServer, options: RequestOptions = {}): Promise<number | "refused"> {
  return new Promise((resolve) => {
    const ca = readFileSync(file("server.pem"));
    getHttps(`${server.url}/metrics`, { ca, agent: false, ...options }, (response) => {
      response.resume();
      response.on("end", () => resolve(response.statusCode ?? 0));
    }).on("error", () => resolve("refused"));
  });
}
const identity = (name: string) => ({
  cert: readFileSync(file(`${name}.pem`)),
  key: readFileSync(file(`${name}.key`)),
});

describe("basic authentication", () => {
  const users = { ada: hashSync("pass:word", 4), __proto__x: hashSync("y", 4) };
  const login = (name: string, password: string) => ({
    headers: { authorization: `Basic ${Buffer.from(`${name}:${password}`).toString("base64")}` },
  });

  test("lets only users with their password in, and the kubelet's probes", async () => {
    const { url } = await serve({ basic_auth_users: users });
    const status = async (where: string, init?: RequestInit) => (await fetch(`${url}${where}`, init)).status;
    expect(await status("/metrics")).toBe(401);
    expect(await status("/metrics", login("ada", "pass:word"))).toBe(200);
    expect(await status("/metrics", login("ada", "pass:word"))).toBe(200);
    expect(await status("/metrics", login("ada", "wrong"))).toBe(401);
    expect(await status("/", login("eve", "pass:word"))).toBe(401);
    expect(await status("/api/v1", login("__proto__", "x"))).toBe(401);
    expect(await status("/api/v1", { headers: { authorization: "Bearer abc" } })).toBe(401);
    expect(await status("/metrics", { headers: { authorization: "Basic %%%" } })).toBe(401);
    expect(await status("/livez")).toBe(200);
    expect(await status("/readyz")).toBe(503);
    const challenge = (await fetch(`${url}/`)).headers.get("www-authenticate");
    expect(challenge).toBe('Basic realm="fairlead", charset="UTF-8"');
  });

  test("many logins at once are asked to come back, and the right one gets in afterwards", async () => {
    const { url } = await serve({ basic_auth_users: users });
    const tries = Array.from({ length: 60 }, (_, index) => fetch(`${url}/`, login("ada", `wrong ${index}`)));
    const statuses = new Set((await Promise.all(tries)).map((response) => response.status));
    expect([...statuses].every((status) => status === 401 || status === 429)).toBe(true);
    expect((await fetch(`${url}/`, login("ada", "pass:word"))).status).toBe(200);
  });
});

describe("TLS", () => {
  test("serves the configured certificate, and no plain HTTP", async () => {
    const server = await serve(tls());
    expect(server.url).toMatch(/^https:/);
    expect(await request(server)).toBe(200);
    await expect(fetch(server.url.replace("https", "http"))).rejects.toThrow();
  });

  test("keeps to the configured versions", async () => {
    const server = await serve(tls({ min_version: "TLS13" }));
    expect(await request(server, { maxVersion: "TLSv1.2" })).toBe("refused");
    expect(await request(server, { maxVersion: "TLSv1.3" })).toBe(200);
  });

  test.each([
    ["NoClientCert", 200, 200, 200],
    ["RequestClientCert", 200, 200, 200],
    ["RequireAnyClientCert", "refused", 200, 200],
    ["VerifyClientCertIfGiven", 200, "refused", 200],
    ["RequireAndVerifyClientCert", "refused", "refused", 200],
  ] as const)(
    "%s: no certificate %s, a stranger's %s, a known client's %s",
    async (client_auth_type, none, stranger, client) => {
      const server = await serve(tls({ client_auth_type, client_ca_file: file("client.pem") }));
      expect(await request(server)).toBe(none);
      expect(await request(server, identity("stranger"))).toBe(stranger);
      expect(await request(server, identity("client"))).toBe(client);
    },
  );

  test.each([
    ["ECDHE-ECDSA-AES128-GCM-SHA256", 200],
    ["ECDHE-ECDSA-CHACHA20-POLY1305", 200],
    ["ECDHE-ECDSA-AES256-SHA384", "refused"],
    ["ECDHE-ECDSA-AES128-SHA", "refused"],
  ] as const)("speaks TLS 1.2 with %s: %s", async (ciphers, answer) => {
    expect(await request(await serve(tls()), { maxVersion: "TLSv1.2", ciphers })).toBe(answer);
  });

  test.each(["AES128-GCM-SHA256", "AES256-GCM-SHA384", "AES128-SHA"])(
    "speaks no TLS 1.2 without forward secrecy (%s), with a key that could",
    async (ciphers) => {
      const server = await serve(tls({ cert_file: file("rsa.pem"), key_file: file("rsa.key") }));
      const ca = readFileSync(file("rsa.pem"));
      expect(await request(server, { ca, maxVersion: "TLSv1.2" })).toBe(200);
      expect(await request(server, { ca, maxVersion: "TLSv1.2", ciphers })).toBe("refused");
    },
  );

  test("speaks no suite without forward secrecy where older versions are allowed, either", async () => {
    const server = await serve(
      tls({ cert_file: file("rsa.pem"), key_file: file("rsa.key"), min_version: "TLS11", max_version: "TLS12" }),
    );
    const ca = readFileSync(file("rsa.pem"));
    expect(await request(server, { ca, ciphers: "ECDHE-RSA-AES128-SHA" })).toBe(200);
    expect(await request(server, { ca, ciphers: "AES128-SHA" })).toBe("refused");
  });

  test.each([
    [["localhost"], 200],
    [["other.example", "127.0.0.1"], 200],
    [["other.example"], "refused"],
    [["LOCALHOST"], "refused"],
    [["*"], "refused"],
  ] as const)("of clients with a good certificate lets in those with a name among %j: %s", async (sans, answer) => {
    const client = { client_ca_file: file("client.pem"), client_allowed_sans: [...sans] };
    const required = await serve(tls({ client_auth_type: "RequireAndVerifyClientCert", ...client }));
    expect(await request(required, identity("client"))).toBe(answer);
    expect(await request(required, identity("stranger"))).toBe("refused");
    const given = await serve(tls({ client_auth_type: "VerifyClientCertIfGiven", ...client }));
    expect(await request(given, identity("client"))).toBe(answer);
    expect(await request(given)).toBe(200);
  });

  test("names without verification are an error of the configuration", () => {
    const config = (client_auth_type: string) =>
      webConfigSchema.safeParse({
        tls_server_config: {
          cert_file: "a",
          key_file: "b",
          client_auth_type,
          client_ca_file: "c",
          client_allowed_sans: ["x"],
        },
      });
    expect(config("RequireAnyClientCert").error?.issues[0]?.message).toMatch(/^names prove nothing/);
    expect(config("RequireAndVerifyClientCert").success).toBe(true);
  });

  test("a key that does not fit is an error with its next step", async () => {
    const web = tls({ key_file: file("client.key") });
    const started = await startServer({
      handler: () => undefined,
      listenAddress: "127.0.0.1:0",
      web,
      onProblem: () => undefined,
    });
    expect(started).toMatchObject({
      ok: false,
      nextStep: "Check cert_file, key_file and client_ca_file of the web configuration.",
    });
  });
});

describe("listen address", () => {
  test.each([
    [":10836", { host: null, port: 10836 }],
    ["127.0.0.1:0", { host: "127.0.0.1", port: 0 }],
    ["[::1]:9090", { host: "::1", port: 9090 }],
    ["localhost:80", { host: "localhost", port: 80 }],
    ["10836", null],
    [":70000", null],
    ["::1:80", null],
    ["http://x:80", null],
  ])("%s", (text, wanted) => {
    expect(parseListenAddress(text)).toEqual(wanted);
  });

  test("an address in use is an error with its next step", async () => {
    const { port } = await serve(openWebConfig);
    const options = { handler: () => undefined, web: openWebConfig, onProblem: () => undefined };
    expect(await startServer({ ...options, listenAddress: `127.0.0.1:${port}` })).toEqual({
      ok: false,
      error: `127.0.0.1:${port} is in use`,
      nextStep: "Choose another --web.listen-address.",
    });
  });
});
