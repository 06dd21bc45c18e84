import { type IdleWindow, idleWindows } from "../../accounts/idleHours.ts";
import { type IdleNodeClass, idleNodeClasses, isIdleNodeState } from "../../accounts/idleNodeStates.ts";
import { type IdleNodeGroup, idleNodeGroups } from "../../analysis/sums/idleNodeGroups.ts";
import { unknown } from "../../analysis/sums/momentSums.ts";
import type { idleNodesMetrics } from "../../catalogue/idleNodes.ts";
import { labelValue } from "../../kernel/labelValue.ts";
import type { FamilyInput, Producers } from "../family.ts";
import { combined } from "./combined.ts";

/** Idle nodes now and over time, and the node pools that they belong to. */
export const idleNodesProducers: Producers<keyof typeof idleNodesMetrics> = {
  fairlead_idle_nodes: (input) => groupsOf(input).map((group) => ({ labels: labelsOf(group), value: group.nodes })),
  fairlead_idle_node_seconds_total: ({ accounts }) =>
    accounts?.nodeSeconds.flatMap(({ labels: { state, ...node }, value }) =>
      isIdleNodeState(state) ? [{ labels: labelsOf({ ...node, ...idleNodeClasses[state] }), value }] : [],
    ),
  fairlead_idle_node_hours: (input) => {
    const present = groupsOf(input).filter(({ isWarmPool }) => !isWarmPool);
    return input.accounts?.idleNodes.windows.flatMap((window) => hoursOf(window, present));
  },
  fairlead_idle_node_covered_ratio: ({ accounts }) =>
    accounts?.idleNodes.windows.map(({ window, coveredSeconds }) => ({
      labels: { window },
      value: coveredSeconds / idleWindows[window],
    })),
  fairlead_idle_node_longest_seconds: (input) =>
    combined(
      groupsOf(input).flatMap(({ pool, nodePool, longestSeconds, ...kind }) =>
        longestSeconds === null
          ? []
          : [{ labels: { pool, node_pool: nodePool, ...kindLabels(kind) }, value: longestSeconds }],
      ),
      Math.max,
    ),
  fairlead_idle_node_cost_per_hour: (input) =>
    groupsOf(input).flatMap((group) =>
      [...group.costPerHour].map(([currency, value]) => ({ labels: { ...labelsOf(group), currency }, value })),
    ),
  fairlead_idle_node_cost_total: ({ accounts }) =>
    accounts?.idleNodes.costs.map(({ labels: { currency, state, ...node }, value }) => ({
      labels: { ...labelsOf({ ...node, ...idleNodeClasses[state] }), currency },
      value,
    })),
  fairlead_node_pool_info: ({ moment }) =>
    moment?.analysis.snapshot.nodePools.map(({ name, manager, consolidationPolicy }) => ({
      labels: { node_pool: name, manager, consolidation_policy: consolidationPolicy ?? "" },
      value: 1,
    })),
  fairlead_node_pool_consolidate_after_seconds: ({ moment }) =>
    moment?.analysis.snapshot.nodePools.map(({ name, consolidateAfterSeconds }) => ({
      labels: { node_pool: name },
      value: consolidateAfterSeconds,
    })),
  fairlead_node_pool_limit_gpus: ({ moment }) =>
    moment?.analysis.snapshot.nodePools.map(({ name, limitGpus }) => ({
      labels: { node_pool: name },
      value: limitGpus,
    })),
  fairlead_node_pool_bound_nodes: ({ moment }) =>
    moment?.analysis.snapshot.nodePools.flatMap(({ name, minNodes, maxNodes }) => [
      { labels: { node_pool: name, bound: "min" }, value: minNodes },
      { labels: { node_pool: name, bound: "max" }, value: maxNodes },
    ]),
};

const groupsOf = ({ moment }: FamilyInput): readonly IdleNodeGroup[] =>
  moment === null ? [] : idleNodeGroups(moment.analysis);

function kindLabels({ kind, isWarmPool }: IdleNodeClass) {
  return { idle_kind: kind, warm_pool: isWarmPool ? "true" : "false" };
}

/** The labels of idle nodes, for nodes that are idle now and for idle time that was counted. */
function labelsOf(of: Pick<IdleNodeGroup, "pool" | "nodePool" | "capacityType"> & IdleNodeClass) {
  return { pool: of.pool, node_pool: of.nodePool, capacity_type: of.capacityType, ...kindLabels(of) };
}

const secondsPerHour = 3600;

/** Hours that nodes were idle in one window; groups of nodes that are idle now and were not in the window have 0. */
function hoursOf({ window, times }: IdleWindow, present: readonly IdleNodeGroup[]) {
  const labels = (pool: string, nodePool: string, of: IdleNodeClass) => ({
    pool: labelValue(pool),
    node_pool: labelValue(nodePool || unknown),
    ...kindLabels(of),
    window,
  });
  return combined([
    ...present.map((group) => ({ labels: labels(group.pool, group.nodePool, group), value: 0 })),
    ...times.map(({ pool, nodePool, state, nodeSeconds }) => ({
      labels: labels(pool, nodePool, idleNodeClasses[state]),
      value: nodeSeconds / secondsPerHour,
    })),
  ]);
}
