import type { Problem } from "../model/problem.ts";
import type { StepInterval } from "./posting.ts";

/** Names a step that is counted nowhere and that no source explains; it is gone with the next step. */
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
