import { nameSuffix, type RandomStream } from "../random.ts";
import type { Habit, Season } from "../scenario.ts";
import { createWorkload } from "./lifecycle.ts";
import { wantedPods } from "./owners.ts";
import type { Workload, World } from "./world.ts";

const day = 86_400;
const week = 7 * day;

/** Starts what the habits start in the next `seconds`. */
export function followHabits(world: World, seconds: number): void {
  for (const habit of world.scenario.habits) {
    if (habit.everySeconds === null) continue;
    // Drawn even when nothing may start, so that one habit's luck does not depend on another's queue.
    const starts = startsOf(habit, world, seconds / habit.everySeconds);
    for (let i = 0; i < starts; i++) if (waitingOf(world, habit) < habit.maxWaiting) startHabit(world, habit);
  }
}

/** Lets come what was to come after `since` (simulated time) and by now. */
export function letArrive(world: World, since: number): void {
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

/** The factor of a season at a moment, seconds since the epoch. */
export function seasonFactor({ since, growth, perWeek, day: swing, weekend }: Season, time: number): number {
  const weeks = (time - since) / week;
  const grown = growth === "linear" ? Math.max(0, 1 + perWeek * weeks) : (1 + perWeek) ** weeks;
  const hour = (time % day) / 3600;
  // The epoch began on a Thursday.
  const weekday = Math.floor(time / day + 3) % 7;
  return grown * (1 - swing * Math.cos((2 * Math.PI * (hour - 4)) / 24)) * (weekday >= 5 ? weekend : 1);
}

/** Events in a time in which `mean` are expected: as many exponential gaps as fit into it. */
function poisson(random: RandomStream, mean: number): number {
  const gap = (): number => -Math.log(1 - random.next());
  let count = 0;
  for (let left = mean - gap(); left > 0; left -= gap()) count += 1;
  return count;
}

/** One more workload of a habit. */
export function startHabit(world: World, habit: Habit): void {
  const { random } = world;
  const drawn = runSecondsOf(habit, random);
  const fails = random.next() < habit.failRatio;
  world.serial++;
  createWorkload(world, {
    name: `${habit.name}-${nameSuffix(`${world.seed}/${world.serial}`)}`,
    spec: habit.workload,
    habit,
    // Failures come early: half of the time is enough.
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
