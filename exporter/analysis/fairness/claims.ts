import type { QueueView } from "../../join/queues/queueing.ts";

/** A queue with its index into `Queueing.queues`, by which traces refer to it. */
export interface Placed {
  readonly index: number;
  readonly queue: QueueView;
}

/** What a queue has, wants and may get on nodes that take pods. Amounts in physical GPUs, as in `QueueView`. */
export interface EntitledNode extends Placed {
  /** Index into the same list, smaller than its own; `null` at the top. */
  readonly parent: number | null;
  readonly guaranteed: number;
  readonly limit: number;
  readonly lendingLimit: number;
  /** held + pending of a leaf; not used for inner nodes. */
  readonly demand: number;
  /** What is allocated to its subtree; the part within its guarantee is its own. */
  readonly allocated: number;
  /** Use over the window of a scheduler's history, as a part of the capacity; 0 without a history. */
  readonly usage: number;
}

/** What each node of a tree can claim, independently of the others. Columns are parallel to the nodes. */
export interface Claims {
  readonly top: readonly number[];
  readonly children: readonly (readonly number[])[];
  /** What its subtree asks for before its own limit applies. */
  readonly wanted: Float64Array;
  /** The most that it can be given: what is wanted, at most its limit. */
  readonly demand: Float64Array;
  /** Quota that nobody outside may use: the part of its own above its lending limit, and that of all nodes below. */
  readonly kept: Float64Array;
  /** The part of `kept` that the demand uses. */
  readonly keptUsed: Float64Array;
  /** All of its quota, lent or not. */
  readonly quota: Float64Array;
  /** The part of `quota` that the demand uses. */
  readonly sure: Float64Array;
  /** The part of `sure` that its subtree already holds, as far as this is also within the guarantees above it. */
  readonly own: Float64Array;
}

/** The quota of siblings together. */
export interface GroupQuota {
  /** All quota, lent or not. */
  readonly quota: number;
  /** Quota that is neither lent nor used, and so is withheld from everybody. */
  readonly withheld: number;
}

/**
 * How much of an amount can be used when quota is withheld. Quota is withheld, not GPUs: if there are fewer GPUs than quota,
 * the missing GPUs come out of the withheld quota first, so that nobody loses a guarantee that fits.
 */
export function usableOf(amount: number, { quota, withheld }: GroupQuota): number {
  return Math.min(amount, Math.max(amount, quota) - withheld);
}

const noQuota: GroupQuota = { quota: 0, withheld: 0 };

/** The quota of the nodes of a group. */
export function quotaOf(claims: Claims, group: readonly number[]): GroupQuota {
  if (group.length === 0) return noQuota;
  let [quota, withheld] = [0, 0];
  for (const i of group) {
    quota += claims.quota[i] ?? 0;
    withheld += (claims.kept[i] ?? 0) - (claims.keptUsed[i] ?? 0);
  }
  return { quota, withheld: Math.max(0, withheld) };
}

/**
 * Adds demand and quota up from the leaves.
 *
 * Quota that is not lent (guaranteed - lendingLimit) can be used anywhere below its node. The part that the node keeps, and not
 * one of its children, is its own `localQuota`, as Kueue calls it (pkg/cache/scheduler/resource_node.go), and keptUsed =
 * min(demand, localQuota + sum of the children's keptUsed).
 *
 * What can never be given does not count as demand: a node without weight that is never served from the surplus claims only its
 * guarantee. So the children of an inner node can take whatever it is given.
 */
export function addUpClaims(nodes: readonly EntitledNode[]): Claims {
  const column = () => new Float64Array(nodes.length);
  const top: number[] = [];
  const children: number[][] = nodes.map(() => []);
  for (let i = 0; i < nodes.length; i++) {
    const parent = nodes[i]?.parent ?? null;
    if (parent === null) top.push(i);
    else children[parent]?.push(i);
  }
  const claims = {
    top,
    children,
    wanted: column(),
    demand: column(),
    kept: column(),
    keptUsed: column(),
    quota: column(),
    sure: column(),
    own: column(),
    allocated: column(),
  };
  for (let i = nodes.length - 1; i >= 0; i--) {
    const node = nodes[i];
    if (node !== undefined) claim(claims, node, i, children[i] ?? []);
  }
  for (let i = 0; i < children.length; i++) boundOwn(claims, claims.own[i] ?? 0, children[i] ?? []);
  return claims;
}

/**
 * Limits the own amounts of the children of a node to its own amount together: they are sure of no more than the node itself.
 */
function boundOwn({ own }: Claims, most: number, group: readonly number[]): void {
  let sum = 0;
  for (const i of group) sum += own[i] ?? 0;
  if (sum > most) for (const i of group) own[i] = ((own[i] ?? 0) * most) / sum;
}

function claim(
  claims: Claims & { readonly allocated: Float64Array },
  node: EntitledNode,
  i: number,
  children: readonly number[],
): void {
  const isLeaf = children.length === 0;
  const wanted = isLeaf ? node.demand : sumIn(claims.demand, children);
  const allocated = isLeaf ? node.allocated : sumIn(claims.allocated, children);
  const [kept, keptUsed] = [sumIn(claims.kept, children), sumIn(claims.keptUsed, children)];
  const allKept = Math.max(kept, node.guaranteed - node.lendingLimit);
  const lendable = Math.max(0, node.guaranteed - allKept);
  const below = quotaOf(claims, children);
  const quota = Math.max(below.quota, node.guaranteed);
  const within = Math.max(0, Math.min(wanted, usableOf(node.limit, { quota, withheld: below.withheld })));
  const localUsed = Math.min(within, allKept - kept + keptUsed);
  const sure = localUsed + Math.min(lendable, within - localUsed);
  claims.wanted[i] = wanted;
  claims.kept[i] = allKept;
  claims.keptUsed[i] = localUsed;
  claims.quota[i] = allKept + lendable;
  claims.sure[i] = sure;
  claims.demand[i] = isNeverServed(node) ? sure : within;
  // What a descendant holds above a limit is not its own.
  claims.allocated[i] = Math.min(allocated, claims.demand[i] ?? 0);
  claims.own[i] = Math.min(allocated, node.guaranteed, sure);
}

/** The sum of some entries of a column. */
export function sumIn(column: Float64Array, places: readonly number[]): number {
  let sum = 0;
  for (let k = 0; k < places.length; k++) sum += column[places[k] ?? -1] ?? 0;
  return sum;
}

/** Whether a node gets nothing of any surplus. */
export function isNeverServed({ queue: { weight, zeroWeight } }: EntitledNode): boolean {
  return weight <= 0 && zeroWeight === "never";
}

/** A column with an amount for each leaf, and 0 for inner nodes; parallel to `nodes`. */
export function leafColumn(nodes: readonly EntitledNode[], of: (leaf: EntitledNode) => number): Float64Array {
  const column = new Float64Array(nodes.length);
  for (let i = 0; i < nodes.length; i++) {
    const node = nodes[i];
    if (node?.queue.children.length === 0) column[i] = of(node);
  }
  return column;
}

/** Adds what each node has to its parent, from the leaves up; `sums` is parallel to `nodes`, in which parents come first. */
export function addToParents(nodes: readonly Pick<EntitledNode, "parent">[], sums: Float64Array): void {
  for (let i = nodes.length - 1; i >= 0; i--) {
    const parent = nodes[i]?.parent ?? null;
    if (parent !== null) sums[parent] = (sums[parent] ?? 0) + (sums[i] ?? 0);
  }
}
