import type { IdleWindow } from "../../accounts/idleHours.ts";
import { idleWindows } from "../../accounts/idleHours.ts";
import { type IdleNodeState, idleNodeClasses, isIdleNodeState } from "../../accounts/idleNodeStates.ts";
import { type IdleNodeGroup, idleNodeGroups } from "../../analysis/sums/idleNodeGroups.ts";
import { unknown } from "../../analysis/sums/momentSums.ts";
import type { idleNodesMetrics } from "../../catalogue/idleNodes.ts";
import { labelValue } from "../../kernel/labelValue.ts";
import type { IdleKind } from "../../model/idleKinds.ts";
import type { FamilyInput, Producers } from "../family.ts";

/** Idle nodes now and over time, and the node pools that they belong to. */
export const idleNodesProducers: Producers<keyof typeof idleNodesMetrics> = {
  fairlead_idle_nodes: (input) =>
    groupsOf(input).map((group) => ({ labels: labelsOf(input, group), value: group.nodes })),
  fairlead_idle_node_seconds_total: ({ health: { cluster }, accounts }) =>
    (accounts?.nodeSeconds ?? []).flatMap(({ labels: { state, ...accounted }, value }) =>
      isIdleNodeState(state) ? [{ labels: accountedLabels(cluster, { ...accounted, state }), value }] : [],
    ),
  fairlead_idle_node_hours: (input) => {
    const present = input.moment === null ? [] : groupsOf(input).filter(({ isWarmPool }) => !isWarmPool);
    return (input.accounts?.idleNodes.windows ?? []).flatMap((window) => hoursOf(input, window, present));
  },
  fairlead_idle_node_covered_ratio: ({ health: { cluster }, accounts }) =>
    (accounts?.idleNodes.windows ?? []).map(({ window, coveredSeconds }) => ({
      labels: { cluster, window },
      value: coveredSeconds / idleWindows[window],
    })),
  fairlead_idle_node_longest_seconds: (input) => longest(input),
  fairlead_idle_node_cost_per_hour: (input) =>
    groupsOf(input).flatMap((group) =>
      [...group.costPerHour].map(([currency, value]) => ({ labels: { ...labelsOf(input, group), currency }, value })),
    ),
  fairlead_idle_node_cost_total: ({ health: { cluster }, accounts }) =>
    (accounts?.idleNodes.costs ?? []).map(({ labels: { currency, ...accounted }, value }) => ({
      labels: { ...accountedLabels(cluster, accounted), currency },
      value,
    })),
  fairlead_node_pool_info: ({ health: { cluster }, moment }) =>
    nodePoolsOf(moment).map(({ name, manager, consolidationPolicy }) => ({
      labels: { cluster, node_pool: name, manager, consolidation_policy: consolidationPolicy ?? "" },
      value: 1,
    })),
  fairlead_node_pool_consolidate_after_seconds: ({ health: { cluster }, moment }) =>
    nodePoolsOf(moment).flatMap(({ name, consolidateAfterSeconds }) =>
      consolidateAfterSeconds === null
        ? []
        : [{ labels: { cluster, node_pool: name }, value: consolidateAfterSeconds }],
    ),
  fairlead_node_pool_limit_gpus: ({ health: { cluster }, moment }) =>
    nodePoolsOf(moment).flatMap(({ name, limitGpus }) =>
      limitGpus === null ? [] : [{ labels: { cluster, node_pool: name }, value: limitGpus }],
    ),
  fairlead_node_pool_bound_nodes: ({ health: { cluster }, moment }) =>
    nodePoolsOf(moment).flatMap(({ name, minNodes, maxNodes }) => [
      ...(minNodes === null ? [] : [{ labels: { cluster, node_pool: name, bound: "min" }, value: minNodes }]),
      ...(maxNodes === null ? [] : [{ labels: { cluster, node_pool: name, bound: "max" }, value: maxNodes }]),
    ]),
};

const groupsOf = ({ moment }: FamilyInput): readonly IdleNodeGroup[] =>
  moment === null ? [] : idleNodeGroups(moment.analysis);

const nodePoolsOf = (moment: FamilyInput["moment"]) => moment?.analysis.snapshot.nodePools ?? [];

function kindLabels({ kind, isWarmPool }: { readonly kind: IdleKind; readonly isWarmPool: boolean }) {
  return { idle_kind: kind, warm_pool: isWarmPool ? "true" : "false" };
}

/** The labels of everything that is counted by the state of nodes. */
function accountedLabels(
  cluster: string,
  accounted: {
    readonly pool: string;
    readonly nodePool: string;
    readonly capacityType: string;
    readonly state: IdleNodeState;
  },
) {
  const { pool, nodePool, capacityType, state } = accounted;
  return { cluster, pool, node_pool: nodePool, capacity_type: capacityType, ...kindLabels(idleNodeClasses[state]) };
}

function labelsOf({ health: { cluster } }: FamilyInput, group: IdleNodeGroup) {
  const { pool, nodePool, capacityType } = group;
  return { cluster, pool, node_pool: nodePool, capacity_type: capacityType, ...kindLabels(group) };
}

/** Adds values up (or takes the largest) over what is not in the labels. */
function reduced<Labels extends Readonly<Record<string, string>>>(
  samples: readonly { readonly labels: Labels; readonly value: number }[],
  combine: (one: number, other: number) => number,
) {
  const found = new Map<string, { readonly labels: Labels; value: number }>();
  for (const { labels, value } of samples) {
    const key = JSON.stringify(Object.values(labels));
    const known = found.get(key);
    if (known === undefined) found.set(key, { labels, value });
    else known.value = combine(known.value, value);
  }
  return [...found.values()];
}

const secondsPerHour = 3600;

/** Hours of one window; nodes that are there now and were not idle in it have 0. */
function hoursOf(
  { health: { cluster } }: FamilyInput,
  { window, times }: IdleWindow,
  present: readonly IdleNodeGroup[],
) {
  const labels = (pool: string, nodePool: string, of: Parameters<typeof kindLabels>[0]) => ({
    cluster,
    pool: labelValue(pool),
    node_pool: labelValue(nodePool || unknown),
    ...kindLabels(of),
    window,
  });
  return reduced(
    [
      ...present.map((group) => ({ labels: labels(group.pool, group.nodePool, group), value: 0 })),
      ...times.map(({ pool, nodePool, state, nodeSeconds }) => ({
        labels: labels(pool, nodePool, idleNodeClasses[state]),
        value: nodeSeconds / secondsPerHour,
      })),
    ],
    (one, other) => one + other,
  );
}

function longest(input: FamilyInput) {
  const { cluster } = input.health;
  return reduced(
    groupsOf(input).flatMap((group) =>
      group.longestSeconds === null
        ? []
        : [
            {
              labels: { cluster, pool: group.pool, node_pool: group.nodePool, ...kindLabels(group) },
              value: group.longestSeconds,
            },
          ],
    ),
    Math.max,
  );
}
