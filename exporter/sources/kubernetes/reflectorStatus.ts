import type { Problem } from "../../model/problem.ts";
import type { RestartReason } from "../../model/restartReasons.ts";
import type { Clock } from "./clock.ts";
import type { Setback } from "./setback.ts";

/**
 * How reading one kind is. `starting`: nothing tried yet. `synced`: the cache follows the API. `forbidden`: not
 * allowed. `absent`: the API server does not have this kind. `failing`: anything else that keeps it from `synced`.
 */
export type KindState = "starting" | "synced" | Setback["state"];

export interface KindStatus {
  readonly state: KindState;
  /** When the state began, seconds since the epoch. */
  readonly since: number;
  /** What went wrong last; kept while synced, so that one can see why it was not. `null`: never anything. */
  readonly lastError: string | null;
  /** Seconds since the cache was last known to be right: 0 while a watch is open; `null` if it never was. */
  readonly ageSeconds: number | null;
  /** Last one seen, in lists, events and bookmarks. */
  readonly resourceVersion: string | null;
  /** Lists that were read to their end, since the start. */
  readonly lists: number;
  /** Watches that were opened, since the start. */
  readonly watches: number;
  /** Watches and lists that were begun anew, since the start, by reason. */
  readonly restarts: Readonly<Record<RestartReason, number>>;
  /** Seconds of the slowest answer of the last two minutes, one under way included; `null` without any. */
  readonly answerSeconds: number | null;
  /** Events and pages that could not be read; each led to a new list. */
  readonly malformedMessages: number;
  /** Objects that are left out because they could not be decoded; the first hundred of them say why. */
  readonly skippedObjects: number;
  readonly problems: readonly Problem[];
}

/** A change of state, for the log: one line each. */
export interface StateChange {
  readonly kind: string;
  readonly from: KindState;
  readonly to: KindState;
  /** Why; empty when all is well. */
  readonly message: string;
}

/** A watch or list that was begun anew, for the log. */
export interface Restart {
  readonly kind: string;
  readonly reason: RestartReason;
  /** The server's message; empty if there was none. */
  readonly message: string;
}

/** Counts of restarts, before the first. */
export function noRestarts(): Record<RestartReason, number> {
  return { closed: 0, broken: 0, silent: 0, expired: 0, malformed: 0, "token-expired": 0 };
}

/** The state and what led to it. */
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
