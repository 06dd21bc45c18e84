import { domainFinder, isInDomain } from "../../join/queues/domainOfNode.ts";
import type { QuotaDomain } from "../../join/queues/queueing.ts";
import type { NodeView, Snapshot } from "../../join/snapshot.ts";
import type { TextMap } from "../../model/node.ts";
import { type FreeCapacities, requestsOf } from "./freeCapacities.ts";
import { type FreeCapacity, freeOnGpus, type NodeFreeCapacity, nodeFreeCapacity } from "./nodeFreeCapacity.ts";

/** Nodes by the value of a label; the index of a label is made when it is first asked for. */
type LabelIndex = Map<string, Map<string, NodeFreeCapacity[]>>;

/** What a pool has free, in physical GPUs. */
export interface FreeInPool {
  /** Free GPUs of all kinds. */
  readonly gpus: number;
  /** Free GPUs that are neither shared by replicas nor partitioned. */
  readonly onGpus: number;
}

/** The nodes of one quota domain. */
export interface DomainFreeCapacities {
  /** Whether the GPUs of a pool on a node are in the domain. */
  readonly isIn: (pool: string, node: string) => boolean;
  readonly pools: ReadonlySet<string>;
  readonly nodes: readonly NodeFreeCapacity[];
  /** Those of `nodes` with something free, the fewest free GPUs first. */
  readonly open: readonly NodeFreeCapacity[];
  readonly freeByPool: ReadonlyMap<string, FreeInPool>;
  readonly labelsOfNodes: LabelIndex;
  readonly labelsOfOpen: LabelIndex;
}

/** The free capacity of domains, parallel to them. A node of several domains is in each of them, with its devices there. */
export function domainFreeCapacities(
  snapshot: Snapshot,
  freeCapacities: FreeCapacities,
  domains: readonly Pick<QuotaDomain, "pools" | "nodes">[] = snapshot.queueing.domains,
): readonly DomainFreeCapacities[] {
  const domainOf = domainFinder(domains);
  const nodes: NodeFreeCapacity[][] = domains.map(() => []);
  const freeByPool = domains.map(() => new Map<string, OpenFree>());
  for (let i = 0; i < snapshot.nodes.length; i++) {
    const node = snapshot.nodes[i];
    const own = freeCapacities.byNode[i];
    if (node === undefined || own === undefined) continue;
    for (const one of own) {
      const domain = domainOf(one.pool, node.name);
      const ofDomain = nodes[domain ?? -1];
      if (domain === null || ofDomain === undefined) continue;
      if (one.now !== null) addFree(freeByPool[domain], one.pool, one.now);
      // If several pools of a node are in one domain, their free capacity is found together.
      if (ofDomain.at(-1)?.node.name !== node.name) ofDomain.push(one);
      else ofDomain[ofDomain.length - 1] = together(snapshot, node, domainOf, domain);
    }
  }
  return domains.map(({ pools, nodes: own }, index) => {
    const isIn = (pool: string, node: string) =>
      isInDomain({ pools, ...(own === undefined ? {} : { nodes: own }) }, pool, node);
    return domainOfFreeCapacities(nodes[index] ?? [], { isIn, pools: new Set(pools) }, freeByPool[index] ?? new Map());
  });
}

/** The value for a pool in which nothing is free. */
export const nothingFree: FreeInPool = { gpus: 0, onGpus: 0 };

/** What a pool has free while it is being added up. */
type OpenFree = { -readonly [Key in keyof FreeInPool]: FreeInPool[Key] };

function addFree(freeByPool: Map<string, OpenFree> | undefined, pool: string, freeCapacity: FreeCapacity): void {
  const free = freeByPool?.get(pool) ?? { gpus: 0, onGpus: 0 };
  free.gpus += freeCapacity.gpus;
  free.onGpus += freeOnGpus(freeCapacity);
  freeByPool?.set(pool, free);
}

/** The free capacity of nodes as those of one domain. */
export function domainOfFreeCapacities(
  nodes: readonly NodeFreeCapacity[],
  { isIn, pools }: Pick<DomainFreeCapacities, "isIn" | "pools">,
  freeByPool: ReadonlyMap<string, FreeInPool>,
): DomainFreeCapacities {
  const open = nodes.filter(({ now }) => now !== null).sort(fewestFirst);
  return { isIn, pools, nodes, open, freeByPool, labelsOfNodes: new Map(), labelsOfOpen: new Map() };
}

const fewestFirst = (a: NodeFreeCapacity, b: NodeFreeCapacity): number =>
  (a.now?.gpus ?? 0) - (b.now?.gpus ?? 0) || (a.node.name < b.node.name ? -1 : 1);

/** The free capacity of a node over all its pools that are in one domain. */
function together(
  snapshot: Snapshot,
  node: NodeView,
  domainOf: ReturnType<typeof domainFinder>,
  index: number,
): NodeFreeCapacity {
  return nodeFreeCapacity(
    snapshot,
    node,
    requestsOf(snapshot, node.name),
    (pool) => domainOf(pool, node.name) === index,
  );
}

/** The nodes among `nodes` that may match a node selector: those with its rarest label. */
export function withLabels(
  nodes: readonly NodeFreeCapacity[],
  index: LabelIndex,
  selector: TextMap,
): readonly NodeFreeCapacity[] {
  let fewest = nodes;
  for (const [label, value] of Object.entries(selector)) {
    const found = valuesOf(nodes, index, label).get(value) ?? [];
    if (found.length < fewest.length) fewest = found;
  }
  return fewest;
}

function valuesOf(
  nodes: readonly NodeFreeCapacity[],
  index: LabelIndex,
  label: string,
): ReadonlyMap<string, NodeFreeCapacity[]> {
  const known = index.get(label);
  if (known !== undefined) return known;
  const values = new Map<string, NodeFreeCapacity[]>();
  for (const freeCapacity of nodes) {
    const { labels } = freeCapacity.node;
    const value = Object.hasOwn(labels, label) ? labels[label] : undefined;
    if (value === undefined) continue;
    const list = values.get(value);
    if (list === undefined) values.set(value, [freeCapacity]);
    else list.push(freeCapacity);
  }
  index.set(label, values);
  return values;
}
