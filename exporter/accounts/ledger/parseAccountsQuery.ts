import {
  type AccountDimension,
  type AccountFilter,
  type AccountsQuery,
  accountDimensions,
  filterValues,
  isAccountDimension,
  isAccountFilter,
} from "./accountsQuery.ts";
import { secondsPerDay, secondsPerHour } from "./schema.ts";

/** A question as people write it, on a command line or in an address. */
export interface QuestionText {
  /** `2026-11-21`, `2026-11-21T07:00Z`, seconds since the epoch, or a span before the end: `7d`, `12h`. */
  readonly from: string | null;
  /** The same; the window ends before it. */
  readonly to: string | null;
  /** Dimensions, separated by commas. */
  readonly by: string | null;
  /** Names and values; several values of one name are allowed, an empty one is "none". */
  readonly where: readonly (readonly [name: string, value: string])[];
  readonly limit: number;
}

/** Why a text is not a question. */
export interface QuestionFailure {
  readonly ok: false;
  readonly error: string;
  readonly nextStep: string;
}

export type ParsedQuestion = { readonly ok: true; readonly query: AccountsQuery } | QuestionFailure;

const defaultSpanSeconds = 7 * secondsPerDay;
const timeHelp = "Use a date (2026-11-21), a time (2026-11-21T07:00Z), or a span before the end (7d, 12h).";

/**
 * Reads a question. The default end is the end of this hour (of this day, for workloads), and the default begin is 7 days
 * before the end.
 */
export function parseAccountsQuery(text: QuestionText, now: number): ParsedQuestion {
  const groupBy = dimensionsIn(text.by ?? "");
  if (typeof groupBy === "string") {
    return failure(`cannot group by ${JSON.stringify(groupBy)}`, `Use some of: ${accountDimensions.join(", ")}.`);
  }
  const where = new Map<AccountFilter, (string | null)[]>();
  for (const [name, value] of text.where) {
    if (!isAccountFilter(name)) {
      const allowed = accountDimensions.filter(isAccountFilter).join(", ");
      return failure(`cannot choose by ${JSON.stringify(shortened(name))}`, `Use some of: ${allowed}.`);
    }
    const values = filterValues(name);
    if (values !== null && !values.includes(value)) {
      return failure(`there is no ${name} ${JSON.stringify(shortened(value))}`, `Use some of: ${values.join(", ")}.`);
    }
    where.set(name, [...(where.get(name) ?? []), value === "" ? null : value]);
  }
  const step = groupBy.includes("workload") || where.has("workload") ? secondsPerDay : secondsPerHour;
  const window = parseWindow(text, step, now);
  return window.ok ? { ok: true, query: { ...window.window, groupBy, where, limit: text.limit } } : window;
}

/** A window of time, or why there is none. */
export type ParsedWindow =
  | { readonly ok: true; readonly window: { readonly from: number; readonly to: number } }
  | QuestionFailure;

/**
 * Reads a window. The default end is the end of this step (hour or day, in seconds), and the default begin is 7 days before
 * the end.
 */
export function parseWindow(text: Pick<QuestionText, "from" | "to">, step: number, now: number): ParsedWindow {
  const to = text.to === null ? Math.ceil(now / step) * step : timeIn(text.to, now);
  if (to === null) return failure(`${JSON.stringify(shortened(text.to ?? ""))} is not a time`, timeHelp);
  const from = text.from === null ? to - defaultSpanSeconds : timeIn(text.from, to);
  if (from === null) return failure(`${JSON.stringify(shortened(text.from ?? ""))} is not a time`, timeHelp);
  return { ok: true, window: { from, to } };
}

/** The dimensions, each once; or the first word that is not one. */
function dimensionsIn(text: string): readonly AccountDimension[] | string {
  const words = text.split(",").filter((word) => word !== "");
  const wrong = words.find((word) => !isAccountDimension(word));
  return wrong === undefined ? [...new Set(words.filter(isAccountDimension))] : shortened(wrong);
}

/** Seconds since the epoch; a span counts back from `end`. `null` if it is not a time. */
function timeIn(text: string, end: number): number | null {
  const span = /^(\d{1,5})([dh])$/.exec(text);
  if (span !== null) return end - Number(span[1]) * (span[2] === "d" ? secondsPerDay : secondsPerHour);
  if (/^\d{1,10}$/.test(text)) return Number(text);
  if (!/^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2})?(Z|[+-]\d{2}:\d{2}))?$/.test(text)) return null;
  const milliseconds = Date.parse(text);
  return Number.isFinite(milliseconds) && milliseconds >= 0 ? milliseconds / 1000 : null;
}

/** As much of a wrong word as a message shows. */
export const shortened = (text: string): string => text.slice(0, 60);

function failure(error: string, nextStep: string): QuestionFailure {
  return { ok: false, error, nextStep };
}
