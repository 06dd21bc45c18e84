import type { QueueSettings } from "../../config/queuesSchema.ts";
import type { NeverReason, Queueing, WaitingGang, WaitingPart } from "../../join/queues/queueing.ts";
import type { Snapshot } from "../../join/snapshot.ts";
import { matchesPattern } from "../../kernel/namePattern.ts";
import { gpuTolerance } from "../../model/gpuTolerance.ts";
import type { WaitCause } from "../../model/waitCauses.ts";
import { findFreeCapacities } from "../freeCapacity/freeCapacities.ts";
import {
  type AskedPods,
  findGangFreeCapacities,
  type GangFreeCapacities,
  neededParts,
} from "../freeCapacity/gangFreeCapacities.ts";
import { isUsable } from "../freeCapacity/nodeFreeCapacity.ts";
import { createStatedCauses, type StatedCause } from "../freeCapacity/statedReason.ts";
import { findTopologyBlocks, type TopologyBlocks } from "../topology/topologyBlocks.ts";
import { findPartialGangs } from "./partialGangs.ts";
import { createQueueAllowance } from "./queueAllowance.ts";
import { type GangDeadlock, noWaiting, type PartialGang, type Waiting, type WaitingWork } from "./waiting.ts";
import { WaitTotals } from "./waitTotals.ts";

/** The settings by which waiting is judged. */
export type WaitSettings = Pick<QueueSettings, "waitTargets">;

/**
 * Why waiting work waits, for how long, and which gangs hold GPUs without running. Pure; `freeCapacities` and
 * `topologyBlocks` are those of the snapshot.
 */
export function explainWaiting(
  snapshot: Snapshot,
  settings: WaitSettings,
  freeCapacities: GangFreeCapacities = findGangFreeCapacities(snapshot, findFreeCapacities(snapshot)),
  topologyBlocks: TopologyBlocks = findTopologyBlocks(snapshot, freeCapacities, []),
): Waiting {
  const { queueing } = snapshot;
  const partialGangs = findPartialGangs(snapshot);
  if (queueing.gangs.length === 0 && partialGangs.length === 0) return noWaiting;
  const evidence = {
    snapshot,
    freeCapacities,
    topologyBlocks,
    statedCause: createStatedCauses(),
    queueAllowance: createQueueAllowance(queueing),
    heads: strictHeads(queueing),
    alike: new Map<WaitingGang["parts"], JudgedGang>(),
  };
  const targetOf = createTargets(settings);
  const totals = new WaitTotals();
  const work: WaitingWork[] = [];
  for (let index = 0; index < queueing.gangs.length; index++) {
    const gang = queueing.gangs[index];
    if (gang === undefined) continue;
    const waiting = explain(gang, index, evidence, targetOf);
    work.push(waiting);
    totals.add(gang, waiting);
  }
  return { work, queues: totals.total(), partialGangs, deadlocks: findDeadlocks(snapshot, partialGangs) };
}

function explain(gang: WaitingGang, index: number, evidence: WaitEvidence, targetOf: TargetOf): WaitingWork {
  const { snapshot, topologyBlocks } = evidence;
  const ageSeconds = gang.since === null ? null : Math.max(0, snapshot.at - gang.since);
  const target = ageSeconds === null ? null : targetOf(gang.queue ?? "", gang.priorityClass);
  const isLate = target === null || ageSeconds === null ? null : ageSeconds > target;
  const cause = causeOf(gang, index, evidence);
  return workOf(index, cause, ageSeconds, isLate, topologyBlocks);
}

/** Written out: there may be tens of thousands, and most have none of the facts that only some have. */
function workOf(
  gang: number,
  cause: WaitCause | typeof roomForSome,
  ageSeconds: number | null,
  isLate: boolean | null,
  topologyBlocks: TopologyBlocks,
): WaitingWork {
  if (cause === roomForSome) return { gang, cause: "gang", hasRoomForSome: true, ageSeconds, isLate };
  const level = cause === "topology" ? (topologyBlocks(gang)?.level ?? null) : null;
  return level === null
    ? { gang, cause, ageSeconds, isLate }
    : { gang, cause, blockingLevel: level, ageSeconds, isLate };
}

