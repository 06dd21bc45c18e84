import { gpuTolerance } from "../../model/gpuTolerance.ts";
import type { PodNeeds } from "../../model/queues/podNeeds.ts";
import { type DomainFreeCapacities, type FreeInPool, nothingFree, withLabels } from "./domainFreeCapacities.ts";
import { type FreeCapacity, freeOnGpus, type NodeFreeCapacity, podsIn } from "./nodeFreeCapacity.ts";
import { couldTake, takesNow } from "./nodeRules.ts";
import { packs } from "./pack.ts";
import { demandKey, type PodDemand, podDemand, rulesKey } from "./podDemand.ts";
import { createPoolStock, type PoolStock } from "./poolStock.ts";

/** Pods that are alike and must be placed together with others. */
export interface PlacedPods {
  /** Index into the domains of the GangFit. */
  readonly domain: number;
  readonly pods: number;
  readonly gpusPerPod: number;
  readonly needs: PodNeeds;
}

/** Whether pods can be placed: `never` applies to nodes as they would be when empty, the others to what is free now. */
export type FitVerdict = "never" | "too-little" | "scattered" | "fits";

/** Nodes with something free that take pods of one kind. */
interface OpenNodes {
  readonly freeCapacities: readonly NodeFreeCapacity[];
}

/** Pods of one kind in one domain, with answers that are found once for all of them. */
interface PodKind {
  readonly id: number;
  readonly demand: PodDemand;
  readonly open: OpenNodes;
  /** The pools of the domain that are of the right kind for these pods, ordered by name. */
  readonly pools: readonly string[];
  /** Free physical GPUs of these pools, of the kind that it asks for, on nodes that take it. */
  readonly free: number;
  /** Whether any existing node could take one of them, if it were empty. */
  readonly isPossible: boolean;
  /** Whether this many fit onto the nodes now, without others. */
  readonly fits: (pods: number) => boolean;
}

/** The nodes for pods with the same rules, and the kinds that were asked about there, by demand. */
interface RuledNodes {
  readonly open: OpenNodes;
  readonly kinds: Map<string, PodKind>;
}

/** What is free in the pools that could serve pods, on any node, including nodes that do not take these pods. */
export interface PoolTotal {
  /** The pools, ordered by name. */
  readonly pools: readonly string[];
  /** Physical GPUs of the kind that they ask for: on GPUs, or whatever has or could have instances. */
  readonly free: number;
}

/** Answers for gangs of one moment; what is alike is asked once. */
export interface GangFit {
  verdict(parts: readonly PlacedPods[]): FitVerdict;
  /** Whether any one of the pods can be placed now, without the others. */
  takesAny(parts: readonly PlacedPods[]): boolean;
  /** The same object for pods that are alike in every answer: the first of them that were asked about. */
  alike(parts: readonly PlacedPods[]): readonly PlacedPods[];
  /**
   * The pools that could serve such pods, without regard to taints, CPU, memory and all labels except the model's; `null` if
   * less is free there than any of the pods, or all of them, ask for. `more` is what is free in a pool in addition to the free
   * capacity.
   */
  enoughInPools(parts: readonly PlacedPods[], more?: (pool: string) => number): PoolTotal | null;
}

/**
 * Creates a GangFit over the domains of a moment. `knownStock` returns the stock of a domain (index) if it is known already.
 */
