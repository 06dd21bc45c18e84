import type { BlockedWork } from "../../analysis/blocked/blocked.ts";
import { createQueueAllowance } from "../../analysis/waiting/queueAllowance.ts";
import { waitsForRoom } from "../../analysis/waiting/waiting.ts";
import type { WaitingGang } from "../../join/queues/queueing.ts";
import { innerMap } from "../../kernel/innerMap.ts";
import { nameWords } from "../../kernel/nameWords.ts";
import type { Blocker } from "../../model/blockers.ts";
import type { WaitCause } from "../../model/waitCauses.ts";
import { candidatesPerKind, type FindInPieces, foundOf, type MadeCandidate } from "../candidate.ts";
import type { AdviceMoment } from "../moment.ts";
import { fullName } from "../momentIndex.ts";
import { momentOrder } from "../momentOrder.ts";
import { amount } from "../planner/whyNot.ts";
import { findFreedNodes } from "./freeNodes.ts";
import { createPlanning, type Planning } from "./moveFields.ts";
import { planInDomain } from "./planInDomain.ts";

/** Blockers that may go away when other pods move. */
const movable: ReadonlySet<Blocker> = new Set<Blocker>(["spread", "topology", "cpu", "memory", "cpu_and_memory"]);

/** What keeps work off free GPUs, by blocker, as part of a sentence. */
const hindrances: ReadonlyMap<Blocker, string> = new Map([
  ["spread", "on too many nodes for it"],
  ["cpu", "on nodes with too little CPU left for it"],
  ["memory", "on nodes with too little memory left for it"],
  ["cpu_and_memory", "on nodes with too little CPU and memory left for it"],
]);

const hindrance = (blocker: Blocker, level: string | undefined): string =>
  blocker === "topology"
    ? `not enough of them in one domain of ${level ?? "the topology that it requires"}`
    : (hindrances.get(blocker) ?? blocker);

/** The causes of waiting for which work would not start even if it had a place; the values are the reasons. */
const otherCauses: ReadonlyMap<WaitCause, string> = new Map([
  ["quota", "its queue has no quota left for it: moving pods gives it none"],
  ["gang", "members of it are held back or not created yet"],
  ["constraint", "it can never run as things are"],
  ["admission_check", "an admission check holds it back, whatever is free"],
]);

/** Searches for pods to move so that blocked work fits, and so that whole nodes become free. */
export const findDefragment: FindInPieces = function* (moment, trial) {
  const { gangs } = moment.analysis.snapshot.queueing;
  const planning = createPlanning(moment, trial);
  const found: MadeCandidate[] = [];
  for (const blocked of blockedWork(moment)) {
    const gang = gangs[blocked.gang];
    if (gang !== undefined) found.push(forGang(planning, blocked, gang));
    yield;
  }
  const { candidates, withheld } = foundOf(found);
  const nodes = findFreedNodes(planning, candidatesPerKind - candidates.length);
  return { candidates: [...candidates, ...nodes.candidates], withheld: [...withheld, ...nodes.withheld] };
};

/**
 * Work that has been blocked for a while by something that moving pods could fix: those with the most GPUs x age come first. Of
 * work with the same requests, and the same level of the topology that blocks it, only the first is included, because a plan for the others would move the same pods.
 */
function blockedWork({ analysis }: AdviceMoment): readonly BlockedWork[] {
  const { blocked, waiting } = analysis;
  const { gangs } = analysis.snapshot.queueing;
  const ages = new Float64Array(gangs.length);
  const levels = new Map<number, string>();
  for (const { gang, ageSeconds, blockingLevel } of waiting.work) {
    ages[gang] = ageSeconds ?? 0;
    if (blockingLevel !== undefined) levels.set(gang, blockingLevel);
  }
  const byGang = momentOrder(analysis).gangs;
  const stake = ({ gang, gpus }: BlockedWork): number => gpus * (ages[gang] ?? 0);
  const order = (a: BlockedWork, b: BlockedWork): number =>
    stake(b) - stake(a) || b.gpus - a.gpus || byGang(a.gang, b.gang);
  // Tens of thousands ask for the same: only the first of each are put in order.
  const firsts = new Map<unknown, Map<string | undefined, BlockedWork>>();
  for (const work of blocked.work) {
    if (!work.isStanding || !movable.has(work.blocker) || isPartial(gangs[work.gang])) continue;
    const own = innerMap(firsts, analysis.gangFreeCapacities.askedOf(work.gang));
    const level = levels.get(work.gang);
    const known = own.get(level);
    if (known === undefined || order(work, known) < 0) own.set(level, work);
  }
  const all = [...firsts.values()].flatMap((own) => [...own.values()]);
  return all.sort(order).slice(0, candidatesPerKind);
}

/** Whether some members of a gang hold GPUs and cannot run without the others. There is other advice for that. */
const isPartial = (gang: WaitingGang | undefined): boolean =>
  gang !== undefined && gang.bound > 0 && gang.bound < gang.min;

function forGang(planning: Planning, blocked: BlockedWork, gang: WaitingGang): MadeCandidate {
  const { moment } = planning;
  const { analysis } = moment;
  const subject = fullName(gang);
  const work = analysis.waiting.work.find((one) => one.gang === blocked.gang);
  const other = work === undefined || waitsForRoom(work) ? undefined : otherCauses.get(work.cause);
  if (other !== undefined)
    return { kind: "defragment", subject, why: "no-plan", reason: `No moves help ${subject}: ${other}.` };
  return planInDomain(planning, "defragment", blocked.gang, {
    gpus: blocked.gpus,
    allocatedGpus: 0,
    problem: `${amount(blocked.freeGpus)} are free in ${nameWords(blocked.pools)}, but ${hindrance(blocked.blocker, work?.blockingLevel)}`,
    quotaGpus: quotaOf(moment, gang),
  });
}

/**
 * Physical GPUs that the queue of a gang may still take; `Infinity` if several queues are possible, or it has its quota
 * already.
 */
export function quotaOf({ analysis }: AdviceMoment, { parts, reservedAt }: WaitingGang): number {
  const [queue, ...others] = new Set(parts.map((part) => part.queue));
  if (reservedAt !== null || queue === undefined || queue === null || others.length > 0) return Infinity;
  return createQueueAllowance(analysis.snapshot.queueing)(queue);
}
