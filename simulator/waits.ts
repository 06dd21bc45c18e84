/** When pods look busy and compute nothing for a while and then go on, by their seconds of running. */
export interface WaitSpec {
  readonly afterSeconds: number;
  readonly forSeconds: number;
  /** Again after each of these, counted from the beginning of a wait; default: once. */
  readonly everySeconds?: number;
}

/** Waits of work that is sound; all are shorter than what makes a GPU stalled. */
export const soundWaits = {
  /** Graphs are captured and ranks meet before the first step. */
  warmUp: { afterSeconds: 0, forSeconds: 720 },
  /** All ranks wait until a checkpoint is written. */
  checkpoint: { afterSeconds: 1_500, forSeconds: 300, everySeconds: 1_800 },
  /** All ranks wait for the slowest one. */
  barrier: { afterSeconds: 1_200, forSeconds: 600, everySeconds: 3_600 },
} as const satisfies Readonly<Record<string, WaitSpec>>;

/** Whether it is a time of waiting. */
export function isWaitingTime({ afterSeconds, forSeconds, everySeconds }: WaitSpec, runningSeconds: number): boolean {
  const since = runningSeconds - afterSeconds;
  return since >= 0 && (everySeconds === undefined ? since : since % everySeconds) < forSeconds;
}
