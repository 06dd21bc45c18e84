/** When pods look busy and compute nothing for a while and then go on, by their seconds of running. */
export interface WaitSpec {
  readonly afterSeconds: number;
  readonly forSeconds: number;
  /** The time from the beginning of one wait to the next, seconds; default: there is only one wait. */
  readonly everySeconds?: number;
}

/** Whether pods wait after this many seconds of running. */
export function isWaitingTime({ afterSeconds, forSeconds, everySeconds }: WaitSpec, runningSeconds: number): boolean {
  const since = runningSeconds - afterSeconds;
  return since >= 0 && (everySeconds === undefined ? since : since % everySeconds) < forSeconds;
}
