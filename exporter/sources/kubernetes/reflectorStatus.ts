import type { Problem } from "../../model/problem.ts";
import type { RestartReason } from "../../model/restartReasons.ts";
import type { Clock } from "./clock.ts";
import type { Setback } from "./setback.ts";

/**
 * The state of reading one kind. `starting`: nothing has been tried yet. `synced`: the cache follows the API. `forbidden`: it
 * is not allowed. `absent`: the API server does not have this kind. `failing`: anything else that keeps it from `synced`.
 */
export type KindState = "starting" | "synced" | Setback["state"];

export interface KindStatus {
  readonly state: KindState;
  /** The time when the state began, seconds since the epoch. */
  readonly since: number;
  /** The last failure; it is kept while synced, so that one can see why the kind was not. `null` if there never was one. */
  readonly lastError: string | null;
  /** Seconds since the cache was last known to be right: 0 while a watch is open; `null` if it never was. */
  readonly ageSeconds: number | null;
  /** The last resource version in lists, events and bookmarks; `null` before the first. */
  readonly resourceVersion: string | null;
  /** Number of lists that were read to their end, since the start. */
  readonly lists: number;
  /** Number of watches that were opened, since the start. */
  readonly watches: number;
  /** Numbers of watches and lists that were begun anew, since the start, by reason. */
  readonly restarts: Readonly<Record<RestartReason, number>>;
  /** Idle seconds of the slowest answer of the last two minutes, including one that is under way; `null` without any. */
  readonly answerSeconds: number | null;
  /** Number of events and pages that could not be read; each led to a new list. */
  readonly malformedMessages: number;
  /**
   * Number of objects that are left out because they could not be decoded; the first hundred of them have a problem that shows
   * why.
   */
  readonly skippedObjects: number;
  readonly problems: readonly Problem[];
}

/** A change of state, which is one line of the log. */
export interface StateChange {
  readonly kind: string;
  readonly from: KindState;
  readonly to: KindState;
  /** The reason; empty when all is well. */
  readonly message: string;
}

/** A watch or list that was begun anew, for the log. */
export interface Restart {
  readonly kind: string;
  readonly reason: RestartReason;
  /** The server's message; empty if there was none. */
  readonly message: string;
}

/** The counts of restarts before the first restart. */
export function noRestarts(): Record<RestartReason, number> {
  return { closed: 0, broken: 0, silent: 0, expired: 0, malformed: 0, "token-expired": 0 };
}

/** The state, and the facts that led to it. */
export interface StateKeeper {
  readonly state: KindState;
  readonly since: number;
  readonly lastError: string | null;
  becomeSynced(): void;
  note(message: string): void;
  setBack(setback: Setback): void;
}

export function createStateKeeper(kind: string, clock: Clock, onChange: (change: StateChange) => void): StateKeeper {
  let state: KindState = "starting";
  let since = clock.now();
  let lastError: string | null = null;
  const become = (to: KindState, message: string): void => {
    if (state === to) return;
    const from = state;
    state = to;
    since = clock.now();
    onChange({ kind, from, to, message });
  };
  return {
    get state() {
      return state;
    },
    get since() {
      return since;
    },
    get lastError() {
      return lastError;
    },
    becomeSynced: () => become("synced", ""),
    note: (message) => {
      lastError = message;
    },
    setBack: (setback) => {
      lastError = setback.message;
      become(setback.state, setback.message);
    },
  };
}
