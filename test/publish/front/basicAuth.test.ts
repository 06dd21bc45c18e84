import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import express from "express";
import { afterEach, expect, test } from "vitest";
import { basicAuth } from "../../../exporter/publish/front/basicAuth.ts";
import type { HashQuestion } from "../../../exporter/publish/front/passwords.ts";

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});

const users = { ada: "hash of ada", bob: "hash of bob" };

interface Guarded {
  readonly port: number;
  /** What was compared, in order. */
  readonly compared: readonly HashQuestion[];
  /** Answers all that is being compared. */
  readonly decide: () => void;
}

/** A server whose passwords are those of the hashes' names; comparing takes until `decide`, or no time. */
async function serve(isAllocated: boolean): Promise<Guarded> {
  const compared: HashQuestion[] = [];
  const allocated: (() => void)[] = [];
  const app = express();
  app.use(
    basicAuth(users, async (question) => {
      compared.push(question);
      if (isAllocated) await new Promise<void>((resolve) => allocated.push(resolve));
      return question.hash === `hash of ${question.password}`;
    }),
  );
  app.use((_request, response) => void response.send("here"));
  const server = createServer(app);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address: AddressInfo | string | null = server.address();
  const decide = (): void => {
    for (const resolve of allocated.splice(0)) resolve();
  };
  return { port: typeof address === "object" ? (address?.port ?? 0) : 0, compared, decide };
}

interface Answer {
  readonly status: number;
  readonly retryAfter: string | undefined;
}

function login(port: number, name: string, password: string, localAddress = "127.0.0.2"): Promise<Answer> {
  const authorization = `Basic ${Buffer.from(`${name}:${password}`).toString("base64")}`;
  return new Promise((resolve, reject) => {
    request({ port, host: "127.0.0.1", localAddress, headers: { authorization }, agent: false }, (response) => {
      response.resume();
      resolve({ status: response.statusCode ?? 0, retryAfter: response.headers["retry-after"] });
    })
      .on("error", reject)
      .end();
  });
}

/** Waits for so many answers, which nothing but a refusal can be before it is decided. */
function firstAnswers(asked: readonly Promise<Answer>[], count: number): Promise<readonly Answer[]> {
  const answers: Answer[] = [];
  return new Promise((resolve, reject) => {
    for (const one of asked)
      one.then((answer) => {
        answers.push(answer);
        if (answers.length === count) resolve([...answers]);
      }, reject);
  });
}

test("of one address three passwords wait to be compared, the others come back in a second", async () => {
  const { port, compared, decide } = await serve(true);
  const asked = Array.from({ length: 5 }, () => login(port, "ada", "ada"));
  const refusal = { status: 429, retryAfter: "1" };
  expect(await firstAnswers(asked, 2)).toEqual([refusal, refusal]);
  expect(compared).toHaveLength(3);
  decide();
  expect((await Promise.all(asked)).map(({ status }) => status).sort()).toEqual([200, 200, 200, 429, 429]);
});

test("of all addresses ten do", async () => {
  const { port, compared, decide } = await serve(true);
  const asked = Array.from({ length: 12 }, (_, at) => login(port, "ada", "ada", `127.0.1.${2 + Math.floor(at / 3)}`));
  await firstAnswers(asked, 2);
  expect(compared).toHaveLength(10);
  decide();
  expect((await Promise.all(asked)).filter(({ status }) => status === 429)).toHaveLength(2);
});

test("a right answer is remembered for its user and its password alone", async () => {
  const { port, compared } = await serve(false);
  for (let again = 0; again < 3; again += 1) expect((await login(port, "ada", "ada")).status).toBe(200);
  expect(compared).toHaveLength(1);
  expect((await login(port, "ada", "wrong")).status).toBe(401);
  expect((await login(port, "bob", "ada")).status).toBe(401);
  expect(compared).toHaveLength(3);
});

test("who failed too often is not compared any more, and is answered for how long; others are", async () => {
  const { port, compared } = await serve(false);
  for (let guess = 0; guess < 5; guess += 1) expect((await login(port, "ada", `${guess}`)).status).toBe(401);
  expect(await login(port, "ada", "5")).toEqual({ status: 429, retryAfter: "1" });
  expect(compared).toHaveLength(5);
  expect((await login(port, "ada", "ada", "127.0.0.9")).status).toBe(200);
  // Who was right before comes in from anywhere.
  expect((await login(port, "ada", "ada")).status).toBe(200);
});

test.each(["nobody", "constructor", "__proto__", "toString"])(
  "a name that is no user's (%s) takes as long as a wrong password: its hash is one of bcrypt's",
  async (name) => {
    const { port, compared } = await serve(false);
    expect((await login(port, name, "x")).status).toBe(401);
    expect(compared.map(({ hash }) => hash)).toEqual([expect.stringMatching(/^\$2b\$10\$[./A-Za-z0-9]{53}$/)]);
  },
);
