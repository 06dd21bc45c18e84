import type { TeamRow } from "./use.ts";

/** How far the GPU time of a team got, GPU-hours; each step is a part of the one before. `null`: not known. */
export interface Goodput {
  /** Allocated, and not waiting for the rest of a gang, for a start, or for a GPU that cannot be used. */
  readonly whole: number | null;
  /** Of that, what evictions did not undo. */
  readonly kept: number | null;
  /** Of that, what was active: the undone part is taken to have been as active as all of it. */
  readonly productive: number | null;
  /** Productive of allocated, 0..1. */
  readonly ratio: number | null;
}

/** The steps from the sums of a team. Time without telemetry ran as well, and is not productive: nobody saw it. */
export function goodputOf(team: Pick<TeamRow, "allocated" | "active" | "whole" | "lostToEvictions">): Goodput {
  const { allocated, active, whole, lostToEvictions } = team;
  // What was undone within the window may have been done before it.
  const kept = whole === null || lostToEvictions === null ? null : Math.max(0, whole - lostToEvictions);
  const productive = kept === null || whole === null ? null : whole > 0 ? active * Math.min(1, kept / whole) : 0;
  const ratio = productive === null || allocated <= 0 ? null : Math.min(1, productive / allocated);
  return { whole, kept, productive, ratio };
}
