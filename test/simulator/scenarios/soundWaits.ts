import type { WaitSpec } from "../../../simulator/waits.ts";

/** Waits of work that is sound; all are shorter than what makes a GPU stalled. */
export const soundWaits = {
  /** Graphs are captured and ranks meet before the first step. */
  warmUp: { afterSeconds: 0, forSeconds: 720 },
  /** All ranks wait until a checkpoint is written. */
  checkpoint: { afterSeconds: 1_500, forSeconds: 300, everySeconds: 1_800 },
  /** All ranks wait for the slowest one. */
  barrier: { afterSeconds: 1_200, forSeconds: 600, everySeconds: 3_600 },
} as const satisfies Readonly<Record<string, WaitSpec>>;
