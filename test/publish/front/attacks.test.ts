import { connect, type Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { MessageChannel } from "node:worker_threads";
import { hashSync } from "bcryptjs";
import express, { type RequestHandler } from "express";
import { afterEach, describe, expect, test } from "vitest";
import { openWebConfig } from "../../../exporter/config/webConfig.ts";
import type { Finished } from "../../../exporter/publish/front/finished.ts";
import { createAnswerer, forward } from "../../../exporter/publish/front/forward.ts";
import { createFront, type FrontOptions } from "../../../exporter/publish/front/front.ts";
import { portStream } from "../../../exporter/publish/front/portStream.ts";
import { startProbeServer } from "../../../exporter/publish/front/probes.ts";
import { type RunningServer, startServer } from "../../../exporter/publish/http/server.ts";

const running: RunningServer[] = [];
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await Promise.all(running.splice(0).map((server) => server.close()));
});

const page = Buffer.alloc(8 * 1024 * 1024, "x");
const finished: Finished = {
  page: () => ({ at: 100, intervalSeconds: 30, page }),
  start: () => null,
  probe: () => ({ startedAt: 0, lastCycleAt: 100, intervalSeconds: 30, missing: [] }),
  now: () => 101,
};
const large: RequestHandler = (_request, response) => void response.send(page);
const turns = { atOnce: 4, waiting: 8, slow: 400, standstill: 1000 };

async function serve(options: Partial<FrontOptions> = {}, maxConnections = 1000): Promise<RunningServer> {
  const started = await startServer({
    handler: createFront({
      finished,
      answers: express()
        .get("/large", large)
        .get("/small", (_request, response) => void response.send("here")),
      telemetryPath: "/metrics",
      users: {},
      hosts: null,
      turns: { pages: turns, answers: turns },
      ...options,
    }),
    listenAddress: "127.0.0.1:0",
    web: openWebConfig,
    maxConnections,
    onProblem: (message) => expect.fail(message),
  });
  if (!started.ok) throw new Error(started.error);
  running.push(started.server);
  return started.server;
}

/** A connection from an address of this machine on which something is asked, and nothing is read. */
async function stall(port: number, path: string, localAddress = "127.0.0.2"): Promise<Socket> {
  const socket = connect({ port, host: "127.0.0.1", localAddress });
  sockets.push(socket.on("error", () => {}).pause());
  await new Promise((resolve) => socket.once("connect", resolve));
  if (path !== "") socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
  return socket;
}

const ask = (server: RunningServer, path: string, init: RequestInit = {}): Promise<Response> =>
  fetch(`${server.url}${path}`, { ...init, signal: AbortSignal.timeout(20_000) });

