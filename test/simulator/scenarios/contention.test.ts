import { describe, expect, it } from "vitest";
import { reportTruth } from "../../../simulator/cluster/report.ts";
import { createLivedInWorld, step } from "../../../simulator/cluster/step.ts";
import type { World } from "../../../simulator/cluster/world.ts";
import { deservedByQueue } from "../../../simulator/queues/volcanoRules.ts";
import type { TruthQueue } from "../../../simulator/truth.ts";
import { contentionScenario } from "./contention.ts";

const startAt = 1_790_000_000;
const systems = ["kueue", "kai", "volcano"] as const;

function queueOf(world: World, name: string): TruthQueue {
  const found = reportTruth(world).queues.find(({ queue }) => queue === name);
  if (found === undefined) throw new Error(`no queue ${name}`);
  return found;
}

function afterAnHour(world: World): World {
  for (let i = 0; i < 360; i++) step(world, 10, () => false);
  return world;
}

describe.each(systems)("contention in %s", (system) => {
  it("what was borrowed comes back to the queue that is sure of it", () => {
    const world = afterAnHour(createLivedInWorld(contentionScenario(system, true), 1, startAt));
    expect(queueOf(world, "red").allocated).toBe(16);
    expect(queueOf(world, "blue").allocated).toBe(16);
    expect(queueOf(world, "red").evictions).toBeGreaterThan(0);
  });

  it("GPUs of queues are those of GPUs, at every step", () => {
    const world = createLivedInWorld(contentionScenario(system, true), 2, startAt);
    for (let i = 0; i < 120; i++) {
      step(world, 10, () => false);
      const truth = reportTruth(world);
      const onGpus = truth.teams.reduce((sum, { allocated }) => sum + allocated, 0);
      expect(truth.queues.reduce((sum, { allocated }) => sum + allocated, 0)).toBe(onGpus);
      expect(onGpus).toBeLessThanOrEqual(32);
    }
  });
});

it.each(["kueue", "volcano"] as const)("without reclaim, blue starves in %s while red keeps all", (system) => {
  const world = afterAnHour(createLivedInWorld(contentionScenario(system, false), 1, startAt));
  expect(queueOf(world, "red").allocated).toBe(32);
  expect(queueOf(world, "blue")).toMatchObject({ allocated: 0, waiting: 16 });
});

it("volcano's proportion: by weight, up to the request, at least the guarantee", () => {
  const queue = { guarantee: null, deserved: null, capability: null, reclaimable: true };
  const queues = [
    { ...queue, name: "a", weight: 1 },
    { ...queue, name: "b", weight: 3 },
    { ...queue, name: "c", weight: 1, guarantee: 4 },
  ];
  const asked = new Map([
    ["a", 100],
    ["b", 10],
    ["c", 1],
  ]);
  const deserved = deservedByQueue({ plugin: "proportion", queues }, asked, 40);
  expect(deserved.get("b")).toBeCloseTo(10);
  expect(deserved.get("c")).toBeCloseTo(4);
  expect(deserved.get("a")).toBeGreaterThan(25);
});
