import { createTupleInterner } from "../../kernel/tupleInterner.ts";
import type { IdleKind } from "../../model/idleKinds.ts";
import type { Analysis } from "../analysis.ts";
import { unknown } from "./momentSums.ts";

/** Idle nodes of one kind that cost the same. */
export interface IdleNodeGroup {
  readonly pool: string;
  readonly nodePool: string;
  readonly capacityType: string;
  readonly kind: IdleKind;
  readonly isWarmPool: boolean;
  readonly nodes: number;
  /** For how long the node that has been idle longest has been idle, seconds; `null` without a node. */
  readonly longestSeconds: number | null;
  /** Cost per hour of the nodes with a price, by currency. */
  readonly costPerHour: ReadonlyMap<string, number>;
  /** Number of nodes without a price. */
  readonly unpricedNodes: number;
}

const made = new WeakMap<Analysis, readonly IdleNodeGroup[]>();

/**
 * The idle nodes of a moment by pool, node pool, capacity type, kind and warm pool. Groups that have nodes but no idle one are
 * included with 0, so that their series exist before a node is idle. Empty where objects were not read.
 */
export function idleNodeGroups(analysis: Analysis): readonly IdleNodeGroup[] {
  const known = made.get(analysis);
  if (known !== undefined) return known;
  const groups = analysis.snapshot.coverage.objects ? addUp(analysis) : [];
  made.set(analysis, groups);
  return groups;
}

interface Growing extends IdleNodeGroup {
  nodes: number;
  longestSeconds: number | null;
  readonly costPerHour: Map<string, number>;
  unpricedNodes: number;
}

/** The groups of both kinds that are otherwise alike. */
type Pair = Readonly<Record<IdleKind, Growing>>;

function addUp({ snapshot, idleNodes, prices }: Analysis): readonly IdleNodeGroup[] {
  const ids = createTupleInterner();
  const pairs: Pair[] = [];
  const idle = new Map(idleNodes.nodes.map((found) => [found.node, found] as const));
  for (const [index, node] of snapshot.nodes.entries()) {
    const isWarmPool = idleNodes.warm.has(index);
    const pool = node.pools[0] ?? unknown;
    const nodePool = node.nodePool || unknown;
    const capacityType = node.capacityType ?? unknown;
    const id = ids.idOf([pool, nodePool, capacityType, isWarmPool ? "warm" : ""]);
    const pair = pairs[id] ?? emptyPair({ pool, nodePool, capacityType, isWarmPool });
    pairs[id] = pair;
    const found = idle.get(index);
    if (found === undefined) continue;
    const group = pair[found.kind];
    group.nodes += 1;
    group.longestSeconds = Math.max(group.longestSeconds ?? 0, snapshot.at - found.since);
    const price = prices.byNode.get(node.name);
    if (price === undefined) group.unpricedNodes += 1;
    else group.costPerHour.set(price.currency, (group.costPerHour.get(price.currency) ?? 0) + price.perNodeHour);
  }
  return pairs.flatMap(({ unallocated, allocated }) => [unallocated, allocated]);
}

function emptyPair(alike: Pick<IdleNodeGroup, "pool" | "nodePool" | "capacityType" | "isWarmPool">): Pair {
  const group = (kind: IdleKind): Growing => {
    return { ...alike, kind, nodes: 0, longestSeconds: null, costPerHour: new Map(), unpricedNodes: 0 };
  };
  return { unallocated: group("unallocated"), allocated: group("allocated") };
}
