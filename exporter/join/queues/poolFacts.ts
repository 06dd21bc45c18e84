import type { ClusterNode } from "../../model/node.ts";
import type { NodeBinding } from "../binding/binding.ts";
import { unitOn } from "../inventory.ts";
import type { PoolFacts } from "./queueSystem.ts";

/** The nodes of each pool and what their GPU resources are, by the name of the pool. */
export function poolFacts(bindings: readonly Pick<NodeBinding, "input" | "facts">[]): readonly PoolFacts[] {
  const byPool = new Map<string, Pick<NodeBinding, "input">[]>();
  for (const binding of bindings) {
    for (const pool of binding.facts.pools) {
      const known = byPool.get(pool);
      if (known === undefined) byPool.set(pool, [binding]);
      else known.push(binding);
    }
  }
  return [...byPool].sort(([a], [b]) => (a < b ? -1 : 1)).map(([pool, members]) => factsOf(pool, members));
}

function factsOf(pool: string, members: readonly Pick<NodeBinding, "input">[]): PoolFacts {
  let nodes: readonly ClusterNode[] | null = null;
  return {
    pool,
    // Without quotas nobody asks.
    get nodes() {
      nodes ??= members.map(({ input }) => input.object);
      return nodes;
    },
    gpusPerUnit: unitsOf(members),
    among: (isWanted) =>
      factsOf(
        pool,
        members.filter(({ input }) => isWanted(input.object)),
      ),
  };
}

function unitsOf(members: readonly Pick<NodeBinding, "input">[]): PoolFacts["gpusPerUnit"] {
  const found = new Map<string, number | null | undefined>();
  return (resource) => {
    if (!found.has(resource)) found.set(resource, agreedUnit(members, resource));
    return found.get(resource);
  };
}

function agreedUnit(members: readonly Pick<NodeBinding, "input">[], resource: string): number | null | undefined {
  let agreed: number | null | undefined;
  for (const { input } of members) {
    const unit = unitOn(input.inventory, resource);
    if (unit === undefined) continue;
    if (agreed === undefined) agreed = unit.gpus;
    else if (agreed !== unit.gpus) return null;
  }
  return agreed;
}
