import { expect } from "vitest";
import { type PlayedCluster, playCluster } from "../../../cli/demo/playCluster.ts";
import { playFully } from "../../../cli/demo/playFully.ts";
import { sendRequest } from "../../../cli/demo/sendRequest.ts";
import { type Config, configSchema } from "../../../exporter/config/schema.ts";
import type { AdviceKind, Recommendation } from "../../../exporter/model/recommendation.ts";
import type { Scenario } from "../../../simulator/scenario.ts";
import type { Truth } from "../../../simulator/truth.ts";
import { startAt } from "../books.ts";

/** What is played until one piece of advice was taken and its effect has been seen. */
export interface LoopOptions {
  readonly kind: AdviceKind;
  readonly scenario: Scenario;
  readonly seed: number;
  /** Seconds between two cycles of the exporter. */
  readonly interval: number;
  /** Seconds within which the advice must be open. */
  readonly openWithin: number;
  readonly advice?: Partial<Config["advice"]>;
}

/** One piece of advice from its sight to its measured end, beside what was really so. */
export interface ClosedLoop {
  readonly cluster: PlayedCluster;
  /** As it was when it was sent. */
  readonly offered: Recommendation;
  /** As it is when all has been measured. */
  readonly ended: Recommendation;
  /** Before the first request, and at the end. */
  readonly before: Truth;
  readonly after: Truth;
}

/** How long the effect of taken advice is measured here. */
const measuredMinutes = 20;
/** Seconds for which a person waits where a step says that something must have happened; it is looked at meanwhile. */
const waitSeconds = 40;

/** Settings of the exporter in these plays. */
export function loopConfig(interval: number, advice: Partial<Config["advice"]> = {}): Config {
  return configSchema.parse({
    cluster: "loop",
    interval,
    teams: [{ from: "namespace-label", key: "team" }],
    advice: { standingCycles: 2, coolDownMinutes: measuredMinutes, idleNodeMinutes: 30, ...advice },
  });
}

/** All advice that is shown now. */
export const recommendationsNow = ({ stack }: PlayedCluster): readonly Recommendation[] =>
  stack.latest()?.advice.recommendations ?? [];

/** Sends the steps of advice as they stand there, and waits where they say so. */
export async function carryOut(cluster: PlayedCluster, { steps }: Recommendation): Promise<void> {
  for (const { request, title, waitFor } of steps) {
    const { code, message } = await sendRequest(cluster.simulator.apiUrl, request);
    expect(code, `${title}: ${message}`).toBeLessThan(300);
    if (waitFor !== null) await playFully(cluster, waitSeconds);
  }
}

/** Plays a cluster until advice of the kind comes, carries it out, plays on until its effect is measured, and looks at it. */
export async function closeLoop(options: LoopOptions, look: (loop: ClosedLoop) => void | Promise<void>): Promise<void> {
  const { kind, scenario, seed, interval, openWithin, advice } = options;
  const cluster = await playCluster({ scenario, seed, startAt, config: loopConfig(interval, advice) });
  try {
    const offered = await firstOpen(cluster, kind, interval, openWithin);
    const before = cluster.simulator.truth();
    await carryOut(cluster, offered);
    const ended = await untilMeasured(cluster, offered, interval);
    await look({ cluster, offered, ended, before, after: cluster.simulator.truth() });
  } finally {
    await cluster.stop();
  }
}

async function firstOpen(
  cluster: PlayedCluster,
  kind: AdviceKind,
  interval: number,
  within: number,
): Promise<Recommendation> {
  await playFully(cluster, 0);
  for (let passed = 0; passed <= within; passed += interval) {
    const found = recommendationsNow(cluster).find((one) => one.kind === kind && one.state === "open");
    if (found !== undefined) return found;
    await playFully(cluster, interval);
  }
  const withheld = cluster.stack.latest()?.advice.withheld ?? [];
  throw new Error(`no ${kind} within ${within} s: ${JSON.stringify(withheld.slice(0, 5))}`);
}

async function untilMeasured(
  cluster: PlayedCluster,
  offered: Recommendation,
  interval: number,
): Promise<Recommendation> {
  const cycles = Math.ceil((measuredMinutes * 60 + 1800) / interval);
  for (let cycle = 0; cycle < cycles; cycle++) {
    const now = recommendationsNow(cluster).find(
      ({ id, firstSeenAt }) => id === offered.id && firstSeenAt === offered.firstSeenAt,
    );
    if (now?.measured?.isFinal === true) return now;
    if (now !== undefined && now.state !== "open" && now.state !== "taken")
      throw new Error(`${now.title} was ${now.state}: ${now.closedBecause}`);
    await playFully(cluster, interval);
  }
  throw new Error(`${offered.title}: nobody saw that it was taken`);
}
