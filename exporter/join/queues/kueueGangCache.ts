import { sameData } from "../../kernel/sameData.ts";
import type { KueueAdmissionCheck, KueueQuota, KueueWorkload } from "../../model/queues/kueue.ts";
import type { PodNeeds } from "../../model/queues/podNeeds.ts";
import type { LimitRange } from "../../model/queues/queueObjects.ts";
import type { DispatchedGang } from "./gangFacts.ts";
import type { Flavor, FlavorCache } from "./kueueFlavors.ts";
import type { KueueNamespace } from "./kueueNamespaces.ts";
import type { WorkloadQueue } from "./kueueNever.ts";
import type { NamespaceGangs } from "./namespaceGangs.ts";
import type { DeclaredGang, DeclaredPart } from "./queueSystem.ts";

/**
 * Gangs that the last join read from Workloads: the same Workload object, in an equal queue and among equal flavors, yields
 * the same gang. It changes no answer.
 */
export interface KueueGangCache {
  byWorkload: WeakMap<KueueWorkload, ReadWorkload>;
  /** What was read in each namespace. */
  byNamespace: ReadonlyMap<string, ReadNamespace>;
  readonly flavorPools: FlavorCache;
  /** For each flavor: its object and pools; other fields of a flavor do not affect a gang. */
  flavors: ReadonlyMap<string, readonly [object: unknown, pools: string]>;
  /** Which resources count as GPUs, as far as that was looked up. */
  readonly gpuResources: Map<string, boolean>;
  /** Quotas of ClusterQueues, by name: the same list while its content is the same, although its object is a new one. */
  quotas: Map<string, readonly KueueQuota[]>;
  /** The objects with which every Workload is read, besides its queue and flavors. */
  rules: WorkloadRules;
  /** The one object for all equal needs, by their content. */
  readonly needs: Map<string, PodNeeds>;
  /** The one list for all equal lists of parts, by the needs of the first part. */
  readonly parts: Map<PodNeeds, (readonly DeclaredPart[])[]>;
}

/** The gangs that were read from one Workload; both are `null` if it has no GPUs, or has ended. */
export interface ReadWorkload {
  readonly queue: WorkloadQueue;
  readonly gang: DeclaredGang | null;
  /** The work, if it runs in another cluster: it is no gang here. */
  readonly dispatched: DispatchedGang | null;
}

/** The gangs that were read from the Workloads of one namespace. */
export interface ReadNamespace {
  readonly from: KueueNamespace;
  /** The queues of its Workloads, by LocalQueue and by the ClusterQueue of their admission. */
  readonly queues: ReadonlyMap<string, ReadonlyMap<string | null, WorkloadQueue>>;
  /** `null`: none of them has GPUs, or all have ended. */
  readonly gangs: NamespaceGangs | null;
  readonly dispatched: readonly DispatchedGang[];
  /** Its Workloads that have quota. */
  readonly reserving: readonly KueueWorkload[];
}

/** Objects that affect many Workloads. */
export interface WorkloadRules {
  readonly kueueAdmissionChecks: readonly KueueAdmissionCheck[];
  readonly limitRanges: readonly LimitRange[];
}

/** A cache that has seen nothing. */
export function createKueueGangCache(): KueueGangCache {
  return {
    byWorkload: new WeakMap(),
    byNamespace: new Map(),
    flavorPools: { last: null },
    flavors: new Map(),
    gpuResources: new Map(),
    quotas: new Map(),
    rules: { kueueAdmissionChecks: [], limitRanges: [] },
    needs: new Map(),
    parts: new Map(),
  };
}

/** Anybody may write any number of names and needs, and of lists with the same needs. */
const mostNames = 10_000;
const mostNeeds = 100_000;
const mostLists = 20;

/** Forgets what was read with other flavors and other rules, and entries beyond the limits. */
export function refreshKueueGangs(
  cache: KueueGangCache,
  flavors: ReadonlyMap<string, Flavor>,
  { kueueAdmissionChecks, limitRanges }: WorkloadRules,
  isGpu: (resource: string) => boolean,
): void {
  const rules: WorkloadRules = { kueueAdmissionChecks, limitRanges };
  if (!sameData(cache.rules, rules)) forget(cache);
  cache.rules = rules;
  const now = new Map(
    [...flavors].map(
      ([name, { object, pools }]) => [name, [object, pools.map(({ pool }) => pool).join("\n")]] as const,
    ),
  );
  const isSame = cache.flavors.size === now.size && [...now].every(([name, facts]) => isSameFlavor(cache, name, facts));
  const agrees = [...cache.gpuResources].every(([resource, answer]) => isGpu(resource) === answer);
  const isFull = cache.gpuResources.size > mostNames || cache.needs.size > mostNeeds;
  cache.flavors = now;
  if (isSame && agrees && !isFull) return;
  forget(cache);
  cache.gpuResources.clear();
  cache.needs.clear();
  cache.parts.clear();
}

function forget(cache: KueueGangCache): void {
  cache.byWorkload = new WeakMap();
  cache.byNamespace = new Map();
}

function isSameFlavor(cache: KueueGangCache, name: string, [object, pools]: readonly [unknown, string]): boolean {
  const known = cache.flavors.get(name);
  return known !== undefined && known[0] === object && known[1] === pools;
}

/** The quotas of each ClusterQueue, as the same list while it says the same. */
export function steadyQuotas(
  cache: KueueGangCache,
  queues: readonly { readonly name: string; readonly quotas: readonly KueueQuota[] }[],
): ReadonlyMap<string, readonly KueueQuota[]> {
  const now = new Map<string, readonly KueueQuota[]>();
  for (const { name, quotas } of queues) {
    const known = cache.quotas.get(name);
    now.set(name, known !== undefined && (known === quotas || sameData(known, quotas)) ? known : quotas);
  }
  cache.quotas = now;
  return now;
}

/** The one object that represents all equal needs. */
export function sharedNeeds(cache: KueueGangCache, needs: PodNeeds): PodNeeds {
  const key = JSON.stringify(needs);
  const known = cache.needs.get(key) ?? needs;
  cache.needs.set(key, known);
  return known;
}

/** The one list that represents all equal lists of parts, as far as they share their needs. */
export function sharedParts(cache: KueueGangCache, parts: readonly DeclaredPart[]): readonly DeclaredPart[] {
  const [first] = parts;
  if (first === undefined) return parts;
  const lists = cache.parts.get(first.needs) ?? [];
  if (lists.length === 0) cache.parts.set(first.needs, lists);
  const known = lists.find((list) => isSameParts(list, parts));
  if (known !== undefined) return known;
  if (lists.length < mostLists) lists.push(parts);
  return parts;
}

function isSameParts(list: readonly DeclaredPart[], parts: readonly DeclaredPart[]): boolean {
  return (
    list.length === parts.length &&
    list.every(({ needs, pods, mostPods, scopes }, i) => {
      const part = parts[i];
      if (part?.needs !== needs || part.pods !== pods || part.mostPods !== mostPods) return false;
      return sameData(part.scopes, scopes);
    })
  );
}
