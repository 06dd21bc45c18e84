import type { FreeCapacities } from "../freeCapacity/freeCapacities.ts";
import type { LevelDomains } from "./levels.ts";
import { type GangPool, gangPools, type PoolGang, type PoolNode, type RequestOf } from "./poolNodes.ts";
import type { DomainFit, GangFitOfLevel, LevelFit, PoolTopology, Topology } from "./topology.ts";
import { noTopology } from "./topology.ts";

/** What has been counted of one domain. */
interface DomainCount {
  nodes: number;
  wholeFreeNodes: number;
  freeGpus: number;
  /** Pods that fit now and on empty nodes, and free GPUs that they cannot use, by the kinds of pods of the pool. */
  readonly now: number[];
  readonly empty: number[];
  readonly unusable: number[];
}

/**
 * How often gangs fit into the domains of each level, by pool. A slot of a gang is a set of pods that all fit into one domain at
 * once, each on a node with as many wholly free GPUs as it asks for, and with the CPU and memory of a typical pod: 6 free GPUs
 * on one node and 2 on another are no slot for a pod of 8. In a domain d,
 *
 *     slots(d, G) = floor( sum over its nodes of floor(free / p) / k ),   p = min(G, GPUs of a node), k = ceil(G / p).
 */
export function measureTopology(
  freeCapacities: FreeCapacities,
  levels: readonly LevelDomains[],
  requestOf: RequestOf,
): Topology {
  if (levels.length === 0) return noTopology;
  const pools: PoolTopology[] = [];
  for (const pool of gangPools(freeCapacities, requestOf)) {
    const fits = levels.flatMap((level) => levelFit(pool, level) ?? []);
    if (fits.length > 0) pools.push({ pool: pool.pool, gpusPerNode: pool.gpusPerNode, levels: fits });
  }
  return { pools };
}

function levelFit({ nodes, gangs }: GangPool, level: LevelDomains): LevelFit | null {
  const counts = new Map<number, DomainCount>();
  let [nodesOutside, freeGpusOutside] = [0, 0];
  for (const node of nodes) {
    const domain = level.domainOfNode[node.index] ?? -1;
    if (domain < 0) {
      nodesOutside += 1;
      freeGpusOutside += node.freeCapacity.now?.gpus ?? 0;
      continue;
    }
    const known = counts.get(domain);
    const count = known ?? emptyCount(node.pods.length);
    if (known === undefined) counts.set(domain, count);
    addNode(count, node);
  }
  if (counts.size === 0 || (isShownByLabels(level) && saysNothing(counts, nodes.length - nodesOutside, nodesOutside)))
    return null;
  const sorted = [...counts].sort(([a], [b]) => a - b);
  const domains = sorted.map(([domain, count]) => domainFit(level.domains[domain] ?? "", count, gangs));
  const all = [...counts.values()];
  return {
    level: level.name,
    source: level.source,
    domains,
    freeDomains: domains.filter(({ nodes: of, wholeFreeNodes }) => wholeFreeNodes === of).length,
    nodesOutside,
    freeGpusOutside,
    freeGpus: domains.reduce((sum, { freeGpus }) => sum + freeGpus, 0),
    gangs: gangs.map((gang) => gangFit(gang, all)),
    unusableGpus: expectedUnusable(gangs, all),
  };
}

/** Whether nobody has declared the level: labels alone show it. */
const isShownByLabels = ({ source }: LevelDomains): boolean => source === "cloud" || source === "nvlink";

/** Whether a level is the whole pool in one domain, or each of its nodes in a domain of its own. */
const saysNothing = ({ size }: ReadonlyMap<number, unknown>, inside: number, outside: number): boolean =>
  (size === 1 && outside === 0) || size === inside;

const emptyCount = (kinds: number): DomainCount => ({
  nodes: 0,
  wholeFreeNodes: 0,
  freeGpus: 0,
  now: new Array<number>(kinds).fill(0),
  empty: new Array<number>(kinds).fill(0),
  unusable: new Array<number>(kinds).fill(0),
});

function addNode(count: DomainCount, { freeCapacity, pods }: PoolNode): void {
  count.nodes += 1;
  if (freeCapacity.isWhollyFree) count.wholeFreeNodes += 1;
  count.freeGpus += freeCapacity.now?.gpus ?? 0;
  for (let kind = 0; kind < pods.length; kind++) {
    const own = pods[kind];
    if (own === undefined) continue;
    count.now[kind] = (count.now[kind] ?? 0) + own.now;
    count.empty[kind] = (count.empty[kind] ?? 0) + own.empty;
    count.unusable[kind] = (count.unusable[kind] ?? 0) + own.unusableGpus;
  }
}

const slotsIn = (pods: readonly number[], gang: PoolGang): number => Math.floor((pods[gang.kind] ?? 0) / gang.pods);

function domainFit(domain: string, count: DomainCount, gangs: readonly PoolGang[]): DomainFit {
  const { nodes, wholeFreeNodes, freeGpus } = count;
  return { domain, nodes, wholeFreeNodes, freeGpus, slots: gangs.map((gang) => slotsIn(count.now, gang)) };
}

function gangFit(gang: PoolGang, counts: readonly DomainCount[]): GangFitOfLevel {
  const { gpus, gpusPerPod, pods } = gang;
  let [slots, possibleSlots] = [0, 0];
  for (const { now, empty } of counts) {
    slots += slotsIn(now, gang);
    possibleSlots += slotsIn(empty, gang);
  }
  return { gpus, gpusPerPod, pods, slots, possibleSlots };
}

/**
 * Expected fragmentation extended to a level: the mean over wanted gangs m, those of `gangSizes` that would fit into some empty
 * domain of the level, of F(m) = sum over domains d of
 *
 *     F_d(m) = everything that is free in d              if the gang does not fit into d now,
 *              sum over the nodes n of d of F_n(pod of m)  otherwise,
 *
 * where F_n is that of Weng et al. for one pod (`NodePods.unusableGpus`). For gangs of one pod it is their sum over nodes,
 * whatever the level. `null` where no gang could ever fit.
 */
function expectedUnusable(gangs: readonly PoolGang[], counts: readonly DomainCount[]): number | null {
  let [wanted, unusable] = [0, 0];
  for (const gang of gangs) {
    if (!counts.some(({ empty }) => slotsIn(empty, gang) > 0)) continue;
    wanted += 1;
    for (const count of counts)
      unusable += slotsIn(count.now, gang) > 0 ? (count.unusable[gang.kind] ?? 0) : count.freeGpus;
  }
  return wanted === 0 ? null : unusable / wanted;
}
