import type { TeamRow } from "./use.ts";

/** How far the GPU time of a team got, GPU-hours; each step is a part of the one before. `null`: not known. */
export interface Goodput {
  /** Allocated, and not waiting for the rest of a gang, for a start, or for a GPU that cannot be used. */
  readonly whole: number | null;
  /** Of that, what evictions undid, and what failures of programs undid besides: never more than there was. */
  readonly undoneByEvictions: number | null;
  readonly undoneByFailures: number | null;
  /** What is left. */
  readonly kept: number | null;
  /** Of that, what was active: the undone part is taken to have been as active as all of it. */
  readonly productive: number | null;
  /** Productive of allocated, 0..1. */
  readonly ratio: number | null;
}

type Sums = Pick<TeamRow, "allocated" | "active" | "whole" | "lostToEvictions" | "lostToFailures">;

/** The steps from the sums of a team. Time without telemetry ran as well, and is not productive: nobody saw it. */
export function goodputOf({ allocated, active, whole, lostToEvictions, lostToFailures }: Sums): Goodput {
  // What was undone within the window may have been done before it.
  const undoneByEvictions = whole === null || lostToEvictions === null ? null : Math.min(whole, lostToEvictions);
  const left = whole === null || undoneByEvictions === null ? null : whole - undoneByEvictions;
  const undoneByFailures = left === null || lostToFailures === null ? null : Math.min(left, lostToFailures);
  const kept = left === null || undoneByFailures === null ? null : left - undoneByFailures;
  const productive = kept === null || whole === null ? null : whole > 0 ? active * Math.min(1, kept / whole) : 0;
  const ratio = productive === null || allocated <= 0 ? null : Math.min(1, productive / allocated);
  return { whole, undoneByEvictions, undoneByFailures, kept, productive, ratio };
}
