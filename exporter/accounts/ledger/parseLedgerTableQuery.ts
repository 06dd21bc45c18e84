import {
  defaultGroups,
  type LedgerTable,
  type LedgerTableQuery,
  ledgerTableDimensions,
  ledgerTableFilterValues,
} from "./ledgerTableQuery.ts";
import { parseWindow, type QuestionFailure, type QuestionText, shortened } from "./parseAccountsQuery.ts";
import { secondsPerDay, secondsPerHour } from "./schema.ts";

/** A question as it was written and understood, or why it could not be read. */
export type ParsedLedgerTableQuestion = { readonly ok: true; readonly query: LedgerTableQuery } | QuestionFailure;

/** Reads a question to a ledger table; `by: null` groups by the default of the table. Waits are kept by day. */
export function parseLedgerTableQuery(of: LedgerTable, text: QuestionText, now: number): ParsedLedgerTableQuestion {
  const dimensions: readonly string[] = ledgerTableDimensions[of];
  const groupBy = [...new Set((text.by ?? defaultGroups[of]).split(",").filter((word) => word !== ""))];
  const wrong = groupBy.find((word) => !dimensions.includes(word));
  if (wrong !== undefined) {
    return failure(
      `cannot group ${of} by ${JSON.stringify(shortened(wrong))}`,
      `Use some of: ${dimensions.join(", ")}.`,
    );
  }
  const where = new Map<string, (string | null)[]>();
  for (const [name, value] of text.where) {
    const refused = refuseFilter(of, name, value);
    if (refused !== null) return refused;
    where.set(name, [...(where.get(name) ?? []), value === "" ? null : value]);
  }
  const window = parseWindow(text, of === "waits" ? secondsPerDay : secondsPerHour, now);
  return window.ok ? { ok: true, query: { of, ...window.window, groupBy, where, limit: text.limit } } : window;
}

function refuseFilter(of: LedgerTable, name: string, value: string): QuestionFailure | null {
  const filters: readonly string[] = ledgerTableDimensions[of].filter((word) => word !== "day" && word !== "hour");
  if (!filters.includes(name)) {
    return failure(`cannot choose ${of} by ${JSON.stringify(shortened(name))}`, `Use some of: ${filters.join(", ")}.`);
  }
  const values = ledgerTableFilterValues(of, name);
  if (values === null || values.includes(value)) return null;
  return failure(`there is no ${name} ${JSON.stringify(shortened(value))}`, `Use some of: ${values.join(", ")}.`);
}

function failure(error: string, nextStep: string): QuestionFailure {
  return { ok: false, error, nextStep };
}
