import type { WorkloadView } from "../../join/snapshot.ts";
import { stemOfName } from "../../kernel/stemOfName.ts";

/** A time for which work held GPUs and did nothing, after it has ended. */
export interface IdleSpell {
  readonly seconds: number;
  /** Whether it ended in work; otherwise the pods were gone. */
  readonly returned: boolean;
}

/** What is known about the pauses of one kind of work, which `habitKey` identifies. */
export interface Habit {
  /** When it was first watched, seconds since the epoch. */
  readonly firstSeenAt: number;
  /** When it was last watched, seconds since the epoch. It changes at most once a day, so that it is rarely written. */
  readonly seenAt: number;
  /** Whether it was seen working at least once. */
  readonly hasWorked: boolean;
  /** The last spells of at least `shortestSpellSeconds`, oldest first; at most `spellsPerHabit`. */
  readonly spells: readonly IdleSpell[];
  /** The longest spell that ever ended in work, seconds. */
  readonly longestReturnSeconds: number;
}

/** Shorter spells (seconds) are ignored: they show nothing about the length of pauses after which anybody would ask. */
export const shortestSpellSeconds = 600;
export const spellsPerHabit = 32;
/** The most spells of all work together that are kept: the latest ones. */
export const spellsOfCluster = 512;
/** The most kinds of work that are known at once; those that have not been seen for longest are forgotten first. */
export const mostHabits = 20_000;
/** Work that has not been seen for this long is forgotten, seconds. */
export const forgottenSeconds = 90 * 86_400;

/** The habit of work that is seen for the first time. */
export const newHabit = (at: number): Habit => ({
  firstSeenAt: at,
  seenAt: at,
  hasWorked: false,
  spells: [],
  longestReturnSeconds: 0,
});

/** A habit with one more spell; a spell that is too short changes nothing. */
export function withSpell(habit: Habit, spell: IdleSpell): Habit {
  if (spell.seconds < shortestSpellSeconds) return habit;
  return {
    ...habit,
    spells: [...habit.spells, spell].slice(-spellsPerHabit),
    longestReturnSeconds: spell.returned
      ? Math.max(habit.longestReturnSeconds, spell.seconds)
      : habit.longestReturnSeconds,
  };
}

/** Kinds that are created anew for each run: their names end in something that a generator or a person counts up. */
const madeAnew: ReadonlySet<string> = new Set([
  "Job",
  "JobSet",
  "TrainJob",
  "PyTorchJob",
  "TFJob",
  "MPIJob",
  "XGBoostJob",
  "PaddleJob",
  "JAXJob",
  "RayJob",
  "Workflow",
  "PipelineRun",
  "TaskRun",
  "ReplicaSet",
  "Pod",
]);

const longestKey = 600;
/** What people add to names to count or date their runs: `train-7`, `train-2026-11-23`. */
const countedEnd = /(?:[-.]\d+)+$/;

/**
 * A name without what a generator or a person who counts has put at its end: `train-2026-11-23-x7kq2` becomes `train`. At least
 * one part of the name stays.
 */
export const runStem = (name: string): string => stemOfName(name).replace(countedEnd, "") || name;

/**
 * What identifies work when its pods, or the Job that ran it, are new: a CronJob, Deployment or Notebook by its name, and work
 * that is created anew for each run by the stem of its name. It identifies work only within one namespace.
 */
export function habitKey({ kind, namespace, name }: Pick<WorkloadView, "kind" | "namespace" | "name">): string {
  const known = madeAnew.has(kind) ? runStem(name) : name;
  return `${kind}/${namespace}/${known}`.slice(0, longestKey);
}
