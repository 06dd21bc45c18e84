import type { Analysis } from "../../analysis/analysis.ts";
import { type Judgement, judge } from "../../analysis/blocked/findBlocked.ts";
import { createMigGeometry } from "../../analysis/blocked/migGeometry.ts";
import type { DomainFreeCapacities, FreeInPool } from "../../analysis/freeCapacity/domainFreeCapacities.ts";
import { findFreeCapacities } from "../../analysis/freeCapacity/freeCapacities.ts";
import { createGangFit, type PlacedPods } from "../../analysis/freeCapacity/gangFit.ts";
import { findGangFreeCapacities, placedPods } from "../../analysis/freeCapacity/gangFreeCapacities.ts";
import { freeOnGpus, type NodeFreeCapacity, nodeFreeCapacity } from "../../analysis/freeCapacity/nodeFreeCapacity.ts";
import { createPoolStock, type PoolStock } from "../../analysis/freeCapacity/poolStock.ts";
import { statedCause } from "../../analysis/freeCapacity/statedReason.ts";
import { oncePer } from "../../kernel/once.ts";
import type { ClusterCopy } from "./clusterCopy.ts";
import { freeCapacitiesNow } from "./touchedMeasures.ts";

/** Waiting gangs that ask for the same and are judged in the same way. */
interface AlikeGangs {
  readonly placed: readonly PlacedPods[];
  readonly hasNoTopology: boolean;
  /** Index of one of these gangs. */
  readonly first: number;
  count: number;
}

/** The waiting gangs of a moment, grouped by what they ask for, and which groups are blocked. */
export interface WaitingKinds {
  readonly kinds: readonly AlikeGangs[];
  readonly kindOf: ReadonlyMap<number, AlikeGangs>;
  /** Physical GPUs of one gang of each blocked kind. */
  readonly blocked: ReadonlyMap<AlikeGangs, number>;
}

/** Groups the waiting gangs of a moment. */
export function findWaitingKinds({ snapshot, gangFreeCapacities, blocked }: Analysis): WaitingKinds {
  const byTopology = new Set(blocked.work.filter(({ blocker }) => blocker === "topology").map(({ gang }) => gang));
  const byPlaced = new Map<readonly PlacedPods[], { topology?: AlikeGangs; other?: AlikeGangs }>();
  const kindOf = new Map<number, AlikeGangs>();
  const kinds: AlikeGangs[] = [];
  const { gangs } = snapshot.queueing;
  for (let index = 0; index < gangs.length; index += 1) {
    const gang = gangs[index];
    if (gang === undefined) continue;
    const asked = gang.never === null && gang.gpus !== null ? gangFreeCapacities.askedOf(index) : null;
    if (asked === null || asked.placed.length === 0) continue;
    const hasNoTopology = byTopology.has(index);
    const known = byPlaced.get(asked.placed) ?? {};
    byPlaced.set(asked.placed, known);
    const side = hasNoTopology ? "topology" : "other";
    let kind = known[side];
    if (kind === undefined) {
      kind = { placed: asked.placed, hasNoTopology, first: index, count: 0 };
      known[side] = kind;
      kinds.push(kind);
    }
    kind.count += 1;
    kindOf.set(index, kind);
  }
  const gpusOf = new Map<AlikeGangs, number>();
  for (const { gang, gpus } of blocked.work) {
    const kind = kindOf.get(gang);
    if (kind !== undefined) gpusOf.set(kind, gpus);
  }
  return { kinds, kindOf, blocked: gpusOf };
}

const servedIn = (
  domains: readonly DomainFreeCapacities[],
  placed: readonly PlacedPods[],
  pools: ReadonlySet<string>,
): boolean => placed.some(({ domain }) => [...(domains[domain]?.pools ?? [])].some((pool) => pools.has(pool)));

/** Blocked physical GPUs of the moment, for gangs that could be served in some pools. */
export function blockedIn(
  { gangFreeCapacities }: Analysis,
  { blocked }: WaitingKinds,
  pools: ReadonlySet<string>,
): number {
  let sum = 0;
  for (const [{ placed, count }, gpus] of blocked)
    if (servedIn(gangFreeCapacities.domains, placed, pools)) sum += gpus * count;
  return sum;
}

/**
 * By how many physical GPUs the blocked work of all gangs has grown. Only gangs that some of these pools could serve can have
 * changed.
 */
