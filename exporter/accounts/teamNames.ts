import { labelValue } from "../kernel/labelValue.ts";
import { keptUnusedSeconds } from "./seriesTable.ts";

/** The teams that have series of their own, bounded in number. */
export interface TeamNames {
  /** The label of a team that is counted now: its own, or `other`. */
  label(team: string | null): string;
  /** Begins a moment, seconds since the epoch. */
  begin(at: number): void;
}

const other = "other";

/**
 * The first `limit` teams are named, as long as something of theirs is counted within an hour; after that, when others need
 * the place, `forget` receives the labels that are given up.
 */
export function createTeamNames(limit: number, forget: (labels: ReadonlySet<string>) => void): TeamNames {
  /** When each team was last counted. */
  const named = new Map<string, number>();
  let now = 0;

  function giveBack(): boolean {
    const gone = new Set<string>();
    for (const [label, usedAt] of named) if (usedAt < now - keptUnusedSeconds) gone.add(label);
    for (const label of gone) named.delete(label);
    if (gone.size > 0) forget(gone);
    return gone.size > 0;
  }

  return {
    label(team) {
      const label = labelValue(team ?? "");
      if (label === "") return label;
      if (!named.has(label) && named.size >= limit && !giveBack()) return other;
      named.set(label, now);
      return label;
    },
    begin(at) {
      now = at;
    },
  };
}
