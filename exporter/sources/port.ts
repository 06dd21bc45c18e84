import type { Problem } from "../model/problem.ts";

/** How old one part of a source's data is. */
export interface Freshness {
  /** The name of the part: an object kind, a target. */
  readonly part: string;
  /** Seconds since the part was last known to be right; `null` if it never was. */
  readonly ageSeconds: number | null;
  /** Whether it is recent enough to be used. */
  readonly fresh: boolean;
}

/** The freshness of a part that was last right at `goodAt` (`null` if it never was), by the clock of `now`. Seconds. */
export function freshnessOf(part: string, goodAt: number | null, now: number, maxAgeSeconds: number): Freshness {
  const ageSeconds = goodAt === null ? null : Math.max(0, now - goodAt);
  return { part, ageSeconds, fresh: ageSeconds !== null && ageSeconds <= maxAgeSeconds };
}

/**
 * The port that every folder under `sources/` offers. A source works on its own clock between `start` and `stop`; `read`
 * immediately returns the last good state and never throws.
 */
export interface Source<State> {
  readonly name: string;
  /** Resolves when the first attempt has ended, successfully or not. */
  start(): Promise<void>;
  stop(): Promise<void>;
  read(): State;
  freshness(): readonly Freshness[];
  /** The present problems; empty when all is well. */
  problems(): readonly Problem[];
}
