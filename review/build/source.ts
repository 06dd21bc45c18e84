import type { LedgerReader } from "../../exporter/accounts/ledger/ledgerReader.ts";
import type { LedgerTableQuery, LedgerTableRow } from "../../exporter/accounts/ledger/ledgerTableQuery.ts";
import type { Budget } from "../../exporter/history/budget.ts";
import type { History } from "../../exporter/history/history.ts";
import type { Costs } from "../document/parts.ts";
import type { Days } from "../window.ts";
import { sumCosts } from "./sumCosts.ts";

/** The accounts of a ledger, as a review asks them. */
export type ReviewAccounts = Pick<
  LedgerReader,
  | "query"
  | "queryLedgerTable"
  | "queryPrices"
  | "queryPools"
  | "queryStarts"
  | "queryAdvice"
  | "queryWithheld"
  | "queryJobs"
>;

/** What a review covers, and the sources that it asks. */
export interface ReviewQuestion {
  readonly cluster: string;
  readonly days: Days;
  /** How many windows before it are compared with it. */
  readonly compare: number;
  /** The team that the review is about: only what it held counts; `null`: the whole cluster. */
  readonly team: string | null;
  /** The present time, seconds since the epoch. */
  readonly now: number;
  /** The source of GPU time: the ledger, or a server with Prometheus' HTTP API. */
  readonly history: History;
  /** The source of everything else; `null`: there is none, and the sections that need it are missing. */
  readonly accounts: ReviewAccounts | null;
  readonly budgets: readonly Budget[];
  /** States that no team pays for (`cost.notCharged`). */
  readonly notCharged: readonly string[];
  /** Is called with a name of what is being asked, because a long window takes seconds. */
  readonly onProgress?: (step: string) => void;
}

/** Why there is no review. */
export interface ReviewFailure {
  readonly ok: false;
  readonly error: string;
  readonly nextStep: string;
  /** Set if the records begin only after the window, so that a later window will have a review. */
  readonly isNotYet?: true;
}

/** A part of a review, or why it cannot be had. */
export type Part<Value> = { readonly ok: true; readonly value: Value } | ReviewFailure;

/** Makes a part of a value. */
export const part = <Value>(value: Value): Part<Value> => ({ ok: true, value });

/** The most groups of one answer, more than clusters of the intended size have. */
export const maxRows = 10_000_000;

/** Asks for the rows of a table of the ledger in a window. */
export async function askTable(
  accounts: Pick<ReviewAccounts, "queryLedgerTable">,
  { from, to }: Pick<Days, "from" | "to">,
  of: LedgerTableQuery["of"],
  groupBy: readonly string[],
  where: LedgerTableQuery["where"] = new Map(),
): Promise<Part<readonly LedgerTableRow[]>> {
  const asked = await accounts.queryLedgerTable({ of, from, to, groupBy, where, limit: maxRows });
  return asked.ok ? part(asked.answer.rows) : asked;
}

/** What rows cost, by currency. The currency of a row is its value at index `place`; rows without a price are left out. */
export function costsOfRows(rows: readonly LedgerTableRow[], place: number): Costs {
  return sumCosts(
    rows.map(({ values, amounts }): Costs => {
      const currency = values[place] ?? null;
      return currency === null || amounts.cost === null ? {} : { [currency]: amounts.cost ?? 0 };
    }),
  );
}
