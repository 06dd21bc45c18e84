import type { ServerResponse } from "node:http";
import { createServer as createSocketServer } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { outcome, pool, request, serve, servers, settings, tearDown, urlOf } from "./poolFixture.ts";

afterEach(tearDown);

describe("answers", () => {
  test("the whole body of a 200, the query sent along", async () => {
    const url = await serve((incoming, response) => response.end(`${incoming.method} ${incoming.url}\n`));
    expect(outcome(await pool().get(request(`${url}?a=1`)))).toBe("GET /metrics?a=1\n");
  });

  test.each([
    [302, "bad_redirect", "redirects are not followed"],
    [401, "status", "credentials"],
    [403, "status", "forbidden"],
    [404, "status", "nothing at this path"],
    [500, "status", "the server failed"],
    [204, "status", "HTTP 204"],
  ])("HTTP %d is %s", async (status, code, words) => {
    const url = await serve((_request, response) =>
      response.writeHead(status, { location: "http://elsewhere.example/" }).end(),
    );
    const result = await pool().get(request(url));
    expect(result).toMatchObject({ ok: false, code, status, message: expect.stringContaining(words) });
  });

  test("an empty body is an answer", async () => {
    const url = await serve((_request, response) => response.end());
    expect(outcome(await pool().get(request(url)))).toBe("");
  });

  test("one connection serves request after request", async () => {
    const ports = new Set<number | undefined>();
    const url = await serve((incoming, response) => {
      ports.add(incoming.socket.remotePort);
      response.end("x");
    });
    const one = pool();
    for (let round = 0; round < 3; round += 1) {
      await one.get(request(url));
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(ports.size).toBe(1);
  });
});

describe("answers that go wrong", () => {
  test("nobody listens", async () => {
    const url = await serve(() => undefined);
    servers[0]?.close();
    expect(await pool().get(request(url))).toMatchObject({
      code: "refused",
      message: expect.stringContaining("nothing listens"),
    });
  });

  test("no answer in time", async () => {
    const url = await serve(() => undefined);
    expect(await pool({ timeoutSeconds: 0.1 }).get(request(url))).toMatchObject({ code: "timeout" });
  });

  test("a body that never ends in time, though bytes keep coming", async () => {
    const url = await serve((_request, response) => {
      const timer = setInterval(() => response.write("x\n"), 10);
      response.on("close", () => clearInterval(timer));
    });
    expect(await pool({ timeoutSeconds: 0.15 }).get(request(url))).toMatchObject({ code: "timeout" });
  });

  test("a body that is cut before its announced length", async () => {
    const url = await serve((_request, response) => {
      response.writeHead(200, { "content-length": "100" });
      response.write("half", () => response.destroy());
    });
    expect(await pool().get(request(url))).toMatchObject({ code: "reset" });
  });

  test("a chunked body that is cut", async () => {
    const url = await serve((_request, response) => {
      response.write("half", () => response.destroy());
    });
    expect(await pool().get(request(url))).toMatchObject({ code: "reset" });
  });

  test.each([
    ["announced", true],
    ["not announced", false],
  ])("a body beyond the cap, %s, is cut off while it comes", async (_case, isAnnounced) => {
    let sent = 0;
    const closed = Promise.withResolvers<void>();
    const url = await serve((_request, response) => {
      if (isAnnounced) response.setHeader("content-length", 1_000_000_000);
      const push = (): void => {
        while (response.writable && response.write(Buffer.alloc(65_536))) sent += 65_536;
      };
      response.on("drain", push);
      response.on("close", () => closed.resolve());
      push();
    });
    expect(await pool({ maxBytes: 100_000 }).get(request(url))).toMatchObject({ code: "too_large" });
    await closed.promise;
    expect(sent).toBeLessThan(1_000_000_000);
  });

  test("something that is not HTTP", async () => {
    const server = createSocketServer((socket) => socket.end("SSH-2.0-x\r\n"));
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    expect(await pool().get(request(urlOf(server)))).toMatchObject({ code: "protocol" });
  });

  test("a compressed body that nobody asked for", async () => {
    const url = await serve((_request, response) => {
      response.setHeader("content-encoding", "gzip");
      response.end("x");
    });
    expect(await pool().get(request(url))).toMatchObject({ code: "encoding" });
  });

  test.each(["not a url", "file:///etc/passwd", "ftp://x/"])("%s is no URL to get", async (url) => {
    expect(await pool().get(request(url))).toMatchObject({ code: "bad_url" });
  });

  test("close ends what is under way and lets nothing new begin", async () => {
    const asked = Promise.withResolvers<void>();
    const url = await serve(() => asked.resolve());
    const one = pool();
    const underWay = one.get(request(url));
    await asked.promise;
    await one.close();
    expect(outcome(await underWay)).toBe("closed");
    expect(outcome(await one.get(request(url)))).toBe("closed");
  });
});

describe("back-off", () => {
  test("pauses double up to the cap; meanwhile nothing is sent; success ends them", async () => {
    let requests = 0;
    let status = 500;
    const url = await serve((_request, response) => {
      requests += 1;
      response.writeHead(status).end("x");
    });
    const one = pool();
    const pauses: number[] = [];
    for (let attempt = 0; attempt < 4; attempt += 1) {
      const result = await one.get(request(url));
      if (result.ok) throw new Error("unexpected success");
      pauses.push(result.retryAt - settings.clock);
      const skipped = await one.get(request(url));
      expect(skipped).toMatchObject({ code: "status", skipped: true, failures: attempt + 1 });
      settings.clock = result.retryAt;
    }
    expect(pauses).toEqual([22.5, 45, 90, 90]);
    expect(requests).toBe(4);
    status = 200;
    expect(outcome(await one.get(request(url)))).toBe("x");
    status = 500;
    expect(await one.get(request(url))).toMatchObject({ skipped: false, failures: 1 });
  });

  test("a target that is forgotten starts anew", async () => {
    const url = await serve((_request, response) => response.writeHead(500).end());
    const one = pool();
    await one.get(request(url));
    one.retain(new Set());
    expect(await one.get(request(url))).toMatchObject({ skipped: false, failures: 1 });
  });
});

test("no more requests at once than allowed, and all of them answered", async () => {
  const all = 20;
  const busy: ServerResponse[] = [];
  let seen = 0;
  let most = 0;
  const url = await serve((_request, response) => {
    busy.push(response);
    seen += 1;
    most = Math.max(most, busy.length);
    // All that may be under way is, or nothing more will come; one that may not would come meanwhile.
    if (busy.length < 3 && seen < all) return;
    setTimeout(() => {
      for (const each of busy.splice(0)) each.end("x");
    }, 5);
  });
  const one = pool({ concurrency: 3 });
  const results = await Promise.all(
    Array.from({ length: all }, (_unused, index) => one.get(request(`${url}?${index}`))),
  );
  expect(results.every((result) => result.ok)).toBe(true);
  expect(most).toBe(3);
});
