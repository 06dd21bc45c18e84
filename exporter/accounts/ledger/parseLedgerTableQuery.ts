import { type LedgerTable, type LedgerTableQuery, ledgerTableFilterValues } from "./ledgerTableQuery.ts";
import { dimensionsOf, ledgerTableSources } from "./ledgerTableSources.ts";
import { filtersIn, groupsIn, parseWindow, type QuestionFailure, type QuestionText } from "./parseAccountsQuery.ts";
import { secondsPerDay, secondsPerHour } from "./schema.ts";

/** The question that a text contains, or the reason why it could not be read. */
export type ParsedLedgerTableQuestion = { readonly ok: true; readonly query: LedgerTableQuery } | QuestionFailure;

/** Reads a question to a ledger table; `by: null` groups by the default of the table. Waits and serving are kept by day. */
export function parseLedgerTableQuery(of: LedgerTable, text: QuestionText, now: number): ParsedLedgerTableQuestion {
  const dimensions = dimensionsOf(of);
  const groups = groupsIn(text.by ?? ledgerTableSources[of].groups, `${of} `, dimensions);
  if (!groups.ok) return groups;
  const names = dimensions.filter((word) => word !== "day" && word !== "hour");
  const filters = filtersIn(text.where, `${of} `, names, (name) => ledgerTableFilterValues(of, name));
  if (!filters.ok) return filters;
  const { groupBy } = groups;
  const window = parseWindow(text, of === "waits" || of === "serving" ? secondsPerDay : secondsPerHour, now);
  if (!window.ok) return window;
  return { ok: true, query: { of, ...window.window, groupBy, where: filters.where, limit: text.limit } };
}
