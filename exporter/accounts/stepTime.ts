import type { GapReason } from "../model/gapReasons.ts";
import type { Problem } from "../model/problem.ts";
import type { StepInterval } from "./posting.ts";

/** The time between two cycles, by both clocks. */
export interface StepTime {
  /** Wall time at the start and the end, seconds since the epoch. It decides in which hour the step is counted. */
  readonly from: number;
  readonly to: number;
  /** Monotonic seconds, which are the length of the step. */
  readonly seconds: number;
  /** Seconds between two cycles, as configured. */
  readonly intervalSeconds: number;
}

/** A step that is longer than this many intervals is not covered: too much may have happened that Fairlead did not see. */
const longestStepIntervals = 3;

/** The reason why the two moments of a step were not known well enough for a step of this length; `null` if it is covered. */
export function gapOf(time: StepTime, objectsKnown: boolean): GapReason | null {
  const { from, to, seconds, intervalSeconds } = time;
  if (!(seconds <= longestStepIntervals * intervalSeconds)) return "too-long";
  if (!(Math.abs(to - from - seconds) <= intervalSeconds)) return "clock-jump";
  return objectsKnown ? null : "stale-objects";
}

/** A part of a step that is within one hour. */
export interface HourPart {
  /** Start of the hour, seconds since the epoch. */
  readonly hour: number;
  /** Monotonic seconds of the part. */
  readonly seconds: number;
}

const hourSeconds = 3600;

/**
 * Cuts a covered step at each full hour (UTC), in proportion to its wall time. If the wall clock did not move or went back a
 * little, the whole step belongs to the hour in which it began. The parts add up to the step.
 */
export function hourParts({ from, to, seconds }: StepTime): readonly HourPart[] {
  if (!(seconds > 0)) return [];
  const parts: HourPart[] = [];
  let begin = from;
  let left = seconds;
  for (let hour = hourOf(from); hour + hourSeconds < to; hour += hourSeconds) {
    const part = (seconds * (hour + hourSeconds - begin)) / (to - from);
    parts.push({ hour, seconds: part });
    left -= part;
    begin = hour + hourSeconds;
  }
  const last = hourOf(begin);
  if (left > 0) parts.push({ hour: last, seconds: left });
  return parts;
}

function hourOf(time: number): number {
  return Math.floor(time / hourSeconds) * hourSeconds;
}

/** The problem of a step that is counted nowhere and that no source explains; it is gone with the next step. */
export function gapProblem({ from, to, seconds, gap }: StepInterval): readonly Problem[] {
  const base = { source: "accounts", severity: "warning", subject: null } as const;
  if (gap === "clock-jump") {
    const jump = Math.round(to - from - seconds);
    return [
      {
        ...base,
        code: "clock-jump",
        message: `The wall clock was set ${Math.abs(jump)} s ${jump > 0 ? "ahead" : "back"} within the last step of ${Math.round(seconds)} s, which is counted nowhere.`,
        nextStep: "Check time synchronisation (NTP) on the node that Fairlead runs on.",
      },
    ];
  }
  if (gap !== "too-long") return [];
  return [
    {
      ...base,
      code: "step-too-long",
      message: `${Math.round(seconds)} s passed between the last two cycles, more than three intervals: they are counted nowhere.`,
      nextStep: "Check whether Fairlead was throttled, starved or stopped (CPU limits, a suspended node).",
    },
  ];
}
