import type { TeamRow } from "./use.ts";

/**
 * What was allocated to a team and not used, GPU-hours. Reviews that are older than the state `stalled` have that time in
 * `active`.
 */
export const wastedHours = ({ idle, stalled, underutilized }: TeamRow): number => idle + (stalled ?? 0) + underutilized;
