/** When pods look busy and compute nothing for a while and then go on, by their seconds of running. */
export interface WaitSpec {
  readonly afterSeconds: number;
  readonly forSeconds: number;
  /** Again after each of these, counted from the beginning of a wait; default: once. */
  readonly everySeconds?: number;
}

/** Whether it is a time of waiting. */
export function isWaitingTime({ afterSeconds, forSeconds, everySeconds }: WaitSpec, runningSeconds: number): boolean {
  const since = runningSeconds - afterSeconds;
  return since >= 0 && (everySeconds === undefined ? since : since % everySeconds) < forSeconds;
}
