import { parseJson } from "../../kernel/parseJson.ts";
import type { Habit, IdleSpell } from "./habit.ts";
import { spellsOfCluster, spellsPerHabit } from "./habit.ts";
import type { Habits } from "./watchHabits.ts";

/** Kind of the rows in the ledger's `remembered`. */
const habitKind = "habit";

/** A row of the ledger; the value `null` removes it. */
export interface HabitRow {
  readonly kind: string;
  readonly key: string;
  readonly value: string | null;
}

/** The rows for habits that have changed. */
export const habitRows = (changed: ReadonlyMap<string, Habit | null>): readonly HabitRow[] =>
  [...changed].map(([key, habit]) => ({ kind: habitKind, key, value: habit === null ? null : habitText(habit) }));

/** A habit as text. Spells are seconds, which are negative if they did not end in work, so that a row is short. */
function habitText({ firstSeenAt, seenAt, hasWorked, spells, longestReturnSeconds }: Habit): string {
  const signed = spells.map(({ seconds, returned }) => Math.round(returned ? seconds : -seconds));
  return JSON.stringify({ firstSeenAt, seenAt, hasWorked, longestReturnSeconds, spells: signed });
}

/**
 * The habits in the rows of the ledger; rows that cannot be read are left out. The spells of all work are those of the habits.
 */
export function habitsIn(
  rows: readonly { readonly kind: string; readonly key: string; readonly value: string }[],
): Pick<Habits, "known" | "cluster"> {
  const known = new Map<string, Habit>();
  for (const { kind, key, value } of rows) {
    if (kind !== habitKind) continue;
    const habit = habitOf(value);
    if (habit !== null) known.set(key, habit);
  }
  const lately = [...known.values()].sort((a, b) => a.seenAt - b.seenAt);
  return { known, cluster: lately.flatMap(({ spells }) => spells).slice(-spellsOfCluster) };
}

function habitOf(text: string): Habit | null {
  const value = parseJson(text);
  if (typeof value !== "object" || value === null) return null;
  if (!("firstSeenAt" in value && "seenAt" in value && "hasWorked" in value)) return null;
  if (!("longestReturnSeconds" in value && "spells" in value)) return null;
  const { firstSeenAt, seenAt, hasWorked, longestReturnSeconds, spells } = value;
  if (!isTime(firstSeenAt) || !isTime(seenAt) || !isTime(longestReturnSeconds)) return null;
  if (typeof hasWorked !== "boolean" || !Array.isArray(spells)) return null;
  const read: IdleSpell[] = [];
  for (const spell of spells.slice(-spellsPerHabit)) {
    if (typeof spell !== "number" || !Number.isFinite(spell)) return null;
    read.push({ seconds: Math.abs(spell), returned: spell > 0 });
  }
  return { firstSeenAt, seenAt, hasWorked, spells: read, longestReturnSeconds };
}

const isTime = (value: unknown): value is number => typeof value === "number" && Number.isFinite(value) && value >= 0;
