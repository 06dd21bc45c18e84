import type { TeamRow } from "./use.ts";

/** What a team allocated and did not use, GPU-hours. Reviews from before the state `stalled` have that time among the active. */
export const wastedHours = ({ idle, stalled, underutilized }: TeamRow): number => idle + (stalled ?? 0) + underutilized;
