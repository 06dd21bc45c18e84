import fc from "fast-check";
import type {
  DeclaredGang,
  DeclaredQueue,
  DomainFacts,
  PoolFacts,
  QueueSystem,
  QuotaNode,
} from "../../../exporter/join/queues/queueSystem.ts";
import { node } from "../clusterBuilder.ts";

const gpu = "nvidia.com/gpu";

/** A pool of nodes; a unit of `nvidia.com/gpu` is a GPU unless `units` says otherwise. */
export function pool(
  name: string,
  nodes: readonly QuotaNode[],
  units: Readonly<Record<string, number | null>> = { [gpu]: 1 },
): PoolFacts {
  return {
    pool: name,
    nodes,
    gpusPerUnit: (resource) => (Object.hasOwn(units, resource) ? units[resource] : undefined),
    among: (isWanted) => pool(name, nodes.filter(isWanted), units),
  };
}

/** A pool of one node with `gpus` GPUs. */
export const physicalGpus = (name: string, gpus: number, labels: Readonly<Record<string, string>> = {}): PoolFacts =>
  pool(name, [node(`${name}-node`, { capacity: { [gpu]: gpus }, labels })]);

/** All of the pools as one domain. */
export const domainOf = (pools: readonly PoolFacts[], capacity: number) => ({
  name: pools.map((one) => one.pool).join("+"),
  pools,
  capacity,
});

/** All gangs that a system declares. */
export const gangsOf = ({ gangs }: Pick<QueueSystem, "gangs">): readonly DeclaredGang[] =>
  gangs.flatMap((own) => own.gangs);

/** The queues of a system in a domain, with every scope of it that covers a node there. */
export function declaredIn(system: QueueSystem, domain: Omit<DomainFacts, "scopes">): readonly DeclaredQueue[] {
  const scopes = system.scopes.filter(({ covers }) =>
    domain.pools.some((facts) => facts.nodes.some((one) => covers(facts.pool, one))),
  );
  return system.queuesIn({ ...domain, scopes: new Set(scopes.map(({ name }) => name)) });
}

/** The pools with a node in each scope of a system. */
export const scopePools = (system: QueueSystem, pools: readonly PoolFacts[]): readonly (readonly string[])[] =>
  system.scopes.map(({ covers }) =>
    pools.filter((facts) => facts.nodes.some((one) => covers(facts.pool, one))).map((facts) => facts.pool),
  );

/** An amount of GPUs under its usual name. */
export const gpus = (amount: number): Readonly<Record<string, number>> => ({ [gpu]: amount });

/** One column of queues by name. */
export function byName<Key extends keyof DeclaredQueue>(
  queues: readonly DeclaredQueue[],
  key: Key,
): Readonly<Record<string, DeclaredQueue[Key]>> {
  return Object.fromEntries(queues.map((queue) => [queue.name, queue[key]]));
}

/** Names of the parents by name. */
export const parentsByName = (queues: readonly DeclaredQueue[]): Readonly<Record<string, string | null>> =>
  Object.fromEntries(
    queues.map(({ name, parent }) => [name, parent === null ? null : (queues[parent]?.name ?? "nowhere")]),
  );

/** Whether every parent is before its children, names come once, and what has no children is a leaf. */
export function isWellFormed(queues: readonly DeclaredQueue[]): boolean {
  const parents = new Set(queues.map(({ parent }) => parent));
  return (
    new Set(queues.map(({ name }) => name)).size === queues.length &&
    queues.every(({ parent, isLeaf }, at) => (parent === null || parent < at) && isLeaf === !parents.has(at))
  );
}

/** Some names with parents among them, themselves, or names that nobody has. */
export const anyParents = fc
  .uniqueArray(fc.constantFrom("a", "b", "c", "d", "e", "f", "g", "h"), { minLength: 1, maxLength: 8 })
  .chain((names) =>
    fc.tuple(
      ...names.map((name) =>
        fc.record({
          name: fc.constant(name),
          parent: fc.option(fc.constantFrom("a", "b", "c", "d", "e", "f", "g", "h", "x", "__proto__")),
        }),
      ),
    ),
  );

/** The same items in another order. */
export const shuffled = <Item>(items: readonly Item[]): fc.Arbitrary<readonly Item[]> =>
  fc.shuffledSubarray([...items], { minLength: items.length });
