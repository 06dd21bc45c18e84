/** A page of metrics that is finished. */
export interface FinishedPage {
  /** The moment that it describes, seconds since the epoch. */
  readonly at: number;
  /** Seconds between two cycles. */
  readonly intervalSeconds: number;
  readonly page: Buffer;
}

/** What the probes report. */
interface ProbeState {
  /** When the process started, seconds since the epoch. */
  readonly startedAt: number;
  /** When the last complete cycle ended, seconds since the epoch; `null` before the first one. */
  readonly lastCycleAt: number | null;
  /** Seconds between two cycles. */
  readonly intervalSeconds: number;
  /** What is missing before answers are complete, in words; empty when ready. */
  readonly missing: readonly string[];
}

/** A start page that is finished except for a notice that belongs to the moment in which it is sent. */
export interface FinishedStart {
  /** The moment that it shows, seconds since the epoch; `null`: the first cycle is not complete. */
  readonly at: number | null;
  /** The text before the place of a notice that the numbers are old; `after` is the text behind that place. */
  readonly before: string;
  readonly after: string;
}

/** The answers that are at hand, and are served at once, whatever the exporter is doing. */
export interface Finished {
  /** The page of the last complete cycle; `null` before the first one. */
  readonly page: () => FinishedPage | null;
  /** The start page of the last cycle, or of what is known before the first one; `null`: nothing is known yet. */
  readonly start: () => FinishedStart | null;
  readonly probe: () => ProbeState;
  /** The present time, seconds since the epoch, on the clock of the page. */
  readonly now: () => number;
}
