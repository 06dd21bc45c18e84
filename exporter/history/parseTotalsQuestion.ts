import { filterValues } from "../accounts/ledger/accountsQuery.ts";
import {
  parseWindow,
  type QuestionFailure,
  type QuestionText,
  shortened,
} from "../accounts/ledger/parseAccountsQuery.ts";
import { secondsPerHour } from "../accounts/ledger/schema.ts";
import { type TotalsDimension, type TotalsQuestion, totalsDimensions, totalsFilters } from "./history.ts";

/** The question that a text contains, or the reason why it could not be read. */
type ParsedTotals = { readonly ok: true; readonly question: TotalsQuestion } | QuestionFailure;

type TotalsFilter = (typeof totalsFilters)[number];

/** Reads a question about the past. Windows are written as for the ledger (docs/ledger.md). Each dimension counts once. */
export function parseTotalsQuestion(text: Omit<QuestionText, "limit">, now: number): ParsedTotals {
  const words = [...new Set((text.by ?? "").split(",").filter((word) => word !== ""))];
  const by: TotalsDimension[] = [];
  for (const word of words) {
    const dimension = totalsDimensions.find((known) => known === word);
    if (dimension === undefined)
      return failure(
        `cannot group by ${JSON.stringify(shortened(word))}`,
        `Use some of: ${totalsDimensions.join(", ")}.`,
      );
    by.push(dimension);
  }
  const where = parseFilters(text.where);
  if (!where.ok) return where;
  const window = parseWindow(text, secondsPerHour, now);
  if (!window.ok) return window;
  return { ok: true, question: { ...window.window, by, where: where.where } };
}

function parseFilters(
  pairs: QuestionText["where"],
): { readonly ok: true; readonly where: TotalsQuestion["where"] } | QuestionFailure {
  const where: Partial<Record<TotalsFilter, readonly string[]>> = {};
  for (const [name, value] of pairs) {
    const filter = totalsFilters.find((known) => known === name);
    if (filter === undefined)
      return failure(
        `cannot choose by ${JSON.stringify(shortened(name))}`,
        `Use some of: ${totalsFilters.join(", ")}.`,
      );
    const allowed = filterValues(filter);
    if (allowed !== null && !allowed.includes(value))
      return failure(
        `there is no ${filter} ${JSON.stringify(shortened(value))}`,
        `Use some of: ${allowed.join(", ")}.`,
      );
    where[filter] = [...(where[filter] ?? []), value];
  }
  return { ok: true, where };
}

function failure(error: string, nextStep: string): QuestionFailure {
  return { ok: false, error, nextStep };
}
