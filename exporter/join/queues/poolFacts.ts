import type { ClusterNode } from "../../model/node.ts";
import type { NodeBinding } from "../binding/binding.ts";
import { type Inventory, unitOn } from "../inventory.ts";
import type { PoolFacts } from "./queueSystem.ts";

/** A node with what its GPU resources are. */
interface PoolMember {
  readonly object: ClusterNode;
  readonly inventory: Pick<Inventory, "units" | "servedByDra">;
}

/** The pools of the last cycle, by name. */
export interface PoolFactsCache {
  last: ReadonlyMap<string, { readonly members: readonly PoolMember[]; readonly facts: PoolFacts }>;
}

/**
 * The nodes of each pool and what their GPU resources are, by the name of the pool. A pool is the same object as long as its nodes
 * and their resources are the same.
 */
export function poolFacts(
  bindings: readonly Pick<NodeBinding, "input" | "facts">[],
  cache: PoolFactsCache = { last: new Map() },
): readonly PoolFacts[] {
  const byPool = new Map<string, PoolMember[]>();
  for (const { input, facts } of bindings) {
    for (const pool of facts.pools) {
      const known = byPool.get(pool) ?? [];
      if (known.length === 0) byPool.set(pool, known);
      const before = cache.last.get(pool)?.members[known.length];
      known.push(before !== undefined && isSameMember(before, input) ? before : memberOf(input));
    }
  }
  cache.last = new Map(
    [...byPool].map(([pool, members]) => {
      const before = cache.last.get(pool);
      const isSame = before?.members.length === members.length && before.members.every((one, i) => one === members[i]);
      return [pool, isSame ? before : { members, facts: factsOf(pool, members) }] as const;
    }),
  );
  return [...cache.last].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, { facts }]) => facts);
}

/** Only these parts: the rest of an input holds the readings of a cycle. */
const memberOf = ({ object, inventory: { units, servedByDra } }: NodeBinding["input"]): PoolMember => ({
  object,
  inventory: { units, servedByDra },
});

function isSameMember({ object, inventory }: PoolMember, now: NodeBinding["input"]): boolean {
  if (object !== now.object) return false;
  const { units, servedByDra } = now.inventory;
  return isSameUnits(inventory.units, units) && isSameUnits(inventory.servedByDra, servedByDra);
}

function isSameUnits(one: Inventory["units"], other: Inventory["units"]): boolean {
  if (one === other) return true;
  if (one.size !== other.size) return false;
  for (const [resource, { gpus }] of one) if (other.get(resource)?.gpus !== gpus) return false;
  return true;
}

function factsOf(pool: string, members: readonly PoolMember[]): PoolFacts {
  let nodes: readonly ClusterNode[] | null = null;
  return {
    pool,
    // Without quotas nobody asks.
    get nodes() {
      nodes ??= members.map(({ object }) => object);
      return nodes;
    },
    gpusPerUnit: unitsOf(members),
    among: (isWanted) =>
      factsOf(
        pool,
        members.filter(({ object }) => isWanted(object)),
      ),
  };
}

function unitsOf(members: readonly PoolMember[]): PoolFacts["gpusPerUnit"] {
  const found = new Map<string, number | null | undefined>();
  return (resource) => {
    // Anybody may write any number of names.
    if (found.size > mostNames) found.clear();
    if (!found.has(resource)) found.set(resource, agreedUnit(members, resource));
    return found.get(resource);
  };
}

const mostNames = 10_000;

function agreedUnit(members: readonly PoolMember[], resource: string): number | null | undefined {
  let agreed: number | null | undefined;
  for (const { inventory } of members) {
    const unit = unitOn(inventory, resource);
    if (unit === undefined) continue;
    if (agreed === undefined) agreed = unit.gpus;
    else if (agreed !== unit.gpus) return null;
  }
  return agreed;
}
