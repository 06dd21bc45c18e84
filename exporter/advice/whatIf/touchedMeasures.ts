import type { Analysis } from "../../analysis/analysis.ts";
import type { PoolFreeCapacity } from "../../analysis/freeCapacity/freeCapacities.ts";
import { nodeFreeCapacity } from "../../analysis/freeCapacity/nodeFreeCapacity.ts";
import { isLetIn } from "../../analysis/placement/access.ts";
import { outcomeOf, unusableGpus } from "../../analysis/placement/caseTable.ts";
import { type JudgedShape, judgedShape } from "../../analysis/placement/countShapes.ts";
import { freeGpus, placeable, wholeNodes } from "../../analysis/placement/freeGpus.ts";
import type { PoolPlacement } from "../../analysis/placement/poolPlacement.ts";
import type { TypicalRequests } from "../../analysis/placement/typicalRequests.ts";
import { addHourlyCost } from "../../analysis/prices/addHourlyCost.ts";
import { accountStates } from "../../analysis/states.ts";
import { isIdleNode } from "../../analysis/unallocatedState.ts";
import type { ClusterCopy } from "./clusterCopy.ts";

/** Measures that are sums over nodes, or the changes of such measures. */
export interface NodeMeasures {
  freeGpus: number;
  readonly placeablePods: { 1: number; 2: number; 4: number; 8: number };
  wholeFreeNodes: number;
  expectedFragmentation: number;
  idleGpus: number;
  unobservedGpus: number;
  /** In how many of the last 168 hours the unused nodes were idle, summed over the nodes. */
  idleNodeHours: number;
  /** Cost per hour, by currency. */
  readonly cost: Map<string, number>;
}

/** Measures that are all zero. */
const noNodeMeasures = (): NodeMeasures => ({
  freeGpus: 0,
  placeablePods: { 1: 0, 2: 0, 4: 0, 8: 0 },
  wholeFreeNodes: 0,
  expectedFragmentation: 0,
  idleGpus: 0,
  unobservedGpus: 0,
  idleNodeHours: 0,
  cost: new Map(),
});

/** The values by which nodes are measured; they are the same for all plans of a moment. */
export interface NodeScales {
  readonly shapes: readonly JudgedShape[];
  readonly placementOf: ReadonlyMap<string, PoolPlacement>;
  /** Since when each unused node has been idle, by its index, in seconds since the epoch. */
  readonly idleSince: ReadonlyMap<number, number>;
}

/** The scales of a moment: the target workload and the typical requests of pools do not change. */
export function nodeScales({ placement, idleNodes }: Analysis): NodeScales {
  return {
    shapes: placement.target.shapes.map((shape) => judgedShape(shape, shape.popularity)),
    placementOf: new Map(placement.pools.map((pool) => [pool.pool, pool] as const)),
    idleSince: new Map(
      idleNodes.nodes.flatMap(({ node, kind, since }) => (kind === "unallocated" ? [[node, since]] : [])),
    ),
  };
}

/** The pools of the nodes that were touched, as they are now and as they were before. */
export function touchedPools({ analysis, nodes, touched }: ClusterCopy): ReadonlySet<string> {
  const pools = new Set<string>();
  for (const node of touched)
    for (const pool of [...(analysis.snapshot.nodes[node]?.pools ?? []), ...(nodes[node]?.pools ?? [])])
      pools.add(pool);
  return pools;
}

/** By how much the measures of the touched nodes have grown. */
export function changeOfNodes(copy: ClusterCopy, scales: NodeScales): NodeMeasures {
  const { analysis } = copy;
  const sum = noNodeMeasures();
  const touched = [...copy.touched].sort((a, b) => a - b);
  for (const node of touched) {
    addFreeCapacities(sum, analysis.freeCapacities.byNode[node] ?? [], scales, -1);
    addFreeCapacities(sum, freeCapacitiesNow(copy, node), scales, 1);
  }
  addStates(sum, copy, touched);
  addIdleNodes(sum, copy, touched, scales);
  for (const node of touched) {
    const before = analysis.snapshot.nodes[node];
    const price = before === undefined ? undefined : analysis.prices.byNode.get(before.name);
    const gpus = (copy.nodes[node]?.physicalGpus ?? 0) - (before?.physicalGpus ?? 0);
    if (price === undefined || gpus === 0) continue;
    addHourlyCost(sum.cost, price, gpus);
  }
  return sum;
}

/** What a node has free in each of its pools now. */
export function freeCapacitiesNow(copy: ClusterCopy, index: number): readonly PoolFreeCapacity[] {
  const node = copy.nodes[index];
  if (node === undefined) return [];
  const requests = copy.requestsOf(node.name);
  return node.pools.map((pool) => ({ ...nodeFreeCapacity(copy.live, node, requests, (one) => one === pool), pool }));
}

