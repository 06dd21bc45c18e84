import { expect } from "vitest";
import { type MemoryPlay, playInMemory } from "../../../cli/demo/playInMemory.ts";
import { type Config, configSchema } from "../../../exporter/config/schema.ts";
import type { AdviceKind, Recommendation } from "../../../exporter/model/recommendation.ts";
import type { Scenario } from "../../../simulator/scenario.ts";
import type { Truth } from "../../../simulator/truth.ts";
import { startAt } from "../accounting.ts";
import { askForFewer, askForPart } from "./askForLess.ts";
import { stopWork } from "./stopWork.ts";
import { createUndo } from "./undo.ts";

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
  /** What someone does some minutes after it was seen to be taken. */
  readonly spoil?: (taken: TakenPlan) => void | Promise<void>;
  /** How long after it was taken that is, seconds; by default what it starts has just started. */
  readonly spoilAfter?: number;
  /** What must have happened, too, before it is looked at; within twelve hours. */
  readonly until?: (truth: Truth) => boolean;
}

/** Advice that was taken just now. */
export interface TakenPlan {
  readonly play: MemoryPlay;
  readonly offered: Recommendation;
  /** Before its first request was sent. */
  readonly before: Truth;
  /** Puts every object that the steps changed back to what it was. */
  undo(): Promise<void>;
}

/** One piece of advice from its detection to its measured end, beside what was really so. */
export interface ClosedLoop {
  readonly play: MemoryPlay;
  /** As it was when it was sent. */
  readonly offered: Recommendation;
  /** As it is when all has been measured. */
  readonly ended: Recommendation;
  /** Before the first request, and at the end. */
  readonly before: Truth;
  readonly after: Truth;
  /** When it was spoilt, seconds since the epoch; `null` where it was left in peace. */
  readonly spoiltAt: number | null;
}

/** How long the effect of taken advice is measured here. */
const measuredMinutes = 20;
/** Seconds for which a person waits where a step says that something must have happened; it is looked at meanwhile. */
const waitSeconds = 40;
const longestUntil = 12 * 3600;
/** By then what it starts has started. */
const usualSpoilAfter = 300;

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
export const recommendationsNow = ({ stack }: Pick<MemoryPlay, "stack">): readonly Recommendation[] =>
  stack.latest()?.advice.recommendations ?? [];

/** What the nodes that are cut offer in the scenario of `share_gpu`. */
const smallInstance = "nvidia.com/mig-1g.10gb";

/** Sends the steps of advice as they are there, and waits where they say so; what only asks is done by its owner. */
async function carryOut(play: MemoryPlay, offered: Recommendation): Promise<void> {
  const { kind, act, steps, targets } = offered;
  if (kind === "right_size") await askForFewer(play, offered);
  else if (kind === "share_gpu") await askForPart(play, offered, smallInstance);
  else if (act === "ask") for (const target of targets) await stopWork(play, target);
  for (const { request, title, waitFor } of steps) {
    const { code, message } = await play.write(request);
    expect(code, `${title}: ${message}`).toBeLessThan(300);
    if (waitFor !== null) await play.step(waitSeconds);
  }
}

/** Plays a cluster until advice of the kind comes, carries it out, plays on until its effect is measured, and looks at it. */
export async function closeLoop(options: LoopOptions, look: (loop: ClosedLoop) => void | Promise<void>): Promise<void> {
  const { kind, scenario, seed, interval, openWithin, advice } = options;
  const play = await playInMemory({ scenario, seed, startAt, config: loopConfig(interval, advice) });
  try {
    const offered = await firstOpen(play, kind, interval, openWithin);
    const before = play.cluster.truth();
    const undo = createUndo(play, offered);
    await carryOut(play, offered);
    const { spoil, spoilAfter = usualSpoilAfter } = options;
    const spoiling =
      spoil === undefined ? null : { after: spoilAfter, run: () => spoil({ play, offered, before, undo }) };
    const { ended, spoiltAt } = await untilMeasured(play, offered, options, spoiling);
    await look({ play, offered, ended, before, after: play.cluster.truth(), spoiltAt });
  } finally {
    await play.stop();
  }
}

async function firstOpen(
  play: MemoryPlay,
  kind: AdviceKind,
  interval: number,
  within: number,
): Promise<Recommendation> {
  await play.step(0);
  for (let passed = 0; passed <= within; passed += interval) {
    const found = recommendationsNow(play).find((one) => one.kind === kind && one.state === "open");
    if (found !== undefined) return found;
    await play.step(interval);
  }
  const withheld = play.stack.latest()?.advice.withheld ?? [];
  throw new Error(`no ${kind} within ${within} s: ${JSON.stringify(withheld.slice(0, 5))}`);
}

async function untilMeasured(
  play: MemoryPlay,
  offered: Recommendation,
  { interval, until }: LoopOptions,
  spoiling: { readonly after: number; readonly run: () => void | Promise<void> } | null,
): Promise<Pick<ClosedLoop, "ended" | "spoiltAt">> {
  const more = (spoiling?.after ?? 0) + (until === undefined ? 0 : longestUntil);
  const cycles = Math.ceil((measuredMinutes * 60 + 1800 + more) / interval);
  let isOver = until === undefined;
  let spoiltAt: number | null = null;
  for (let cycle = 0; cycle < cycles; cycle++) {
    const now = recommendationsNow(play).find(
      ({ id, firstSeenAt }) => id === offered.id && firstSeenAt === offered.firstSeenAt,
    );
    const isSeen = spoiling === null || (spoiltAt !== null && play.cluster.now() - spoiltAt >= 2 * interval);
    if (now?.measured?.isFinal === true && isSeen && isOver) return { ended: now, spoiltAt };
    // Looked at before the next cycle, which then sees it.
    isOver ||= until?.(play.cluster.truth()) === true;
    if (now !== undefined && now.state !== "open" && now.state !== "taken")
      throw new Error(`${now.title} was ${now.state}: ${now.closedBecause}`);
    const age = now?.state === "taken" ? play.cluster.now() - (now.closedAt ?? 0) : -1;
    if (spoiling !== null && spoiltAt === null && age >= spoiling.after) {
      spoiltAt = play.cluster.now();
      await spoiling.run();
    }
    await play.step(interval);
  }
  throw new Error(`${offered.title}: nobody saw that it was taken`);
}
