import { compareText } from "../../kernel/compareText.ts";
import { isSameList } from "../../kernel/isSameList.ts";
import { capacityTypeOf } from "../nodeFacts.ts";
import type { NodeClass, QuotaDomain } from "./queueing.ts";
import type { PoolFacts, QueueSystem, QuotaNode } from "./queueSystem.ts";

/** A domain as its nodes define it: without their amounts, and without its queues. */
export interface DomainShape extends Pick<QuotaDomain, "name" | "pools"> {
  readonly nodes: ReadonlySet<string>;
  readonly classes: readonly Omit<NodeClass, "capacity">[];
  /** The nodes of each class, parallel to `classes`. */
  readonly classFacts: readonly PoolFacts[];
  /** Its nodes by pool. */
  readonly poolFacts: readonly PoolFacts[];
  /** Scopes that cover each class, parallel to `classes`. */
  readonly classScopes: readonly ReadonlySet<string>[];
  /** Scopes that it consists of, as named by `scopeKey`. */
  readonly scopes: ReadonlySet<string>;
}

/** The place of the GPUs of a pool on a node: indices of the domain, and of the class in it. */
export interface ClassPlace {
  readonly domain: number;
  readonly nodeClass: number;
}

/** The domains of a cluster by its nodes. */
export interface DomainShapes {
  readonly shapes: readonly DomainShape[];
  /** `null`: no node of this name has GPUs of this pool. */
  readonly placeOf: (pool: string, node: string) => ClassPlace | null;
}

/** The key of a system's scope among the scopes of all systems. */
export const scopeKey = (scheduler: string, name: string): string => `${scheduler}/${name}`;

/** The input that decides where quotas of a system count. */
export type ScopedSystem = Pick<QueueSystem, "scheduler" | "scopes" | "leafOf">;

/** The domains of the last cycle: the same while pools and scopes are the same objects. */
export interface DomainShapeCache {
  last: { readonly from: readonly unknown[]; readonly found: DomainShapes } | null;
}

/**
 * Groups nodes into classes, and classes that share a quota into domains; without quotas, a pool is a domain by itself. Quotas
 * of teams count only over nodes that are in no scheduler's scope.
 */
export function domainShapes(
  pools: readonly PoolFacts[],
  systems: readonly ScopedSystem[],
  cache: DomainShapeCache,
): DomainShapes {
  const from = [
    ...pools,
    ...systems.flatMap(({ scheduler, leafOf, scopes }) => [scheduler, leafOf !== null, ...scopes]),
  ];
  const { last } = cache;
  if (last !== null && isSameList(last.from, from)) return last.found;
  const found = findShapes(pools, systems);
  cache.last = { from, found };
  return found;
}

function findShapes(pools: readonly PoolFacts[], systems: readonly ScopedSystem[]): DomainShapes {
  const members = uniteByScope(pools.flatMap((facts) => groupsOf(facts, systems))).map(byClass);
  const names = namesOf(members);
  const ordered = members.map((own, i) => ({ own, name: names[i] ?? "" })).sort((a, b) => compareText(a.name, b.name));
  const places = new Map<string, Map<string, ClassPlace>>();
  for (const [domain, { own }] of ordered.entries())
    for (const [nodeClass, group] of own.entries()) {
      const ofPool = places.get(group.pool) ?? new Map<string, ClassPlace>();
      places.set(group.pool, ofPool);
      for (const { name } of group.nodes) ofPool.set(name, { domain, nodeClass });
    }
  return {
    shapes: ordered.map(({ own, name }) => shapeOf(name, own, pools)),
    placeOf: (pool, node) => places.get(pool)?.get(node) ?? null,
  };
}

/** Nodes with GPUs of one pool that have one capacity type and are covered by the same scopes. */
interface NodeGroup {
  readonly pool: string;
  readonly capacityType: string;
  readonly scopes: readonly string[];
  readonly nodes: readonly QuotaNode[];
}

function groupsOf({ pool, nodes }: PoolFacts, systems: readonly ScopedSystem[]): readonly NodeGroup[] {
  const groups = new Map<string, NodeGroup & { readonly nodes: QuotaNode[] }>();
  const scopesOf = (node: QuotaNode, ofTeams: boolean): readonly string[] =>
    systems
      .filter(({ leafOf }) => (leafOf !== null) === ofTeams)
      .flatMap(({ scheduler, scopes }) =>
        scopes.filter(({ covers }) => covers(pool, node)).map(({ name }) => scopeKey(scheduler, name)),
      );
  for (const node of nodes) {
    const ofSchedulers = scopesOf(node, false);
    const scopes = ofSchedulers.length > 0 ? ofSchedulers : scopesOf(node, true);
    const capacityType = capacityTypeOf(node) ?? "";
    const key = JSON.stringify([capacityType, ...scopes]);
    const known = groups.get(key);
    if (known === undefined) groups.set(key, { pool, capacityType, scopes, nodes: [node] });
    else known.nodes.push(node);
  }
  return [...groups.values()];
}

