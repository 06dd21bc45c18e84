import { gpuLikeResource } from "../../model/gpuResource.ts";
import { gpuTolerance } from "../../model/gpuTolerance.ts";
import { selects } from "../../model/queues/nodeMatch.ts";
import type { PodNeeds } from "../../model/queues/podNeeds.ts";
import { scopeKey } from "./domainShapes.ts";
import type { BareDomain } from "./domains.ts";
import type { PoolFacts } from "./queueSystem.ts";
import { gpusOf } from "./resourceGpus.ts";

/** Where equal pods may go in one domain, with the same number of GPUs each. */
export interface ServingDomain {
  /** Index of the domain. */
  readonly domain: number;
  /** Indices of those of its classes whose nodes can serve them; `null`: all of its classes. */
  readonly classes: readonly number[] | null;
  /** Physical GPUs of one pod there; `null` where they cannot be known. */
  readonly gpusPerPod: number | null;
}

/** The conditions that nodes must meet to serve the pods. */
export interface AskedOfNodes {
  readonly scheduler: string;
  readonly needs: PodNeeds;
  /** Names of the scheduler's scopes that may serve it, best first; `null`: any node. */
  readonly scopes: readonly string[] | null;
  /** Physical GPUs of one pod; `undefined` where the nodes decide it. */
  readonly gpusPerPod: number | null | undefined;
}

/**
 * The most nodes that are examined for the selectors of all gangs. Anybody who can create workloads can write any number of
 * selectors; those beyond the limit are assumed to have nodes.
 */
const mostLooks = 3_000_000;

/**
 * Finds the domains and classes that can serve equal pods, in the order of the scopes that they may use: some node has the
 * labels they need, offers the resources they ask for, and the largest has as many GPUs as one of them asks for. Taints are
 * left to the scheduler: tolerations that are added when a pod is created are not in the object that declares it.
 */
export function classFinder(domains: readonly BareDomain[]): (asked: AskedOfNodes) => readonly ServingDomain[] {
  const found = new Map<PoolFacts, Map<string, boolean>>();
  const selected = new Map<PoolFacts, Map<string, PoolFacts>>();
  let looks = 0;
  const hasNode = (facts: PoolFacts, needs: PodNeeds, key: string | null): boolean => {
    if (key === null) return true;
    const byKey = found.get(facts) ?? new Map<string, boolean>();
    found.set(facts, byKey);
    const known = byKey.get(key);
    if (known !== undefined) return known;
    if (looks > mostLooks) return true;
    const has = facts.nodes.some(({ labels }) => {
      looks += 1;
      return selects(needs, labels);
    });
    byKey.set(key, has);
    return has;
  };
  /** If the nodes of a class differ, those that the pods may use may agree. */
  const onSelected = (facts: PoolFacts, needs: PodNeeds, key: string | null): number | null => {
    if (key === null || looks > mostLooks) return null;
    const byKey = selected.get(facts) ?? new Map<string, PoolFacts>();
    selected.set(facts, byKey);
    const known = byKey.get(key) ?? facts.among(({ labels }) => selects(needs, labels));
    if (!byKey.has(key)) looks += facts.nodes.length;
    byKey.set(key, known);
    return gpusOf(needs.requests, [known]);
  };
  const inClass = (
    { scheduler, scopes, needs, gpusPerPod: reported }: AskedOfNodes,
    domain: BareDomain,
    at: number,
    key: string | null,
  ) => {
    const facts = domain.classFacts[at];
    if (!isCovered(domain.classScopes[at], scheduler, scopes)) return null;
    if (facts === undefined || !offers(facts, needs) || !hasNode(facts, needs, key)) return null;
    const gpusPerPod =
      reported === undefined ? (gpusOf(needs.requests, [facts]) ?? onSelected(facts, needs, key)) : reported;
    const isTooLarge = (gpusPerPod ?? 0) > (domain.largestNodes[at] ?? 0) + gpuTolerance;
    return isTooLarge ? null : { gpusPerPod };
  };
  return (asked) => {
    const key = labelKey(asked.needs);
    const serving: ServingDomain[] = [];
    for (const index of domainsFor(domains, asked)) {
      const domain = domains[index];
      if (domain === undefined) continue;
      const classes = domain.classes.flatMap((_, at) => {
        const one = inClass(asked, domain, at, key);
        return one === null ? [] : [{ at, ...one }];
      });
      for (const [gpusPerPod, alike] of Map.groupBy(classes, (one) => one.gpusPerPod)) {
        const all = alike.length === domain.classes.length;
        serving.push({ domain: index, classes: all ? null : alike.map(({ at }) => at), gpusPerPod });
      }
    }
    return serving;
  };
}

function isCovered(own: ReadonlySet<string> | undefined, scheduler: string, scopes: readonly string[] | null): boolean {
  return scopes === null || scopes.some((name) => own?.has(scopeKey(scheduler, name)) === true);
}

/** Domains with a scope that may serve the pods, in the order of these scopes; all domains if any node may. */
function domainsFor(domains: readonly BareDomain[], { scheduler, scopes }: AskedOfNodes): readonly number[] {
  if (scopes === null) return [...domains.keys()];
  const order = new Set<number>();
  for (const name of scopes) {
    const key = scopeKey(scheduler, name);
    for (const [index, domain] of domains.entries()) if (domain.scopes.has(key)) order.add(index);
  }
  return [...order];
}

function offers({ gpusPerUnit }: PoolFacts, { requests }: PodNeeds): boolean {
  for (const resource of Object.keys(requests)) {
    if (resource === "cpu" || resource === "memory" || requests[resource] === 0) continue;
    if (gpusPerUnit(resource) === undefined && gpuLikeResource(resource)) return false;
  }
  return true;
}

/** The node labels that the pods require, as text; `null`: none. */
function labelKey({ nodeSelector, nodeAffinity }: PodNeeds): string | null {
  if (nodeAffinity.length === 0 && Object.keys(nodeSelector).length === 0) return null;
  return JSON.stringify([Object.entries(nodeSelector).sort(), nodeAffinity]);
}