/** Work that fits, is allowed, and has waited for longer than this is waiting for the scheduler. Seconds. */
const schedulerGraceSeconds = 5 * 60;

/** The cause of a gang for which only free GPUs are missing, and some of whose members have room: `hasRoomForSome`. */
const roomForSome = "gang with room for some";

/** The evidence by which the causes of one moment are judged. */
interface WaitEvidence {
  readonly snapshot: Snapshot;
  readonly freeCapacities: GangFreeCapacities;
  readonly topologyBlocks: TopologyBlocks;
  /** The function that `createStatedCauses` returns. */
  readonly statedCause: (reason: string) => StatedCause | null;
  /** Returns the GPUs that limits still allow a leaf to take. */
  readonly queueAllowance: (leaf: number) => number;
  /** The first gang without reserved quota of each leaf that serves strictly in order. */
  readonly heads: ReadonlyMap<number, number>;
  /** The first gang with each list of parts: many gangs have the very same parts. */
  readonly alike: Map<WaitingGang["parts"], JudgedGang>;
}

/** A gang with the cause that it shares with all that are alike; `null`: it fits. */
interface JudgedGang {
  readonly gang: WaitingGang;
  readonly cause: WaitCause | typeof roomForSome | null;
}

/**
 * Why a gang waits: the first of these causes that is true.
 *
 * 0. `admission_check`: a check beside quota holds it back, and its reason names the check (Kueue: a node that is still to
 *    come, a cluster that is to take it, or anything else that a controller judges).
 * 1. `constraint`: it can never run as things are (paused, no node, no queue, refused by a LimitRange, something that it needs
 *    does not exist), or `scheduler`: the scheduler that it names does not exist.
 * 2. `quota`: it asks for more than its queue may ever hold. Work for another cluster, whose nodes are not known here, waits
 *    for `quota` if its queue system reports that.
 * 3. `constraint`: no node of its domain could take one of its pods, even if it were empty and healthy; or Kueue finds no
 *    flavor for it.
 * 4. `quota`: no quota is reserved for it, and the limits from its leaf to the root leave less than it needs, or the queue
 *    system reports that it waits for quota.
 * 5. `gang`: even with those members that can be scheduled it would be incomplete: others are not created or are gated. Members
 *    of work that Kueue has not admitted are held back by Kueue, which does not count.
 * 6. `unknown`: nothing shows how many GPUs it needs.
 * 7. Fewer GPUs are free than it needs, in the pools that could serve it and on usable nodes that take its pods: `gang` if there
 *    is room for some of its members, or some are bound, and only its minimum keeps them from running; else `capacity`.
 * 8. `fragmentation`: enough is free, but not so that all needed pods can be placed.
 * 9. `topology`: they can be placed, but not within one domain of a level that it requires, or its queue system says so.
 * 10. `quota`: another gang is before it in a queue that serves strictly in order.
 * 11. `gang`: it fits, is in no queue system, and fewer members are seen than it needs. The others may exist without GPUs, so
 *    this comes after the causes that are known; but the scheduler is not to blame.
 * 12. `scheduler`: it fits, is allowed, and has waited for more than 5 minutes since its quota was reserved.
 * 13. `unknown`: it has waited for less, or nothing shows why it waits.
 *
 * What it needs are the members that bring it to its minimum, at least one; the smallest ones where any of them suffice.
 */
function causeOf(gang: WaitingGang, index: number, evidence: WaitEvidence): WaitCause | typeof roomForSome {
  const known = evidence.alike.get(gang.parts);
  if (known !== undefined && isJudgedAlike(known.gang, gang))
    return known.cause ?? causeOfFitting(gang, index, evidence);
  const cause = causeOfAlike(gang, index, evidence);
  if (known === undefined) evidence.alike.set(gang.parts, { gang, cause });
  return cause ?? causeOfFitting(gang, index, evidence);
}

