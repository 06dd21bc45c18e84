/**
 * Why it is not known when waiting work will start. `just-came`: it has waited for less than half a minute; `short-history`: too
 * few starts of its queue are known; `overdue`: it has waited longer than nine of ten like it; `not-calibrated`: fewer than half
 * of the latest intervals of its queue and size have held; `cannot-start`: nothing that happens in the line will start it;
 * `no-size`: its GPUs are not known; `no-line`: no queue takes it, or since when it waits is not known.
 */
export const unknownStarts = [
  "just-came",
  "short-history",
  "overdue",
  "not-calibrated",
  "cannot-start",
  "no-size",
  "no-line",
] as const;

export type UnknownStart = (typeof unknownStarts)[number];
