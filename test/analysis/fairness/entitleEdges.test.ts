import { describe, expect, it } from "vitest";
import { entitledNode as node, type TreeNode } from "./entitledNode.ts";
import { entitleTree } from "./entitleTree.ts";

describe("entitlement at the edges", () => {
  const grantsOf = (capacity: number, nodes: readonly TreeNode[]): readonly number[] => [
    ...entitleTree(nodes, capacity),
  ];

  it("divides nothing among nobody", () => {
    expect(grantsOf(8, [])).toEqual([]);
    expect(grantsOf(0, [node({ guaranteed: 4, demand: 4 })])).toEqual([0]);
    expect(grantsOf(-3, [node({ guaranteed: 4, demand: 4 })])).toEqual([0]);
  });

  it("scales guarantees that do not fit in proportion to the quotas, whatever the weights and priorities", () => {
    const scaled = [
      node({ guaranteed: 30, demand: 30, weight: 1 }),
      node({ guaranteed: 10, demand: 30, weight: 100, priority: 9 }),
    ];
    expect(grantsOf(20, scaled)).toEqual([15, 5]);
  });

  it("does not scale a guarantee that asks for little", () => {
    expect(grantsOf(20, [node({ guaranteed: 30, demand: 3 }), node({ guaranteed: 30, demand: 30 })])).toEqual([3, 17]);
  });

  it("holds a guarantee above the limit to the limit", () => {
    expect(grantsOf(20, [node({ guaranteed: 12, limit: 5, demand: 20 }), node({ demand: 20 })])).toEqual([5, 15]);
  });

  it("divides what an inner node owns and no child does by weight", () => {
    const cohort = [
      node({ guaranteed: 12, demand: 0 }),
      node({ parent: 0, guaranteed: 2, demand: 20 }),
      node({ parent: 0, guaranteed: 4, demand: 20, weight: 2 }),
      node({ guaranteed: 8, demand: 20 }),
    ];
    expect(grantsOf(20, cohort)).toEqual([12, 4, 8, 8]);
  });

  it("scales what children are guaranteed to what their parent has", () => {
    const department = [
      node({ guaranteed: 6, limit: 6 }),
      node({ parent: 0, guaranteed: 8, demand: 20 }),
      node({ parent: 0, guaranteed: 4, demand: 20 }),
    ];
    expect(grantsOf(20, department)).toEqual([6, 4, 2]);
  });

  it("serves weight 0 last, or never, as is asked", () => {
    const three = (capacity: number) =>
      grantsOf(capacity, [
        node({ demand: 6 }),
        node({ demand: 6, weight: 0, zeroWeight: "last" }),
        node({ demand: 6, weight: 0, zeroWeight: "never", guaranteed: 1 }),
      ]);
    expect(three(5)).toEqual([4, 0, 1]);
    expect(three(20)).toEqual([6, 6, 1]);
  });

  it("keeps what a queue does not lend from the others, used or not", () => {
    const pair = (demand: number) =>
      grantsOf(20, [node({ guaranteed: 10, lendingLimit: 4, demand }), node({ guaranteed: 10, demand: 30 })]);
    expect(pair(0)).toEqual([0, 14]);
    expect(pair(3)).toEqual([3, 14]);
    expect(pair(8)).toEqual([8, 12]);
  });

  it("lets what is kept back cost nobody a guarantee where there are fewer GPUs than quotas", () => {
    const short = [node({ guaranteed: 10, lendingLimit: 0, demand: 2 }), node({ guaranteed: 10, demand: 15 })];
    expect(grantsOf(15, short)).toEqual([2, 10]);
  });

  it("lets others below the same parent use what the parent does not lend", () => {
    const cohort = [
      node({ guaranteed: 10, lendingLimit: 0 }),
      node({ parent: 0, guaranteed: 10, demand: 0 }),
      node({ parent: 0, guaranteed: 0, demand: 30 }),
      node({ guaranteed: 10, demand: 30 }),
    ];
    expect(grantsOf(20, cohort)).toEqual([10, 0, 10, 10]);
  });

  it("gives a whole demand to the last bit, whatever its parts add up to", () => {
    expect(1 / 7 + (2 / 3 - 1 / 7)).not.toBe(2 / 3);
    expect(grantsOf(8, [node({ guaranteed: 1 / 7, demand: 2 / 3 })])).toEqual([2 / 3]);
  });

  it("counts a floor towards the share, and other guarantees not", () => {
    const two = (isFloor: boolean) =>
      grantsOf(30, [node({ guaranteed: 10, demand: 40, isFloor }), node({ demand: 40, isFloor })]);
    expect(two(true)).toEqual([15, 15]);
    expect(two(false)).toEqual([20, 10]);
  });
});