export function changeOfBlocked(copy: ClusterCopy, waiting: WaitingKinds, pools: ReadonlySet<string>): number {
  const { gangFreeCapacities } = copy.analysis;
  const { gone, come } = changedGangs(copy, waiting);
  let more = 0;
  for (const [kind, count] of gone) more -= count * (waiting.blocked.get(kind) ?? 0);
  const judged = waiting.kinds.filter(({ placed }) => servedIn(gangFreeCapacities.domains, placed, pools));
  if (judged.length === 0 && come.length === 0) return more;
  const judgeNow = judgeOf(copy, pools);
  for (const kind of judged) {
    const left = kind.count - (gone.get(kind) ?? 0);
    if (left <= 0) continue;
    const before = waiting.blocked.get(kind) ?? 0;
    const after = judgeNow(kind.placed, kind.hasNoTopology)?.gpus ?? 0;
    more += left * (after - before);
  }
  return more + come.reduce((sum, index) => sum + blockedGang(copy, index, judgeNow), 0);
}

/** Physical GPUs of a new or changed gang if it is blocked; otherwise 0. */
function blockedGang(copy: ClusterCopy, index: number, judgeNow: JudgeNow): number {
  const gang = copy.gangs[index];
  if (gang === undefined) return 0;
  const { snapshot, gangFreeCapacities } = copy.analysis;
  const [domains, all] = [snapshot.queueing.domains.length, gangFreeCapacities.domains.length];
  const isAnywhere = gang.scheduler === "none" && domains > 1;
  const hasNoTopology = statedCause(gang.reason) === "topology";
  if (all > 0 && !(isAnywhere && all === domains)) {
    const placed = placedPods(gang, isAnywhere ? domains : null);
    return placed === null || placed.length === 0 ? 0 : (judgeNow(placed, hasNoTopology)?.gpus ?? 0);
  }
  // No gang like this one waited before, so its places have not been computed yet.
  const now = copy.finish();
  const freeCapacities = findGangFreeCapacities(now, findFreeCapacities(now));
  const asked = freeCapacities.askedOf(index);
  if (asked === null || asked.placed.length === 0) return 0;
  return (
    judge(asked, hasNoTopology, freeCapacities.fit, () => createMigGeometry(now, freeCapacities.domains))?.gpus ?? 0
  );
}

/** Gangs that have changed: how many of each kind are no longer demand, and which ones are demand now. */
function changedGangs(copy: ClusterCopy, { kindOf }: WaitingKinds) {
  const gone = new Map<AlikeGangs, number>();
  const come: number[] = [];
  const before = copy.analysis.snapshot.queueing.gangs;
  for (const [index, gang] of copy.changedGangs()) {
    if (before[index] === gang) continue;
    const kind = kindOf.get(index);
    if (kind !== undefined) gone.set(kind, (gone.get(kind) ?? 0) + 1);
    if (gang.never === null && gang.gpus !== null && gang.pods > 0) come.push(index);
  }
  return { gone, come };
}

type JudgeNow = (placed: readonly PlacedPods[], hasNoTopology: boolean) => Judgement | null;

/**
 * Makes a judge of gangs by what is free now: the domains of the moment, with the free capacity of the touched nodes replaced.
 */
function judgeOf(copy: ClusterCopy, pools: ReadonlySet<string>): JudgeNow {
  const domains = copy.analysis.gangFreeCapacities.domains.map((domain) =>
    [...pools].some((pool) => domain.pools.has(pool)) ? domainNow(copy, domain) : domain,
  );
  const fit = createGangFit(domains, (index) => stockOf(copy, index));
  let geometry: ReturnType<typeof createMigGeometry> | null = null;
  const geometryNow = () => {
    geometry ??= createMigGeometry(copy.finish(), domains);
    return geometry;
  };
  return (placed, hasNoTopology) => judge({ placed, verdict: fit.verdict(placed) }, hasNoTopology, fit, geometryNow);
}

