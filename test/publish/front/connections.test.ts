import { createServer, type RequestListener, type Server } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import { limitConnections } from "../../../exporter/publish/front/connections.ts";

const servers: Server[] = [];
const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});

interface Limited {
  readonly port: number;
  readonly open: () => Promise<number>;
}

async function serve(limit: number, answer: RequestListener = (_request, response) => void response.end("here")) {
  const server = createServer(answer);
  servers.push(server);
  limitConnections(server, limit);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address: AddressInfo | string | null = server.address();
  const open = () => new Promise<number>((resolve) => server.getConnections((_error, count) => resolve(count)));
  return { port: typeof address === "object" ? (address?.port ?? 0) : 0, open } satisfies Limited;
}

/** A connection that knows whether it has been closed, and what came. */
async function join(port: number, localAddress = "127.0.0.2"): Promise<{ socket: Socket; got: () => string }> {
  const socket = connect({ port, host: "127.0.0.1", localAddress });
  const chunks: Buffer[] = [];
  sockets.push(socket.on("error", () => {}).on("data", (chunk: Buffer) => void chunks.push(chunk)));
  await new Promise((resolve) => socket.once("connect", resolve));
  return { socket, got: () => Buffer.concat(chunks).toString() };
}

const question = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";

async function until(holds: () => boolean): Promise<void> {
  for (let looks = 0; looks < 500 && !holds(); looks += 1) await wait(20);
  expect(holds()).toBe(true);
}

test("there are never more than the limit", async () => {
  const { port, open } = await serve(10);
  for (let idle = 0; idle < 50; idle += 1) await join(port);
  await wait(100);
  expect(await open()).toBeLessThanOrEqual(10);
});

test("the one on which nothing was asked for longest gives way, and one that has just been used stays", async () => {
  const { port } = await serve(3);
  const [first, second, third] = [await join(port), await join(port), await join(port)];
  first.socket.write(question);
  await until(() => first.got().includes("here"));
  const next = await join(port);
  await until(() => second.socket.closed);
  expect([first, third, next].map(({ socket }) => socket.closed)).toEqual([false, false, false]);
});

test("one that was asked and has answered may give way again", async () => {
  const { port } = await serve(2);
  for (let asked = 0; asked < 2; asked += 1) {
    const { socket, got } = await join(port);
    socket.write(question);
    await until(() => got().includes("here"));
  }
  const { socket, got } = await join(port);
  socket.write(question);
  await until(() => got().includes("here"));
});

test("none gives way on which an answer is under way: then the new one is refused", async () => {
  const { port } = await serve(2, () => {});
  const asked = [await join(port), await join(port)];
  for (const { socket } of asked) socket.write(question);
  await wait(100);
  const next = await join(port);
  await until(() => next.socket.closed);
  expect(asked.map(({ socket }) => socket.closed)).toEqual([false, false]);
});

test("the address that has most of them gives way, however long others have been idle", async () => {
  const { port } = await serve(6);
  const other = await join(port, "127.0.0.3");
  for (let idle = 0; idle < 40; idle += 1) await join(port);
  await wait(100);
  expect(other.socket.closed).toBe(false);
});
