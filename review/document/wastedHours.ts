import type { TeamRow } from "./use.ts";

/** What was allocated to a team and not used, GPU-hours. Reviews from before the state `stalled` have that time among the active. */
export const wastedHours = ({ idle, stalled, underutilized }: TeamRow): number => idle + (stalled ?? 0) + underutilized;
