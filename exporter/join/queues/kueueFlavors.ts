import { isSameList } from "../../kernel/isSameList.ts";
import type { TextMap } from "../../model/node.ts";
import type { KueueQuota, KueueResourceFlavor } from "../../model/queues/kueue.ts";
import { isTolerated, selects } from "../../model/queues/nodeMatch.ts";
import type { PodNeeds } from "../../model/queues/podNeeds.ts";
import type { PoolFacts, QuotaNode, QuotaScope } from "./queueSystem.ts";

/** A ResourceFlavor with the pools of the nodes that carry its labels. */
export interface Flavor {
  readonly object: KueueResourceFlavor;
  /** The pools, sorted, each with only those nodes that have the flavor's labels; empty where no node with GPUs has them. */
  readonly pools: readonly PoolFacts[];
  /** The scope of its quota. */
  readonly scope: QuotaScope;
}

/**
 * Finds the pools of each flavor by its node labels; one without labels covers all nodes with GPUs. Its taints say nothing
 * about which nodes these are.
 */
export function flavorsByName(
  flavors: readonly KueueResourceFlavor[],
  pools: readonly PoolFacts[],
  cache: FlavorCache = { last: null },
): ReadonlyMap<string, Flavor> {
  if (flavors.length === 0) return new Map();
  const { last } = cache;
  if (last !== null && isSameList(last.flavors, flavors) && isSameList(last.pools, pools)) return last.found;
  const found = findPools(flavors, pools);
  cache.last = { flavors, pools, found };
  return found;
}

/** The flavors of the last cycle, which stay the same while all objects and pools do. */
export interface FlavorCache {
  last: {
    readonly flavors: readonly KueueResourceFlavor[];
    readonly pools: readonly PoolFacts[];
    readonly found: ReadonlyMap<string, Flavor>;
  } | null;
}

function findPools(flavors: readonly KueueResourceFlavor[], pools: readonly PoolFacts[]): ReadonlyMap<string, Flavor> {
  const keys = [...new Set(flavors.flatMap(({ nodeLabels }) => Object.keys(nodeLabels)))].sort();
  const kinds = pools.map(({ nodes }) => labelKinds(nodes, keys));
  return new Map(
    flavors.map((object) => {
      const wanted = { nodeSelector: object.nodeLabels, nodeAffinity: [] };
      const matching = pools.flatMap((facts, i) => {
        const alike = (kinds[i] ?? []).map((labels) => selects(wanted, labels));
        if (!alike.includes(true)) return [];
        return [alike.includes(false) ? facts.among(({ labels }) => selects(wanted, labels)) : facts];
      });
      return [object.name, { object, pools: matching, scope: scopeOf(object) }] as const;
    }),
  );
}

function scopeOf({ name, nodeLabels }: KueueResourceFlavor): QuotaScope {
  const wanted = Object.entries(nodeLabels);
  return {
    name,
    covers: (_, { labels }) => wanted.every(([key, value]) => labels[key] === value && Object.hasOwn(labels, key)),
  };
}

/** The labels of one node for each way in which the nodes differ in the given labels. */
function labelKinds(nodes: readonly QuotaNode[], keys: readonly string[]): readonly TextMap[] {
  const kinds = new Map<string, TextMap>();
  for (const { labels } of nodes) {
    const kind = JSON.stringify(keys.map((key) => labels[key] ?? null));
    if (!kinds.has(kind)) kinds.set(kind, labels);
  }
  return [...kinds.values()];
}

/**
 * Flavors that a queue has for a resource and that Kueue would try for a pod, in the queue's order: labels of a flavor decide
 * over those of the selector's keys that it has itself, and its taints over the pod's and its own tolerations
 * (kueue v0.19 pkg/scheduler/flavorassigner, checkFlavorForPodSets and flavorSelector).
 */
export function allowedFlavors(
  quotas: readonly KueueQuota[],
  resource: string,
  needs: PodNeeds,
  flavors: ReadonlyMap<string, Flavor>,
): readonly Flavor[] {
  const own = quotas
    .filter((quota) => quota.resource === resource)
    .map((quota) => flavors.get(quota.flavor))
    .filter((flavor) => flavor !== undefined);
  return own.filter(
    ({ object }) =>
      selects(relevantNeeds(needs, new Set(Object.keys(object.nodeLabels))), object.nodeLabels) &&
      object.nodeTaints.every((taint) => isTolerated(taint, [...needs.tolerations, ...object.tolerations])),
  );
}

/**
 * A term without any remaining requirement matches every flavor, and terms are alternatives: then affinity restricts nothing.
 */
function relevantNeeds({ nodeSelector, nodeAffinity }: PodNeeds, keys: ReadonlySet<string>) {
  const terms = nodeAffinity.map((term) => term.filter(({ key }) => keys.has(key)));
  return {
    nodeSelector: Object.fromEntries(Object.entries(nodeSelector).filter(([key]) => keys.has(key))),
    nodeAffinity: terms.some((term) => term.length === 0) ? [] : terms,
  };
}
