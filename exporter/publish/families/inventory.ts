import type { GpuState } from "../../analysis/booking.ts";
import type { inventoryMetrics } from "../../catalogue/inventory.ts";
import { allGpuStates, nodeStates } from "../../catalogue/labels.ts";
import type { NodeView } from "../../join/snapshot.ts";
import type { FamilyInput, Producers } from "../family.ts";

/** The label value of what nothing says. */
const unknown = "unknown";

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

interface Group {
  readonly pool: string;
  readonly nodePool: string;
  readonly capacityType: string;
  readonly states: Record<GpuState, number>;
}

/** All states of each group are published, so that a state which comes up later does not start from nothing. */
function gpusByState({ health: { cluster }, moment }: FamilyInput) {
  if (moment === null) return [];
  const { bookings, snapshot } = moment.analysis;
  const nodes = new Map(snapshot.nodes.map((node) => [node.name, node]));
  const groups = new Map<string, Group>();
  // A node is asked for its group once per pool, not once per booking: there are many bookings.
  const groupOfNode = new Map<string, Map<string, Group>>();
  for (const { node, pool, state, gpus } of bookings) {
    const ofNode = groupOfNode.get(node) ?? new Map<string, Group>();
    groupOfNode.set(node, ofNode);
    const group = ofNode.get(pool) ?? findGroup(groups, pool, nodes.get(node));
    ofNode.set(pool, group);
    group.states[state] += gpus;
  }
  return [...groups.values()].flatMap(({ pool, nodePool, capacityType, states }) =>
    allGpuStates.map((state) => ({
      labels: { cluster, pool, node_pool: nodePool, state, capacity_type: capacityType },
      value: states[state],
    })),
  );
}

function findGroup(groups: Map<string, Group>, pool: string, node: NodeView | undefined): Group {
  const nodePool = node?.nodePool || unknown;
  const capacityType = node?.capacityType ?? unknown;
  const key = JSON.stringify([pool, nodePool, capacityType]);
  const group = groups.get(key) ?? { pool, nodePool, capacityType, states: zeroStates() };
  groups.set(key, group);
  return group;
}

function zeroStates(): Record<GpuState, number> {
  return {
    active: 0,
    underused: 0,
    held_idle: 0,
    starting: 0,
    gang_wait: 0,
    unobserved: 0,
    unavailable: 0,
    free: 0,
    idle_node: 0,
    unattributed: 0,
    cordoned: 0,
  };
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
