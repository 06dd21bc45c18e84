import type { accountsMetrics } from "../../catalogue/accounts.ts";
import { gapReasons } from "../../model/gapReasons.ts";
import type { Producers } from "../family.ts";

/** GPU time since the start, as the accounts count it. */
export const accountsProducers: Producers<keyof typeof accountsMetrics> = {
  fairlead_covered_seconds_total: ({ health: { cluster }, accounts }) =>
    accounts === null ? [] : [{ labels: { cluster }, value: accounts.coveredSeconds }],
  fairlead_uncovered_seconds_total: ({ health: { cluster }, accounts }) =>
    accounts === null
      ? []
      : gapReasons.map((reason) => ({ labels: { cluster, reason }, value: accounts.uncoveredSeconds[reason] })),
  fairlead_gpu_seconds_total: ({ health: { cluster }, accounts }) =>
    (accounts?.gpuSeconds ?? []).map(
      ({ labels: { state, team, queue, pool, capacityType, priorityClass }, value }) => ({
        labels: { cluster, state, team, queue, pool, capacity_type: capacityType, priority_class: priorityClass },
        value,
      }),
    ),
  fairlead_energy_joules_total: ({ health: { cluster }, accounts }) =>
    (accounts?.energyJoules ?? []).map(({ labels: { team, pool, state }, value }) => ({
      labels: { cluster, team, pool, state },
      value,
    })),
  fairlead_accounting_imbalance_gpu_seconds_total: ({ health: { cluster }, accounts }) =>
    (accounts?.imbalanceGpuSeconds ?? []).map(({ labels: { pool }, value }) => ({ labels: { cluster, pool }, value })),
  fairlead_node_seconds_total: ({ health: { cluster }, accounts }) =>
    (accounts?.nodeSeconds ?? []).map(({ labels: { nodePool, pool, state, capacityType }, value }) => ({
      labels: { cluster, node_pool: nodePool, pool, state, capacity_type: capacityType },
      value,
    })),
};
