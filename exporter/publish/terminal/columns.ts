import { stripVTControlCharacters } from "node:util";
import { isoTime, shownMinute } from "../../kernel/isoTime.ts";

/** One column of a table: its heading, and whether its cells are numbers (aligned to the right). */
export interface Column {
  readonly heading: string;
  readonly align: "left" | "right";
}

/** A column of words; `right` makes one of numbers. */
export const left = (heading: string): Column => ({ heading, align: "left" });
export const right = (heading: string): Column => ({ heading, align: "right" });

/**
 * Makes untrusted text of a cluster fit for a terminal: it has no control characters, no line breaks, and at most `longest`
 * UTF-16 code units.
 */
export function plainText(text: string, longest = 60): string {
  const clean = stripVTControlCharacters(text).replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, "?");
  return clean.length > longest ? `${clean.slice(0, longest - 1)}…` : clean;
}

/** Lays rows out in columns, two blanks apart; every line ends without trailing blanks. */
export function tableLines(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  indent = "  ",
): readonly string[] {
  const widths = columns.map((column, i) =>
    Math.max(column.heading.length, ...rows.map((row) => (row[i] ?? "").length)),
  );
  const line = (cells: readonly string[]): string => {
    const padded = columns.map((column, i) => {
      const cell = cells[i] ?? "";
      const width = widths[i] ?? 0;
      return column.align === "right" ? cell.padStart(width) : cell.padEnd(width);
    });
    return `${indent}${padded.join("  ")}`.trimEnd();
  };
  return [line(columns.map((column) => column.heading)), ...rows.map(line)];
}

/** GPUs with one decimal; with two where one decimal would show an amount above 0 as 0.0. */
export function gpus(amount: number): string {
  if (Math.abs(amount) < 1e-9) return "0.0";
  return Math.abs(amount) < 0.05 ? amount.toFixed(2) : amount.toFixed(1);
}

/** An amount of GPUs with its sign; an amount that rounds to 0 has none. */
export function signed(amount: number): string {
  if (Math.abs(amount) < 0.005) return "0.0";
  return amount > 0 ? `+${gpus(amount)}` : gpus(amount);
}

/** GPUs as people read them in a heading: a whole number, or with one decimal. */
export function wholeGpus(amount: number): string {
  const whole = Math.round(amount);
  return Math.abs(amount - whole) < 1e-6 ? `${whole}` : amount.toFixed(1);
}

/** A ratio as whole percent; unknown is an en dash. */
export function percent(ratio: number | null): string {
  return ratio === null ? "–" : `${Math.round(ratio * 100)} %`;
}

/** A time as people read it, from seconds since the epoch or from its text: `2026-11-21 07:00:00 UTC`. */
export function utc(time: number | string): string {
  return `${(typeof time === "string" ? time : isoTime(time)).slice(0, 19).replace("T", " ")} UTC`;
}

/** The minute of a time in seconds since the epoch: `2026-11-21 07:00`. */
export const minuteOf = (seconds: number): string => shownMinute(isoTime(seconds));

/** Seconds as the two largest units that matter: `42 s`, `12 min`, `3 h 10 min`, `2 d 4 h`. */
export function duration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${whole} s`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
  return hours % 24 === 0 ? `${Math.floor(hours / 24)} d` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}