function addFreeCapacities(
  sum: NodeMeasures,
  freeCapacities: readonly PoolFreeCapacity[],
  { shapes, placementOf }: NodeScales,
  by: 1 | -1,
) {
  for (const freeCapacity of freeCapacities) {
    const typical = typicalOf(placementOf.get(freeCapacity.pool));
    const placed = placeable([freeCapacity], typical).placeablePods;
    sum.freeGpus += by * freeGpus([freeCapacity], noParts).freeGpus;
    for (const size of [1, 2, 4, 8] as const) sum.placeablePods[size] += by * placed[size];
    sum.wholeFreeNodes += by * wholeNodes([freeCapacity]).wholeFreeNodes;
    const { now, node } = freeCapacity;
    if (now === null) continue;
    for (const { demand, access, weight } of shapes) {
      const code = outcomeOf(now, demand, isLetIn(node, access));
      sum.expectedFragmentation += by * weight * unusableGpus(now, demand, code);
    }
  }
}

const noParts = { usable: 0, unavailable: 0 } as const;

function typicalOf(placement: PoolPlacement | undefined): TypicalRequests {
  const sizes = placement?.typicalRequests ?? [];
  return { sizes, of: (size) => sizes.find((one) => one.size === size) ?? nothingAsked };
}

const nothingAsked = { cpuMilli: 0, memoryBytes: 0 } as const;

function addStates(sum: NodeMeasures, { analysis, live }: ClusterCopy, touched: readonly number[]): void {
  for (const [snapshot, by] of [
    [analysis.snapshot, -1],
    [live, 1],
  ] as const) {
    const nodes = touched.flatMap((node) => snapshot.nodes[node] ?? []);
    // Parts of GPUs that are not partitioned are held by nobody.
    const { accountingEntries } = accountStates({ ...snapshot, nodes, unpartitioned: [] }, analysis.stateSettings);
    for (const { gpus } of accountingEntries.inState("idle")) sum.idleGpus += by * gpus;
    for (const { gpus } of accountingEntries.inState("unobserved")) sum.unobservedGpus += by * gpus;
  }
}

const weekHours = 168;

const hoursSince = (at: number, since: number): number => Math.min(weekHours, Math.max(0, at - since) / 3600);

/**
 * Adds by how much the idle hours of the touched nodes have changed. A node that has just become free has not been idle before.
 */
function addIdleNodes(
  sum: NodeMeasures,
  { analysis, live }: ClusterCopy,
  touched: readonly number[],
  { idleSince }: NodeScales,
): void {
  if (!live.coverage.objects) return;
  const { at } = analysis.snapshot;
  for (const node of touched) {
    if (analysis.idleNodes.warm.has(node)) continue;
    const [before, after] = [analysis.snapshot.nodes[node], live.nodes[node]];
    const hours = hoursSince(at, idleSince.get(node) ?? at);
    if (before !== undefined && isIdleNode(analysis.snapshot, before)) sum.idleNodeHours -= hours;
    if (after !== undefined && isIdleNode(live, after)) sum.idleNodeHours += hours;
  }
}

/** The measures of the moment for some pools. */
export function nodesOfPools(analysis: Analysis, pools: ReadonlySet<string>): NodeMeasures {
  const sum = noNodeMeasures();
  for (const placement of analysis.placement.pools) {
    if (!pools.has(placement.pool)) continue;
    sum.freeGpus += placement.freeGpus;
    for (const size of [1, 2, 4, 8] as const) sum.placeablePods[size] += placement.placeablePods[size];
    sum.wholeFreeNodes += placement.wholeFreeNodes;
    sum.expectedFragmentation += placement.expected.gpus;
  }
  for (const { pool, states } of analysis.pools) {
    if (!pools.has(pool)) continue;
    sum.idleGpus += states.idle ?? 0;
    sum.unobservedGpus += states.unobserved ?? 0;
  }
  for (const { node, kind, isWarmPool, since } of analysis.idleNodes.nodes) {
    const own = analysis.snapshot.nodes[node]?.pools ?? [];
    if (kind === "unallocated" && !isWarmPool && own.some((pool) => pools.has(pool)))
      sum.idleNodeHours += hoursSince(analysis.snapshot.at, since);
  }
  for (const { pool, price, physicalGpus } of analysis.prices.groups) {
    if (price === null || !pools.has(pool)) continue;
    addHourlyCost(sum.cost, price, physicalGpus);
  }
  return sum;
}
