import type { Scenario } from "../scenario.ts";
import { admitWork } from "./admission.ts";
import { collect } from "./collect.ts";
import { createWorkload, endPods, followHabits, settleClaims, startHabit, startPods } from "./lifecycle.ts";
import { bindToCards } from "./placement.ts";
import { schedule } from "./scheduler.ts";
import { type Card, createWorld, type SimNode, type World } from "./world.ts";

/** Longest step of simulated time, seconds. */
export const stepSeconds = 10;

/** Seconds after which the device plugin also takes a lost card out of the node's capacity. */
export const capacityDelaySeconds = 60;

/** Moves time by `seconds` (at most `stepSeconds`) and lets everything happen that is due. */
export function step(world: World, seconds: number, frozen: (node: SimNode) => boolean): void {
  const before = world.time;
  world.time += seconds;
  endPods(world);
  startPods(world);
  followHabits(world, seconds);
  admitWork(world);
  schedule(world);
  settleClaims(world);
  for (const node of world.nodes) {
    if (node.cards.some((card) => capacityFalls(card, before, world.time))) world.dirtyNodes.add(node);
  }
  const { collectionInterval } = world.scenario;
  if (Math.floor(world.time / collectionInterval) > Math.floor(before / collectionInterval)) collect(world, frozen);
}

function capacityFalls(card: Card, before: number, now: number): boolean {
  if (card.lostTime === null) return false;
  const at = card.lostTime + capacityDelaySeconds;
  return before < at && at <= now;
}

/** A world at `startAt` in which the scenario has already lived for its warm-up. */
export function createLivedInWorld(scenario: Scenario, seed: number, startAt: number): World {
  const world = createWorld(scenario, seed, startAt - scenario.warmupSeconds);
  placeGiven(world);
  for (const habit of scenario.habits) for (let i = 0; i < habit.initial; i++) startHabit(world, habit);
  admitWork(world);
  schedule(world);
  settleClaims(world);
  const neverFrozen = (): boolean => false;
  while (world.time < startAt) step(world, Math.min(stepSeconds, startAt - world.time), neverFrozen);
  if (world.observedAt === null) collect(world, neverFrozen);
  return world;
}

function placeGiven(world: World): void {
  for (const placed of world.scenario.placed) {
    const { pods } = createWorkload(world, {
      name: placed.name,
      spec: placed.workload,
      habit: null,
      runSeconds: null,
      fails: false,
      ageSeconds: placed.ageSeconds,
      podName: placed.name,
    });
    const [pod] = pods;
    const node = world.nodesByName.get(placed.node ?? "");
    if (pod === undefined || node === undefined) continue;
    const cards = placed.cards.flatMap((index) => node.cards[index] ?? []);
    bindToCards(world, pod, node, cards);
  }
}
