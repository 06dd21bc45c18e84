import type { QuotaDomain } from "./queueing.ts";

/** Whether the GPUs of a pool on a node are in a domain. */
export function isInDomain(
  { pools, nodes }: Pick<QuotaDomain, "pools" | "nodes">,
  pool: string,
  node: string,
): boolean {
  return pools.includes(pool) && (nodes === undefined || nodes.has(node));
}

/** Finds the index of the domain in which the GPUs of a pool on a node are; `null`: in none. */
export function domainFinder(
  domains: readonly Pick<QuotaDomain, "pools" | "nodes">[],
): (pool: string, node: string) => number | null {
  const byPool = new Map<string, number[]>();
  for (const [index, { pools }] of domains.entries())
    for (const pool of pools) byPool.set(pool, [...(byPool.get(pool) ?? []), index]);
  return (pool, node) =>
    byPool.get(pool)?.find((index) => domains[index]?.nodes?.has(node) ?? domains[index] !== undefined) ?? null;
}

/** Index of the class of a domain in which the GPUs of a pool on a node are; 0 where the domain is one class. */
export function classIn({ classes = [] }: Pick<QuotaDomain, "classes">, pool: string, node: string): number {
  return Math.max(
    0,
    classes.findIndex((one) => one.pool === pool && one.nodes.has(node)),
  );
}
