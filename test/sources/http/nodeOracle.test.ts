import { get } from "node:http";
import { createServer, type Server } from "node:net";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { goodAnswers, oddAnswers, readWhole } from "./answers.ts";
import { outcome, pool, request, tearDown, urlOf } from "./poolFixture.ts";

let server: Server;
let answer = "";

beforeAll(async () => {
  server = createServer((socket) => {
    socket.on("error", () => socket.destroy());
    socket.once("data", () => socket.end(Buffer.from(answer, "latin1")));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});

afterAll(async () => {
  await tearDown();
  server.close();
});

/** The body as node's own HTTP client reads it; `null` where it reads none. */
function bodyByNode(): Promise<string | null> {
  return new Promise((resolve) => {
    const asked = get(urlOf(server), { agent: false, timeout: 2000 }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk) => chunks.push(chunk));
      response.on("error", () => resolve(null));
      response.on("end", () => resolve(response.statusCode === 200 ? Buffer.concat(chunks).toString("latin1") : null));
    });
    asked.on("error", () => resolve(null));
    asked.on("upgrade", () => asked.destroy());
    asked.on("timeout", () => asked.destroy());
    asked.on("close", () => resolve(null));
  });
}

/** The answer without what follows its end: node makes an error of the whole where that comes in the same piece. */
function withoutExcess(text: string, body: string): string {
  let end = text.length;
  while (readWhole(text.slice(0, end - 1)).body === body) end -= 1;
  return text.slice(0, end);
}

test("good answers are read as node reads them", async () => {
  for (const { text, body } of fc.sample(goodAnswers, { seed: 3, numRuns: 150 })) {
    answer = text;
    expect(await bodyByNode(), JSON.stringify(text)).toBe(body);
    const result = await pool().get(request(urlOf(server)));
    expect(outcome(result)).toBe(Buffer.from(body, "latin1").toString());
  }
});

test("no odd answer is taken for another than node takes it for", async () => {
  let taken = 0;
  let refused = 0;
  for (const text of fc.sample(oddAnswers, { seed: 4, numRuns: 600 })) {
    const { body } = readWhole(text);
    refused += body === null ? 1 : 0;
    if (body === null) continue;
    taken += 1;
    answer = withoutExcess(text, body);
    expect(body, JSON.stringify(text)).toBe(await bodyByNode());
  }
  expect(taken).toBeGreaterThan(100);
  expect(refused).toBeGreaterThan(100);
});
