import type { Budgets } from "../../exporter/history/budgetWatch.ts";
import { at } from "./moment.ts";

/** A budget about which everything is known, and one about which nothing is. */
export const knownBudgets: Budgets = {
  at,
  source: { name: "ledger.db", kind: "ledger" },
  budgets: [
    {
      team: "ads",
      perMonth: 60_000,
      currency: "USD",
      month: "2026-11",
      spent: 48_000,
      forecast: { low: 70_585, mid: 72_000, high: 73_415, days: 28 },
      burnRate: 1.2,
      coveredRatio: 0.95,
      otherCurrencies: [],
    },
    {
      team: "search",
      perMonth: 100,
      currency: "EUR",
      month: "2026-11",
      spent: null,
      forecast: null,
      burnRate: null,
      coveredRatio: null,
      otherCurrencies: ["USD"],
    },
  ],
};
