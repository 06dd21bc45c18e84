import { createServer, type Socket } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { createGetPool } from "../../../exporter/sources/http/getPool.ts";
import { outcome, pool, request, serve, servers, tearDown, urlOf } from "./poolFixture.ts";

afterEach(tearDown);

/** A server that answers each request by what `answer` does with the socket; counts its connections, and those that are over. */
async function serveBytes(answer: (socket: Socket, request: number, connection: number) => void) {
  const seen = { connections: 0, requests: [] as string[] };
  let over = 0;
  const waiting: { readonly count: number; readonly resolve: () => void }[] = [];
  const server = createServer((socket) => {
    seen.connections += 1;
    const connection = seen.connections;
    socket.on("error", () => socket.destroy());
    socket.on("close", () => {
      over += 1;
      for (const { count, resolve } of waiting) if (over >= count) resolve();
    });
    socket.on("data", (bytes) => {
      seen.requests.push(bytes.toString("latin1"));
      answer(socket, seen.requests.length, connection);
    });
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  /** Resolves when so many connections have been closed, on both sides. */
  const closed = (count: number): Promise<void> =>
    over >= count ? Promise.resolve() : new Promise((resolve) => waiting.push({ count, resolve }));
  return { url: urlOf(server), seen, closed };
}

const whole = (body: string): string => `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

describe("connections", () => {
  test("one that the server closed while it was idle is replaced", async () => {
    const { url, seen, closed } = await serveBytes((socket) => socket.end(whole("x")));
    const one = pool();
    for (let round = 0; round < 3; round += 1) {
      expect(outcome(await one.get(request(url)))).toBe("x");
      await closed(round + 1);
    }
    expect(seen.connections).toBe(3);
  });

  test("one that is cut just as the next request leaves: the request is sent once more, on a new one", async () => {
    const { url, seen } = await serveBytes((socket, count, connection) => {
      if (connection === 1 && count === 2) socket.destroy();
      else socket.write(whole(`${count}`));
    });
    const one = pool();
    expect(outcome(await one.get(request(url)))).toBe("1");
    expect(outcome(await one.get(request(url)))).toBe("3");
    expect(seen.connections).toBe(2);
  });

  test("but not where a part of the answer came, nor twice", async () => {
    const half = await serveBytes((socket, count) => {
      if (count === 1) socket.write(whole("x"));
      else socket.end("HTTP/1.1 200 OK\r\n");
    });
    const none = await serveBytes((socket, count) => {
      if (count === 1) socket.write(whole("x"));
      else socket.destroy();
    });
    for (const [{ url, seen }, requests] of [
      [half, 2],
      [none, 3],
    ] as const) {
      const one = pool();
      expect(outcome(await one.get(request(url)))).toBe("x");
      expect(outcome(await one.get(request(url)))).toBe("reset");
      expect(seen.requests).toHaveLength(requests);
    }
  });

  test.each([
    ["that is said to end", "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx"],
    ["with more bytes than announced", `${whole("x")}${whole("y")}`],
  ])("one %s is not used again", async (_case, answer) => {
    const { url, seen } = await serveBytes((socket) => socket.write(answer));
    const one = pool();
    expect(outcome(await one.get(request(url)))).toBe("x");
    expect(outcome(await one.get(request(url)))).toBe("x");
    expect(seen.connections).toBe(2);
  });

  test("one on which bytes come that nobody asked for is cut", async () => {
    let first: Socket | null = null;
    const { url, seen, closed } = await serveBytes((socket, count) => {
      first ??= socket;
      socket.write(whole(`${count}`));
    });
    const sayEvil = (socket: Socket | null): unknown => socket?.write(whole("evil"));
    const one = pool();
    expect(outcome(await one.get(request(url)))).toBe("1");
    sayEvil(first);
    await closed(1);
    expect(outcome(await one.get(request(url)))).toBe("2");
    expect(seen.connections).toBe(2);
  });

  test("an idle one is closed after its time", async () => {
    const closed = Promise.withResolvers<void>();
    const { url } = await serveBytes((socket) => {
      socket.on("close", () => closed.resolve());
      socket.write(whole("x"));
    });
    expect(outcome(await pool({ keepAliveSeconds: 0.05 }).get(request(url)))).toBe("x");
    await closed.promise;
  });
});

describe("bodies", () => {
  test("of many servers at once, in small pieces, are not mixed up", async () => {
    const bodyFor = (path: string): string => `${path} `.repeat(9000);
    const url = await serve((incoming, response) => {
      const body = bodyFor(incoming.url ?? "");
      let at = 0;
      const push = (): void => {
        response.write(body.slice(at, at + 5000));
        at += 5000;
        if (at < body.length) setImmediate(push);
        else response.end();
      };
      push();
    });
    const one = pool({ concurrency: 16 });
    const urls = Array.from({ length: 64 }, (_unused, index) => `${url}/${index}`);
    for (let round = 0; round < 2; round += 1) {
      const results = await Promise.all(urls.map((each) => one.get(request(each))));
      expect(results.map((result) => outcome(result) === "" || outcome(result).length)).toEqual(
        urls.map((each) => bodyFor(new URL(each).pathname).length),
      );
      for (const [index, result] of results.entries()) {
        expect(outcome(result) === bodyFor(new URL(urls[index] ?? "").pathname)).toBe(true);
      }
    }
  });

  test("what a reader throws is the caller's, and the pool goes on", async () => {
    const { url } = await serveBytes((socket) => socket.write(whole("x")));
    const one = createGetPool({
      timeoutSeconds: 60,
      maxBytes: 100,
      concurrency: 1,
      backOff: { firstSeconds: 1, maxSeconds: 1 },
      accept: "text/plain",
      keepAliveSeconds: 90,
      now: () => 0,
      random: () => 0,
    });
    await expect(
      one.get(request(url), () => {
        throw new Error("the reader is broken");
      }),
    ).rejects.toThrow("the reader is broken");
    expect(await one.get(request(url), (bytes) => bytes.length)).toEqual({ ok: true, value: 1 });
    await one.close();
  });
});

describe("requests", () => {
  test("say what they should, byte by byte", async () => {
    const { url, seen } = await serveBytes((socket) => socket.write(whole("x")));
    await pool().get(request(`${url}?a=b c#part`, { headers: { "X-Scope-OrgID": "a", Accept: "no" } }));
    const { host } = new URL(url);
    expect(seen.requests).toEqual([
      `GET /metrics?a=b%20c HTTP/1.1\r\nhost: ${host}\r\nx-scope-orgid: a\r\naccept: text/plain\r\n` +
        "user-agent: fairlead\r\nconnection: keep-alive\r\n\r\n",
    ]);
  });

  test.each([
    ["a line end in a value", { "x-a": "b\r\nx-evil: c" }],
    ["a character that becomes a line end", { "x-a": "\u010a" }],
    ["a name that is none", { "x a": "b" }],
    ["a length", { "Content-Length": "5" }],
    ["a transfer coding", { "transfer-encoding": "chunked" }],
  ])("%s is not sent", async (_case, headers) => {
    const { url, seen } = await serveBytes((socket) => socket.write(whole("x")));
    expect(await pool().get(request(url, { headers }))).toMatchObject({ code: "failed" });
    expect(seen.requests).toEqual([]);
  });

  test("an IPv6 address", async () => {
    const server = createServer((socket) => socket.on("data", () => socket.end(whole("six"))));
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, "::1", resolve));
    const url = urlOf(server).replace("127.0.0.1", "[::1]");
    expect(outcome(await pool().get(request(url)))).toBe("six");
  });
});
