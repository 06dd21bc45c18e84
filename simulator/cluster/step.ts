import { freeGpusFor } from "../queues/freeGpus.ts";
import { kaiRules } from "../queues/kaiRules.ts";
import { kueueRules } from "../queues/kueueRules.ts";
import { askedGpus } from "../queues/membership.ts";
import type { QueueRules } from "../queues/rules.ts";
import { volcanoRules } from "../queues/volcanoRules.ts";
import { nameSuffix, type RandomStream } from "../random.ts";
import type { Habit, Scenario, Season } from "../scenario.ts";
import { scaleNodes } from "./autoscaler.ts";
import { collect } from "./collect.ts";
import { createWorld } from "./createWorld.ts";
import { noteUse, sharesByUse } from "./kaiUse.ts";
import { admit, createWorkload, endPods, evict, settleClaims, startPods } from "./lifecycle.ts";
import { noteCheckpoints } from "./lostWork.ts";
import { partitionNodes } from "./migManager.ts";
import { settleOwners, wantedPods } from "./owners.ts";
import { accepts, bindToGpus, isSchedulable } from "./placement.ts";
import { priorityOf, schedule } from "./scheduler.ts";
import { followSessions } from "./sessions.ts";
import { isPlacing, topologyMisfit } from "./topology.ts";
import type { PhysicalGpu, SimNode, Workload, World } from "./world.ts";
import { isInService } from "./xid.ts";

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
  // Steps of usual length have one look at most, so that earlier simulations stay as they were.
  if (looks > 0) collect(world, frozen, world.scenario.stepSeconds === undefined ? 1 : looks);
}

function capacityFalls(physicalGpu: PhysicalGpu, before: number, now: number): boolean {
  if (physicalGpu.lostTime === null) return false;
  const at = physicalGpu.lostTime + capacityDelaySeconds;
  return before < at && at <= now;
}

/** A world at `startAt` in which the scenario has already run for its warm-up. */
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

const day = 86_400;
const week = 7 * day;

/** Starts the workloads that the habits start in the next `seconds`. */
function followHabits(world: World, seconds: number): void {
  for (const habit of world.scenario.habits) {
    if (habit.everySeconds === null) continue;
    // Numbers are drawn even when nothing may start, so that the luck of one habit does not depend on the queue of another.
    const starts = startsOf(habit, world, seconds / habit.everySeconds);
    for (let i = 0; i < starts; i++) if (waitingOf(world, habit) < habit.maxWaiting) startHabit(world, habit);
  }
}

/** Creates the workloads that were to arrive after `since` (simulated time) and until now. */
function letArrive(world: World, since: number): void {
  for (const { afterSeconds, name, workload, runSeconds } of world.scenario.arrivals ?? []) {
    const at = world.start + afterSeconds;
    if (at <= since || at > world.time) continue;
    const start = { habit: null, fails: false, ageSeconds: 0, podName: null };
    createWorkload(world, { name, spec: workload, runSeconds, ...start });
  }
}

function startsOf({ season }: Habit, { random, time }: World, mean: number): number {
  if (season === undefined) return random.next() < mean ? 1 : 0;
  return poisson(random, mean * seasonFactor(season, time));
}

/** The factor of a season at a moment, given in seconds since the epoch. */
function seasonFactor({ since, growth, perWeek, day: swing, weekend }: Season, time: number): number {
  const weeks = (time - since) / week;
  const grown = growth === "linear" ? Math.max(0, 1 + perWeek * weeks) : (1 + perWeek) ** weeks;
  const hour = (time % day) / 3600;
  // The epoch began on a Thursday.
  const weekday = Math.floor(time / day + 3) % 7;
  return grown * (1 - swing * Math.cos((2 * Math.PI * (hour - 4)) / 24)) * (weekday >= 5 ? weekend : 1);
}

/** The number of events in a time in which `mean` are expected: as many exponential gaps as fit into it. */
function poisson(random: RandomStream, mean: number): number {
  const gap = (): number => -Math.log(1 - random.next());
  let count = 0;
  for (let left = mean - gap(); left > 0; left -= gap()) count += 1;
  return count;
}

/** Starts one more workload of a habit. */
function startHabit(world: World, habit: Habit): void {
  const { random } = world;
  const drawn = runSecondsOf(habit, random);
  const fails = random.next() < habit.failRatio;
  world.serial++;
  createWorkload(world, {
    name: `${habit.name}-${nameSuffix(`${world.seed}/${world.serial}`)}`,
    spec: habit.workload,
    habit,
    // Failures come early: they take half of the time.
    runSeconds: habit.runSeconds === null ? null : Math.max(30, fails ? Math.round(drawn / 2) : drawn),
    fails,
    ageSeconds: 0,
    podName: null,
  });
}

