import { selects } from "../../model/queues/nodeMatch.ts";
import type { PodNeeds } from "../../model/queues/podNeeds.ts";
import type { DomainFreeCapacities } from "./domainFreeCapacities.ts";
import { type FreeCapacity, type NodeFreeCapacity, podsIn } from "./nodeFreeCapacity.ts";
import { onlyModelLabels } from "./nodeRules.ts";
import type { PodDemand } from "./podDemand.ts";

/** Which pools of a domain are of the right kind for pods, and what is free there. */
export interface PoolStock {
  /**
   * Pools in which some node, were it empty, has the GPUs or parts of GPUs for one such pod, and some node has a model that it
   * takes, by name. CPU, memory, other labels and taints are ignored: they decide where on these nodes it may go.
   */
  serving(demand: PodDemand, needs: PodNeeds): readonly string[];
  /** Whether a node has GPUs of one of these pools. */
  isIn(freeCapacity: NodeFreeCapacity, pools: readonly string[]): boolean;
}

/** Nodes of one kind, as if they were empty. */
interface NodeKind {
  readonly pools: readonly string[];
  readonly freeCapacity: FreeCapacity;
}

/** Creates the stock of one domain, which is looked through when first asked. */
export function createPoolStock({ pools, nodes }: DomainFreeCapacities): PoolStock {
  const all = [...pools].sort();
  let kinds: readonly NodeKind[] | null = null;
  const byModels = new Map<string, ReadonlySet<string>>();

  /** Pools with a node that has the labels of these models. */
  const ofModels = (models: PodNeeds): ReadonlySet<string> => {
    if (Object.keys(models.nodeSelector).length === 0 && models.nodeAffinity.length === 0) return pools;
    const key = JSON.stringify([models.nodeSelector, models.nodeAffinity]);
    const known = byModels.get(key);
    if (known !== undefined) return known;
    const found = new Set<string>();
    for (const { node } of nodes) {
      if (node.pools.every((pool) => found.has(pool)) || !selects(models, node.labels)) continue;
      for (const pool of node.pools) found.add(pool);
    }
    byModels.set(key, found);
    return found;
  };

  return {
    serving({ physicalGpus, share, slots, gpus }, needs) {
      kinds ??= kindsOf(nodes, pools);
      const bare: PodDemand = { physicalGpus, share, slots, gpus, cpuMilli: 0, memoryBytes: 0 };
      const found = new Set<string>();
      const wanted = ofModels(onlyModelLabels(needs));
      for (const kind of kinds) {
        if (kind.pools.every((pool) => found.has(pool)) || podsIn(kind.freeCapacity, bare) === 0) continue;
        for (const pool of kind.pools) if (wanted.has(pool)) found.add(pool);
      }
      return found.size === all.length ? all : all.filter((pool) => found.has(pool));
    },
    isIn: ({ node }, wanted) => wanted.length === all.length || node.pools.some((pool) => wanted.includes(pool)),
  };
}

function kindsOf(nodes: readonly NodeFreeCapacity[], pools: ReadonlySet<string>): readonly NodeKind[] {
  const kinds = new Map<string, Map<string, NodeKind>>();
  for (const { node, whole } of nodes) {
    const [first = ""] = node.pools;
    const ofNode = node.pools.length === 1 ? node.pools : node.pools.filter((pool) => pools.has(pool));
    const name = ofNode.length === 1 ? (ofNode[0] ?? first) : ofNode.join("\n");
    const known = kinds.get(name) ?? new Map<string, NodeKind>();
    if (known.size === 0) kinds.set(name, known);
    const content = contentOf(whole);
    if (!known.has(content)) known.set(content, { pools: ofNode, freeCapacity: whole });
  }
  return [...kinds.values()].flatMap((byContent) => [...byContent.values()]);
}

/** A key that is equal for free capacity with the same GPUs and parts of GPUs; an empty GPU is whole. */
function contentOf({ physicalGpus, slots }: FreeCapacity): string {
  let content = `${physicalGpus.length}`;
  for (const [key, { count }] of slots) content += ` ${key}*${count}`;
  return content;
}
