import { unknown } from "../../analysis/sums/momentSums.ts";
import type { costMetrics } from "../../catalogue/cost.ts";
import { chargeBases } from "../../model/charge.ts";
import { gpuStates } from "../../model/gpuStates.ts";
import type { Producers } from "../family.ts";

const joulesPerKilowattHour = 3_600_000;

/** What GPU time cost since the start, as the accounts count it, and what it costs now. */
export const costProducers: Producers<keyof typeof costMetrics> = {
  fairlead_cost_total: ({ health: { cluster }, accounts }) =>
    (accounts?.costs ?? []).map(({ labels: { capacityType, priorityClass, ...labels }, value }) => ({
      labels: { cluster, ...labels, capacity_type: capacityType, priority_class: priorityClass },
      value,
    })),
  fairlead_unpriced_gpu_seconds_total: ({ health: { cluster }, accounts }) =>
    (accounts?.unpricedGpuSeconds ?? []).map(({ labels: { pool }, value }) => ({ labels: { cluster, pool }, value })),
  fairlead_namespace_cost_total: ({ health: { cluster }, accounts }) =>
    (accounts?.namespaceCosts ?? []).map(({ labels, value }) => ({ labels: { cluster, ...labels }, value })),
  fairlead_co2e_grams_total: ({ health: { cluster }, accounts }) => {
    const gramsPerKwh = accounts?.co2GramsPerKwh ?? null;
    if (accounts === null || gramsPerKwh === null) return [];
    return accounts.energyJoules.map(({ labels: { team, pool, state }, value }) => ({
      labels: { cluster, team, pool, state },
      value: (value / joulesPerKilowattHour) * gramsPerKwh,
    }));
  },
  fairlead_cost_per_hour: ({ health: { cluster }, moment }) =>
    (moment?.sums.costs.groups ?? []).flatMap(({ pool, nodePool, capacityType, currency, states }) =>
      gpuStates.map((state) => ({
        labels: {
          cluster,
          pool,
          node_pool: nodePool || unknown,
          capacity_type: capacityType ?? unknown,
          state,
          currency,
        },
        value: states[state],
      })),
    ),
  fairlead_team_cost_per_hour: ({ health: { cluster }, moment }) =>
    (moment?.costs.teams ?? []).flatMap((cost) =>
      chargeBases.map((charge) => ({
        labels: { cluster, team: cost.name, charge, currency: cost.currency },
        value: cost[charge],
      })),
    ),
  fairlead_queue_cost_per_hour: ({ health: { cluster }, moment }) =>
    (moment?.costs.queues ?? []).flatMap((cost) =>
      chargeBases.map((charge) => ({
        labels: { cluster, queue: cost.name, charge, currency: cost.currency },
        value: cost[charge],
      })),
    ),
  fairlead_namespace_cost_per_hour: ({ health: { cluster }, moment }) =>
    (moment?.costs.namespaces ?? []).flatMap((cost) =>
      chargeBases.map((charge) => ({
        labels: { cluster, namespace: cost.name, team: cost.team, charge, currency: cost.currency },
        value: cost[charge],
      })),
    ),
  fairlead_unallocated_cost_per_hour: ({ health: { cluster }, moment }) => {
    const sums = new Map<string, { readonly pool: string; readonly currency: string; cost: number }>();
    for (const { pool, currency, unallocated } of moment?.sums.costs.groups ?? []) {
      const key = JSON.stringify([pool, currency]);
      const sum = sums.get(key) ?? { pool, currency, cost: 0 };
      sum.cost += unallocated;
      sums.set(key, sum);
    }
    return [...sums.values()].map(({ pool, currency, cost }) => ({ labels: { cluster, pool, currency }, value: cost }));
  },
  fairlead_workload_cost_per_hour: ({ health: { cluster }, moment }) =>
    (moment?.costs.workloads ?? []).map(({ cost, ...labels }) => ({ labels: { cluster, ...labels }, value: cost })),
  fairlead_workload_cost_per_progress_unit: ({ health: { cluster }, accounts, topWorkloads }) =>
    (accounts?.progress ?? [])
      .slice(0, topWorkloads)
      .map(({ team, namespace, kind, name, currency, cost, madeUnits }) => ({
        labels: { cluster, team, namespace, workload: `${kind}/${name}`, currency },
        value: cost / madeUnits,
      })),
};
