import { createServer, type Server } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";
import express, { type Response } from "express";
import { afterEach, expect, test } from "vitest";
import { inTurn, type TurnLimits } from "../../../exporter/publish/front/turns.ts";

const servers: Server[] = [];
const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});

const body = Buffer.alloc(8 * 1024 * 1024, "x");
/** Nothing of what is not meant to happen in a test. */
const patient = { standstill: 60_000, slow: 60_000, patience: 60_000 } as const;

interface Turns {
  readonly port: number;
  /** Names of the questions that have come to their turn, in that order. */
  readonly begun: readonly string[];
  /** Answers a question that is under way. */
  readonly answer: (name: string) => void;
}

/** A server that answers `/large` at once, and any other question when the test says so. */
async function serve(limits: TurnLimits): Promise<Turns> {
  const begun: string[] = [];
  const open = new Map<string, Response>();
  const app = express();
  app.use(inTurn({ ...patient, ...limits }));
  app.use((request, response) => {
    const name = request.path.slice(1);
    begun.push(name);
    if (name.startsWith("large")) response.send(body);
    else open.set(name, response);
  });
  const server = createServer(app);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address: AddressInfo | string | null = server.address();
  const port = typeof address === "object" ? (address?.port ?? 0) : 0;
  return { port, begun, answer: (name) => void open.get(name)?.send("done") };
}

/** Asks, and reads nothing of the answer. */
async function ask(port: number, name: string, localAddress = "127.0.0.2"): Promise<Socket> {
  const socket = connect({ port, host: "127.0.0.1", localAddress });
  sockets.push(socket.on("error", () => {}).pause());
  await new Promise((resolve) => socket.once("connect", resolve));
  socket.write(`GET /${name} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
  await wait(50);
  return socket;
}

/** All that comes until the connection ends. */
const rest = (socket: Socket): Promise<string> => text(socket).catch(() => "");

async function until(holds: () => boolean): Promise<void> {
  for (let looks = 0; looks < 600 && !holds(); looks += 1) await wait(20);
  expect(holds()).toBe(true);
}

test("a reader who takes nothing gives way to one that waits, long before it counts as standing still", async () => {
  const { port, begun } = await serve({ atOnce: 1, waiting: 4, slow: 300 });
  const stalled = await ask(port, "large-1");
  await ask(port, "next", "127.0.0.3");
  await until(() => begun.includes("next"));
  expect((await rest(stalled)).length).toBeLessThan(body.length);
});

test("a reader who takes nothing for a while keeps its place while nobody waits", async () => {
  const { port } = await serve({ atOnce: 1, waiting: 4, slow: 200 });
  const slow = await ask(port, "large-1");
  await wait(1000);
  expect((await rest(slow)).length).toBeGreaterThan(body.length);
});

test("of those who take nothing, one of the address that has most of them gives way, however long another has been waited for", async () => {
  const { port, begun } = await serve({ atOnce: 3, waiting: 4, slow: 300 });
  const oldest = await ask(port, "large-1", "127.0.0.3");
  await wait(400);
  const many = [await ask(port, "large-2"), await ask(port, "large-3")];
  await wait(1000);
  await ask(port, "next", "127.0.0.4");
  await until(() => begun.includes("next"));
  expect((await rest(oldest)).length).toBeGreaterThan(body.length);
  const lengths = await Promise.all(many.map(async (socket) => (await rest(socket)).length));
  expect(Math.min(...lengths)).toBeLessThan(body.length);
});

test("who comes next is of the address that is served least, not who came first", async () => {
  const { port, begun, answer } = await serve({ atOnce: 2, waiting: 4 });
  for (const name of ["a-1", "a-2", "a-3", "a-4"]) await ask(port, name);
  await ask(port, "b-1", "127.0.0.3");
  answer("a-1");
  await until(() => begun.length === 3);
  expect(begun).toEqual(["a-1", "a-2", "b-1"]);
  answer("b-1");
  await until(() => begun.length === 4);
  expect(begun.at(-1)).toBe("a-3");
});

test("who waits too long, and who comes when too many wait, is answered so, and when to come back", async () => {
  const { port, begun } = await serve({ atOnce: 1, waiting: 1, patience: 400 });
  await ask(port, "runs");
  const waits = await ask(port, "waits");
  const refused = await rest(await ask(port, "refused"));
  expect(refused).toMatch(/^HTTP\/1\.1 503 /);
  expect(refused).toContain("\r\nRetry-After: 5\r\n");
  const gaveUp = await rest(waits);
  expect(gaveUp).toMatch(/^HTTP\/1\.1 503 .*\r\nRetry-After: 5\r\n/s);
  expect(begun).toEqual(["runs"]);
});

test("who has gone away waits no more: the place is another's", async () => {
  const { port, begun, answer } = await serve({ atOnce: 1, waiting: 1 });
  await ask(port, "runs");
  (await ask(port, "gone")).destroy();
  await wait(100);
  await ask(port, "waits");
  answer("runs");
  await until(() => begun.length === 2);
  expect(begun).toEqual(["runs", "waits"]);
});

test("while the process itself is blocked, no reader is taken for one that reads nothing", async () => {
  const { port } = await serve({ atOnce: 1, waiting: 1, standstill: 1000 });
  const reader = await ask(port, "large-1");
  await wait(400);
  // Nothing of this process runs meanwhile, the reader neither.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2000);
  expect((await rest(reader)).length).toBeGreaterThan(body.length);
});
