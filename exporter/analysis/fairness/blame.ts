import type { Queueing, QueueView } from "../../join/queues/queueing.ts";
import { gpuTolerance } from "../../model/gpuTolerance.ts";
import type { GangSteps } from "./actionable.ts";
import type { MoveRule, Pair } from "./pairs.ts";
import { pairUp } from "./pairs.ts";
import type { UnitShortfalls } from "./shortfall.ts";
import type { SharedUnit } from "./units.ts";

/**
 * From which leaves the schedulers themselves would take GPUs, for which leaves, and how much of each shortfall whole gangs
 * could use.
 */
export interface Blame {
  /** Pairs by index into `SharedUnit.nodes`; what each pair moves helps to start a whole gang. */
  readonly pairs: readonly Pair[];
  /** For leaves: GPUs of the whole gangs that fit into what is free for them and what may be taken back. Physical GPUs. */
  readonly actionable: ReadonlyMap<number, number>;
  /** Pairs for those leaves for which more would start if a setting did not prevent it; with the setting, in words. */
  readonly heldBack: readonly (Pair & { readonly because: string })[];
}

/**
 * Pairs starved leaves with borrowers, class by class, as far as the rule of their scheduler would move anything, and as far as
 * whole waiting gangs start with it.
 */
export function blameIn(
  unit: SharedUnit,
  queueing: Queueing,
  { shortfalls, byClass, entitled }: UnitShortfalls,
  gangSteps: GangSteps,
): Blame {
  const why = new Map<number, string>();
  const rule = rulesOf(unit, queueing, entitled, why);
  const match = (by: MoveRule, isMeant: IsMeant | null) => {
    const found = byClass.flatMap(({ starved, borrowers }) => {
      const meant = isMeant === null ? starved : new Map([...starved].filter(([node]) => isMeant(node)));
      return pairUp(unit.nodes, meant, borrowers, by);
    });
    return wholeGangs(unit, shortfalls, found, isMeant, gangSteps);
  };
  const { pairs, actionable } = match(rule, null);
  if (why.size === 0) return { pairs, actionable, heldBack: [] };
  const wide = match(
    {
      mayTakeMore: () => true,
      take: (starved, borrower, gpus) => (isOneTree(unit, starved, borrower) ? gpus : 0),
    },
    (starved) => why.has(starved),
  );
  const heldBack = wide.pairs.flatMap((pair) => {
    const because = why.get(pair.starved);
    const isMore = (wide.actionable.get(pair.starved) ?? 0) > (actionable.get(pair.starved) ?? 0) + gpuTolerance;
    return isMore && because !== undefined ? [{ ...pair, because }] : [];
  });
  return { pairs, actionable, heldBack };
}

/** Whether a starved leaf is one of those that are looked at. */
type IsMeant = (starved: number) => boolean;

/** Cuts pairs to what whole gangs of the starved leaf can use besides what is free for them. */
function wholeGangs(
  unit: SharedUnit,
  shortfalls: UnitShortfalls["shortfalls"],
  found: readonly Pair[],
  isMeant: IsMeant | null,
  gangSteps: GangSteps,
): Pick<Blame, "pairs" | "actionable"> {
  const pairs: Pair[] = [];
  const actionable = new Map<number, number>();
  const byEntity = Map.groupBy(shortfalls.keys(), (node) => unit.entityOf[node] ?? -1);
  const movable = Map.groupBy(found, ({ starved }) => starved);
  const queueOf = (node: number): number => unit.nodes[node]?.index ?? -1;
  for (const [entity, nodes] of byEntity) {
    if (isMeant !== null && !nodes.some(isMeant)) continue;
    const amounts = nodes.map((node) => (shortfalls.get(node)?.idleGap ?? 0) + gpusOf(movable.get(node)));
    if (amounts.every((gpus) => gpus <= gpuTolerance)) continue;
    const offers = new Map(nodes.map((node, n) => [queueOf(node), amounts[n] ?? 0] as const));
    const taken = gangSteps((unit.entities[entity]?.nodes ?? []).map(queueOf), offers);
    for (const node of nodes) {
      const gpus = taken.get(queueOf(node)) ?? 0;
      if (gpus <= gpuTolerance) continue;
      actionable.set(node, gpus);
      // What is free for the leaf need not be taken from any other.
      pairs.push(...firstOf(movable.get(node) ?? noPairs, gpus - (shortfalls.get(node)?.idleGap ?? 0)));
    }
  }
  return { pairs, actionable };
}

function gpusOf(pairs: readonly Pair[] = noPairs): number {
  let sum = 0;
  for (const { gpus } of pairs) sum += gpus;
  return sum;
}

const noPairs: readonly Pair[] = [];

/** The largest pairs that together make up an amount. */
function firstOf(pairs: readonly Pair[], most: number): readonly Pair[] {
  let left = most;
  return pairs
    .toSorted((a, b) => b.gpus - a.gpus)
    .flatMap((pair) => {
      const gpus = Math.min(pair.gpus, left);
      left -= gpus;
      return gpus > gpuTolerance ? [{ ...pair, gpus }] : [];
    });
}

/**
 * What one leaf may get from another by the rules of their scheduler. It remembers what was taken: for the starved leaf up to
 * what the scheduler lets it reclaim, from the borrower only work that may be taken.
 */
