import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { loadCredentials } from "../../../exporter/sources/kubernetes/credentials.ts";
import { createFakeClock, type FakeClock } from "./fakeClock.ts";
import { answer, type ScriptedApi, startScriptedApi } from "./scriptedApi.ts";

describe("a request", () => {
  let clock: FakeClock;
  let api: ScriptedApi;
  const options = { accept: "text/plain", signal: new AbortController().signal, deadlineSeconds: 5, maxBytes: 100 };

  beforeEach(async () => {
    clock = createFakeClock();
    api = await startScriptedApi(clock);
  });
  afterEach(async () => await api.close());

  it("gives status, body and how long to wait", async () => {
    const reply = api.client.get("/path?x=1", options);
    const call = await api.next();
    expect([call.path, call.query.get("x"), call.accept]).toEqual(["/path", "1", "text/plain"]);
    answer(call, 503, "busy", { "retry-after": "12" });
    expect(await reply).toEqual({
      ok: true,
      status: 503,
      retryAfterSeconds: 12,
      contentType: null,
      body: Buffer.from("busy"),
    });
    expect(clock.timers()).toEqual([]);
  });

  it("is refused an answer that is too large", async () => {
    const reply = api.client.get("/", options);
    answer(await api.next(), 200, "x".repeat(101));
    expect(await reply).toEqual({ ok: false, message: "the answer is larger than 100 bytes" });
  });

  it("is given up at its deadline, also in the middle of the body", async () => {
    const reply = api.client.get("/", options);
    const { response } = await api.next();
    response.writeHead(200);
    response.write("half");
    clock.advance(5);
    expect(await reply).toEqual({ ok: false, message: "no answer within 5 s" });
  });

  it("says why it got no answer", async () => {
    const reply = api.client.get("/", options);
    (await api.next()).response.destroy();
    expect(await reply).toEqual({ ok: false, message: "other side closed" });
  });

  it("can be stopped", async () => {
    const stop = new AbortController();
    const reply = api.client.get("/", { ...options, signal: stop.signal });
    await api.next();
    stop.abort(new Error("stopped"));
    expect(await reply).toMatchObject({ ok: false });
  });
});

describe("credentials", () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "fairlead-credentials-"));
  });
  afterEach(async () => {
    vi.useRealTimers();
    vi.unstubAllEnvs();
    await rm(folder, { recursive: true });
  });

  async function load(
    user: object,
    cluster: object = {},
    context: string | null = null,
  ): ReturnType<typeof loadCredentials> {
    const kubeconfigFile = join(folder, "config");
    const document = {
      clusters: [{ name: "c", cluster: { server: "https://api.example:6443/", ...cluster } }],
      users: [{ name: "u", user }],
      contexts: [{ name: "main", context: { cluster: "c", user: "u" } }],
      "current-context": "main",
    };
    await writeFile(kubeconfigFile, JSON.stringify(document));
    return await loadCredentials({ kubeconfigFile, context });
  }

  async function accessOf(loaded: Awaited<ReturnType<typeof loadCredentials>>): Promise<object> {
    if (!loaded.ok) throw new Error(loaded.problem.message);
    return await loaded.credentials.access();
  }

  it("take a token from a file, and take it again after it was rotated", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    await writeFile(join(folder, "token"), "first\n");
    const loaded = await load({ tokenFile: "token", token: "older" });
    expect(loaded).toMatchObject({ ok: true, credentials: { server: "https://api.example:6443", proxyUrl: null } });
    expect(await accessOf(loaded)).toMatchObject({ headers: { authorization: "Bearer first" } });
    await writeFile(join(folder, "token"), "second\n");
    vi.setSystemTime(Date.now() + 61_000);
    expect(await accessOf(loaded)).toMatchObject({ headers: { authorization: "Bearer second" } });
  });

  it("take certificates from files, and take them again after they were rotated", async () => {
    for (const name of ["ca", "cert", "key"]) await writeFile(join(folder, name), `${name} 1`);
    const user = { "client-certificate": "cert", "client-key": "key" };
    const loaded = await load(user, { "certificate-authority": "ca", "tls-server-name": "api.internal" });
    const tls = { ca: "ca 1", cert: "cert 1", key: "key 1", servername: "api.internal" };
    expect(await accessOf(loaded)).toEqual({ headers: {}, tls });
    await writeFile(join(folder, "cert"), "cert 2");
    expect(await accessOf(loaded)).toEqual({ headers: {}, tls: { ...tls, cert: "cert 2" } });
  });

  it("may be a name and a password, or leave the certificate unverified", async () => {
    const loaded = await load({ username: "me", password: "pass" }, { "insecure-skip-tls-verify": true });
    const authorization = `Basic ${Buffer.from("me:pass").toString("base64")}`;
    expect(await accessOf(loaded)).toEqual({ headers: { authorization }, tls: { rejectUnauthorized: false } });
  });

  it("never go over plain HTTP", async () => {
    const loaded = await load({ token: "secret" }, { server: "http://127.0.0.1:8001" });
    expect(await accessOf(loaded)).toEqual({ headers: {}, tls: {} });
  });

  it("that cannot be used are a problem", async () => {
    expect(await load({}, {}, "other")).toMatchObject({ ok: false, problem: { code: "no-credentials" } });
    const missing = await loadCredentials({ kubeconfigFile: join(folder, "nowhere"), context: null });
    expect(missing).toMatchObject({ ok: false, problem: { message: expect.stringContaining("ENOENT") } });
  });

  it("that are nowhere are a problem, not a guess at localhost", async () => {
    vi.stubEnv("HOME", folder);
    vi.stubEnv("KUBECONFIG", "");
    vi.stubEnv("KUBERNETES_SERVICE_HOST", "");
    expect(await loadCredentials({ kubeconfigFile: null, context: null })).toMatchObject({ ok: false });
  });
});
