import { unknown } from "../../analysis/sums/momentSums.ts";
import type { inventoryMetrics } from "../../catalogue/inventory.ts";
import { nodeStates } from "../../catalogue/labels.ts";
import type { NodeView } from "../../join/snapshot.ts";
import { gpuStates } from "../../model/gpuStates.ts";
import type { FamilyInput, Producers } from "../family.ts";

/** What is there. */
export const inventoryProducers: Producers<keyof typeof inventoryMetrics> = {
  fairlead_gpus: gpusByState,
  fairlead_pool_info: ({ health: { cluster }, moment }) =>
    (moment?.analysis.pools ?? []).flatMap(({ pool, gpuModels }) =>
      gpuModels.map((model) => ({ labels: { cluster, pool, gpu_model: model }, value: 1 })),
    ),
  fairlead_nodes: nodesByState,
  fairlead_uncounted_nodes: ({ health: { cluster }, moment }) =>
    moment?.analysis.snapshot.coverage.objects
      ? [{ labels: { cluster }, value: moment.analysis.snapshot.coverage.uncountedNodes.length }]
      : [],
  fairlead_accounting_imbalance_gpus: ({ health: { cluster }, moment }) =>
    (moment?.analysis.pools ?? []).map(({ pool, imbalance }) => ({ labels: { cluster, pool }, value: imbalance })),
};

/** All states of each group are published, so that a state which comes up later does not start from nothing. */
function gpusByState({ health: { cluster }, moment }: FamilyInput) {
  return (moment?.sums.groups ?? []).flatMap(({ pool, nodePool, capacityType, states }) =>
    gpuStates.map((state) => ({
      labels: { cluster, pool, node_pool: nodePool, state, capacity_type: capacityType },
      value: states[state],
    })),
  );
}

function nodesByState({ health: { cluster }, moment }: FamilyInput) {
  if (moment === null) return [];
  const counts = new Map<string, Map<string, number>>();
  for (const node of moment.analysis.snapshot.nodes) {
    const nodePool = node.nodePool || unknown;
    const states = counts.get(nodePool) ?? new Map<string, number>();
    const state = nodeState(node);
    states.set(state, (states.get(state) ?? 0) + 1);
    counts.set(nodePool, states);
  }
  return [...counts].flatMap(([nodePool, states]) =>
    nodeStates.map((state) => ({ labels: { cluster, node_pool: nodePool, state }, value: states.get(state) ?? 0 })),
  );
}

function nodeState(node: NodeView): (typeof nodeStates)[number] {
  if (node.ready === false) return "not_ready";
  if (node.schedulable === false) return "cordoned";
  return node.ready === null ? "unknown" : "ready";
}
