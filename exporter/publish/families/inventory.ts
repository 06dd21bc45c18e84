import { unknown } from "../../analysis/sums/momentSums.ts";
import type { inventoryMetrics } from "../../catalogue/inventory.ts";
import { nodeStates } from "../../catalogue/labels.ts";
import type { NodeView } from "../../join/snapshot.ts";
import { careTiers, degradedCauses, type HealthCause, unavailableCauses } from "../../model/gpuFaults.ts";
import { gpuStates } from "../../model/gpuStates.ts";
import type { FamilyInput, Producers } from "../family.ts";
import { combined } from "./combined.ts";

/** The GPUs and nodes that there are, and their faults. */
export const inventoryProducers: Producers<keyof typeof inventoryMetrics> = {
  // All states of each group are published, so that a state which comes up later does not start from nothing.
  fairlead_gpus: ({ moment }) =>
    moment?.sums.groups.flatMap(({ pool, nodePool, capacityType, states }) => {
      const labels = { pool, node_pool: nodePool, capacity_type: capacityType };
      return gpuStates.map((state) => ({ labels: { ...labels, state }, value: states[state] }));
    }),
  fairlead_pool_info: ({ moment }) =>
    moment?.analysis.pools.flatMap(({ pool, gpuModels }) =>
      gpuModels.map((model) => ({ labels: { pool, gpu_model: model }, value: 1 })),
    ),
  fairlead_unavailable_gpus: (input) => gpusByCause(input, unavailableCauses),
  fairlead_degraded_gpus: (input) => gpusByCause(input, degradedCauses),
  fairlead_sick_gpus: sickByTier,
  fairlead_nodes: nodesByState,
  fairlead_uncounted_nodes: ({ moment }) => {
    const coverage = moment?.analysis.snapshot.coverage;
    return [{ labels: {}, value: coverage?.objects ? coverage.uncountedNodes.length : null }];
  },
  fairlead_accounting_imbalance_gpus: ({ moment }) =>
    moment?.analysis.pools.map(({ pool, imbalance }) => ({ labels: { pool }, value: imbalance })),
};

/** GPUs that have one of these causes now, by pool, node pool and cause. */
function gpusByCause<Cause extends HealthCause>({ moment }: FamilyInput, causes: readonly Cause[]) {
  if (moment === null) return [];
  const { snapshot, accountingEntries } = moment.analysis;
  const faulty = accountingEntries.withCause().filter(({ cause }) => causes.some((one) => one === cause));
  if (faulty.length === 0) return [];
  const nodePools = new Map(snapshot.nodes.map(({ name, nodePool }) => [name, nodePool || unknown] as const));
  return combined(
    faulty.map(({ pool, node, cause = "unknown", gpus }) => ({
      labels: { pool, node_pool: nodePools.get(node) ?? unknown, cause },
      value: gpus,
    })),
  );
}

/**
 * Sick GPUs by node pool and tier. Every node pool has all tiers, so that one which comes up later does not start from nothing.
 */
function sickByTier({ moment }: FamilyInput) {
  if (moment === null) return [];
  const { analysis, sums } = moment;
  const pools = [...new Set(analysis.snapshot.nodes.map(({ nodePool }) => nodePool || unknown))];
  const none = pools.flatMap((node_pool) => careTiers.map((tier) => ({ labels: { node_pool, tier }, value: 0 })));
  const sick = sums.sick.map(({ nodePool, tier, gpus }) => ({
    labels: { node_pool: nodePool || unknown, tier },
    value: gpus,
  }));
  return combined([...none, ...sick]);
}

function nodesByState({ moment }: FamilyInput) {
  const nodes = moment?.analysis.snapshot.nodes ?? [];
  return [...Map.groupBy(nodes, ({ nodePool }) => nodePool || unknown)].flatMap(([nodePool, own]) => {
    const byState = Map.groupBy(own, nodeState);
    return nodeStates.map((state) => ({
      labels: { node_pool: nodePool, state },
      value: byState.get(state)?.length ?? 0,
    }));
  });
}

function nodeState(node: NodeView): (typeof nodeStates)[number] {
  if (node.ready === false) return "not_ready";
  if (node.schedulable === false) return "cordoned";
  return node.ready === null ? "unknown" : "ready";
}
