import fc from "fast-check";
import { describe, it } from "vitest";
import { sampled } from "../../sampled.ts";
import type { TreeNode } from "./entitledNode.ts";
import { entitledTree, entitleTree } from "./entitleTree.ts";
import { childrenOf, everything, isLeaf, reordered, runs, trees } from "./generatedTrees.ts";
import { naiveBound, naiveEntitle } from "./naiveEntitle.ts";

const near = 1e-5;
const sum = (amounts: Iterable<number>): number => [...amounts].reduce((a, b) => a + b, 0);
const isNear = (a: number, b: number): boolean => Math.abs(a - b) <= near;

function replaced(nodes: readonly TreeNode[], index: number, change: Partial<TreeNode>): TreeNode[] {
  return nodes.map((node, i) => (i === index ? { ...node, ...change } : node));
}

/** A generated tree and one of its nodes. */
const treesWithNode = (traits = everything) =>
  fc.tuple(trees(traits), fc.nat()).map(([tree, pick]) => ({ ...tree, index: pick % tree.nodes.length }));

/** Trees with all that a tree may have, and what is entitled in them. */
const everyTree = sampled(trees(), runs, (tree) => ({ ...tree, entitled: entitledTree(tree.nodes, tree.capacity) }));

describe("entitlement, over generated trees", () => {
  it("is what the definition gives, level by level", () => {
    everyTree(({ nodes, capacity, entitled: { grants } }) => {
      const naive = naiveEntitle(nodes, capacity);
      return nodes.every((_, i) => isNear(grants[i] ?? Number.NaN, naive[i] ?? Number.NaN));
    });
  });

  it("leaves nothing over that someone could use", () => {
    fc.assert(
      fc.property(trees({ priorities: true, floors: true }), ({ nodes, capacity }) => {
        const { grants } = entitledTree(nodes, capacity);
        const demand = sum(nodes.map((node, i) => (isLeaf(nodes, i) ? node.demand : 0)));
        const entitled = sum(nodes.map((_, i) => (isLeaf(nodes, i) ? (grants[i] ?? 0) : 0)));
        return isNear(entitled, Math.min(capacity, demand));
      }),
      runs,
    );
  });

  it("gives away exactly what limits, lending limits and weights of zero allow", () => {
    everyTree(({ nodes, capacity, entitled: { grants } }) => {
      const entitled = sum(nodes.map((_, i) => (isLeaf(nodes, i) ? (grants[i] ?? 0) : 0)));
      return isNear(entitled, naiveBound(nodes, capacity));
    });
  });

  it("adds up under every parent, and is never below zero", () => {
    everyTree(({ nodes, capacity, entitled: { grants } }) => {
      for (const [parent, group] of childrenOf(nodes)) {
        const below = sum(group.map((i) => grants[i] ?? 0));
        if (parent === null ? below > capacity + near : !isNear(below, grants[parent] ?? 0)) return false;
      }
      return grants.every((grant) => grant >= 0);
    });
  });

  it("is never above what is asked for, nor above the limit of anyone on the path", () => {
    everyTree(({ nodes, entitled: { grants } }) =>
      nodes.every((node, i) => {
        const grant = grants[i] ?? 0;
        let limit = node.limit;
        for (let at = node.parent; at !== null; at = nodes[at]?.parent ?? null)
          limit = Math.min(limit, nodes[at]?.limit ?? 0);
        return grant <= limit + near && (!isLeaf(nodes, i) || grant <= node.demand + near);
      }),
    );
  });

  it("honours the guarantees of siblings whenever they fit into what their parent has", () => {
    fc.assert(
      fc.property(trees({ ...everything, lending: false }), ({ nodes, capacity }) => {
        const { grants, claims } = entitledTree(nodes, capacity);
        for (const [parent, group] of childrenOf(nodes)) {
          const sure = group.map((i) => Math.min(nodes[i]?.guaranteed ?? 0, claims.demand[i] ?? 0));
          const available = parent === null ? capacity : (grants[parent] ?? 0);
          if (sum(sure) > available) continue;
          if (group.some((i, n) => (grants[i] ?? 0) < (sure[n] ?? 0) - near)) return false;
        }
        return true;
      }),
      runs,
    );
  });

  it("honours the guarantees of leaves under a lending limit whenever they fit", () => {
    fc.assert(
      fc.property(trees({ ...everything, limits: false }), ({ nodes, capacity }) => {
        const flat = nodes.map((node) => ({ ...node, parent: null }));
        const { grants } = entitledTree(flat, capacity);
        const sure = flat.map(({ guaranteed, demand }) => Math.min(guaranteed, demand));
        return sum(sure) > capacity || flat.every((_, i) => (grants[i] ?? 0) >= (sure[i] ?? 0) - near);
      }),
      runs,
    );
  });

  it("never falls when the own weight rises", () => {
    fc.assert(
      fc.property(treesWithNode(), fc.integer({ min: 1, max: 40 }), ({ nodes, capacity, index }, more) => {
        const before = entitleTree(nodes, capacity);
        const weight = (nodes[index]?.weight ?? 0) + more / 4;
        const after = entitleTree(replaced(nodes, index, { weight }), capacity);
        return (after[index] ?? 0) >= (before[index] ?? 0) - near;
      }),
      runs,
    );
  });

  it("never falls when the own demand rises", () => {
    fc.assert(
      fc.property(treesWithNode(), fc.integer({ min: 1, max: 40 }), ({ nodes, capacity, index }, more) => {
        if (!isLeaf(nodes, index)) return true;
        const before = entitleTree(nodes, capacity);
        const demand = (nodes[index]?.demand ?? 0) + more / 4;
        const after = entitleTree(replaced(nodes, index, { demand }), capacity);
        return (after[index] ?? 0) >= (before[index] ?? 0) - near;
      }),
      runs,
    );
  });

  it("falls for nobody when there is more to divide", () => {
    fc.assert(
      fc.property(trees(), fc.integer({ min: 1, max: 40 }), ({ nodes, capacity }, more) => {
        const before = entitleTree(nodes, capacity);
        const after = entitleTree(nodes, capacity + more / 4);
        return nodes.every((_, i) => (after[i] ?? 0) >= (before[i] ?? 0) - near);
      }),
      runs,
    );
  });

  it("does not depend on the order of the queues", () => {
    everyTree(({ nodes, capacity, entitled: { grants: before } }) => {
      const other = reordered(nodes);
      const after = entitleTree(other.nodes, capacity);
      return nodes.every((_, i) => isNear(before[i] ?? 0, after[other.places[i] ?? -1] ?? Number.NaN));
    });
  });
});
