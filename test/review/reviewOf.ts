import type { DatabaseSync } from "node:sqlite";
import { queryPrices } from "../../exporter/accounts/ledger/priceQuery.ts";
import { queryAccounts } from "../../exporter/accounts/ledger/queryAccounts.ts";
import { queryAdvice } from "../../exporter/accounts/ledger/queryAdvice.ts";
import { queryJobs } from "../../exporter/accounts/ledger/queryJobs.ts";
import { queryLedgerTable } from "../../exporter/accounts/ledger/queryLedgerTable.ts";
import { queryPools } from "../../exporter/accounts/ledger/queryPools.ts";
import { queryStarts } from "../../exporter/accounts/ledger/queryStarts.ts";
import { queryWithheld } from "../../exporter/accounts/ledger/withheld.ts";
import { createLedgerHistory } from "../../exporter/history/ledgerHistory.ts";
import { buildReview } from "../../review/build/buildReview.ts";
import type { ReviewAccounts, ReviewQuestion } from "../../review/build/source.ts";
import type { Review } from "../../review/document/review.ts";
import { parseWindow, type WindowText } from "../../review/window.ts";
import { filled } from "./filler.ts";

/** What a review asks an open ledger, without a thread. */
export function accountsOf(db: DatabaseSync): ReviewAccounts {
  return {
    query: async (query) => queryAccounts(db, query),
    queryLedgerTable: async (query) => queryLedgerTable(db, query),
    queryPrices: async (query) => queryPrices(db, query),
    queryPools: async (query) => queryPools(db, query),
    queryStarts: async (query) => queryStarts(db, query),
    queryAdvice: async (query) => queryAdvice(db, query),
    queryWithheld: async (query) => queryWithheld(db, query),
    queryJobs: async (query) => queryJobs(db, query),
  };
}

/** The review of a filled ledger: a week with two before, of all teams, where nothing else is said. */
export async function reviewOf(
  db: DatabaseSync,
  cluster: string,
  asked: Partial<WindowText> & Partial<Pick<ReviewQuestion, "compare" | "team" | "now">> = {},
): Promise<Review> {
  const { compare = 2, team = null, now = filled.now, ...text } = asked;
  const window = Object.keys(text).length === 0 ? { week: "2026-W44" } : text;
  const parsed = parseWindow({ week: null, month: null, from: null, to: null, ...window }, now);
  if (!parsed.ok) throw new Error(parsed.error);
  const accounts = accountsOf(db);
  const history = createLedgerHistory("ledger.db", accounts.query);
  const question = { cluster, days: parsed.days, compare, team, now, history, accounts };
  const built = await buildReview({ ...question, budgets: [], notCharged: ["starting"] });
  if (!built.ok) throw new Error(built.error);
  return built.review;
}
