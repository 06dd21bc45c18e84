import fc from "fast-check";
import type { TreeNode } from "./entitledNode.ts";

/** How many trees each property sees. */
export const runs = { numRuns: 10_000, seed: 20_261_121 };

/** What a generated tree may have; what it may not have is left at the value that means nothing. */
export interface TreeTraits {
  readonly limits?: boolean;
  readonly lending?: boolean;
  readonly zeroWeights?: boolean;
  readonly priorities?: boolean;
  readonly floors?: boolean;
}

export const everything: TreeTraits = {
  limits: true,
  lending: true,
  zeroWeights: true,
  priorities: true,
  floors: true,
};

/** A forest of queues and what is divided among them. */
export interface GeneratedTree {
  readonly nodes: readonly TreeNode[];
  readonly capacity: number;
}

const weights = [1, 1, 2, 3, 0.5, 100];
const quotas = [0, 0, 0, 1, 2, 4, 6, 9];

/** Takes one small number after the other from two large ones. */
function digits(...seeds: readonly number[]) {
  const rest = [...seeds];
  return (base: number): number => {
    const at = Math.max(
      0,
      rest.findIndex((seed) => seed >= base),
    );
    const seed = rest[at] ?? 0;
    rest[at] = Math.floor(seed / base);
    return seed % base;
  };
}

function nodeFrom(first: number, second: number, index: number, traits: TreeTraits): TreeNode {
  const digit = digits(first, second);
  // A node is alone, below its neighbour, or anywhere above.
  const place = digit(index + 1);
  const parent = place === index ? null : place;
  // Halves and thirds: amounts that floating point can and cannot write down.
  const unit = [1, 1, 0.5, 1 / 3][digit(4)] ?? 1;
  const guaranteed = (quotas[digit(8)] ?? 0) * unit;
  const limit = digit(3) === 0 ? digit(24) * unit : Number.POSITIVE_INFINITY;
  const lendingLimit = digit(2) === 0 ? digit(10) * unit : Number.POSITIVE_INFINITY;
  const weight = digit(5) === 0 ? 0 : (weights[digit(6)] ?? 1);
  const zeroWeight = digit(2) === 0 ? "last" : "never";
  const priority = Math.max(0, digit(5) - 2);
  const isFloor = digit(4) === 0;
  const demand = digit(32) * unit;
  const allocated = (demand * digit(5)) / 4;
  return {
    id: index,
    parent,
    guaranteed,
    limit: traits.limits === true ? limit : Number.POSITIVE_INFINITY,
    lendingLimit: traits.lending === true ? lendingLimit : Number.POSITIVE_INFINITY,
    weight: weight === 0 && traits.zeroWeights !== true ? 1 : weight,
    zeroWeight,
    priority: traits.priorities === true ? priority : 0,
    isFloor: traits.floors === true && isFloor,
    demand,
    allocated,
    usage: 0,
  };
}

/** Forests of up to nine nodes, any shape. */
export function trees(traits: TreeTraits = everything): fc.Arbitrary<GeneratedTree> {
  const seeds = fc.noBias(fc.tuple(fc.maxSafeNat(), fc.maxSafeNat()));
  return fc.tuple(fc.array(seeds, { minLength: 1, maxLength: 9 }), fc.noBias(fc.nat(120))).map(([seeds, capacity]) => ({
    nodes: withHeld(seeds.map(([first, second], index) => nodeFrom(first, second, index, traits))),
    capacity: capacity / 2,
  }));
}

/** What a subtree holds is what its leaves hold. */
function withHeld(nodes: readonly TreeNode[]): readonly TreeNode[] {
  const allocated = nodes.map((node, i) => (isLeaf(nodes, i) ? node.allocated : 0));
  for (let i = nodes.length - 1; i >= 0; i--) {
    const parent = nodes[i]?.parent ?? null;
    if (parent !== null) allocated[parent] = (allocated[parent] ?? 0) + (allocated[i] ?? 0);
  }
  return nodes.map((node, i) => ({ ...node, allocated: allocated[i] ?? 0 }));
}

/** The terms of a node as a queue has them. */
export function termsOf({ guaranteed, limit, lendingLimit, weight, zeroWeight, priority, isFloor }: TreeNode) {
  return { guaranteed, limit, lendingLimit, weight, zeroWeight, priority, guaranteeIsFloor: isFloor };
}

/** Indices of the children of each node, and of those at the top. */
export function childrenOf(nodes: readonly TreeNode[]): ReadonlyMap<number | null, readonly number[]> {
  return Map.groupBy(
    nodes.map((_, index) => index),
    (index) => nodes[index]?.parent ?? null,
  );
}

export function isLeaf(nodes: readonly TreeNode[], index: number): boolean {
  return nodes.every(({ parent }) => parent !== index);
}

/** The same forest with its siblings in another order; `places[i]` is where node i went. */
export function reordered(nodes: readonly TreeNode[]): {
  readonly nodes: readonly TreeNode[];
  readonly places: readonly number[];
} {
  const children = childrenOf(nodes);
  const order: number[] = [];
  const visit = (index: number | null): void => {
    if (index !== null) order.push(index);
    for (const child of [...(children.get(index) ?? [])].reverse()) visit(child);
  };
  visit(null);
  const places = nodes.map((_, index) => order.indexOf(index));
  return {
    nodes: order.flatMap((index) => {
      const node = nodes[index];
      if (node === undefined) return [];
      return [{ ...node, parent: node.parent === null ? null : (places[node.parent] ?? null) }];
    }),
    places,
  };
}
