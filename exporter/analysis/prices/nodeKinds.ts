import type { NodeView } from "../../join/snapshot.ts";

/** Nodes that no price can distinguish. */
export interface NodeKind {
  /** One of these nodes, as an example. */
  readonly like: NodeView;
  readonly nodes: NodeView[];
}

/**
 * Counted nodes with GPUs, grouped by everything that a price may depend on; `labels` are those that the price list reads.
 * Nodes are compared without keys of text, because a fleet has thousands of nodes and few kinds.
 */
export function nodeKinds(nodes: readonly NodeView[], labels: readonly string[]): readonly NodeKind[] {
  const byInstanceType = new Map<string | null, NodeKind[]>();
  const all: NodeKind[] = [];
  for (const node of nodes) {
    if (node.physicalGpus === null || node.physicalGpus === 0) continue;
    const key = labels.length === 0 ? node.instanceType : withLabels(node, labels);
    let kinds = byInstanceType.get(key);
    if (kinds === undefined) {
      kinds = [];
      byInstanceType.set(key, kinds);
    }
    const known = kinds.find((kind) => isAlike(kind.like, node));
    if (known !== undefined) {
      known.nodes.push(node);
      continue;
    }
    const kind = { like: node, nodes: [node] };
    kinds.push(kind);
    all.push(kind);
  }
  return all;
}

function withLabels(node: NodeView, labels: readonly string[]): string {
  return JSON.stringify([node.instanceType, ...labels.map((label) => node.labels[label] ?? null)]);
}

function isAlike(a: NodeView, b: NodeView): boolean {
  return (
    a.physicalGpus === b.physicalGpus &&
    a.nodePool === b.nodePool &&
    a.capacityType === b.capacityType &&
    a.provider === b.provider &&
    a.region === b.region &&
    isSameList(a.gpuModels, b.gpuModels) &&
    isSameList(a.pools, b.pools)
  );
}

function isSameList(a: readonly string[], b: readonly string[]): boolean {
  return a === b || (a.length === b.length && a.every((text, index) => text === b[index]));
}

/** Whether one node always has the price of the other, which may be the same node a moment later; `labels` are as above. */
export function isPricedAs(one: NodeView | undefined, other: NodeView, labels: readonly string[]): boolean {
  if (one === other) return true;
  return (
    one !== undefined &&
    one.name === other.name &&
    one.instanceType === other.instanceType &&
    // A node with several pools has the models of its devices.
    one.pools.length <= 1 &&
    isAlike(one, other) &&
    labels.every((label) => one.labels[label] === other.labels[label])
  );
}
