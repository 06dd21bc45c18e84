import type { WaitingGang, WaitingPart } from "../../join/queues/queueing.ts";
import type { Snapshot } from "../../join/snapshot.ts";
import { gpuTolerance } from "../../model/gpuTolerance.ts";
import { type DomainFreeCapacities, domainFreeCapacities } from "./domainFreeCapacities.ts";
import type { FreeCapacities } from "./freeCapacities.ts";
import { createGangFit, type FitVerdict, type GangFit, type PlacedPods } from "./gangFit.ts";

/** What a gang asks for: one object for all gangs with the same requests. */
export interface AskedPods {
  /** The pods among those that bring it to its minimum that ask for GPUs. */
  readonly placed: readonly PlacedPods[];
  readonly verdict: FitVerdict;
}

/** Where gangs could go at one moment, for everything that judges waiting work. */
export interface GangFreeCapacities {
  /** Parallel to `Queueing.domains`, perhaps followed by one domain of all pools; empty where nothing waits. */
  readonly domains: readonly DomainFreeCapacities[];
  readonly fit: GangFit;
  /**
   * What a gang asks for, by its index; `null` where something about it is not known. It is worked out when first asked for.
   */
  readonly askedOf: (gang: number) => AskedPods | null;
  /** The same for a gang that is given as an object, for example with its parts in other places. */
  readonly ask: (gang: WaitingGang) => AskedPods | null;
}

/**
 * The free capacity of the domains for what waits; nothing is computed if nothing waits. Work outside of queue systems is in a
 * domain only for accounting: the scheduler may place it in any pool.
 */
export function findGangFreeCapacities(snapshot: Snapshot, freeCapacities: FreeCapacities): GangFreeCapacities {
  const { gangs, domains } = snapshot.queueing;
  const known = gangs.length === 0 ? [] : domainFreeCapacities(snapshot, freeCapacities);
  if (known.length < 2 || !gangs.some(isUnmanaged)) return freeCapacitiesOf(gangs, known, null);
  const pools = domains.flatMap((domain) => domain.pools);
  const all = [...known, ...domainFreeCapacities(snapshot, freeCapacities, [{ pools }])];
  return freeCapacitiesOf(gangs, all, known.length);
}

/** `everywhere` is the index of the domain of all pools; `null` where it is not needed. */
function freeCapacitiesOf(
  gangs: readonly WaitingGang[],
  domains: readonly DomainFreeCapacities[],
  everywhere: number | null,
): GangFreeCapacities {
  const fit = createGangFit(domains);
  const known: (AskedPods | null | undefined)[] = [];
  const byPods = new Map<readonly PlacedPods[], AskedPods>();
  const ask = (gang: WaitingGang | undefined): AskedPods | null => {
    const own = gang === undefined ? null : placedPods(gang, isUnmanaged(gang) ? everywhere : null);
    if (own === null) return null;
    // There may be tens of thousands of gangs: what is kept for one is kept for all with the same requests.
    const placed = fit.alike(own);
    const asked = byPods.get(placed) ?? { placed, verdict: fit.verdict(placed) };
    if (asked.placed === own) byPods.set(own, asked);
    return asked;
  };
  const alike = new Map<WaitingGang["parts"], { readonly gang: WaitingGang; readonly asked: AskedPods | null }>();
  const askedOf = (index: number): AskedPods | null => {
    const before = known[index];
    if (before !== undefined) return before;
    const gang = gangs[index];
    if (gang === undefined) return null;
    // Many gangs have the very same parts.
    const one = alike.get(gang.parts);
    const isAlike = one !== undefined && hasSameMinimum(one.gang, gang) && one.gang.scheduler === gang.scheduler;
    const asked = isAlike ? one.asked : ask(gang);
    if (one === undefined) alike.set(gang.parts, { gang, asked });
    known[index] = asked;
    return asked;
  };
  return { domains, fit, askedOf, ask };
}

const hasSameMinimum = (one: WaitingGang, other: WaitingGang): boolean =>
  one.min === other.min && one.bound === other.bound && one.pods === other.pods;

/** Whether no queue system decides where a gang goes. */
const isUnmanaged = ({ scheduler }: Pick<WaitingGang, "scheduler">): boolean => scheduler === "none";

/** The pods that bring a gang to its minimum, at least one: all of them, or as many of the smallest as this takes. */
export function neededParts({ parts, min, bound, pods }: WaitingGang): readonly WaitingPart[] {
  const needed = Math.max(1, min - bound);
  if (needed >= pods) return parts;
  const sorted = [...parts].sort((a, b) => (a.gpusPerPod ?? Infinity) - (b.gpusPerPod ?? Infinity));
  const chosen: WaitingPart[] = [];
  let missing = needed;
  for (const part of sorted) {
    if (missing <= 0) break;
    const taken = Math.min(missing, part.pods);
    chosen.push(taken === part.pods ? part : { ...part, pods: taken });
    missing -= taken;
  }
  // Members without GPUs start anywhere, so the others are what waits for GPUs.
  return chosen.every(({ gpusPerPod }) => gpusPerPod === 0) ? parts : chosen;
}

/**
 * The pods among those that a gang needs that ask for GPUs; `null` if something about them is not known. `anywhere` is their
 * domain if no queue system decides it, otherwise `null`.
 */
export function placedPods(gang: WaitingGang, anywhere: number | null): readonly PlacedPods[] | null {
  const placed: PlacedPods[] = [];
  for (const { domain, pods, gpusPerPod, needs } of neededParts(gang)) {
    if (gpusPerPod === null) return null;
    if (gpusPerPod <= gpuTolerance || pods === 0) continue;
    if (domain === null) return null;
    placed.push({ domain: anywhere ?? domain, pods, gpusPerPod, needs });
  }
  return placed;
}