function runSecondsOf({ runSeconds, runTail }: Habit, random: RandomStream): number {
  const [shortest, longest] = runSeconds ?? [0, 0];
  if (runTail === undefined) return random.between(shortest, longest);
  const cut = 1 - (shortest / longest) ** runTail;
  return Math.round(shortest * (1 - cut * random.next()) ** (-1 / runTail));
}

function waitingOf(world: World, habit: Habit): number {
  if (habit.maxWaiting === Number.POSITIVE_INFINITY) return 0;
  const workloads = new Set<Workload>();
  for (const pod of world.waiting) if (pod.workload.habit === habit) workloads.add(pod.workload);
  for (const workload of world.workloads) {
    const isQueued = workload.admittedAt === null && workload.active && wantedPods(workload) > 0;
    if (workload.habit === habit && isQueued) workloads.add(workload);
  }
  return workloads.size;
}

/** Lets every queue system decide once who may go on to the scheduler, and who must give way. */
function admitWork(world: World): void {
  for (const rules of rulesOf(world)) decide(world, rules);
}

function rulesOf(world: World): readonly QueueRules[] {
  const { kueue, kai, volcano } = world.scenario.queueing;
  const priority = (workload: Workload): number => priorityOf(world, workload) + workload.boost;
  const free = (workload: Workload): number => freeGpusFor(world, workload) - promised(world, workload);
  const hasPlace = (workload: Workload): boolean =>
    workload.spec.topology === undefined || (!isPlacing(world) && topologyMisfit(world, workload) === null);
  const rules: QueueRules[] = [];
  if (kueue !== null) rules.push(kueueRules(kueue, priority, hasPlace));
  if (kai !== null) rules.push(kaiRules(kai.queues, priority, free, sharesByUse(world)));
  if (volcano !== null) rules.push(volcanoRules(volcano, priority, free, (workload) => usableGpusFor(world, workload)));
  return rules;
}

/** GPUs of work that was admitted but is not placed yet. */
function promised(world: World, { spec }: Workload): number {
  let gpus = 0;
  for (const pod of world.waiting) {
    const other = pod.workload;
    const isRival = other.admittedAt !== null && other.spec.request.kind === spec.request.kind;
    if (isRival && overlaps(other.spec.models, spec.models)) gpus += askedGpus(other.spec) / other.spec.pods;
  }
  return gpus;
}

function overlaps<Name>(one: readonly Name[], other: readonly Name[]): boolean {
  return one.length === 0 || other.length === 0 || one.some((name) => other.includes(name));
}

function usableGpusFor(world: World, { spec }: Workload): number {
  let gpus = 0;
  for (const node of world.nodes) {
    if (!isSchedulable(node) || !accepts(node.spec.mode, spec.request)) continue;
    gpus += node.physicalGpus.filter(isInService).length;
  }
  return gpus;
}

function decide(world: World, rules: QueueRules): void {
  const passed = new Set<Workload>();
  const blocked = new Set<string>();
  while (admitNext(world, rules, passed, blocked));
}

/**
 * Admits the first workload that may be admitted, and returns whether there was one. The order is only asked for again when
 * something has changed.
 */
function admitNext(world: World, rules: QueueRules, passed: Set<Workload>, blocked: Set<string>): boolean {
  const all = [...world.workloads].filter((each) => each.system === rules.system && each.endedTime === null);
  const waiting = all.filter((each) => each.admittedAt === null && each.active && wantedPods(each) > 0);
  const running = all.filter((each) => each.admittedAt !== null);
  for (const next of rules.order(waiting, running)) {
    if (passed.has(next) || blocked.has(next.spec.queue ?? "")) continue;
    if (!rules.allows(next, running)) {
      const victims = rules.victims(next, running);
      if (victims.length === 0) {
        next.tried = true;
        passed.add(next);
        if (rules.blocksQueue(next)) blocked.add(next.spec.queue ?? "");
        continue;
      }
      for (const { workload, reason } of victims) {
        evict(world, workload, reason, next);
        // The workload may come back in a later round, but not in the one that evicted it.
        passed.add(workload);
      }
    }
    admit(world, next);
    return true;
  }
  return false;
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
