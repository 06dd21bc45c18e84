import type { DeclaredQueue, PoolFacts } from "./queueSystem.ts";
import { quotaLimit } from "./quotaLimit.ts";
import type { ReclaimRule } from "./reclaimRule.ts";
import { gpusOf } from "./resourceGpus.ts";
import type { VolcanoTree } from "./volcanoTree.ts";

/** Amounts of one queue in physical GPUs; `null`: cannot be converted. */
interface VolcanoAmounts {
  readonly guarantee: number | null;
  readonly deserved: number | null;
  readonly capability: number | null;
}

/** How queues are weighted and capped. */
export interface VolcanoRules {
  readonly plugin: "proportion" | "capacity";
  /** How the surplus is assumed to be shared under `capacity`, which divides none. */
  readonly surplus: "equal" | "weight";
}

/**
 * The queues over all of `pools`, which have `capacity` GPUs. The most that a queue may hold is Volcano's realCapability:
 * min(capability, what the parent may hold - guarantees of all its children + the own guarantee). Without a hierarchy the
 * parent is the cluster; with one, `root` is as large as its own capability, otherwise without bound (volcano,
 * pkg/scheduler/plugins/{proportion,capacity}: OnSessionOpen, buildQueueAttrs, checkHierarchicalQueue).
 */
export function volcanoQueues(
  tree: VolcanoTree,
  rules: VolcanoRules,
  pools: readonly PoolFacts[],
  capacity: number,
): readonly DeclaredQueue[] {
  const amounts = tree.entries.map(({ name }) => amountsOf(tree, name, pools));
  const guarantees = childGuarantees(tree, amounts);
  const limits: (number | null)[] = [];
  for (const [at, { parent }] of tree.entries.entries()) {
    const above = parent === null ? topLimit(tree, pools, capacity) : (limits[parent] ?? null);
    limits.push(realCapability(amounts[at], above, guarantees.get(parent) ?? null));
  }
  const guaranteed = guaranteedOf(tree, rules, amounts, limits);
  return tree.entries.map(({ name, parent, isLeaf }, at) => ({
    kind: "Queue",
    name,
    parent,
    isLeaf,
    guaranteed: guaranteed[at] ?? null,
    guaranteeIsFloor: rules.plugin === "proportion",
    limit: limits[at] ?? null,
    lendingLimit: Infinity,
    weight:
      rules.plugin === "capacity" && rules.surplus === "equal" ? 1 : Math.max(0, tree.queues.get(name)?.weight ?? 1),
    zeroWeight: "never",
    priority: 0,
    isStrictOrder: false,
    ...(isLeaf ? { reclaim: reclaimOf(tree, name, rules) } : {}),
    reserved: null,
  }));
}

/** Action `reclaim` takes from queues that are reclaimable and above what they deserve, for those below it. */
function reclaimOf({ queues }: VolcanoTree, name: string, { plugin }: VolcanoRules): ReclaimRule {
  return {
    takes: "any",
    upTo: plugin === "capacity" ? "guarantee" : "entitlement",
    gives: queues.get(name)?.reclaimable !== false,
    keptFromPriority: null,
    setting: `spec.reclaimable of Queue ${name} is false`,
  };
}

function amountsOf(tree: VolcanoTree, name: string, pools: readonly PoolFacts[]): VolcanoAmounts {
  const queue = tree.queues.get(name);
  return {
    guarantee: gpusOf(queue?.guarantee ?? {}, pools),
    deserved: gpusOf(queue?.deserved ?? {}, pools),
    capability: quotaLimit(queue?.capability ?? null, pools),
  };
}

/** Sum of the guarantees of the children, by the index of their parent; `null` where one is not known. */
function childGuarantees(
  tree: VolcanoTree,
  amounts: readonly VolcanoAmounts[],
): ReadonlyMap<number | null, number | null> {
  const sums = new Map<number | null, number | null>();
  for (const [at, { parent }] of tree.entries.entries())
    sums.set(parent, plus(sums.has(parent) ? sums.get(parent) : 0, amounts[at]?.guarantee));
  return sums;
}

function topLimit(tree: VolcanoTree, pools: readonly PoolFacts[], capacity: number): number | null {
  return tree.isHierarchical ? quotaLimit(tree.root?.capability ?? null, pools) : capacity;
}

function realCapability(
  own: VolcanoAmounts | undefined,
  above: number | null,
  guaranteedToSiblings: number | null,
): number | null {
  if (own === undefined || own.guarantee === null || own.capability === null) return null;
  if (above === null || guaranteedToSiblings === null) return null;
  return Math.min(own.capability, Math.max(0, above - guaranteedToSiblings) + own.guarantee);
}

/**
 * `proportion`: the guarantee. `capacity`: what it deserves, at least the guarantee; without a hierarchy at most what it may
 * hold. The guarantee of a parent is that of its children: Volcano reclaims for leaves, whatever the parent declares.
 */
function guaranteedOf(
  tree: VolcanoTree,
  { plugin }: VolcanoRules,
  amounts: readonly VolcanoAmounts[],
  limits: readonly (number | null)[],
): readonly (number | null)[] {
  const sure = amounts.map(({ guarantee, deserved }, at): number | null => {
    if (plugin === "proportion") return guarantee;
    const limit = limits[at] ?? null;
    if (guarantee === null || deserved === null || limit === null) return null;
    return Math.max(guarantee, tree.isHierarchical ? deserved : Math.min(deserved, limit));
  });
  const below = amounts.map((): number | null => 0);
  // Children are behind their parents.
  for (let at = sure.length - 1; at >= 0; at--) {
    const own = sure[at] ?? null;
    const ofChildren = below[at] ?? null;
    const all = own === null || ofChildren === null ? null : Math.max(own, ofChildren);
    sure[at] = all;
    const parent = tree.entries[at]?.parent ?? null;
    if (parent !== null) below[parent] = plus(below[parent], all);
  }
  return sure;
}

function plus(sum: number | null | undefined, amount: number | null | undefined): number | null {
  return sum === null || sum === undefined || amount === null || amount === undefined ? null : sum + amount;
}
