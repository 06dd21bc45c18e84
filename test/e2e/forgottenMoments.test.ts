import { afterAll, beforeAll, expect, it } from "vitest";
import { type MemoryPlay, playInMemory } from "../../cli/demo/playInMemory.ts";
import type { Analysis } from "../../exporter/analysis/analysis.ts";
import { configSchema } from "../../exporter/config/schema.ts";
import { demoScenario } from "../../simulator/scenarios/demo.ts";
import { untilCollected } from "../untilCollected.ts";

const startAt = Date.parse("2026-11-16T12:00:00Z") / 1000;
const moments = 10;
/** The answers of the last cycle, and those that it was compared with. */
const kept = 2;

let play: MemoryPlay;

beforeAll(async () => {
  const config = configSchema.parse({ cluster: "demo", teams: [{ from: "namespace-label", key: "team" }] });
  play = await playInMemory({ scenario: demoScenario(), seed: 1, startAt, config });
});

afterAll(() => play.stop());

/** The lists that are made anew in each moment, by name, without holding on to any of them. */
function listsOf({ snapshot }: Analysis): readonly (readonly [string, WeakRef<object>])[] {
  const { devices, pods, workloads, queueing } = snapshot;
  const { queues, gangs } = queueing;
  return Object.entries({ snapshot, devices, pods, workloads, queues, gangs }).map(
    ([name, list]) => [name, new WeakRef<object>(list)] as const,
  );
}

async function lived(): Promise<readonly (readonly [string, WeakRef<object>])[]> {
  await play.step(30);
  const analysis = play.stack.cycle.latest();
  if (analysis === null) throw new Error("the cycle failed");
  return listsOf(analysis);
}

it("lets go of every moment before the last ones, whoever compares a moment with the one before", async () => {
  const all: (readonly (readonly [string, WeakRef<object>])[])[] = [];
  for (let moment = 0; moment < moments; moment += 1) all.push(await lived());
  const left = (): readonly string[] =>
    all
      .slice(0, -kept)
      .flatMap((lists, moment) =>
        lists.flatMap(([name, list]) => (list.deref() === undefined ? [] : [`${name} of ${moment}`])),
      );
  await untilCollected(() => left().length === 0);
  expect(left()).toEqual([]);
});
