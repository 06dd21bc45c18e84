import type { TeamRow } from "./use.ts";

/** How far the GPU time of a team got, GPU-hours; each step is a part of the one before. `null`: not known. */
export interface Goodput {
  /** Allocated time that did not wait for the rest of a gang, for a start, or for a GPU that cannot be used. */
  readonly whole: number | null;
  /**
   * The part of `whole` that evictions undid, never more than there was; `undoneByFailures` is what failures of programs undid
   * besides.
   */
  readonly undoneByEvictions: number | null;
  readonly undoneByFailures: number | null;
  /** The part of `whole` that was not undone. */
  readonly kept: number | null;
  /** The part of `kept` that was active; the undone part is taken to have been as active as the rest. */
  readonly productive: number | null;
  /** `productive` divided by the allocated time, 0..1. */
  readonly ratio: number | null;
}

type Sums = Pick<TeamRow, "allocated" | "active" | "whole" | "lostToEvictions" | "lostToFailures">;

/**
 * Derives the steps from the sums of a team. Time without telemetry counts as `whole`, but not as productive, because nobody
 * saw it.
 */
export function goodputOf({ allocated, active, whole, lostToEvictions, lostToFailures }: Sums): Goodput {
  // Work that was undone within the window may have been done before it, so the loss can exceed what there is.
  const undoneByEvictions = whole === null || lostToEvictions === null ? null : Math.min(whole, lostToEvictions);
  const left = whole === null || undoneByEvictions === null ? null : whole - undoneByEvictions;
  const undoneByFailures = left === null || lostToFailures === null ? null : Math.min(left, lostToFailures);
  const kept = left === null || undoneByFailures === null ? null : left - undoneByFailures;
  const productive = kept === null || whole === null ? null : whole > 0 ? active * Math.min(1, kept / whole) : 0;
  const ratio = productive === null || allocated <= 0 ? null : Math.min(1, productive / allocated);
  return { whole, undoneByEvictions, undoneByFailures, kept, productive, ratio };
}
