import type { Device, Holding, NodeView, PodView, Snapshot } from "../../join/snapshot.ts";
import { oncePer } from "../../kernel/once.ts";

/**
 * Calls `visit` for everything that some workloads hold. `isLooked` has 1 for each of them, in the order of the workloads. What
 * is on nodes without such a workload costs nothing.
 */
export function eachHolding(
  snapshot: Snapshot,
  isLooked: Uint8Array,
  visit: (index: number, device: Device, holding: Holding, pod: PodView) => void,
): void {
  const { devices, pods } = snapshot;
  for (const node of nodesWith(snapshot, isLooked)) {
    for (const index of node.devices) {
      const device = devices[index];
      if (device === undefined) continue;
      for (const holding of device.holders) {
        const pod = pods[holding.pod];
        if (pod !== undefined && isLooked[pod.workload] === 1) visit(index, device, holding, pod);
      }
    }
  }
}

/** The nodes with pods of some workloads, in the order of the nodes. */
function nodesWith({ nodes, pods, workloads }: Snapshot, isLooked: Uint8Array): readonly NodeView[] {
  let count = 0;
  for (const looked of isLooked) count += looked;
  // Looking nodes up would cost more than it saves.
  if (count * 2 > workloads.length) return nodes;
  const indexes = nodeIndexes(nodes);
  const isNeeded = new Uint8Array(nodes.length);
  for (let place = 0; place < isLooked.length; place += 1) {
    if (isLooked[place] !== 1) continue;
    // Many pods of a workload are on one node.
    let last: string | null = null;
    for (const pod of workloads[place]?.pods ?? []) {
      const name: string | null = pods[pod]?.node ?? null;
      if (name === null || name === last) continue;
      last = name;
      const index = indexes.get(name);
      if (index !== undefined) isNeeded[index] = 1;
    }
  }
  return nodes.filter((_, index) => isNeeded[index] === 1);
}

/** The index of each node of a moment, by its name. */
export const nodeIndexes = oncePer(
  (nodes: readonly NodeView[]): ReadonlyMap<string, number> => new Map(nodes.map(({ name }, i) => [name, i] as const)),
);
