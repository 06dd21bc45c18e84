import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";
import { MessageChannel } from "node:worker_threads";
import express from "express";
import fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import { setUser, userOf } from "../../../exporter/publish/front/caller.ts";
import { createAnswerer, forward } from "../../../exporter/publish/front/forward.ts";
import { portStream } from "../../../exporter/publish/front/portStream.ts";

describe("a stream through a message channel", () => {
  test("carries all bytes in order, however they are cut, and their end", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.uint8Array({ minLength: 1, maxLength: 40_000 }), { maxLength: 8 }),
        async (pieces) => {
          const { port1, port2 } = new MessageChannel();
          const [near, far] = [portStream(port1), portStream(port2)];
          for (const piece of pieces) near.write(piece);
          near.end();
          const got: Buffer[] = [];
          for await (const chunk of far) got.push(chunk);
          far.end();
          expect(Buffer.concat(got).equals(Buffer.concat(pieces))).toBe(true);
        },
      ),
      { numRuns: 30 },
    );
  });

  test("sends no more than the other side has room for", async () => {
    const { port1, port2 } = new MessageChannel();
    const [near, far] = [portStream(port1), portStream(port2)];
    far.pause();
    let taken = 0;
    for (let piece = 0; piece < 100; piece += 1) near.write(Buffer.alloc(64 * 1024), () => (taken += 1));
    await wait(100);
    expect(taken).toBeLessThan(3);
    near.destroy();
  });

  test("that is destroyed at one end is destroyed at the other", async () => {
    const { port1, port2 } = new MessageChannel();
    const [near, far] = [portStream(port1), portStream(port2)];
    const gone = new Promise<void>((resolve) => far.on("close", resolve));
    near.destroy();
    await gone;
    expect(far.destroyed).toBe(true);
  });
});

describe("questions to another thread", () => {
  const servers: Server[] = [];
  afterEach(() => {
    for (const server of servers.splice(0)) server.closeAllConnections();
  });

  /** A server whose answers come through a message channel from the app. */
  async function serve(answers: express.Express, patience?: number): Promise<string> {
    const answerer = createAnswerer(answers);
    const front = express();
    front.use((_request, response, next) => {
      setUser(response, "ada");
      next();
    });
    front.use(
      forward((user) => {
        const { port1, port2 } = new MessageChannel();
        answerer(portStream(port2), user);
        return portStream(port1);
      }, patience),
    );
    const server = createServer(front);
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address: AddressInfo | string | null = server.address();
    return `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`;
  }

  test("have the answer's status, headers and body, the question's body, and who asks", async () => {
    const app = express();
    app.post("/said", express.json(), (asked, response) => {
      response
        .status(201)
        .set("X-Answer", "yes")
        .json({ received: asked.body, by: userOf(response), at: asked.originalUrl });
    });
    const url = await serve(app);
    const init = { method: "POST", body: '{"a":1}', headers: { "content-type": "application/json" } };
    const response = await fetch(`${url}/said?x=%20`, init);
    expect([response.status, response.headers.get("x-answer")]).toEqual([201, "yes"]);
    expect(await response.json()).toEqual({ received: { a: 1 }, by: "ada", at: "/said?x=%20" });
    expect((await fetch(`${url}/said`, { ...init, body: "{" })).status).toBe(400);
    const head = await fetch(`${url}/nothing`, { method: "HEAD" });
    expect([head.status, await head.text()]).toEqual([404, ""]);
  });

  test("take large answers whole, and a header of the asker's never says who asks", async () => {
    const body = "0123456789".repeat(1_000_000);
    const app = express();
    app.get("/", (asked, response) => void response.send(`${userOf(response)}${asked.headers["x-user"] ?? ""}${body}`));
    const url = await serve(app);
    expect(await (await fetch(url, { headers: { "x-user": "root" } })).text()).toBe(`ada${body}`);
  });

  test("without an answer are answered by themselves; who goes away is gone there, too", async () => {
    const app = express();
    let gone = (): void => {};
    const closed = new Promise<void>((resolve) => {
      gone = resolve;
    });
    app.get("/never", (_asked, response) => void response.on("close", gone));
    const url = await serve(app, 200);
    const response = await fetch(`${url}/never`);
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, "5"]);
    await closed;
  });

  test("that nobody takes hold nothing back for others", async () => {
    const app = express();
    app.get("/large", (_asked, response) => void response.send("x".repeat(20_000_000)));
    app.get("/small", (_asked, response) => void response.send("here"));
    const url = await serve(app);
    const stalled = request(`${url}/large`, (response) => void response.pause());
    stalled.on("error", () => {}).end();
    await new Promise((resolve) => stalled.once("response", resolve));
    expect(await (await fetch(`${url}/small`)).text()).toBe("here");
    stalled.destroy();
  });

  test("break off where the other side breaks off", async () => {
    const app = express();
    app.get("/", (_asked, response) => {
      response.write("a part");
      setTimeout(() => response.destroy(), 20);
    });
    const url = await serve(app);
    await expect(fetch(url).then((response) => response.text())).rejects.toThrow();
    const broken = new Promise<string>((resolve) => {
      request(url, (response) => {
        text(response).then(resolve, () => resolve("broken"));
      }).end();
    });
    expect(await broken).toBe("broken");
  });
});
