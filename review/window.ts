import { monthOf } from "../exporter/history/month.ts";
import { isoDay, isoTime } from "../exporter/kernel/isoTime.ts";
import type { ReviewWindow } from "./document/head.ts";

/** The window that a review is asked for, as people write it; `null`: not given. At most one kind of window is given. */
export interface WindowText {
  /** A week: `2026-W46`; `last` is the last week that is over; `current` is the one that goes on. */
  readonly week: string | null;
  /** A month: `2026-10`; empty: the last month that is over. */
  readonly month: string | null;
  /** The first day: `2026-11-09`; the day in `to` is itself not in the window. */
  readonly from: string | null;
  readonly to: string | null;
}

/** A window of whole days (UTC), seconds since the epoch. */
export interface Days {
  readonly kind: ReviewWindow["kind"];
  readonly label: string;
  readonly from: number;
  readonly to: number;
}

/** A window, or why there is none. */
export type ParsedDays =
  | { readonly ok: true; readonly days: Days }
  | { readonly ok: false; readonly error: string; readonly nextStep: string };

const secondsPerDay = 86_400;
const secondsPerWeek = 7 * secondsPerDay;
/** The first Monday in seconds since the epoch, which was a Thursday. */
const firstMonday = -3 * secondsPerDay;
const longestDays = 366;

/** The week (ISO 8601: from Monday on) that contains a moment, seconds since the epoch. */
export function weekOf(at: number): Days {
  const from = firstMonday + Math.floor((at - firstMonday) / secondsPerWeek) * secondsPerWeek;
  // The year of a week is the year of its Thursday.
  const year = new Date((from + 3 * secondsPerDay) * 1000).getUTCFullYear();
  const number = 1 + Math.round((from - firstWeekOf(year)) / secondsPerWeek);
  return { kind: "week", label: `${year}-W${`${number}`.padStart(2, "0")}`, from, to: from + secondsPerWeek };
}

/**
 * When the first week of a year begins, seconds since the epoch. It is the week with the first Thursday of the year, which
 * always has the fourth of January.
 */
function firstWeekOf(year: number): number {
  const fourth = Date.UTC(year, 0, 4) / 1000;
  return firstMonday + Math.floor((fourth - firstMonday) / secondsPerWeek) * secondsPerWeek;
}

/** Reads which window a review is to cover. If nothing is given, it is the last week that is over. */
export function parseWindow(text: WindowText, now: number): ParsedDays {
  const given = [text.week, text.month, text.from ?? text.to].filter((one) => one !== null);
  if (given.length > 1)
    return failure("there are several windows", "Give one of --week, --month, and --from with --to.");
  const days =
    text.week !== null
      ? parseWeek(text.week, now)
      : text.month !== null
        ? parseMonth(text.month, now)
        : text.from !== null || text.to !== null
          ? parseSpan(text.from, text.to, now)
          : parseWeek("last", now);
  if (!days.ok || days.days.from < now) return days;
  return failure(`${days.days.label} begins in the future`, "Ask for one that has begun.");
}

/**
 * The `count` windows before a window, the oldest first: weeks before a week, months before a month, and otherwise windows of
 * the same length.
 */
export function windowsBefore(days: Days, count: number): readonly Days[] {
  const before: Days[] = [];
  let next = days;
  for (let i = 0; i < count; i += 1) {
    next = previous(next);
    before.unshift(next);
  }
  return before;
}

/** The window in the form in which the review shows it. */
export function shownWindow({ kind, label, from, to }: Days, now: number): ReviewWindow {
  return { kind, label, from: isoTime(from), to: isoTime(to), isOver: to <= now };
}

function previous({ kind, from, to }: Days): Days {
  if (kind === "week") return weekOf(from - 1);
  if (kind === "month") return monthDays(from - 1);
  return span(from - (to - from), from);
}

function monthDays(at: number): Days {
  const { name, from, to } = monthOf(at);
  return { kind: "month", label: name, from, to };
}

function span(from: number, to: number): Days {
  const last = isoDay(to - 1);
  return { kind: "span", label: isoDay(from) === last ? last : `${isoDay(from)} to ${last}`, from, to };
}

function parseWeek(text: string, now: number): ParsedDays {
  if (text === "last") return ok(weekOf(now - secondsPerWeek));
  if (text === "current") return ok(weekOf(now));
  const found = /^(\d{4})-?W(\d{2})$/i.exec(text);
  const [year, number] = [Number(found?.[1]), Number(found?.[2])];
  const week = found === null || number < 1 ? null : weekOf(firstWeekOf(year) + (number - 1) * secondsPerWeek);
  // Only some years have a week 53.
  if (week === null || week.label !== `${found?.[1]}-W${found?.[2]}`)
    return failure(`${JSON.stringify(text.slice(0, 60))} is no week`, "Write it as 2026-W46 (ISO 8601, from Monday).");
  return ok(week);
}

function parseMonth(text: string, now: number): ParsedDays {
  if (text === "") return ok(monthDays(monthOf(now).from - 1));
  const found = /^(\d{4})-(\d{2})$/.exec(text);
  const month = Number(found?.[2]);
  if (found === null || month < 1 || month > 12)
    return failure(
      `${JSON.stringify(text.slice(0, 60))} is no month`,
      "Write it as 2026-10, or leave it empty for the last one.",
    );
  return ok(monthDays(Date.UTC(Number(found[1]), month - 1) / 1000));
}

function parseSpan(from: string | null, to: string | null, now: number): ParsedDays {
  const end = to === null ? Math.ceil(now / secondsPerDay) * secondsPerDay : dayIn(to);
  const begin = from === null ? (end === null ? null : end - secondsPerWeek) : dayIn(from);
  if (begin === null || end === null) {
    const wrong = begin === null && from !== null ? from : (to ?? "");
    return failure(
      `${JSON.stringify(wrong.slice(0, 60))} is no day`,
      "A review is of whole days (UTC): write 2026-11-09.",
    );
  }
  if (begin >= end)
    return failure(`the window ends (${isoDay(end)}) before it begins (${isoDay(begin)})`, "Give a later end.");
  if (end - begin > longestDays * secondsPerDay)
    return failure(`the window is longer than ${longestDays} days`, "Ask for a shorter one.");
  return ok(span(begin, end));
}

/** When a day begins, seconds since the epoch; the text is its date or its first moment. `null` for other texts. */
function dayIn(text: string): number | null {
  if (!/^\d{4}-\d{2}-\d{2}(T00:00(:00)?Z)?$/.test(text)) return null;
  const at = Date.parse(text.slice(0, 10)) / 1000;
  return Number.isFinite(at) && isoDay(at) === text.slice(0, 10) ? at : null;
}

const ok = (days: Days): ParsedDays => ({ ok: true, days });

function failure(error: string, nextStep: string): ParsedDays {
  return { ok: false, error, nextStep };
}