/** Unites groups that share a scope, and the groups of a pool that no scope covers. */
function uniteByScope(groups: readonly NodeGroup[]): readonly (readonly NodeGroup[])[] {
  const parents = groups.map((_, i) => i);
  const rootOf = (i: number): number => {
    let root = i;
    while (parents[root] !== undefined && parents[root] !== root) root = parents[root] ?? root;
    parents[i] = root;
    return root;
  };
  const first = new Map<string, number>();
  for (const [i, { pool, scopes }] of groups.entries())
    for (const key of scopes.length > 0 ? scopes : [`pool ${pool}`]) {
      const known = first.get(key);
      if (known === undefined) first.set(key, i);
      else parents[rootOf(i)] = rootOf(known);
    }
  return [...Map.groupBy(groups, (_, i) => rootOf(i)).values()];
}

/** The groups of a domain by pool, capacity type and scopes. */
const byClass = (groups: readonly NodeGroup[]): readonly NodeGroup[] =>
  groups.toSorted(
    (a, b) =>
      compareText(a.pool, b.pool) ||
      compareText(a.capacityType, b.capacityType) ||
      compareText(a.scopes.join(), b.scopes.join()),
  );

/** Names domains by their pools; domains with the same pools are distinguished by what covers their nodes. */
function namesOf(domains: readonly (readonly NodeGroup[])[]): readonly string[] {
  const short = domains.map((groups) => [...new Set(groups.map(({ pool }) => pool))].join("+"));
  return domains.map((groups, i) => {
    const own = short[i] ?? "";
    if (short.filter((name) => name === own).length === 1) return own;
    const scopes = [...new Set(groups.flatMap((group) => group.scopes))].sort(compareText);
    const covering = scopes.map((key) => key.slice(key.indexOf("/") + 1)).filter((name) => name !== "");
    return `${own}/${covering.length === 0 ? "other" : covering.join("+")}`;
  });
}

function shapeOf(name: string, groups: readonly NodeGroup[], pools: readonly PoolFacts[]): DomainShape {
  const classNames = namesOfClasses(groups);
  const isAmong = (own: readonly QuotaNode[]) => {
    const names = new Set(own.map((node) => node.name));
    return (node: QuotaNode) => names.has(node.name);
  };
  const factsOf = (pool: string, own: readonly QuotaNode[]): PoolFacts => {
    const facts = pools.find((one) => one.pool === pool);
    if (facts === undefined) throw new Error(`no facts of pool ${pool}`);
    return own.length === facts.nodes.length ? facts : facts.among(isAmong(own));
  };
  const byPool = Map.groupBy(groups, ({ pool }) => pool);
  return {
    name,
    pools: [...byPool.keys()],
    nodes: new Set(groups.flatMap((group) => group.nodes.map((node) => node.name))),
    classes: groups.map(({ pool, nodes }, i) => ({
      name: classNames[i] ?? pool,
      pool,
      nodes: new Set(nodes.map((node) => node.name)),
    })),
    classScopes: groups.map(({ scopes }) => new Set(scopes)),
    classFacts: groups.map(({ pool, nodes }) => factsOf(pool, nodes)),
    poolFacts: [...byPool].map(([pool, own]) =>
      factsOf(
        pool,
        own.flatMap(({ nodes }) => nodes),
      ),
    ),
    scopes: new Set(groups.flatMap(({ scopes }) => scopes)),
  };
}

/** The pool, with the capacity type and the scopes if the name would not be unique without them. */
function namesOfClasses(groups: readonly NodeGroup[]): readonly string[] {
  const isAlone = (names: readonly string[], name: string) => names.filter((one) => one === name).length === 1;
  const pools = groups.map(({ pool }) => pool);
  const types = groups.map(({ pool, capacityType }) => `${pool} ${capacityType === "" ? "other" : capacityType}`);
  return groups.map(({ pool, scopes }, i) => {
    if (isAlone(pools, pool)) return pool;
    const typed = types[i] ?? pool;
    if (isAlone(types, typed)) return typed;
    const covering = scopes.map((key) => key.slice(key.indexOf("/") + 1)).filter((name) => name !== "");
    return `${typed} ${covering.join("+")}`;
  });
}
