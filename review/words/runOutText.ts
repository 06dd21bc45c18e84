import type { RunOut } from "../document/waste.ts";
import { longText } from "./names.ts";
import { dayText } from "./times.ts";

/** Says when demand outgrows capacity: a range of dates, and never one date as if it were certain. */
export function runOutText({ state, earliest, likely, latest, reason }: RunOut): string {
  if (state === "exhausted") return "demand is above capacity already";
  if (state === "not-foreseeable") return "not to be foreseen";
  if (state === "unknown") return reason === "" ? "unknown" : `unknown: ${longText(reason)}`;
  const most = likely === null ? "" : `, most likely ${dayText(likely)}`;
  if (earliest !== null && latest !== null) return `${dayText(earliest)} to ${dayText(latest)}${most}`;
  if (earliest !== null) return `${dayText(earliest)} at the earliest${most}, or not to be foreseen`;
  if (latest !== null) return `${dayText(latest)} at the latest${most}`;
  return likely === null ? "growing, no date to be foreseen" : `most likely ${dayText(likely)}`;
}
