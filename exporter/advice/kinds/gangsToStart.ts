import type { Analysis } from "../../analysis/analysis.ts";
import type { AskedPods, GangFreeCapacities } from "../../analysis/freeCapacity/gangFreeCapacities.ts";
import { waitsForRoom } from "../../analysis/waiting/waiting.ts";
import type { WaitingGang, WaitingPart } from "../../join/queues/queueing.ts";
import { partIn } from "../../join/queues/waitingPlaces.ts";
import { oncePer } from "../../kernel/once.ts";
import { gpuTolerance } from "../../model/gpuTolerance.ts";
import { momentOrder } from "../momentOrder.ts";
import { gpusAsked } from "./waitingFor.ts";

/** GPUs that a plan releases. */
export interface FreedGpus {
  /** Physical GPUs by pool. */
  readonly byPool: ReadonlyMap<string, number>;
  /** Leaf queues (indices) that held them: their quota becomes free, too. */
  readonly queues: ReadonlySet<number>;
}

/** Waiting gangs that can have GPUs which become free; each is returned once. */
export type GangsToStart = (freed: FreedGpus) => readonly number[];

/** The most gangs that one plan starts, and the most that are considered for it. */
const startsPerPlan = 5;
const looksPerPlan = 200;

/**
 * The waiting gangs that do not fit now and that freed GPUs may serve: higher priority first, then those that have waited
 * longest, as queues serve them. The trial of the plan decides whether they really fit.
 */
export function findGangsToStart(analysis: Analysis): GangsToStart {
  const { gangFreeCapacities } = analysis;
  const inOrder = waitingInOrder(analysis);
  const given = new Set<number>();
  return (freed) => {
    const starts: number[] = [];
    let left = 0;
    for (const gpus of freed.byPool.values()) left += gpus;
    let looks = 0;
    for (const waiting of inOrder) {
      if (starts.length >= startsPerPlan || looks >= looksPerPlan || left <= gpuTolerance) break;
      if (given.has(waiting.index) || !isServedBy(waiting, freed)) continue;
      looks += 1;
      const wanted = wantedOf(gangFreeCapacities, waiting, freed, left);
      if (wanted === null) continue;
      starts.push(waiting.index);
      given.add(waiting.index);
      left -= Math.min(left, wanted);
    }
    return starts;
  };
}

/** The gangs of a moment that could start on freed GPUs, in the order in which queues serve them. */
const waitingInOrder = oncePer((analysis: Analysis): readonly Waiting[] => {
  const { snapshot, waiting } = analysis;
  const { gangs } = snapshot.queueing;
  const eligible: Waiting[] = [];
  for (const work of waiting.work) {
    const { gang, cause } = work;
    const found = gangs[gang];
    if (found === undefined || found.never !== null || found.gpus === null) continue;
    if (cause === "quota" || waitsForRoom(work))
      eligible.push({ index: gang, gang: found, isQuota: cause === "quota" });
  }
  const byGang = momentOrder(analysis).gangs;
  return eligible.sort((a, b) => inQueueOrder(a, b) || byGang(a.index, b.index));
});

/** Whether released GPUs can serve the work: work that lacks quota is served only by GPUs that its own queue releases. */
const isServedBy = ({ gang: { parts }, isQuota }: Waiting, { queues }: FreedGpus): boolean =>
  !isQuota || parts.every((part) => hasRecordIn(part, queues));

/** Whether a part may start in one of these records. */
const hasRecordIn = ({ queue, places }: WaitingPart, queues: ReadonlySet<number>): boolean =>
  queue !== null && (queues.has(queue) || places?.some((place) => queues.has(place.queue)) === true);

/** The records of its queue in which a part may start, beginning with the one in which it is counted. */
function recordsOf({ queue, places = [] }: WaitingPart): readonly number[] {
  return queue === null ? [] : [...new Set([queue, ...places.map((place) => place.queue)])];
}

/**
 * The GPUs that a gang needs in the first record of its queue that freed GPUs serve; `null` if it fits already, can never run,
 * or `left` plus what is free is too little. Work that lacks quota where it is counted may have quota in another flavor.
 */
function wantedOf(
  freeCapacities: GangFreeCapacities,
  { index, gang, isQuota }: Waiting,
  freed: FreedGpus,
  left: number,
): number | null {
  const records = new Set(gang.parts.flatMap(recordsOf));
  if (records.size <= 1) return wantedIn(freeCapacities, freeCapacities.askedOf(index), freed, left);
  for (const record of records) {
    if (isQuota && !freed.queues.has(record)) continue;
    const parts = gang.parts.map((part) => partIn(part, record) ?? part);
    const wanted = wantedIn(freeCapacities, freeCapacities.ask({ ...gang, parts }), freed, left);
    if (wanted !== null) return wanted;
  }
  return null;
}

function wantedIn(
  { domains }: GangFreeCapacities,
  asked: AskedPods | null,
  { byPool }: FreedGpus,
  left: number,
): number | null {
  if (asked === null || asked.verdict === "fits" || asked.verdict === "never") return null;
  const wanted = gpusAsked(asked.placed);
  let free = 0;
  let isServed = false;
  for (const domain of new Set(asked.placed.map((part) => part.domain))) {
    const freeCapacities = domains[domain];
    for (const pool of freeCapacities?.pools ?? []) {
      free += freeCapacities?.freeByPool.get(pool)?.gpus ?? 0;
      if (byPool.has(pool)) isServed = true;
    }
  }
  return isServed && wanted <= left + free + gpuTolerance ? wanted : null;
}

interface Waiting {
  readonly index: number;
  readonly gang: WaitingGang;
  readonly isQuota: boolean;
}

function inQueueOrder({ gang: a }: Waiting, { gang: b }: Waiting): number {
  return b.priority - a.priority || order(a.since ?? Infinity, b.since ?? Infinity);
}

const order = (a: number, b: number): number => (a < b ? -1 : a > b ? 1 : 0);
