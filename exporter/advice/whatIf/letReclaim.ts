import type { Analysis } from "../../analysis/analysis.ts";
import { queueName } from "../../analysis/fairness/shortSince.ts";
import { neededParts } from "../../analysis/freeCapacity/gangFreeCapacities.ts";
import type { QueueView } from "../../join/queues/queueing.ts";
import { partIn } from "../../join/queues/waitingPlaces.ts";
import { oncePer } from "../../kernel/once.ts";
import { gpuTolerance } from "../../model/gpuTolerance.ts";
import { groupPods } from "../disruptionUnits.ts";
import { momentOrder } from "../momentOrder.ts";
import type { ClusterCopy } from "./clusterCopy.ts";
import { waitAgain } from "./movePods.ts";
import type { Places } from "./places.ts";
import type { Change, PlacementRule } from "./plan.ts";
import { leave } from "./podHoldings.ts";
import { mayReclaim, type ReclaimRules, reclaimRules, sureOf } from "./reclaimRules.ts";
import { startGang, withinLimits } from "./startGangs.ts";

/** Pods of a borrower that leave together. */
interface Victim {
  readonly pods: readonly number[];
  readonly queue: number;
  readonly priority: number;
  readonly startedAt: number;
}

/**
 * Lets the queue's scheduler take back what others borrow, in whole groups: the lowest priority first, then the most recently
 * started, until the gangs that the queue has a right to run fit, or nothing more may be taken; Groups that turn out not to be
 * needed stay (as in Kueue's `fillBackWorkloads`). Work that was taken is requeued.
 */
export function letReclaim(
  copy: ClusterCopy,
  places: Places,
  { queue: index, policy }: Extract<Change, { kind: "letReclaim" }>,
  rule: PlacementRule,
): void {
  const queue = copy.queues[index];
  const rules = queue === undefined ? null : reclaimRules(copy, index, policy ?? null);
  if (queue === undefined || rules === null) return;
  const gangs = rightfulGangs(copy, index, queue, rules);
  const before = fits(copy, places, gangs, rules, rule);
  if (before === gangs.length) return;
  const taken: Victim[] = [];
  let served = before;
  const start = copy.mark();
  /** The state before each victim was taken. */
  const marks: number[] = [];
  for (const victim of victimsFor(copy, index, queue, rules)) {
    const borrower = copy.queues[victim.queue];
    if (borrower === undefined || borrower.allocated <= sureOf(copy, victim.queue, rules) + gpuTolerance) continue;
    taken.push(victim);
    marks.push(copy.mark());
    takeOff(copy, victim);
    served = fits(copy, places, gangs, rules, rule);
    if (served === gangs.length || taken.length >= mostVictims) break;
  }
  if (served <= before) {
    // Groups that would be taken without any gain stay.
    copy.rollback(start);
    return;
  }
  const kept = needed(copy, taken, marks, () => fits(copy, places, gangs, rules, rule) >= served);
  copy.rollback(start);
  for (const victim of kept) takeOff(copy, victim);
  for (const { pods } of kept) for (const pod of pods) waitAgain(copy, pod, false);
}

/** The groups without which less would be served: the last one, and the earlier ones that are needed. */
function needed(
  copy: ClusterCopy,
  taken: readonly Victim[],
  marks: readonly number[],
  isEnough: () => boolean,
): readonly Victim[] {
  let kept = taken.slice(-1);
  for (let i = taken.length - 2; i >= 0; i--) {
    const [victim, mark] = [taken[i], marks[i]];
    if (victim === undefined || mark === undefined) continue;
    copy.rollback(mark);
    for (const later of kept) takeOff(copy, later);
    if (!isEnough()) kept = [victim, ...kept];
  }
  return kept;
}

function takeOff(copy: ClusterCopy, { pods }: Victim): void {
  for (const pod of pods) leave(copy, pod, true);
}

/** The first gangs of the queue, in its order, that fit into its guarantee. */
function rightfulGangs(copy: ClusterCopy, index: number, queue: QueueView, rules: ReclaimRules): readonly number[] {
  let left = sureOf(copy, index, rules) - queue.allocated;
  const found: number[] = [];
  for (const place of gangsFor(copy, index, queue)) {
    const gang = copy.gangs[place];
    if (gang === undefined || gang.never !== null || gang.gpus === null) continue;
    const gpus = neededParts(gang).reduce((sum, part) => {
      const { pods, gpusPerPod } = partIn(part, index) ?? part;
      return sum + pods * (gpusPerPod ?? 0);
    }, 0);
    if (gpus <= left + gpuTolerance) {
      found.push(place);
      left -= gpus;
    } else if (queue.isStrictOrder) break;
    if (found.length >= mostGangs) break;
  }
  return found;
}

