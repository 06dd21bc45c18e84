import { copyFreeCapacity, type FreeCapacity, type NodeFreeCapacity, podsIn, takePod } from "./nodeFreeCapacity.ts";
import type { PodDemand } from "./podDemand.ts";

/** Pods that are alike, and the nodes that take them, those with the fewest free GPUs first. */
export interface PodsToPack {
  readonly demand: PodDemand;
  readonly pods: number;
  readonly freeCapacities: readonly NodeFreeCapacity[];
}

/**
 * If the quick way fails, every placement is tried for gangs and nodes of at most these numbers, and at most this many
 * placements: a larger case costs more than its answer is worth.
 */
const exactLimits = { pods: 32, nodes: 32, tries: 5000 } as const;

/**
 * Whether pods of several kinds can be placed together: the largest first, each onto the node that has the least left; where
 * that fails and the case is small, by trying all placements. So a small gang that can be placed is never judged impossible,
 * and an impossible one never possible.
 */
export function packs(kinds: readonly PodsToPack[]): boolean {
  const sorted = [...kinds].sort((a, b) => compareDemand(b.demand, a.demand));
  return packsGreedily(sorted) || (isSmall(sorted) && packsExactly(sorted));
}

const compareDemand = (a: PodDemand, b: PodDemand): number =>
  a.gpus - b.gpus || a.physicalGpus - b.physicalGpus || a.cpuMilli - b.cpuMilli || a.memoryBytes - b.memoryBytes;

function packsGreedily(kinds: readonly PodsToPack[]): boolean {
  const taken = new Map<NodeFreeCapacity, FreeCapacity>();
  return kinds.every(({ demand, pods, freeCapacities }) => {
    let missing = pods;
    for (const node of freeCapacities) {
      if (missing === 0) break;
      missing -= takePods(node, demand, missing, taken);
    }
    return missing === 0;
  });
}

/** Takes as many pods as fit on a node, at most `pods`; returns how many. */
function takePods(
  node: NodeFreeCapacity,
  demand: PodDemand,
  pods: number,
  taken: Map<NodeFreeCapacity, FreeCapacity>,
): number {
  const before = taken.get(node) ?? node.now;
  const fitting = before === null ? 0 : Math.min(pods, podsIn(before, demand));
  if (before === null || fitting === 0) return 0;
  const freeCapacity = before === node.now ? copyFreeCapacity(before) : before;
  taken.set(node, freeCapacity);
  for (let i = 0; i < fitting; i++) takePod(freeCapacity, demand);
  return fitting;
}

function isSmall(kinds: readonly PodsToPack[]): boolean {
  const pods = kinds.reduce((sum, kind) => sum + kind.pods, 0);
  return pods <= exactLimits.pods && kinds.every(({ freeCapacities }) => freeCapacities.length <= exactLimits.nodes);
}

function packsExactly(kinds: readonly PodsToPack[]): boolean {
  let tries = 0;
  const place = (
    kind: number,
    pod: number,
    firstNode: number,
    freeCapacities: ReadonlyMap<NodeFreeCapacity, FreeCapacity>,
  ): boolean => {
    const placed = kinds[kind];
    if (placed === undefined) return true;
    if (pod === placed.pods) return place(kind + 1, 0, 0, freeCapacities);
    // Pods of a kind are alike, so each goes onto the node of the previous one, or a later one.
    for (let i = firstNode; i < placed.freeCapacities.length; i++) {
      const node = placed.freeCapacities[i];
      if (node === undefined || node.now === null) continue;
      const freeCapacity = freeCapacities.get(node) ?? node.now;
      if (podsIn(freeCapacity, placed.demand) === 0) continue;
      tries += 1;
      if (tries > exactLimits.tries) return false;
      const left = copyFreeCapacity(freeCapacity);
      takePod(left, placed.demand);
      if (place(kind, pod + 1, i, new Map(freeCapacities).set(node, left))) return true;
    }
    return false;
  };
  return place(0, 0, 0, new Map());
}
