import type { Scenario } from "../scenario.ts";
import { admitWork } from "./admission.ts";
import { followHabits, letArrive, startHabit } from "./arrivals.ts";
import { scaleNodes } from "./autoscaler.ts";
import { collect } from "./collect.ts";
import { createWorld } from "./createWorld.ts";
import { noteUse } from "./kaiUse.ts";
import { createWorkload, endPods, settleClaims, startPods } from "./lifecycle.ts";
import { noteCheckpoints } from "./lostWork.ts";
import { partitionNodes } from "./migManager.ts";
import { settleOwners } from "./owners.ts";
import { bindToGpus } from "./placement.ts";
import { schedule } from "./scheduler.ts";
import { followSessions } from "./sessions.ts";
import type { PhysicalGpu, SimNode, World } from "./world.ts";

/** Longest step of simulated time, seconds, where the scenario says nothing else. */
const usualStepSeconds = 10;

/** Longest step of simulated time, seconds. */
export function longestStep(scenario: Scenario): number {
  return scenario.stepSeconds ?? usualStepSeconds;
}

/** Seconds after which the device plugin also takes a lost GPU out of the node's capacity. */
export const capacityDelaySeconds = 60;

/** Moves time by `seconds` (at most `longestStep`) and lets everything happen that is due. */
export function step(world: World, seconds: number, frozen: (node: SimNode) => boolean): void {
  const before = world.time;
  world.time += seconds;
  followSessions(world, seconds);
  settleOwners(world);
  endPods(world);
  startPods(world);
  followHabits(world, seconds);
  letArrive(world, before);
  admitWork(world);
  schedule(world);
  noteUse(world, seconds);
  settleClaims(world);
  for (const node of world.nodes) {
    if (node.physicalGpus.some((physicalGpu) => capacityFalls(physicalGpu, before, world.time)))
      world.dirtyNodes.add(node);
  }
  noteCheckpoints(world, before);
  partitionNodes(world);
  scaleNodes(world);
  const { collectionInterval } = world.scenario;
  const looks = Math.floor(world.time / collectionInterval) - Math.floor(before / collectionInterval);
  // Steps of usual length hold one look at most, so that what was simulated before stays as it was.
  if (looks > 0) collect(world, frozen, world.scenario.stepSeconds === undefined ? 1 : looks);
}

function capacityFalls(physicalGpu: PhysicalGpu, before: number, now: number): boolean {
  if (physicalGpu.lostTime === null) return false;
  const at = physicalGpu.lostTime + capacityDelaySeconds;
  return before < at && at <= now;
}

/** A world at `startAt` in which the scenario has already lived for its warm-up. */
export function createLivedInWorld(scenario: Scenario, seed: number, startAt: number): World {
  const world = createWorld(scenario, seed, startAt - scenario.warmupSeconds);
  placeGiven(world);
  for (const habit of scenario.habits) for (let i = 0; i < habit.initial; i++) startHabit(world, habit);
  letArrive(world, Number.NEGATIVE_INFINITY);
  admitWork(world);
  schedule(world);
  settleClaims(world);
  const neverFrozen = (): boolean => false;
  const longest = longestStep(scenario);
  while (world.time < startAt) step(world, Math.min(longest, startAt - world.time), neverFrozen);
  if (world.observedAt === null) collect(world, neverFrozen, 1);
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
    const physicalGpus = placed.physicalGpus.flatMap((index) => node.physicalGpus[index] ?? []);
    bindToGpus(world, pod, node, physicalGpus);
  }
}
