import type { TeamRow } from "./use.ts";

/** What a team held and did not use, GPU-hours. Reviews from before the state `stalled` have that time among the active. */
export const wastedHours = ({ heldIdle, stalled, underused }: TeamRow): number => heldIdle + (stalled ?? 0) + underused;