function rulesOf(unit: SharedUnit, queueing: Queueing, entitled: Float64Array, why: Map<number, string>): MoveRule {
  const taken = new Float64Array(unit.nodes.length);
  const roots = rootsOf(unit);
  const priorityOf = highestPriorities(unit, queueing);
  // The words are made for the first reason of a leaf alone: there may be thousands of pairs.
  const say = (starved: number, because: () => string): void => {
    if (!why.has(starved)) why.set(starved, because());
  };
  const headroomOf = (starved: number, needy: QueueView): number => {
    const upTo = needy.reclaim?.upTo === "guarantee" ? needy.guaranteed : (entitled[starved] ?? 0);
    // Quota that is already reserved is no reason to reclaim: the work has its quota, and waits for nodes.
    return upTo - Math.max(needy.allocated, needy.reserved ?? 0) - (taken[starved] ?? 0);
  };
  return {
    mayTakeMore(starved) {
      const needy = unit.nodes[starved]?.queue;
      if (needy === undefined) return false;
      const { takes, setting } = needy.reclaim ?? {
        takes: "nothing" as const,
        setting: "nothing is known to move between its queues",
      };
      if (takes === "nothing") say(starved, () => setting);
      else if (headroomOf(starved, needy) <= gpuTolerance) say(starved, () => noCapacityWords(needy));
      else return true;
      return false;
    },
    take(starved, borrower, wanted) {
      const [needy, holder] = [unit.nodes[starved]?.queue, unit.nodes[borrower]?.queue];
      if (needy === undefined || holder === undefined) return 0;
      const refusal = refusalOf(needy, holder, roots[starved] === roots[borrower]);
      const there = takeable(needy, holder, priorityOf(starved)) - (taken[borrower] ?? 0);
      const gpus = refusal !== null ? 0 : Math.max(0, Math.min(headroomOf(starved, needy), there, wanted));
      if (gpus <= gpuTolerance) {
        say(starved, () => refusalWords(refusal, needy, holder));
        return 0;
      }
      taken[starved] = (taken[starved] ?? 0) + gpus;
      taken[borrower] = (taken[borrower] ?? 0) + gpus;
      return gpus;
    },
  };
}

/** The highest priority of the work that waits in a leaf and could ever run, in any of its domains. */
function highestPriorities(unit: SharedUnit, { gangs }: Queueing): (leaf: number) => number {
  const known = new Map<number, number>();
  return (leaf) => {
    const entity = unit.entityOf[leaf] ?? -1;
    let highest = known.get(entity);
    if (highest !== undefined) return highest;
    highest = Number.NEGATIVE_INFINITY;
    for (const node of unit.entities[entity]?.nodes ?? [])
      for (const index of unit.nodes[node]?.queue.gangs ?? []) {
        const gang = gangs[index];
        if (gang?.never === null) highest = Math.max(highest, gang.priority);
      }
    known.set(entity, highest);
    return highest;
  };
}

/** The part of a leaf's work that the scheduler of the other leaf may take. */
function takeable({ reclaim }: QueueView, holder: QueueView, priority: number): number {
  const byPriority = holder.allocatedByPriority;
  const kept = holder.reclaim?.keptFromPriority ?? null;
  if (byPriority === undefined) return holder.allocated;
  let there = 0;
  for (const one of byPriority)
    if ((kept === null || one.priority < kept) && (reclaim?.takes === "any" || one.priority < priority))
      there += one.gpus;
  return there;
}

/** Why nothing is taken from one leaf for another. */
type Refusal = "two-schedulers" | "two-trees" | "never-gives";

/** `null`: GPUs may be taken. */
function refusalOf(needy: QueueView, holder: QueueView, isSameTree: boolean): Refusal | null {
  if (needy.scheduler !== holder.scheduler) return "two-schedulers";
  if (!isSameTree) return "two-trees";
  return holder.reclaim?.gives === false ? "never-gives" : null;
}

/** `null`: GPUs may be taken, but none of the work that holds them. */
function refusalWords(refusal: Refusal | null, needy: QueueView, holder: QueueView): string {
  if (refusal === "two-schedulers") return `no scheduler moves GPUs between ${needy.scheduler} and ${holder.scheduler}`;
  if (refusal === "two-trees") return `${needy.name} and ${holder.name} are in no common cohort`;
  return refusal === null ? priorityWords(needy, holder) : (holder.reclaim?.setting ?? "");
}

function noCapacityWords({ scheduler, kind, name, allocated, reserved }: QueueView): string {
  if ((reserved ?? 0) > allocated + gpuTolerance)
    return `the waiting work of ${kind} ${name} has its quota already, and nothing is taken back for that`;
  const why = scheduler === "kueue" ? "fair sharing is off" : "its scheduler shares no surplus by weight";
  return `${kind} ${name} would hold more than its guarantee with it, and nothing is taken back for that: ${why}`;
}

const priorityWords = (needy: QueueView, holder: QueueView): string =>
  needy.reclaim?.takes === "lower-priority"
    ? `only work of lower priority is taken back for ${needy.name} (${needy.reclaim.setting}), and ${holder.name} runs none`
    : `the work of ${holder.name} may not be taken back (${holder.reclaim?.setting ?? "its scheduler"})`;

/** Whether a setting of one scheduler could move anything between two leaves. */
function isOneTree(unit: SharedUnit, starved: number, borrower: number): boolean {
  const [needy, holder] = [unit.nodes[starved]?.queue, unit.nodes[borrower]?.queue];
  return needy !== undefined && needy.scheduler === holder?.scheduler && needy.scheduler !== "none";
}

/** The top of the tree within which a scheduler reclaims: for Kueue the root cohort, for others all of their queues. */
function rootsOf({ nodes }: SharedUnit): readonly number[] {
  const roots: number[] = [];
  for (let i = 0; i < nodes.length; i++) {
    const parent = nodes[i]?.parent ?? null;
    const above = parent === null ? undefined : nodes[parent]?.queue;
    const isTop = parent === null || (above?.kind === "Scheduler" && above.scheduler === "kueue");
    roots[i] = isTop ? i : (roots[parent] ?? i);
  }
  return roots;
}
