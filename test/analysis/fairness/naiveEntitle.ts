import type { TreeNode } from "./entitledNode.ts";

/** Straight from the definition, with nothing clever in it: the level is found by halving an interval. */

/** A queue with what is below it. */
export interface Tree {
  readonly node: TreeNode;
  readonly index: number;
  readonly children: readonly Tree[];
}

export function grow(nodes: readonly TreeNode[], parent: number | null): readonly Tree[] {
  return nodes.flatMap((node, index) =>
    node.parent === parent ? [{ node, index, children: grow(nodes, index) }] : [],
  );
}

const sum = (amounts: readonly number[]): number => amounts.reduce((a, b) => a + b, 0);
const isNever = ({ node }: Tree): boolean => node.weight === 0 && node.zeroWeight === "never";

/** Quota of a subtree that nobody outside may use. */
export const kept = (tree: Tree): number =>
  Math.max(sum(tree.children.map(kept)), tree.node.guaranteed - tree.node.lendingLimit);
export const lendable = (tree: Tree): number => Math.max(0, tree.node.guaranteed - kept(tree));
const quota = (trees: readonly Tree[]): number => sum(trees.map((tree) => kept(tree) + lendable(tree)));
const withheld = (trees: readonly Tree[]): number => sum(trees.map((tree) => kept(tree) - keptUsed(tree)));

function limited(tree: Tree): number {
  const wanted = tree.children.length === 0 ? tree.node.demand : sum(tree.children.map(demand));
  const all = Math.max(tree.node.limit, quota(tree.children), tree.node.guaranteed);
  return Math.max(0, Math.min(wanted, tree.node.limit, all - withheld(tree.children)));
}
function keptUsed(tree: Tree): number {
  const own = kept(tree) - sum(tree.children.map(kept));
  return Math.min(limited(tree), own + sum(tree.children.map(keptUsed)));
}
const lendableUsed = (tree: Tree): number => Math.min(lendable(tree), limited(tree) - keptUsed(tree));
const demand = (tree: Tree): number => (isNever(tree) ? keptUsed(tree) + lendableUsed(tree) : limited(tree));

/** Everyone gets share(level), with the level at which the amount is used up. */
function pour(amount: number, most: readonly number[], share: (level: number) => readonly number[]): readonly number[] {
  if (sum(most) <= amount) return most;
  let [low, high] = [0, 1e12];
  for (let step = 0; step < 90; step++) {
    const middle = (low + high) / 2;
    if (sum(share(middle)) <= amount) low = middle;
    else high = middle;
  }
  return share(low);
}

/** What a subtree is sure of and can use. */
export const sureOf = (tree: Tree): number => keptUsed(tree) + lendableUsed(tree);

/** Held, as far as all limits on the way up allow. */
const allocatedWithin = (tree: Tree): number =>
  Math.min(tree.children.length === 0 ? tree.node.allocated : sum(tree.children.map(allocatedWithin)), demand(tree));

/** Each the same part of its own where there is less for all. */
function scaled(own: readonly number[], amount: number): readonly number[] {
  const all = sum(own);
  return all <= amount || all === 0 ? own : own.map((one) => (one * amount) / all);
}

/** By index: what each holds within its guarantee, as far as those above it are sure of it. */
export function ownOf(trees: readonly Tree[], found: Map<number, number>, most: number): ReadonlyMap<number, number> {
  const own = scaled(
    trees.map((tree) => Math.min(allocatedWithin(tree), tree.node.guaranteed, sureOf(tree))),
    most,
  );
  for (const [n, tree] of trees.entries()) {
    found.set(tree.index, own[n] ?? 0);
    ownOf(tree.children, found, own[n] ?? 0);
  }
  return found;
}

function divide(trees: readonly Tree[], amount: number, mine: ReadonlyMap<number, number>, grants: Float64Array): void {
  const own = scaled(
    trees.map((tree) => Math.min(mine.get(tree.index) ?? 0, sureOf(tree))),
    amount,
  );
  const most = trees.map(sureOf);
  const got = [
    ...pour(amount, most, (level) =>
      trees.map((tree, n) => Math.max(own[n] ?? 0, Math.min(most[n] ?? 0, level * (kept(tree) + lendable(tree))))),
    ),
  ];
  const sure = [...got];
  let left = Math.max(0, amount - sum(got));
  const give = (isServed: (tree: Tree) => boolean, share: (tree: Tree, n: number, level: number) => number): void => {
    const headrooms = trees.map((tree, n) => (isServed(tree) ? Math.max(0, demand(tree) - (got[n] ?? 0)) : 0));
    const extra = pour(left, headrooms, (level) =>
      trees.map((tree, n) => Math.min(headrooms[n] ?? 0, Math.max(0, share(tree, n, level)))),
    );
    for (const [n, amountOf] of extra.entries()) got[n] = (got[n] ?? 0) + amountOf;
    left = Math.max(0, left - sum(extra));
  };
  for (const priority of [...new Set(trees.map(({ node }) => node.priority))].sort((a, b) => b - a)) {
    const isHere = (tree: Tree): boolean => tree.node.priority === priority;
    give(
      (tree) => isHere(tree) && tree.node.weight > 0,
      ({ node }, n, level) => level * node.weight - (node.isFloor ? (sure[n] ?? 0) : 0),
    );
    give(
      (tree) => isHere(tree) && tree.node.weight === 0 && !isNever(tree),
      (_tree, _n, level) => level,
    );
  }
  for (const [n, tree] of trees.entries()) {
    grants[tree.index] = got[n] ?? 0;
    if (tree.children.length > 0) divide(tree.children, got[n] ?? 0, mine, grants);
  }
}

/** The grants of `entitle`, by the definition. */
export function naiveEntitle(nodes: readonly TreeNode[], capacity: number): Float64Array {
  const trees = grow(nodes, null);
  const grants = new Float64Array(nodes.length);
  divide(
    trees,
    Math.max(0, Math.min(capacity, Math.max(capacity, quota(trees)) - withheld(trees))),
    ownOf(trees, new Map(), Number.POSITIVE_INFINITY),
    grants,
  );
  return grants;
}

/** What can be given away at most, whoever gets it. */
export function naiveBound(nodes: readonly TreeNode[], capacity: number): number {
  const trees = grow(nodes, null);
  const usable = Math.max(0, Math.min(capacity, Math.max(capacity, quota(trees)) - withheld(trees)));
  return Math.min(usable, sum(trees.map(demand)));
}
