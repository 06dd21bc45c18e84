import { unknown } from "../../analysis/sums/momentSums.ts";
import type { costMetrics } from "../../catalogue/cost.ts";
import { chargeBases } from "../../model/charge.ts";
import { gpuStates } from "../../model/gpuStates.ts";
import type { OwnerCost } from "../costSeries.ts";
import type { Producers } from "../family.ts";
import { combined } from "./combined.ts";

const joulesPerKilowattHour = 3_600_000;

/** What GPU time cost since the start, as the accounts count it, and what it costs now. */
export const costProducers: Producers<keyof typeof costMetrics> = {
  fairlead_cost_total: ({ accounts }) =>
    accounts?.costs.map(({ labels: { capacityType, priorityClass, ...labels }, value }) => ({
      labels: { ...labels, capacity_type: capacityType, priority_class: priorityClass },
      value,
    })),
  fairlead_unpriced_gpu_seconds_total: ({ accounts }) => accounts?.unpricedGpuSeconds,
  fairlead_namespace_cost_total: ({ accounts }) => accounts?.namespaceCosts,
  fairlead_co2e_grams_total: ({ accounts }) => {
    const gramsPerKwh = accounts?.co2GramsPerKwh ?? null;
    if (gramsPerKwh === null) return [];
    return accounts?.energyJoules.map(({ labels, value }) => ({
      labels,
      value: (value / joulesPerKilowattHour) * gramsPerKwh,
    }));
  },
  fairlead_cost_per_hour: ({ moment }) =>
    moment?.sums.costs.groups.flatMap(({ pool, nodePool, capacityType, currency, states }) => {
      const labels = { pool, node_pool: nodePool || unknown, capacity_type: capacityType ?? unknown, currency };
      return gpuStates.map((state) => ({ labels: { ...labels, state }, value: states[state] }));
    }),
  fairlead_team_cost_per_hour: ({ moment }) => byCharge(moment?.costs.teams, ({ name }) => ({ team: name })),
  fairlead_queue_cost_per_hour: ({ moment }) => byCharge(moment?.costs.queues, ({ name }) => ({ queue: name })),
  fairlead_namespace_cost_per_hour: ({ moment }) =>
    byCharge(moment?.costs.namespaces, ({ name, team }) => ({ namespace: name, team })),
  fairlead_unallocated_cost_per_hour: ({ moment }) =>
    combined(
      (moment?.sums.costs.groups ?? []).map(({ pool, currency, unallocated }) => ({
        labels: { pool, currency },
        value: unallocated,
      })),
    ),
  fairlead_workload_cost_per_hour: ({ moment }) =>
    moment?.costs.workloads.map(({ cost, ...labels }) => ({ labels, value: cost })),
  fairlead_workload_cost_per_progress_unit: ({ accounts, topWorkloads }) =>
    accounts?.progress.slice(0, topWorkloads).map(({ team, namespace, kind, name, currency, cost, madeUnits }) => ({
      labels: { team, namespace, workload: `${kind}/${name}`, currency },
      value: cost / madeUnits,
    })),
};

/** The cost of each owner by both charge bases. */
function byCharge<Labels>(costs: readonly OwnerCost[] = [], labelsOf: (cost: OwnerCost) => Labels) {
  return costs.flatMap((cost) =>
    chargeBases.map((charge) => ({
      labels: { ...labelsOf(cost), charge, currency: cost.currency },
      value: cost[charge],
    })),
  );
}