/** Whether two gangs with the same parts have the same cause, if they do not fit. */
const isJudgedAlike = (one: WaitingGang, other: WaitingGang): boolean =>
  one.reason === other.reason &&
  one.never === other.never &&
  one.scheduler === other.scheduler &&
  one.min === other.min &&
  one.bound === other.bound &&
  one.notReadyPods === other.notReadyPods &&
  one.membersRunAlone === other.membersRunAlone &&
  (one.reservedAt === null) === (other.reservedAt === null) &&
  (one.checks === undefined) === (other.checks === undefined);

function causeOfAlike(gang: WaitingGang, index: number, evidence: WaitEvidence): JudgedGang["cause"] {
  if (gang.checks !== undefined) return "admission_check";
  const stated = evidence.statedCause(gang.reason);
  if (gang.never !== null) return causeOfNever(gang.never, stated);
  const asked = evidence.freeCapacities.askedOf(index);
  if (asked?.verdict === "never" || stated === "constraint" || gang.parts.some(isNowhere)) return "constraint";
  if (gang.reservedAt === null && (stated === "quota" || isOverLimit(neededParts(gang), evidence))) return "quota";
  if (stated === "gang" || isIncomplete(gang)) return "gang";
  if (gang.gpus === null || asked === null) return "unknown";
  if (asked.verdict === "too-little") return hasRoomForSome(gang, asked, evidence) ? roomForSome : "capacity";
  return asked.verdict === "scattered" ? "fragmentation" : null;
}

/** The cause of a gang that fits, if no level of the topology matters. */
function causeOfFitting(gang: WaitingGang, index: number, evidence: WaitEvidence): WaitCause {
  if (evidence.topologyBlocks(index) !== null) return "topology";
  if (gang.reservedAt === null && gang.parts.some(({ queue }) => isBehind(queue, index, evidence))) return "quota";
  if (lacksMembers(gang)) return "gang";
  return waitedFor(gang, evidence.snapshot.at) > schedulerGraceSeconds ? "scheduler" : "unknown";
}

/**
 * The cause of work that can never run. For work for another cluster nothing is known about nodes here: its queue system
 * decides.
 */
function causeOfNever(never: NeverReason, stated: StatedCause | null): WaitCause {
  if (never === "elsewhere") return stated === "quota" || stated === "constraint" ? stated : "unknown";
  if (never === "no-scheduler") return "scheduler";
  return never === "above-limit" ? "quota" : "constraint";
}

/** Seconds for which it has waited for the scheduler, which did not see its pods before its quota was reserved. */
function waitedFor({ since, reservedAt }: WaitingGang, at: number): number {
  return since === null ? 0 : at - Math.max(since, reservedAt ?? since);
}

/** Whether no pool can serve a part. */
const isNowhere = ({ domain, gpusPerPod }: WaitingPart): boolean =>
  domain === null && gpusPerPod !== null && gpusPerPod > gpuTolerance;

function isOverLimit(parts: readonly WaitingPart[], { queueAllowance }: WaitEvidence): boolean {
  if (parts.length === 1) {
    const [part] = parts;
    return part !== undefined && exceeds(part.queue, part.pods * (part.gpusPerPod ?? 0), queueAllowance);
  }
  const asked = new Map<number | null, number>();
  for (const { queue, pods, gpusPerPod } of parts) {
    asked.set(queue, (asked.get(queue) ?? 0) + pods * (gpusPerPod ?? 0));
  }
  return [...asked].some(([queue, gpus]) => exceeds(queue, gpus, queueAllowance));
}

const exceeds = (queue: number | null, gpus: number, queueAllowance: (leaf: number) => number): boolean =>
  queue !== null && gpus > 0 && gpus > queueAllowance(queue) + gpuTolerance;

function isIncomplete({ scheduler, reservedAt, bound, pods, notReadyPods, min }: WaitingGang): boolean {
  if (notReadyPods === 0 || (scheduler === "kueue" && reservedAt === null)) return false;
  return bound + pods - notReadyPods < min;
}

