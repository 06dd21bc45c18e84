import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { connect as connectTls } from "node:tls";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { openWebConfig, type WebConfig } from "../../../exporter/config/webConfig.ts";
import { type ClientTimes, type RunningServer, startServer } from "../../../exporter/publish/http/server.ts";

let folder = "";
const running: RunningServer[] = [];
const sockets: Socket[] = [];
const never = 600_000;
const times: ClientTimes = { head: never, request: never, idle: never, look: 50 };

beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), "fairlead-times-"));
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
  const files = ["-keyout", path.join(folder, "key"), "-out", path.join(folder, "pem")];
  const names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"];
  execFileSync("openssl", ["req", "-x509", ...key, ...files, ...names], { stdio: "ignore" });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await Promise.all(running.splice(0).map((server) => server.close()));
});

async function serve(limits: Partial<ClientTimes>, web: WebConfig = openWebConfig): Promise<number> {
  const started = await startServer({
    handler: (request, response) => {
      request.resume().on("end", () => response.end("here"));
    },
    listenAddress: "127.0.0.1:0",
    web,
    onProblem: (message) => expect.fail(message),
    times: { ...times, ...limits },
  });
  if (!started.ok) throw new Error(started.error);
  running.push(started.server);
  return started.server.port;
}

/** Whether a connection is closed by the other side within three seconds. */
async function isClosed(socket: Socket): Promise<boolean> {
  sockets.push(socket.on("error", () => {}).resume());
  for (let looks = 0; looks < 150 && !socket.closed; looks += 1) await wait(20);
  return socket.closed;
}

async function say(port: number, text: string): Promise<Socket> {
  const socket = connect({ port, host: "127.0.0.1" });
  await new Promise((resolve) => socket.once("connect", resolve));
  socket.write(text);
  return socket;
}

const tls = (): WebConfig => ({
  basic_auth_users: {},
  tls_server_config: {
    cert_file: path.join(folder, "pem"),
    key_file: path.join(folder, "key"),
    client_auth_type: "NoClientCert",
    min_version: "TLS12",
    max_version: "TLS13",
  },
});

test.each([
  ["the head of a request", { head: 200 }, "GET / HTTP/1.1\r\nHost: loc"],
  ["the body of a request", { request: 300, head: 200 }, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nab"],
  ["the next request", { idle: 200 }, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"],
] as const)("who takes too long for %s is cut off", async (_what, limits, text) => {
  expect(await isClosed(await say(await serve(limits), text))).toBe(true);
});

test("who takes too long for the handshake of TLS is cut off", async () => {
  expect(await isClosed(await say(await serve({ head: 200 }, tls()), ""))).toBe(true);
});

test("who takes too long for the head of a request is cut off behind TLS, too", async () => {
  const port = await serve({ head: 200 }, tls());
  const ca = readFileSync(path.join(folder, "pem"));
  const socket = connectTls({ port, host: "127.0.0.1", servername: "localhost", ca });
  await new Promise((resolve) => socket.once("secureConnect", resolve));
  socket.write("GET / HTTP/1.1\r\nHost: loc");
  expect(await isClosed(socket)).toBe(true);
});

test("who keeps to the times is not", async () => {
  const port = await serve({});
  expect(await isClosed(await say(port, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"))).toBe(false);
});
