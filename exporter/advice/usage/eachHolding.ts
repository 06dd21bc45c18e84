// Needed for the goal `advice-quiet` (docs/performance.md).

import type { Device, Holding, NodeView, PodView, Snapshot } from "../../join/snapshot.ts";
import { oncePer } from "../../kernel/once.ts";

/** Is called with everything that a workload holds: the index of the device, and the pod that holds it. */
export type VisitHolding = (index: number, device: Device, holding: Holding, pod: PodView) => void;

/**
 * Calls `visit` for everything that some workloads (indices) hold, in the order of the nodes. What is on nodes without such a
 * workload costs nothing.
 */
export function eachHolding(snapshot: Snapshot, looked: readonly number[], visit: VisitHolding): void {
  if (looked.length === 0) return;
  const { nodes, workloads } = snapshot;
  const isLooked = new Uint8Array(workloads.length);
  const isNeeded = new Uint8Array(nodes.length);
  const indexes = nodeIndexes(nodes);
  for (const place of looked) {
    isLooked[place] = 1;
    markNodes(snapshot, workloads[place]?.pods ?? [], indexes, isNeeded);
  }
  for (let at = isNeeded.indexOf(1); at >= 0; at = isNeeded.indexOf(1, at + 1))
    visitNode(snapshot, nodes[at]?.devices ?? [], isLooked, visit);
}

/** Marks the nodes of some pods (indices). Many pods of a workload are on one node. */
function markNodes(
  { pods }: Snapshot,
  own: readonly number[],
  indexes: ReadonlyMap<string, number>,
  isNeeded: Uint8Array,
): void {
  let last: string | null = null;
  for (const pod of own) {
    const name: string | null = pods[pod]?.node ?? null;
    if (name === null || name === last) continue;
    last = name;
    const index = indexes.get(name);
    if (index !== undefined) isNeeded[index] = 1;
  }
}

function visitNode(
  { devices, pods }: Snapshot,
  own: readonly number[],
  isLooked: Uint8Array,
  visit: VisitHolding,
): void {
  for (const index of own) {
    const device = devices[index];
    if (device === undefined) continue;
    for (const holding of device.holders) {
      const pod = pods[holding.pod];
      if (pod !== undefined && isLooked[pod.workload] === 1) visit(index, device, holding, pod);
    }
  }
}

/** The index of each node of a moment, by its name. */
export const nodeIndexes = oncePer((nodes: readonly NodeView[]): ReadonlyMap<string, number> => indexesOf(nodes));

interface NodeIndexes {
  /** Weak: what is known here must not hold on to a moment. */
  readonly nodes: WeakRef<readonly NodeView[]>;
  readonly names: readonly string[];
  readonly indexes: ReadonlyMap<string, number>;
}

/** The map of the last nodes is kept while the nodes have the same names: in most moments they do. */
let known: NodeIndexes = { nodes: new WeakRef([]), names: [], indexes: new Map() };

function indexesOf(nodes: readonly NodeView[]): ReadonlyMap<string, number> {
  const isKept = hasNames(nodes, known);
  const names = isKept ? known.names : nodes.map(({ name }) => name);
  const indexes = isKept ? known.indexes : new Map(names.map((name, i) => [name, i] as const));
  known = { nodes: new WeakRef(nodes), names, indexes };
  return indexes;
}

/** Most nodes are the same objects as before, whose names need not be looked at. */
function hasNames(nodes: readonly NodeView[], { nodes: last, names }: NodeIndexes): boolean {
  if (nodes.length !== names.length) return false;
  const before = last.deref() ?? [];
  for (let i = 0; i < nodes.length; i++) if (nodes[i] !== before[i] && nodes[i]?.name !== names[i]) return false;
  return true;
}
