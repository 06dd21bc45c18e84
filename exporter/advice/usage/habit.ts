import type { WorkloadView } from "../../join/snapshot.ts";
import { stemOfName } from "../../kernel/stemOfName.ts";

/** A time for which work allocated GPUs and did nothing, as it ended. */
export interface IdleSpell {
  readonly seconds: number;
  /** It ended in work; else the pods were gone. */
  readonly returned: boolean;
}

/** What is known of the pauses of one kind of work, by `habitKey`. */
export interface Habit {
  /** When it was first watched, seconds since the epoch. */
  readonly firstSeenAt: number;
  /** When it was last watched; moves on by the day only, so that it is rarely written. */
  readonly seenAt: number;
  /** It was seen working at least once. */
  readonly hasWorked: boolean;
  /** The last spells of at least `shortestSpellSeconds`, oldest first; at most `spellsPerHabit`. */
  readonly spells: readonly IdleSpell[];
  /** The longest spell that ever ended in work. */
  readonly longestReturnSeconds: number;
}

/** Shorter pauses say nothing about those after which anybody would ask. */
export const shortestSpellSeconds = 600;
export const spellsPerHabit = 32;
/** Spells of all work together, the latest ones. */
export const spellsOfCluster = 512;
/** Kinds of work that are known at once; those not seen for longest are forgotten first. */
export const mostHabits = 20_000;
/** Work that was not there for so long is forgotten. */
export const forgottenSeconds = 90 * 86_400;

/** The habit of work that is seen for the first time. */
export const newHabit = (at: number): Habit => ({
  firstSeenAt: at,
  seenAt: at,
  hasWorked: false,
  spells: [],
  longestReturnSeconds: 0,
});

/** A habit with one more spell; too short ones change nothing. */
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

/** Kinds that are made anew for each run: their names end in what a generator or a person counts up. */
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
/** What people add to count or date their runs: `train-7`, `train-2026-11-23`. */
const countedEnd = /(?:[-.]\d+)+$/;

/** The name without what a generator or a count put at its end: `train-2026-11-23-x7kq2` is `train`. At least one part stays. */
export const runStem = (name: string): string => stemOfName(name).replace(countedEnd, "") || name;

/**
 * What identifies work when its pods, or the Job that ran it, are new: a CronJob, Deployment or Notebook by its name, and work
 * that is created anew for each run by the stem of its name. Only within one team and namespace.
 */
export function habitKey({ kind, namespace, name }: Pick<WorkloadView, "kind" | "namespace" | "name">): string {
  const known = madeAnew.has(kind) ? runStem(name) : name;
  return `${kind}/${namespace}/${known}`.slice(0, longestKey);
}
