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
