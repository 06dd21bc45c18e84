import { shownMinute } from "../../exporter/kernel/isoTime.ts";
import type { ReviewWindow } from "../document/head.ts";

const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"] as const;
const isMidnight = (iso: string): boolean => /T00:00(?::00(?:\.0+)?)?Z$/.test(iso);

/** The day (UTC) of an instant: `2026-11-16`. */
export const dayText = (iso: string): string => iso.slice(0, 10);

/** The minute (UTC) of an instant: `2026-11-16 07:00`. */
export const minuteText = (iso: string): string => shownMinute(iso);

/** Writes what a window covers: `9 to 15 Nov 2026 UTC`, `2026-11-09 07:30 to 2026-11-12 08:00 UTC`. */
export function windowText({ from, to }: Pick<ReviewWindow, "from" | "to">): string {
  if (!isMidnight(from) || !isMidnight(to)) return `${minuteText(from)} to ${minuteText(to)} UTC`;
  const last = new Date(Date.parse(to) - 1).toISOString();
  const [one, other] = [parts(from), parts(last)];
  if (one.day === other.day && one.month === other.month && one.year === other.year)
    return `${other.day} ${other.month} ${other.year} UTC`;
  const year = one.year === other.year ? "" : ` ${one.year}`;
  const month = one.month === other.month && year === "" ? "" : ` ${one.month}`;
  return `${one.day}${month}${year} to ${other.day} ${other.month} ${other.year} UTC`;
}

function parts(iso: string): { readonly day: number; readonly month: string; readonly year: string } {
  return {
    day: Number(iso.slice(8, 10)),
    month: months[Number(iso.slice(5, 7)) - 1] ?? "",
    year: iso.slice(0, 4),
  };
}