export function createGangFit(
  domains: readonly DomainFreeCapacities[],
  knownStock: (domain: number) => PoolStock | null = () => null,
): GangFit {
  /** For each domain, the nodes by the key of their rules. */
  const ruled = domains.map(() => new Map<string, RuledNodes>());
  const stocks = domains.map((domain, index) => knownStock(index) ?? createPoolStock(domain));
  const packed = new Map<string, boolean>();
  /** The first pods of each kind and number, and of several kinds. */
  const alone = new Map<number, Map<number, readonly PlacedPods[]>>();
  const together = new Map<string, readonly PlacedPods[]>();
  let numbered = 0;

  /** The kinds already found, by the object with the needs of pods, which parts of gangs often share. */
  const byNeeds = domains.map(
    () => new Map<PodNeeds, { readonly gpusPerPod: number; readonly kind: PodKind | null }>(),
  );
  const kindOf = (pods: PlacedPods): PodKind | null => {
    const { domain, gpusPerPod, needs } = pods;
    const known = byNeeds[domain]?.get(needs);
    if (known?.gpusPerPod === gpusPerPod) return known.kind;
    const kind = findKind(pods);
    byNeeds[domain]?.set(needs, { gpusPerPod, kind });
    return kind;
  };

  const findKind = ({ domain: index, gpusPerPod, needs }: PlacedPods): PodKind | null => {
    const [domain, byRules, stock] = [domains[index], ruled[index], stocks[index]];
    if (domain === undefined || byRules === undefined || stock === undefined) return null;
    const rules = rulesKey(needs);
    const nodes = byRules.get(rules) ?? { open: openFor(domain, needs), kinds: new Map() };
    if (nodes.kinds.size === 0) byRules.set(rules, nodes);
    const demand = podDemand(gpusPerPod, needs);
    const key = demandKey(demand);
    const known = nodes.kinds.get(key);
    if (known !== undefined) return known;
    const fits = createCount(nodes.open.freeCapacities, demand);
    const isPossible = fits(1) || isPossibleIn(domain, needs, demand);
    numbered += 1;
    const pools = stock.serving(demand, needs);
    const free = freeIn(nodes.open, pools, stock, demand);
    const kind: PodKind = { id: numbered, demand, open: nodes.open, pools, free, isPossible, fits };
    nodes.kinds.set(key, kind);
    return kind;
  };

  const fitsTogether = (group: readonly Asked[]): boolean => {
    const key = group.map(({ kind, pods }) => `${pods}x${kind.id}`).join();
    const known = packed.get(key);
    if (known !== undefined) return known;
    const fits = packs(
      group.map(({ kind, pods }) => ({ demand: kind.demand, pods, freeCapacities: kind.open.freeCapacities })),
    );
    packed.set(key, fits);
    return fits;
  };

  return {
    verdict(parts) {
      const asked: Asked[] = [];
      for (const part of parts) {
        const kind = kindOf(part);
        if (kind === null || !kind.isPossible) return "never";
        asked.push({ domain: part.domain, kind, pods: part.pods });
      }
      if (asksTooMuch(asked, domains)) return "too-little";
      if (asked.some(({ kind, pods }) => !kind.fits(pods))) return "scattered";
      if (asked.length < 2) return "fits";
      const groups = [...Map.groupBy(asked, ({ domain }) => domain).values()];
      return groups.every((group) => group.length < 2 || fitsTogether(group)) ? "fits" : "scattered";
    },
    takesAny: (parts) => parts.some((part) => kindOf(part)?.fits(1) === true),
    alike(parts) {
      const [first] = parts;
      if (parts.length !== 1 || first === undefined) {
        const key = parts.map((part) => `${part.pods}x${kindOf(part)?.id ?? 0}`).join();
        return firstOf(together, key, parts);
      }
      // Most gangs are of one kind, and need no combined key.
      const id = kindOf(first)?.id ?? 0;
      const byPods = alone.get(id) ?? new Map<number, readonly PlacedPods[]>();
      if (byPods.size === 0) alone.set(id, byPods);
      return firstOf(byPods, first.pods, parts);
    },
    enoughInPools(parts, more = () => 0) {
      const asked: Asked[] = [];
      for (const part of parts) {
        const kind = kindOf(part);
        if (kind === null || kind.pools.length === 0) return null;
        asked.push({ domain: part.domain, kind, pods: part.pods });
      }
      const freeOf: FreeOf = (domain, pool, demand) =>
        freeFor(domains[domain]?.freeByPool.get(pool) ?? nothingFree, demand) + more(pool);
      const freeTo = ({ domain, kind }: Asked) =>
        kind.pools.reduce((sum, pool) => sum + freeOf(domain, pool, kind.demand), 0);
      if (asked.some((one) => gpusOf(one) > freeTo(one) + gpuTolerance)) return null;
      if (asksTooMuchTogether(asked, freeOf)) return null;
      const pools = [...new Set(asked.flatMap(({ kind }) => kind.pools))].sort();
      return { pools, free: freeTogether(asked, freeOf) };
    },
  };
}

