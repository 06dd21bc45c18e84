import type { RestartReason } from "../../model/restartReasons.ts";
import type { WatchEnd } from "./watchStream.ts";

/** Something that was begun anew, for the log. */
export interface Restart {
  readonly kind: string;
  readonly reason: RestartReason;
  /** The server's message; empty if there was none. */
  readonly message: string;
}

/** Why the next watch is needed. */
export function restartAfter(end: WatchEnd): Pick<Restart, "reason" | "message"> {
  if (end.type === "setback") return { reason: "broken", message: end.setback.message };
  return { reason: end.type, message: "message" in end ? end.message : "" };
}

/** Counts of restarts since the start. */
export interface RestartCounter {
  readonly counts: Readonly<Record<RestartReason, number>>;
  note(reason: RestartReason, message: string): void;
}

export function createRestartCounter(kind: string, onRestart: (restart: Restart) => void): RestartCounter {
  const counts: Record<RestartReason, number> = {
    closed: 0,
    broken: 0,
    silent: 0,
    expired: 0,
    malformed: 0,
    "token-expired": 0,
  };
  return {
    counts,
    note: (reason, message) => {
      counts[reason] += 1;
      onRestart({ kind, reason, message });
    },
  };
}
