import { createAccounting } from "../../exporter/accounts/accounting.ts";
import type { AccountCounters } from "../../exporter/accounts/counters.ts";
import type { Analysis } from "../../exporter/analysis/analysis.ts";
import { pricedMoment } from "./pricedMoment.ts";

/** The priced moment, in which the job of ads (one GPU at 2 USD an hour) says that it is so far. */
export function progressMoment(progressUnits: number): Analysis {
  const { snapshot } = pricedMoment;
  const workloads = snapshot.workloads.map((workload) =>
    workload.kind === "Job" && workload.namespace === "ads" ? { ...workload, progressUnits } : workload,
  );
  return { ...pricedMoment, snapshot: { ...snapshot, workloads } };
}

/** Running totals of a process that saw the job so far, one moment every half minute. */
export function progressTotals(...units: readonly number[]): AccountCounters {
  const accounts = createAccounting({ intervalSeconds: 30, limits: { teams: 1000, series: 50_000 } });
  for (const [i, progressUnits] of units.entries())
    accounts.account(progressMoment(progressUnits), { wall: 30 * i, monotonic: 30 * i });
  return accounts.counters();
}
