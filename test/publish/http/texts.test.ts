import { createServer, type Server } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { text as readText } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";
import express from "express";
import { afterEach, expect, test } from "vitest";
import { createTexts, type Text } from "../../../exporter/publish/http/texts.ts";

const servers: Server[] = [];
const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});

const megabytes = 8;
const textOf = (letter: string): Text => ({
  pieces: Array.from({ length: megabytes }, () => Buffer.alloc(1024 * 1024, letter)),
  bytes: megabytes * 1024 * 1024,
});

/** A server that sends one of two texts; as much may be read at once as one and a half of them have. */
async function serve(): Promise<number> {
  const texts = createTexts(1.5 * megabytes * 1024 * 1024);
  const known = new Map<string, Text>(["a", "b"].map((letter) => [`/${letter}`, textOf(letter)] as const));
  const app = express();
  app.use((request, response) => {
    const text = known.get(request.path);
    if (text !== undefined) void texts.send(response, text);
  });
  const server = createServer(app);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address: AddressInfo | string | null = server.address();
  return typeof address === "object" ? (address?.port ?? 0) : 0;
}

/** Asks, and reads nothing yet. */
async function ask(port: number, path: string): Promise<Socket> {
  const socket = connect({ port, host: "127.0.0.1" });
  sockets.push(socket.on("error", () => {}).pause());
  await new Promise((resolve) => socket.once("connect", resolve));
  socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
  await wait(100);
  return socket;
}

const lengthOf = async (socket: Socket): Promise<number> => (await readText(socket).catch(() => "")).length;

test("readers of the oldest text are cut off when texts that are read grow too many, those of the newest get all of it", async () => {
  const port = await serve();
  const [old, next] = [await ask(port, "/a"), await ask(port, "/b")];
  expect(await lengthOf(old)).toBeLessThan(megabytes * 1024 * 1024);
  expect(await lengthOf(next)).toBeGreaterThan(megabytes * 1024 * 1024);
});

test("a text that many read is there once, and cuts nobody off", async () => {
  const port = await serve();
  const readers = [await ask(port, "/a"), await ask(port, "/a"), await ask(port, "/a")];
  for (const length of await Promise.all(readers.map(lengthOf)))
    expect(length).toBeGreaterThan(megabytes * 1024 * 1024);
});
