import { sameData } from "../../kernel/sameData.ts";
import type { NodeBinding } from "../binding/binding.ts";
import { type Inventory, unitOn } from "../inventory.ts";
import type { PoolFacts, QuotaNode } from "./queueSystem.ts";

/** A node with what its GPU resources are. */
interface PoolMember {
  readonly object: QuotaNode;
  readonly inventory: Pick<Inventory, "units" | "servedByDra">;
}

/** The pools of the last cycle, by name. */
export interface PoolFactsCache {
  last: ReadonlyMap<string, { readonly members: readonly PoolMember[]; readonly facts: PoolFacts }>;
}

/**
 * The nodes of each pool and what their GPU resources are, by the name of the pool. A pool is the same object as long as what
 * it says about them is the same.
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

/** The parts of an input that are kept: the rest of it holds the readings of a cycle. */
const memberOf = ({
  object: { name, labels, capacity },
  inventory: { units, servedByDra },
}: NodeBinding["input"]): PoolMember => ({
  object: { name, labels, capacity },
  inventory: { units, servedByDra },
});

function isSameMember({ object, inventory }: PoolMember, now: NodeBinding["input"]): boolean {
  const { name, labels, capacity } = now.object;
  if (object.name !== name || !isSame(object.labels, labels) || !isSame(object.capacity, capacity)) return false;
  const { units, servedByDra } = now.inventory;
  return isSameUnits(inventory.units, units) && isSameUnits(inventory.servedByDra, servedByDra);
}

const isSame = (one: unknown, other: unknown): boolean => one === other || sameData(one, other);

function isSameUnits(one: Inventory["units"], other: Inventory["units"]): boolean {
  if (one === other) return true;
  if (one.size !== other.size) return false;
  for (const [resource, { gpus }] of one) if (other.get(resource)?.gpus !== gpus) return false;
  return true;
}

function factsOf(pool: string, members: readonly PoolMember[]): PoolFacts {
  let nodes: readonly QuotaNode[] | null = null;
  return {
    pool,
    // Made when first asked for: without quotas nobody asks.
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
