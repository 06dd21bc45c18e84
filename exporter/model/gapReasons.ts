/**
 * Why an interval is counted nowhere. `too-long`: it is longer than three cycles, because the process slept, was stopped, or
 * restarted; `clock-jump`: wall clock and monotonic clock disagree by more than a cycle; `stale-objects`: nodes or pods could
 * not be read freshly enough.
 */
export const gapReasons = ["too-long", "clock-jump", "stale-objects"] as const;

export type GapReason = (typeof gapReasons)[number];
