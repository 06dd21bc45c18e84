import type { SizeClass } from "../../model/sizeClass.ts";
import type { UnknownStart } from "../../model/unknownStarts.ts";

/** Work in the line of a queue, reduced to what its place in the line depends on. */
export interface LineWork {
  /** The name of its leaf queue. */
  readonly queue: string;
  /** The name of the quota domain in which the queue competes with others. */
  readonly domain: string;
  /** Since when it has waited, seconds since the epoch. */
  readonly since: number;
  /** Physical GPUs that it asks for, above 0. */
  readonly gpus: number;
  /** Higher ones are before it. */
  readonly priority: number;
}

/** A wait that has ended because the work started. */
export interface PastStart extends LineWork {
  /** When it started, seconds since the epoch. */
  readonly startedAt: number;
}

/** How often such intervals have held: of starts of the same queue and size class whose end is known. */
export interface StartCalibration {
  readonly queue: string;
  readonly sizeClass: SizeClass;
  readonly intervals: number;
  /** How many of them the start was in. */
  readonly held: number;
}

/** When work is expected to start: 80 % of work like it starts between `from` and `to`. Seconds since the epoch. */
export interface KnownStart {
  /** One in ten starts earlier (p10). */
  readonly from: number;
  /** Half of them start earlier (p50). */
  readonly half: number;
  /** Nine of ten start earlier (p90). */
  readonly to: number;
  /** The look at the line that the interval is from. */
  readonly lookedAt: number;
  readonly calibration: StartCalibration;
}

/** When waiting work will start, or why that is not known. */
export type StartTime = KnownStart | { readonly unknownBecause: UnknownStart };
