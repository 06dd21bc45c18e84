import { gpuLikeResource } from "../../model/gpuResource.ts";
import { selects } from "../../model/queues/nodeMatch.ts";
import type { PodNeeds } from "../../model/queues/podNeeds.ts";
import type { PoolCapacity } from "./domains.ts";
import type { PartDraft } from "./gangDraft.ts";
import type { PoolFacts } from "./queueSystem.ts";
import { gpusOf } from "./resourceGpus.ts";

/** A pool with nodes that can serve a part of a gang. */
export interface ServingPool {
  readonly pool: string;
  /** Physical GPUs of one pod there; `null` where they cannot be known. */
  readonly gpusPerPod: number | null;
}

const tolerance = 1e-6;

/**
 * Nodes that are looked at in all, for the selectors of all gangs. Whoever may create workloads can write any number of
 * selectors; those beyond it are taken to have nodes.
 */
const mostLooks = 3_000_000;

/**
 * Finds the pools that can serve pods that are alike: some node has the labels they need, offers the resources they ask for,
 * and the largest has as many GPUs as one of them wants. Taints are left to the scheduler: what is added to a pod when it is
 * made is not in what an object says of it.
 */
export function poolFinder(
  pools: readonly PoolFacts[],
  capacities: ReadonlyMap<string, PoolCapacity>,
): (part: PartDraft) => readonly ServingPool[] {
  const byName = new Map(pools.map((facts) => [facts.pool, facts] as const));
  const names = pools.map(({ pool }) => pool);
  const found = new Map<string, boolean>();
  let looks = 0;
  const hasNode = (facts: PoolFacts, needs: PodNeeds, key: string | null): boolean => {
    if (key === null) return true;
    const known = found.get(`${facts.pool}/${key}`);
    if (known !== undefined) return known;
    if (looks > mostLooks) return true;
    const has = facts.nodes.some(({ labels }) => {
      looks += 1;
      return selects(needs, labels);
    });
    found.set(`${facts.pool}/${key}`, has);
    return has;
  };
  const selected = new Map<string, PoolFacts>();
  /** Where the nodes of a pool differ, those that the pods may go to may agree. */
  const onSelected = (facts: PoolFacts, needs: PodNeeds, key: string | null): number | null => {
    if (key === null || looks > mostLooks) return null;
    const name = `${facts.pool}/${key}`;
    const known = selected.get(name) ?? facts.among((labels) => selects(needs, labels));
    if (!selected.has(name)) looks += facts.nodes.length;
    selected.set(name, known);
    return gpusOf(needs.requests, [known]);
  };
  return ({ needs, pools: allowed, gpusPerPod: told }) => {
    const key = labelKey(needs);
    const serving: ServingPool[] = [];
    for (const name of allowed ?? names) {
      const facts = byName.get(name);
      if (facts === undefined || !offers(facts, needs) || !hasNode(facts, needs, key)) continue;
      const gpusPerPod = told === undefined ? (gpusOf(needs.requests, [facts]) ?? onSelected(facts, needs, key)) : told;
      const isTooLarge = (gpusPerPod ?? 0) > (capacities.get(name)?.largestNode ?? 0) + tolerance;
      if (!isTooLarge) serving.push({ pool: name, gpusPerPod });
    }
    return serving;
  };
}

function offers({ gpusPerUnit }: PoolFacts, { requests }: PodNeeds): boolean {
  for (const resource of Object.keys(requests)) {
    if (resource === "cpu" || resource === "memory" || requests[resource] === 0) continue;
    if (gpusPerUnit(resource) === undefined && gpuLikeResource(resource)) return false;
  }
  return true;
}

/** What the labels of a node must say, as text; `null`: nothing. */
function labelKey({ nodeSelector, nodeAffinity }: PodNeeds): string | null {
  if (nodeAffinity.length === 0 && Object.keys(nodeSelector).length === 0) return null;
  return JSON.stringify([Object.entries(nodeSelector).sort(), nodeAffinity]);
}
