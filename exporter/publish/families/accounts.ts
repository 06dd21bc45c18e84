import type { HealthLabels } from "../../accounts/counterLabels.ts";
import type { Total } from "../../accounts/counters.ts";
import type { FailureTotals } from "../../accounts/failureAccount.ts";
import type { accountsMetrics } from "../../catalogue/accounts.ts";
import { gapReasons } from "../../model/gapReasons.ts";
import { degradedCauses, type HealthCause, unavailableCauses } from "../../model/gpuFaults.ts";
import type { FamilyInput, Producers } from "../family.ts";

/** GPU time since the start, as the accounts count it. */
export const accountsProducers: Producers<keyof typeof accountsMetrics> = {
  fairlead_covered_seconds_total: ({ accounts }) => [{ labels: {}, value: accounts?.coveredSeconds }],
  fairlead_uncovered_seconds_total: ({ accounts }) =>
    gapReasons.map((reason) => ({ labels: { reason }, value: accounts?.uncoveredSeconds[reason] })),
  fairlead_gpu_seconds_total: ({ accounts }) =>
    accounts?.gpuSeconds.map(({ labels: { capacityType, priorityClass, ...labels }, value }) => ({
      labels: { ...labels, capacity_type: capacityType, priority_class: priorityClass },
      value,
    })),
  fairlead_unavailable_gpu_seconds_total: ({ accounts }) => accounts?.healthSeconds.filter(isOf(unavailableCauses)),
  fairlead_degraded_gpu_seconds_total: ({ accounts }) => accounts?.healthSeconds.filter(isOf(degradedCauses)),
  fairlead_idle_gpu_seconds_total: ({ accounts }) => accounts?.serving.idleSeconds,
  fairlead_served_requests_total: ({ accounts }) => accounts?.serving.requests,
  fairlead_served_tokens_total: ({ accounts }) => accounts?.serving.tokens,
  fairlead_application_errors_total: ({ accounts }) => accounts?.applicationErrors,
  fairlead_failures_total: (input) => ofFailures(input, ({ failures }) => failures),
  fairlead_failed_lost_gpu_seconds_total: (input) => ofFailures(input, ({ lostGpuSeconds }) => lostGpuSeconds),
  fairlead_energy_joules_total: ({ accounts }) => accounts?.energyJoules,
  fairlead_accounting_imbalance_gpu_seconds_total: ({ accounts }) => accounts?.imbalanceGpuSeconds,
  fairlead_node_seconds_total: ({ accounts }) =>
    accounts?.nodeSeconds.map(({ labels: { nodePool, capacityType, ...labels }, value }) => ({
      labels: { ...labels, node_pool: nodePool, capacity_type: capacityType },
      value,
    })),
};

function ofFailures({ accounts }: FamilyInput, of: (totals: FailureTotals) => number) {
  return accounts?.failures.map((totals) => ({
    labels: { team: totals.team, error: totals.error },
    value: of(totals),
  }));
}

function isOf(causes: readonly HealthCause[]): (total: Total<HealthLabels>) => boolean {
  return ({ labels }) => causes.includes(labels.cause);
}
