import { shownMinute } from "../../kernel/isoTime.ts";
import type { UnknownStart } from "../../model/unknownStarts.ts";
import type { StartTimeRecord } from "../explain/entitlementSchema.ts";

const reasons: Readonly<Record<UnknownStart, string>> = {
  "just-came": "it has only just come",
  "short-history": "too few starts of its queue are known",
  overdue: "it has waited longer than 9 of 10 like it",
  "not-calibrated": "fewer than half of the last intervals of its queue and size have held",
  "cannot-start": "nothing that happens in the line will start it",
  "no-size": "its GPUs are not known",
  "no-line": "it is in no queue, or since when is not known",
};

/** When work will start: `2026-11-21 14:02 to 16:40 UTC`, or `unknown`. */
export function startText({ from, half, to }: StartTimeRecord): string {
  if (from === null || half === null || to === null) return "unknown";
  const [begin, middle, end] = [from, half, to].map(shownMinute);
  return `${begin} to ${end} UTC, half by ${middle}`;
}

/** The page that says how well such intervals have held. */
const page = "docs/backtest.md, When will it start";

/** How often such times have been right, or why it is not known, and where more about this is. */
export function calibrationText({ unknownBecause, intervals, hits }: StartTimeRecord): string {
  if (unknownBecause !== null) return `${reasons[unknownBecause]} (${page})`;
  return `from the line ahead and past starts; of the last ${intervals} such intervals of its queue and size ${Math.round((100 * hits) / Math.max(1, intervals))} % held (${page})`;
}

/** Both in one sentence. */
export function startSentence(start: StartTimeRecord): string {
  const { unknownBecause, intervals, hits } = start;
  if (unknownBecause !== null) return `start unknown: ${reasons[unknownBecause]}`;
  return `starts ${startText(start)} (${Math.round((100 * hits) / Math.max(1, intervals))} % of ${intervals} such intervals held)`;
}

/** Where the times in a list are explained. */
export const startsExplained = `how start times are made, and how often they held: ${page}`;
