import { type AccountsQuery, accountDimensions, filterValues } from "./accountsQuery.ts";
import { secondsPerDay, secondsPerHour } from "./schema.ts";

/** A question as people write it, on a command line or in an address. */
export interface QuestionText {
  /** Start of the window: `2026-11-21`, `2026-11-21T07:00Z`, seconds since the epoch, or a span before the end: `7d`, `12h`. */
  readonly from: string | null;
  /** End of the window, in the same forms; it is not part of the window. */
  readonly to: string | null;
  /** The dimensions, separated by commas. */
  readonly by: string | null;
  /** Names of filters, and their values. Several values of one name are allowed; an empty value means "none". */
  readonly where: readonly (readonly [name: string, value: string])[];
  readonly limit: number;
}

/** The reason why a text is not a question. */
export interface QuestionFailure {
  readonly ok: false;
  readonly error: string;
  readonly nextStep: string;
}

const defaultSpanSeconds = 7 * secondsPerDay;
const timeHelp = "Use a date (2026-11-21), a time (2026-11-21T07:00Z), or a span before the end (7d, 12h).";

/** The filters of questions about GPU time. */
const accountFilters = accountDimensions.filter((dimension) => dimension !== "day" && dimension !== "hour");

/**
 * Reads a question. The default end is the end of the current hour (or day, for workloads), and the default start is 7 days
 * before the end.
 */
export function parseAccountsQuery(
  text: QuestionText,
  now: number,
): { readonly ok: true; readonly query: AccountsQuery } | QuestionFailure {
  const groups = groupsIn(text.by ?? "", "", accountDimensions);
  if (!groups.ok) return groups;
  const { groupBy } = groups;
  const filters = filtersIn(text.where, "", accountFilters, filterValues);
  if (!filters.ok) return filters;
  const { where } = filters;
  const step = groupBy.includes("workload") || where.has("workload") ? secondsPerDay : secondsPerHour;
  const window = parseWindow(text, step, now);
  return window.ok ? { ok: true, query: { ...window.window, groupBy, where, limit: text.limit } } : window;
}

/** A window of time, or the reason why there is none. */
export type ParsedWindow =
  | { readonly ok: true; readonly window: { readonly from: number; readonly to: number } }
  | QuestionFailure;

/**
 * Reads a window. The default end is the end of the current hour or day, whose length in seconds is `step`, and the default
 * start is 7 days before the end.
 */
export function parseWindow(text: Pick<QuestionText, "from" | "to">, step: number, now: number): ParsedWindow {
  const to = text.to === null ? Math.ceil(now / step) * step : timeIn(text.to, now);
  if (to === null) return failure(`${JSON.stringify(shortened(text.to ?? ""))} is not a time`, timeHelp);
  const from = text.from === null ? to - defaultSpanSeconds : timeIn(text.from, to);
  if (from === null) return failure(`${JSON.stringify(shortened(text.from ?? ""))} is not a time`, timeHelp);
  return { ok: true, window: { from, to } };
}

/** Reads dimensions that are separated by commas; each counts once. `of` names the rows in a message ("queues "). */
export function groupsIn<Dimension extends string>(
  text: string,
  of: string,
  dimensions: readonly Dimension[],
): { readonly ok: true; readonly groupBy: readonly Dimension[] } | QuestionFailure {
  const groupBy = new Set<Dimension>();
  for (const word of text.split(",")) {
    if (word === "") continue;
    const dimension = dimensions.find((one) => one === word);
    if (dimension === undefined) return unknownWord(`cannot group ${of}by`, word, dimensions);
    groupBy.add(dimension);
  }
  return { ok: true, groupBy: [...groupBy] };
}

/**
 * Reads the allowed values of each filter; `valuesOf` returns the values that a filter can have, or `null` if any text is
 * allowed.
 */
export function filtersIn<Filter extends string>(
  texts: QuestionText["where"],
  of: string,
  filters: readonly Filter[],
  valuesOf: (filter: Filter) => readonly string[] | null,
): { readonly ok: true; readonly where: ReadonlyMap<Filter, readonly (string | null)[]> } | QuestionFailure {
  const where = new Map<Filter, (string | null)[]>();
  for (const [name, value] of texts) {
    const filter = filters.find((one) => one === name);
    if (filter === undefined) return unknownWord(`cannot choose ${of}by`, name, filters);
    const values = valuesOf(filter);
    if (values !== null && !values.includes(value)) return unknownWord(`there is no ${name}`, value, values);
    where.set(filter, [...(where.get(filter) ?? []), value === "" ? null : value]);
  }
  return { ok: true, where };
}

/** The time in seconds since the epoch; a span counts back from `end`. `null` if the text is not a time. */
function timeIn(text: string, end: number): number | null {
  const span = /^(\d{1,5})([dh])$/.exec(text);
  if (span !== null) return end - Number(span[1]) * (span[2] === "d" ? secondsPerDay : secondsPerHour);
  if (/^\d{1,10}$/.test(text)) return Number(text);
  if (!/^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2})?(Z|[+-]\d{2}:\d{2}))?$/.test(text)) return null;
  const milliseconds = Date.parse(text);
  return Number.isFinite(milliseconds) && milliseconds >= 0 ? milliseconds / 1000 : null;
}

/** The part of a wrong word that a message shows. */
export const shortened = (text: string): string => text.slice(0, 60);

function unknownWord(what: string, word: string, known: readonly string[]): QuestionFailure {
  return failure(`${what} ${JSON.stringify(shortened(word))}`, `Use some of: ${known.join(", ")}.`);
}

function failure(error: string, nextStep: string): QuestionFailure {
  return { ok: false, error, nextStep };
}
