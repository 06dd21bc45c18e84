import type { accountsMetrics } from "../../catalogue/accounts.ts";
import { gapReasons } from "../../model/gapReasons.ts";
import type { Producers } from "../family.ts";

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
  fairlead_energy_joules_total: ({ accounts }) => accounts?.energyJoules,
  fairlead_accounting_imbalance_gpu_seconds_total: ({ accounts }) => accounts?.imbalanceGpuSeconds,
  fairlead_node_seconds_total: ({ accounts }) =>
    accounts?.nodeSeconds.map(({ labels: { nodePool, capacityType, ...labels }, value }) => ({
      labels: { ...labels, node_pool: nodePool, capacity_type: capacityType },
      value,
    })),
};
