import { createAccounting } from "../../exporter/accounts/accounting.ts";
import type { AccountCounters } from "../../exporter/accounts/counters.ts";
import type { Analysis } from "../../exporter/analysis/analysis.ts";

/** Running totals of a process that has seen the same moment twice, half a minute apart; it says emissions if it has a factor. */
export function runningTotals(analysis: Analysis, co2GramsPerKwh?: number): AccountCounters {
  const accounts = createAccounting({ intervalSeconds: 30, limits: { teams: 1000, series: 50_000 }, co2GramsPerKwh });
  accounts.account(analysis, { wall: 0, monotonic: 0 });
  accounts.account(analysis, { wall: 30, monotonic: 30 });
  return accounts.counters();
}
