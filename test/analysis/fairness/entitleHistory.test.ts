import fc from "fast-check";
import { describe, it } from "vitest";
import { entitledNode, type TreeNode } from "./entitledNode.ts";
import { entitledTree, entitleTree } from "./entitleTree.ts";
import { isLeaf, runs, trees } from "./generatedTrees.ts";
import { naiveBound } from "./naiveEntitle.ts";

const near = 1e-5;
const sum = (amounts: Iterable<number>): number => [...amounts].reduce((a, b) => a + b, 0);
const isNear = (a: number, b: number): boolean => Math.abs(a - b) <= near;

describe("entitlement with a history of use", () => {
  const withUsage = fc
    .tuple(trees(), fc.array(fc.nat(100), { minLength: 9, maxLength: 9 }))
    .map(([{ nodes, capacity }, used]) => {
      const all = sum(used) || 1;
      return { capacity, nodes: nodes.map((node, i) => ({ ...node, isFloor: false, usage: (used[i] ?? 0) / all })) };
    });

  it("is the plain one where history counts nothing", () => {
    fc.assert(
      fc.property(withUsage, ({ nodes, capacity }) => {
        const plain = entitleTree(nodes, capacity);
        const weighed = entitleTree(nodes, capacity, { kValue: 0 });
        return nodes.every((_, i) => plain[i] === weighed[i]);
      }),
      runs,
    );
  });

  it("is the plain one where everyone has used in proportion to weights", () => {
    fc.assert(
      fc.property(trees({ limits: true, priorities: true }), ({ nodes, capacity }) => {
        const flat = nodes.map((node) => ({ ...node, parent: null, demand: 100, limit: Number.POSITIVE_INFINITY }));
        const weights = Map.groupBy(flat, ({ priority }) => priority);
        const used = flat.map((node) => ({
          ...node,
          usage: node.weight / sum((weights.get(node.priority) ?? []).map(({ weight }) => weight)),
        }));
        const plain = entitleTree(flat, capacity);
        const weighed = entitleTree(used, capacity, { kValue: 3 });
        return flat.every((_, i) => isNear(plain[i] ?? 0, weighed[i] ?? Number.NaN));
      }),
      runs,
    );
  });

  it("gives away as much, and still nothing beyond demand and limits", () => {
    fc.assert(
      fc.property(withUsage, fc.constantFrom(0.5, 1, 10), ({ nodes, capacity }, kValue) => {
        const { grants, claims } = entitledTree(nodes, capacity, { kValue });
        const entitled = sum(nodes.map((_, i) => (isLeaf(nodes, i) ? (grants[i] ?? 0) : 0)));
        const isWithin = nodes.every((_, i) => (grants[i] ?? 0) <= (claims.demand[i] ?? 0) + near);
        return isWithin && isNear(entitled, naiveBound(nodes, capacity));
      }),
      runs,
    );
  });

  it("gives the one who has used more no more than its twin", () => {
    fc.assert(
      fc.property(fc.nat(100), fc.nat(100), fc.nat(60), fc.constantFrom(0.5, 1, 10), (a, b, capacity, kValue) => {
        const twin = (id: number, used: number): TreeNode =>
          entitledNode({ id, guaranteed: 4, demand: 40, usage: used / 200 });
        const [first = 0, second = 0] = entitleTree([twin(0, a), twin(1, b)], capacity, { kValue });
        return a === b ? isNear(first, second) : a > b ? first <= second + near : first >= second - near;
      }),
      runs,
    );
  });
});