/** A domain of the moment in which the free capacity of the touched nodes is replaced. */
function domainNow(copy: ClusterCopy, domain: DomainFreeCapacities): DomainFreeCapacities {
  const places = placesIn(domain);
  const freeByPool = new Map<string, FreeInPool>(domain.freeByPool);
  const nodes: (NodeFreeCapacity | null)[] = [...domain.nodes];
  const gone: number[] = [];
  const fresh: NodeFreeCapacity[] = [];
  for (const index of copy.touched) {
    const before = copy.analysis.snapshot.nodes[index];
    const view = copy.nodes[index];
    const isIn = (pool: string) => domain.isIn(pool, view?.name ?? "");
    if (before === undefined || view === undefined || !before.pools.some(isIn)) continue;
    const inside = (freeCapacities: Analysis["freeCapacities"]["byNode"][number]) =>
      freeCapacities.filter(({ pool }) => isIn(pool));
    for (const freeCapacity of inside(copy.analysis.freeCapacities.byNode[index] ?? []))
      addFree(freeByPool, freeCapacity, -1);
    for (const freeCapacity of inside(freeCapacitiesNow(copy, index))) addFree(freeByPool, freeCapacity, 1);
    const freeCapacity = view.pools.some(isIn)
      ? nodeFreeCapacity(copy.live, view, copy.requestsOf(view.name), isIn)
      : null;
    const [place, open] = [places.nodes.get(view.name), places.open.get(view.name)];
    if (place !== undefined) nodes[place] = freeCapacity;
    if (open !== undefined) gone.push(open);
    if (freeCapacity !== null && freeCapacity.now !== null) fresh.push(freeCapacity);
  }
  return {
    isIn: domain.isIn,
    pools: domain.pools,
    nodes: nodes.filter((freeCapacity) => freeCapacity !== null),
    open: replaced(domain.open, gone, fresh.sort(fewestFirst)),
    freeByPool,
    // This index is used only for what nodes would have if they were empty: it stays valid while they keep their devices.
    labelsOfNodes: hasItsNodes(copy) ? domain.labelsOfNodes : new Map(),
    labelsOfOpen: new Map(),
  };
}

/** The stock of a domain of the moment; `null` if a node has other devices than before. */
function stockOf(copy: ClusterCopy, domain: number): PoolStock | null {
  const freeCapacities = copy.analysis.gangFreeCapacities.domains[domain];
  if (freeCapacities === undefined || !hasItsNodes(copy)) return null;
  return stockIn(freeCapacities);
}

const stockIn = oncePer(createPoolStock);

/** Whether no node was removed, and none has other devices, pools or labels. */
function hasItsNodes({ analysis, nodes, touched }: ClusterCopy): boolean {
  for (const index of touched) {
    const [before, after] = [analysis.snapshot.nodes[index], nodes[index]];
    if (before?.pools !== after?.pools || before?.devices !== after?.devices || before?.labels !== after?.labels)
      return false;
  }
  return true;
}

/** The places of nodes in the lists of a domain, by name of the node. */
interface NodePlaces {
  readonly nodes: ReadonlyMap<string, number>;
  readonly open: ReadonlyMap<string, number>;
}

const placesIn = oncePer((domain: DomainFreeCapacities): NodePlaces => {
  const byName = (freeCapacities: readonly NodeFreeCapacity[]) =>
    new Map(freeCapacities.map(({ node }, place) => [node.name, place] as const));
  return { nodes: byName(domain.nodes), open: byName(domain.open) };
});

function addFree(
  free: Map<string, FreeInPool>,
  { pool, now }: Analysis["freeCapacities"]["byNode"][number][number],
  by: 1 | -1,
) {
  if (now === null) return;
  const { gpus, onGpus } = free.get(pool) ?? { gpus: 0, onGpus: 0 };
  free.set(pool, { gpus: gpus + by * now.gpus, onGpus: onGpus + by * freeOnGpus(now) });
}

const fewestFirst = (a: NodeFreeCapacity, b: NodeFreeCapacity): number =>
  (a.now?.gpus ?? 0) - (b.now?.gpus ?? 0) || (a.node.name < b.node.name ? -1 : 1);

/** A sorted list without some of its elements, and with others, which are sorted as well. */
function replaced(
  freeCapacities: readonly NodeFreeCapacity[],
  gone: readonly number[],
  fresh: readonly NodeFreeCapacity[],
): readonly NodeFreeCapacity[] {
  const all = [...freeCapacities];
  for (const place of gone.toSorted((a, b) => b - a)) all.splice(place, 1);
  for (const freeCapacity of fresh) {
    let [low, high] = [0, all.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      const other = all[middle];
      if (other !== undefined && fewestFirst(freeCapacity, other) > 0) low = middle + 1;
      else high = middle;
    }
    all.splice(low, 0, freeCapacity);
  }
  return all;
}