describe("readers who take nothing", () => {
  test.each(["/large", "/metrics"])("of %s do not keep a probe waiting, though they are never cut", async (path) => {
    const never = { ...turns, slow: 600_000, standstill: 600_000 };
    const server = await serve({ turns: { pages: never, answers: never } });
    for (let reader = 0; reader < 60; reader += 1) await stall(server.port, path);
    await wait(100);
    expect((await ask(server, "/livez")).status).toBe(200);
  });

  test.each(["/large", "/metrics"])("of %s give way to those who read", async (path) => {
    // Who asks last reads in this very process: on a busy machine that takes longer than the others need to be cut.
    const patient = { ...turns, slow: 1500, standstill: 4000 };
    const server = await serve({ turns: { pages: patient, answers: patient } });
    for (let reader = 0; reader < 60; reader += 1) await stall(server.port, path);
    await wait(100);
    const answer = await ask(server, path);
    expect([answer.status, (await answer.arrayBuffer()).byteLength]).toEqual([200, page.length]);
  });

  test.each(["/large", "/metrics"])("of %s are cut when they read nothing, though nobody waits", async (path) => {
    const server = await serve();
    const socket = await stall(server.port, path);
    await wait(2500);
    // Whoever has not read sees the end only behind what was sent.
    const ended = new Promise<void>((resolve) => socket.once("close", () => resolve()));
    socket.resume();
    await ended;
    expect(socket.bytesRead).toBeLessThan(page.length);
  });

  test("those beyond what may wait are answered when to come back", async () => {
    const server = await serve({ turns: { pages: turns, answers: { atOnce: 1, waiting: 2, slow: 60_000 } } });
    await stall(server.port, "/large");
    await wait(50);
    const refused = await Promise.all(
      Array.from({ length: 6 }, () => ask(server, "/small", { signal: null }).then(({ status }) => status)).map(
        (answer) => Promise.race([answer, wait(3000).then(() => "waits")]),
      ),
    );
    expect(refused.filter((status) => status === 503)).toHaveLength(4);
    expect(refused.filter((status) => status === "waits")).toHaveLength(2);
  });

  test("who read slowly, but read, get all of it while nobody else waits", async () => {
    const server = await serve();
    const socket = connect({ port: server.port, host: "127.0.0.1" });
    sockets.push(socket);
    socket.write("GET /large HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    let got = 0;
    for await (const chunk of socket) {
      got += chunk.length;
      await wait(5);
    }
    expect(got).toBeGreaterThan(page.length);
  });
});

describe("connections on which nothing is asked", () => {
  test("give way: probes, scrapes and new clients get in beside ten times as many as there may be", async () => {
    const server = await serve({}, 20);
    for (let idle = 0; idle < 200; idle += 1) await stall(server.port, idle % 2 === 0 ? "" : "/livez");
    for (const path of ["/livez", "/small", "/metrics"]) expect((await ask(server, path)).status).toBe(200);
    // What was closed is only seen by who reads.
    for (const socket of sockets) socket.resume();
    await wait(200);
    expect(sockets.filter((socket) => !socket.closed).length).toBeLessThanOrEqual(20);
  });

  test("of one address give way before those of others", async () => {
    const server = await serve({}, 10);
    const other = await stall(server.port, "/livez", "127.0.0.3");
    let closed = false;
    other.once("close", () => {
      closed = true;
    });
    other.resume();
    for (let idle = 0; idle < 100; idle += 1) await stall(server.port, "");
    await wait(100);
    expect(closed).toBe(false);
  });

  test("never keep the kubelet from a port of its own", async () => {
    const started = await startProbeServer("127.0.0.1:0", finished);
    if (!started.ok) throw new Error(started.error);
    running.push(started.server);
    for (let idle = 0; idle < 300; idle += 1) await stall(started.server.port, "");
    for (const path of ["/livez", "/readyz"]) {
      const answer = await ask(started.server, path);
      expect([answer.status, answer.headers.get("connection")]).toEqual([200, "close"]);
    }
    expect((await ask(started.server, "/metrics")).status).toBe(404);
    // What was closed is only seen by who reads.
    for (const socket of sockets) socket.resume();
    await wait(200);
    expect(sockets.filter((socket) => !socket.closed).length).toBeLessThanOrEqual(100);
  });
});

describe("wrong passwords", () => {
  const users = { ada: hashSync("right", 4), bob: hashSync("other", 4) };
  const login = (name: string, password: string): RequestInit => ({
    headers: { authorization: `Basic ${Buffer.from(`${name}:${password}`).toString("base64")}` },
  });

  test("by the hundred are sent away unheard; who came in before stays in", async () => {
    let compared = 0;
    const server = await serve({
      users,
      compare: async ({ password }) => {
        compared += 1;
        await wait(5);
        return password === "right";
      },
    });
    expect((await ask(server, "/small", login("ada", "right"))).status).toBe(200);
    const statuses: number[] = [];
    for (let round = 0; round < 20; round += 1) {
      const guesses = Array.from({ length: 10 }, (_, at) => ask(server, "/small", login("ada", `${round} ${at}`)));
      for (const { status } of await Promise.all(guesses)) statuses.push(status);
      expect((await ask(server, "/small", login("ada", "right"))).status).toBe(200);
    }
    expect(new Set(statuses)).toEqual(new Set([401, 429]));
    expect(compared).toBeLessThan(20);
  });

  test("of one address do not keep a user of another out", async () => {
    let compared = 0;
    const server = await serve({
      users,
      compare: async ({ password }) => {
        compared += 1;
        await wait(50);
        return password === "other";
      },
    });
    const wrong = Buffer.from("bob:wrong").toString("base64");
    for (let guess = 0; guess < 40; guess += 1) {
      const socket = await stall(server.port, "");
      socket.write(`GET /small HTTP/1.1\r\nHost: localhost\r\nAuthorization: Basic ${wrong}\r\n\r\n`);
    }
    expect((await ask(server, "/small", login("bob", "other"))).status).toBe(200);
    expect(compared).toBeLessThan(20);
  });
});

describe("questions that are being computed", () => {
  test("keep their turn when whoever asked has gone: such work does not pile up", async () => {
    let [computing, most] = [0, 0];
    const slowAnswer = express().get("/slow", async (_request, response) => {
      computing += 1;
      most = Math.max(most, computing);
      await wait(300);
      computing -= 1;
      response.send("done");
    });
    const answerer = createAnswerer(slowAnswer);
    const answers = forward((user) => {
      const { port1, port2 } = new MessageChannel();
      answerer(portStream(port2), user);
      return portStream(port1);
    });
    const server = await serve({ answers, turns: { pages: turns, answers: { atOnce: 2, waiting: 64 } } });
    for (let round = 0; round < 20; round += 1) {
      const socket = await stall(server.port, "/slow");
      await wait(20);
      socket.destroy();
    }
    expect((await ask(server, "/slow")).status).toBe(200);
    expect(most).toBe(2);
  });
});