function firstOf<Key>(known: Map<Key, readonly PlacedPods[]>, key: Key, parts: readonly PlacedPods[]) {
  const first = known.get(key);
  if (first !== undefined) return first;
  known.set(key, parts);
  return parts;
}

function freeIn({ freeCapacities }: OpenNodes, pools: readonly string[], stock: PoolStock, demand: PodDemand): number {
  let free = 0;
  for (const freeCapacity of freeCapacities)
    if (freeCapacity.now !== null && stock.isIn(freeCapacity, pools)) free += freeOfNode(freeCapacity.now, demand);
  return free;
}

/** Physical GPUs of the kind that a pod asks for: on GPUs, or whatever has or could have instances. */
const freeOfNode = (freeCapacity: FreeCapacity, demand: PodDemand): number =>
  asksForGpus(demand) ? freeOnGpus(freeCapacity) : freeCapacity.gpus;

/** The same for a pool. */
const freeFor = ({ gpus, onGpus }: FreeInPool, demand: PodDemand): number => (asksForGpus(demand) ? onGpus : gpus);

const asksForGpus = ({ physicalGpus, slots }: PodDemand): boolean => physicalGpus > 0 && slots.length === 0;

/** Returns how much of a pool of a domain is free for pods. */
type FreeOf = (domain: number, pool: string, demand: PodDemand) => number;

/**
 * What is free together in the pools that could serve any of the kinds; each pool counts by the kind that can use most of it.
 */
function freeTogether(asked: readonly Asked[], freeOf: FreeOf): number {
  const byPool = new Map<string, number>();
  for (const { domain, kind } of asked) {
    for (const pool of kind.pools) byPool.set(pool, Math.max(byPool.get(pool) ?? 0, freeOf(domain, pool, kind.demand)));
  }
  return [...byPool.values()].reduce((sum, free) => sum + free, 0);
}

/** Counts how many pods fit onto nodes, those with the most free GPUs first, only as far as has ever been asked for. */
function createCount(freeCapacities: readonly NodeFreeCapacity[], demand: PodDemand): (pods: number) => boolean {
  let counted = 0;
  let next = freeCapacities.length - 1;
  return (pods) => {
    for (; counted < pods && next >= 0; next--) {
      const now = freeCapacities[next]?.now ?? null;
      if (now !== null) counted += podsIn(now, demand);
    }
    return counted >= pods;
  };
}

/** The pods of one kind that a gang asks for. */
interface Asked {
  readonly domain: number;
  readonly kind: PodKind;
  readonly pods: number;
}

const gpusOf = ({ kind, pods }: Asked): number => pods * kind.demand.gpus;

/**
 * Whether less is free on the nodes that take the pods of a kind than they ask for, or in their pools than all kinds together
 * do.
 */
function asksTooMuch(asked: readonly Asked[], domains: readonly DomainFreeCapacities[]): boolean {
  if (asked.some((one) => gpusOf(one) > one.kind.free + gpuTolerance)) return true;
  return asksTooMuchTogether(asked, (domain, pool, demand) =>
    freeFor(domains[domain]?.freeByPool.get(pool) ?? nothingFree, demand),
  );
}

/** Whether all kinds of a domain together ask for more than is free in the pools that could serve any of them. */
function asksTooMuchTogether(asked: readonly Asked[], freeOf: FreeOf): boolean {
  if (asked.length < 2) return false;
  return [...Map.groupBy(asked, ({ domain }) => domain).values()].some(
    (group) => group.reduce((sum, one) => sum + gpusOf(one), 0) > freeTogether(group, freeOf) + gpuTolerance,
  );
}

function openFor(domain: DomainFreeCapacities, needs: PodNeeds): OpenNodes {
  const freeCapacities = withLabels(domain.open, domain.labelsOfOpen, needs.nodeSelector).filter(({ node }) =>
    takesNow(node, needs),
  );
  return { freeCapacities };
}

function isPossibleIn(domain: DomainFreeCapacities, needs: PodNeeds, demand: PodDemand): boolean {
  return withLabels(domain.nodes, domain.labelsOfNodes, needs.nodeSelector).some(
    ({ node, whole, isUncounted }) => (isUncounted || podsIn(whole, demand) > 0) && couldTake(node, needs),
  );
}
