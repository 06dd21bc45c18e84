import type { WaitingGang } from "../../join/queues/queueing.ts";
import type { Snapshot } from "../../join/snapshot.ts";
import { gpuTolerance } from "../../model/gpuTolerance.ts";
import {
  type DomainFreeCapacities,
  domainOfFreeCapacities,
  type FreeInPool,
} from "../freeCapacity/domainFreeCapacities.ts";
import { createGangFit, type GangFit, type PlacedPods } from "../freeCapacity/gangFit.ts";
import { type GangFreeCapacities, neededParts, placedPods } from "../freeCapacity/gangFreeCapacities.ts";
import { freeOnGpus, type NodeFreeCapacity } from "../freeCapacity/nodeFreeCapacity.ts";
import { createStatedCauses } from "../freeCapacity/statedReason.ts";
import type { LevelDomains } from "./levels.ts";
import { createRequirements, type GangRequirement, type RequiredLevels } from "./requiredLevels.ts";

/** What keeps a gang waiting that fits into what is free. */
export interface TopologyBlock {
  /** The level that blocks, because it fits into no single domain of it; `null`: its scheduler says so, and the level is not known. */
  readonly level: string | null;
}

/** Returns what of the topology keeps a waiting gang, by its index, from starting; `null` if nothing does. */
export type TopologyBlocks = (gang: number) => TopologyBlock | null;

/**
 * Finds gangs that fit into what is free, but not within one domain of a level that they require: by what is free in the
 * domains, or because their scheduler says so. A gang that does not fit at all has another cause. Where it is asked only whether
 * each part of a gang fits by itself, or members that run already are not counted, a gang may count as fitting that does not,
 * but never the reverse.
 */
export function findTopologyBlocks(
  { queueing, nodes, queueObjects }: Pick<Snapshot, "queueing" | "nodes" | "queueObjects">,
  freeCapacities: GangFreeCapacities,
  levels: readonly LevelDomains[],
): TopologyBlocks {
  const { gangs } = queueing;
  const statedCause = createStatedCauses();
  const requirementOf = createRequirements(levels, queueObjects);
  const indexOf = new Map(levels.length === 0 ? [] : nodes.map(({ name }, index) => [name, index]));
  const fits = createDomainFits(freeCapacities, (node) => indexOf.get(node) ?? -1);
  return (index) => {
    const gang = gangs[index];
    const asked = gang === undefined ? null : freeCapacities.askedOf(index);
    if (gang === undefined || asked?.verdict !== "fits") return null;
    const requirement = requirementOf(gang);
    const blocking = requirement === null ? null : blockingLevels(gang, requirement, fits);
    if (blocking !== null) return { level: blocking[0]?.name ?? null };
    if (statedCause(gang.reason) !== "topology") return null;
    return { level: requirement?.parts.find((one) => one !== null)?.[0]?.name ?? null };
  };
}

/** Whether pods fit into one domain of some of these levels. */
type FitsInSome = (placed: readonly PlacedPods[], levels: RequiredLevels) => boolean;

/** The first required levels within which the pods do not fit; `null`: they fit, or that is not known. */
function blockingLevels(
  gang: WaitingGang,
  { byPart, parts }: GangRequirement,
  fits: FitsInSome,
): RequiredLevels | null {
  if (!byPart) {
    const [levels = null] = parts;
    return levels === null || fits(placedPods(gang, null) ?? [], levels) ? null : levels;
  }
  // Where fewer pods suffice it is not known of which parts.
  if (neededParts(gang) !== gang.parts) return null;
  for (const [index, { domain, pods, gpusPerPod, needs }] of gang.parts.entries()) {
    const levels = parts[index] ?? null;
    if (levels === null || domain === null || gpusPerPod === null || gpusPerPod <= gpuTolerance || pods === 0) continue;
    if (!fits([{ domain, pods, gpusPerPod, needs }], levels)) return levels;
  }
  return null;
}

function createDomainFits(freeCapacities: GangFreeCapacities, indexOf: (node: string) => number): FitsInSome {
  const fitsOfLevel = new Map<LevelDomains, readonly DomainGangFit[]>();
  const known = new Map<string, boolean>();
  const fitsIn = (placed: readonly PlacedPods[], level: LevelDomains): boolean => {
    const domains = fitsOfLevel.get(level) ?? domainGangFits(freeCapacities.domains, level, indexOf);
    fitsOfLevel.set(level, domains);
    const gpus = placed.reduce((sum, { pods, gpusPerPod }) => sum + pods * gpusPerPod, 0);
    return domains.some(({ free, gangFit }) => free > gpus - gpuTolerance && gangFit().verdict(placed) === "fits");
  };
  const numbers = new Map<object, number>();
  const numberOf = (one: object): number => {
    const number = numbers.get(one) ?? numbers.size;
    numbers.set(one, number);
    return number;
  };
  return (placed, levels) =>
    levels.some((level) => {
      const asked = placed.map(
        ({ domain, pods, gpusPerPod, needs }) => `${domain}:${pods}:${gpusPerPod}:${numberOf(needs)}`,
      );
      const key = `${numberOf(level)} ${asked.join()}`;
      const before = known.get(key);
      if (before !== undefined) return before;
      const answer = fitsIn(placed, level);
      known.set(key, answer);
      return answer;
    });
}

/** What fits into one domain of a level. */
interface DomainGangFit {
  /** Physical GPUs that are free in the domain. */
  readonly free: number;
  /** Made when first asked for. */
  readonly gangFit: () => GangFit;
}

/** The domains of a level with something free. In each of them, the quota domains have those of their nodes that are there. */
function domainGangFits(
  quotaDomains: readonly DomainFreeCapacities[],
  level: LevelDomains,
  indexOf: (node: string) => number,
): readonly DomainGangFit[] {
  const nodes = level.domains.map(() => quotaDomains.map((): NodeFreeCapacity[] => []));
  const free = new Float64Array(level.domains.length);
  for (const [quotaDomain, { open }] of quotaDomains.entries())
    for (const node of open) {
      const domain = level.domainOfNode[indexOf(node.node.name)] ?? -1;
      if (domain < 0) continue;
      nodes[domain]?.[quotaDomain]?.push(node);
      free[domain] = (free[domain] ?? 0) + (node.now?.gpus ?? 0);
    }
  return nodes.flatMap((byQuotaDomain, domain): readonly DomainGangFit[] => {
    const own = free[domain] ?? 0;
    if (own <= gpuTolerance) return [];
    let made: GangFit | null = null;
    const gangFit = (): GangFit => {
      made ??= createGangFit(
        quotaDomains.map((one, index) => {
          const open = byQuotaDomain[index] ?? [];
          return domainOfFreeCapacities(open, one, freeByPool(open, one.pools));
        }),
      );
      return made;
    };
    return [{ free: own, gangFit }];
  });
}

/** What nodes have free by pool. A node of several pools counts in each of them, so the sum of a pool is never too small. */
function freeByPool(nodes: readonly NodeFreeCapacity[], pools: ReadonlySet<string>): ReadonlyMap<string, FreeInPool> {
  const byPool = new Map<string, FreeInPool>();
  for (const { node, now } of nodes) {
    if (now === null) continue;
    for (const pool of node.pools) {
      if (!pools.has(pool)) continue;
      const { gpus, onGpus } = byPool.get(pool) ?? { gpus: 0, onGpus: 0 };
      byPool.set(pool, { gpus: gpus + now.gpus, onGpus: onGpus + freeOnGpus(now) });
    }
  }
  return byPool;
}
