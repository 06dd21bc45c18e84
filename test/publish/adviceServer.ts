import { hashSync } from "bcryptjs";
import { expect } from "vitest";
import { openWebConfig } from "../../exporter/config/webConfig.ts";
import type { ReceivedAlert } from "../../exporter/model/receivedAlert.ts";
import type { Advice } from "../../exporter/model/recommendation.ts";
import { createApp } from "../../exporter/publish/http/app.ts";
import type { Outputs } from "../../exporter/publish/http/outputs.ts";
import { type RunningServer, startServer } from "../../exporter/publish/http/server.ts";
import { buildPublication } from "../../exporter/publish/publication.ts";
import { at, health, smallMoment } from "./moment.ts";
import { someAdvice } from "./someAdvice.ts";

const basic = (name: string, password: string) => ({
  authorization: `Basic ${Buffer.from(`${name}:${password}`).toString("base64")}`,
});

/** Two users of a web configuration, and what they send. */
export const users = { kim: hashSync("secret", 4), lee: hashSync("other", 4) };
export const asKim = basic("kim", "secret");
export const asLee = basic("lee", "other");

type AdviserOutput = NonNullable<Outputs["adviser"]>;

/** An adviser with the advice that is given, which writes down what it receives. */
export function scriptedAdviser(given: Advice = someAdvice) {
  let advice = given;
  const dismissed: (readonly string[])[] = [];
  const taken: (readonly string[])[] = [];
  const received: ReceivedAlert[] = [];
  const adviser: AdviserOutput = {
    latest: () => advice,
    dismiss(id, by, reason) {
      const isOpen = advice.recommendations.some((one) => one.id === id && one.state === "open");
      if (!isOpen) return false;
      dismissed.push([id, by, reason]);
      const closed = { state: "dismissed", closedAt: at, closedBecause: `${by}: ${reason}` } as const;
      const close = (one: Advice["recommendations"][number]) => (one.id === id ? { ...one, ...closed } : one);
      advice = { ...advice, recommendations: advice.recommendations.map(close) };
      return true;
    },
    take(id, by) {
      const isOpen = advice.recommendations.some((one) => one.id === id && one.state === "open");
      if (!isOpen) return false;
      taken.push([id, by]);
      const closed = { state: "taken", closedAt: at, closedBecause: `${by} says that it is done` } as const;
      const close = (one: Advice["recommendations"][number]) => (one.id === id ? { ...one, ...closed } : one);
      advice = { ...advice, recommendations: advice.recommendations.map(close) };
      return true;
    },
    receive: (alerts) => {
      received.push(...alerts);
      return advice;
    },
  };
  return { adviser, dismissed, taken, received };
}

/** A server of one moment and that adviser. */
export async function startAdvised(adviser: AdviserOutput, outputs: Partial<Outputs> = {}): Promise<RunningServer> {
  const limits = { teams: 10, series: 1000 };
  const publication = buildPublication({ analysis: smallMoment, health: health(), limits }, "");
  const started = await startServer({
    handler: createApp({
      cluster: health().cluster,
      latest: () => publication,
      health: () => health(),
      explain: () => null,
      now: () => at,
      limits,
      processMetrics: async () => "",
      telemetryPath: "/metrics",
      users,
      adviser,
      ...outputs,
    }),
    listenAddress: "127.0.0.1:0",
    web: openWebConfig,
    onProblem: (message) => expect.fail(message),
  });
  if (!started.ok) throw new Error(started.error);
  return started.server;
}

/** The page of metrics of a cycle with that advice, as it is served at a moment. */
export async function askPage(advice: Advice, now: number): Promise<string> {
  const limits = { teams: 10, series: 50_000 };
  const publication = buildPublication({ analysis: smallMoment, health: health(), limits, advice }, "");
  const outputs = { latest: () => publication, now: () => now, users: {} };
  const server = await startAdvised(scriptedAdviser(advice).adviser, outputs);
  try {
    return await (await fetch(`${server.url}/metrics`)).text();
  } finally {
    await server.close();
  }
}