/**
 * The gangs that wait in a record of a queue, and those that are counted in another of its records and may start in this one as
 * well, in the order of the queue.
 */
function gangsFor(
  { index: { leavesCalled }, queues, gangs }: ClusterCopy,
  index: number,
  queue: QueueView,
): readonly number[] {
  const others = leavesCalled(queueName(queue)).flatMap((at) =>
    at === index
      ? []
      : (queues[at]?.gangs ?? []).filter((gang) => gangs[gang]?.parts.some((part) => partIn(part, index) !== null)),
  );
  if (others.length === 0) return queue.gangs;
  return [...new Set([...queue.gangs, ...others])].sort((a, b) => a - b);
}

/** More gangs or victims are not considered: nobody would be advised to let that much be taken. */
const mostGangs = 20;
export const mostVictims = 24;

/** How many of the gangs, from the first one on, could start now; nothing is changed. */
function fits(
  copy: ClusterCopy,
  places: Places,
  gangs: readonly number[],
  rules: ReclaimRules,
  rule: PlacementRule,
): number {
  const mark = copy.mark();
  let served = 0;
  for (const place of gangs) {
    const gang = copy.gangs[place];
    if (gang === undefined) break;
    // Kueue admits by quota alone, wherever the GPUs are.
    const quota = rules.looksAtNodes || withinLimits(copy, gang, neededParts(gang)) !== null;
    if (!quota || !startGang(copy, places, place, rule)) break;
    served += 1;
  }
  copy.rollback(mark);
  return served;
}

/** The work of borrowers, in the order in which it is taken; each is looked for when it is asked for. */
function* victimsFor(copy: ClusterCopy, index: number, queue: QueueView, rules: ReclaimRules): Generator<Victim> {
  const priority = gangsFor(copy, index, queue).reduce(
    (most, place) => Math.max(most, copy.gangs[place]?.priority ?? most),
    Number.NEGATIVE_INFINITY,
  );
  const mayGive = new Map<number, boolean>();
  const gives = (leaf: number): boolean => {
    const known = mayGive.get(leaf);
    if (known !== undefined) return known;
    // What a queue holds only decreases during this: a queue within its guarantee gives nothing.
    const hasMore = (copy.queues[leaf]?.allocated ?? 0) > sureOf(copy, leaf, rules) + gpuTolerance;
    const anyOf = { leaf, priority: Number.NEGATIVE_INFINITY, forPriority: Infinity };
    const found = leaf !== index && hasMore && mayReclaim(copy, rules, anyOf);
    mayGive.set(leaf, found);
    return found;
  };
  for (const victim of inOrderOf(copy.analysis)) {
    const { pods, queue: leaf, priority: own } = victim;
    if (!gives(leaf) || copy.devicesOf(pods[0] ?? -1).length === 0) continue;
    if (mayReclaim(copy, rules, { leaf, priority: own, forPriority: priority })) yield victim;
  }
}

/** All groups of a moment that are in queues, in the order in which they would be taken. */
const inOrderOf = oncePer((analysis: Analysis): readonly Victim[] => {
  const { pods: views, queueing } = analysis.snapshot;
  const victims: Victim[] = [];
  const byPod = momentOrder(analysis).pods;
  for (const { pods } of groupPods(analysis)) {
    const [first] = pods;
    const view = first === undefined ? undefined : views[first];
    const queue = queueing.queueOfPod[first ?? -1] ?? -1;
    if (view === undefined || queue < 0) continue;
    let [priority, startedAt] = [Number.NEGATIVE_INFINITY, 0];
    for (const pod of pods) {
      const { boundAt = null, createdAt = null, priority: own = priority } = views[pod] ?? {};
      priority = Math.max(priority, own);
      startedAt = Math.max(startedAt, boundAt ?? createdAt ?? 0);
    }
    victims.push({ pods: pods.toSorted(byPod), queue, priority, startedAt });
  }
  victims.sort(
    (a, b) => a.priority - b.priority || b.startedAt - a.startedAt || byPod(a.pods[0] ?? -1, b.pods[0] ?? -1),
  );
  return victims;
});
