import { readlinkSync } from "node:fs";
import { getPriority, setPriority } from "node:os";

/** How much less urgent computing is than answering, in the units of `nice`. */
const niceness = 5;

/**
 * Lets other threads of the process run first where cores are short; threads that this one starts are like it. Linux keeps a
 * priority for each thread, and shares of different containers do not depend on it. Elsewhere nothing changes.
 */
export function giveWay(): void {
  try {
    const thread = /^\d+\/task\/(\d+)$/.exec(readlinkSync("/proc/thread-self"))?.[1];
    if (thread !== undefined) setPriority(Number(thread), Math.min(19, getPriority(Number(thread)) + niceness));
  } catch {
    // Without it, threads take turns.
  }
}