/** Whether members of a gang for which too little is free are bound, or could be placed now if they ran without the others. */
function hasRoomForSome(gang: WaitingGang, { placed }: AskedPods, { freeCapacities }: WaitEvidence): boolean {
  const { min, bound, membersRunAlone = false } = gang;
  return !membersRunAlone && min >= 2 && bound < min && (bound > 0 || freeCapacities.fit.takesAny(placed));
}

const lacksMembers = ({ scheduler, bound, pods, min }: WaitingGang): boolean =>
  scheduler === "none" && bound + pods < min;

const isBehind = (queue: number | null, index: number, { heads }: WaitEvidence): boolean =>
  queue !== null && (heads.get(queue) ?? index) !== index;

/**
 * Pools in which two or more partial gangs wait for each other: what their missing members ask for together is more than is
 * free. A gang for which this is not known counts as one that lacks nothing, so the actual shortage can only be larger.
 */
function findDeadlocks(snapshot: Snapshot, gangs: readonly PartialGang[]): readonly GangDeadlock[] {
  const byPool = Map.groupBy(gangs, ({ pool }) => pool);
  for (const [pool, { length }] of byPool) if (length < 2) byPool.delete(pool);
  if (byPool.size === 0) return [];
  const free = freeByPool(snapshot, byPool);
  const deadlocks: GangDeadlock[] = [];
  for (const [pool, members] of byPool) {
    const missingGpus = members.reduce((sum, gang) => sum + (gang.missingGpus ?? 0), 0);
    const freeGpus = free.get(pool) ?? 0;
    if (missingGpus <= freeGpus + gpuTolerance) continue;
    const allocatedGpus = members.reduce((sum, gang) => sum + gang.allocatedGpus, 0);
    deadlocks.push({ pool, gangs: members.map(({ id }) => id), allocatedGpus, missingGpus, freeGpus });
  }
  return deadlocks.sort((a, b) => (a.pool < b.pool ? -1 : 1));
}

function freeByPool({ nodes, devices }: Snapshot, pools: ReadonlyMap<string, unknown>): ReadonlyMap<string, number> {
  const usable = new Set(nodes.filter(isUsable).map(({ name }) => name));
  const free = new Map<string, number>();
  for (const { pool, node, weight, holders, unhealthy, orphanReservation } of devices) {
    if (unhealthy || orphanReservation || !pools.has(pool) || !usable.has(node)) continue;
    const allocated = holders.reduce((sum, { share }) => sum + share, 0);
    free.set(pool, (free.get(pool) ?? 0) + Math.max(0, weight - allocated));
  }
  return free;
}

/** The first gang without reserved quota of every leaf that serves strictly in order. */
function strictHeads({ queues, gangs }: Queueing): ReadonlyMap<number, number> {
  const heads = new Map<number, number>();
  for (let index = 0; index < queues.length; index++) {
    const queue = queues[index];
    if (queue?.isStrictOrder !== true) continue;
    const head = queue.gangs.find((gang) => gangs[gang]?.never === null && gangs[gang]?.reservedAt === null);
    if (head !== undefined) heads.set(index, head);
  }
  return heads;
}

/** The wait target of a queue and class, seconds; `null` without one. */
type TargetOf = (queue: string, priorityClass: string) => number | null;

function createTargets({ waitTargets }: WaitSettings): TargetOf {
  if (waitTargets.length === 0) return () => null;
  const known = new Map<string, Map<string, number | null>>();
  return (queue, priorityClass) => {
    const byClass = known.get(queue) ?? new Map<string, number | null>();
    known.set(queue, byClass);
    const target = byClass.get(priorityClass);
    if (target !== undefined) return target;
    const found =
      waitTargets.find((t) => matchesPattern(t.queue, queue) && matchesPattern(t.priorityClass, priorityClass))
        ?.seconds ?? null;
    byClass.set(priorityClass, found);
    return found;
  };
}
