import type { PlacedPods } from "../../analysis/freeCapacity/gangFit.ts";
import { statedCause } from "../../analysis/freeCapacity/statedReason.ts";
import { createQueueAllowance } from "../../analysis/waiting/queueAllowance.ts";
import { isFinished } from "../../join/queues/kueueReserved.ts";
import type { WaitingGang } from "../../join/queues/queueing.ts";
import { standsInLine } from "../../join/queues/servingOrder.ts";
import { gpuTolerance } from "../../model/gpuTolerance.ts";
import type { KueueClusterQueue, KueueWorkload } from "../../model/queues/kueue.ts";
import type { AdviceMoment } from "../moment.ts";
import { fullName } from "../momentIndex.ts";
import { amount } from "../planner/whyNot.ts";
import { gpusAsked } from "./waitingFor.ts";

/** The gangs that wait in a ClusterQueue which serves strictly in order: indices into `Queueing.gangs`. */
export interface StrictLine {
  readonly queue: KueueClusterQueue;
  readonly head: number;
  /** The gangs behind the head, in the order in which the queue serves them. */
  readonly behind: readonly number[];
}

/**
 * The lines of Kueue's StrictFIFO queues, over all their flavors. Work that can never start is in the line, too, unless it is
 * paused or no queue takes it: Kueue tries the head again and again, and never what is behind it. Work that waits for its next
 * try after an eviction is not in the line.
 */
export function strictLines({ analysis: { snapshot } }: AdviceMoment): readonly StrictLine[] {
  const { queueing, queueObjects, at } = snapshot;
  const strict = queueObjects.kueueClusterQueues.filter(({ queueingStrategy }) => queueingStrategy === "StrictFIFO");
  if (strict.length === 0) return [];
  const resting = new Set(
    queueObjects.kueueWorkloads.flatMap(({ uid, requeueAt }) => (requeueAt !== null && requeueAt > at ? [uid] : [])),
  );
  const standsIn = (gang: WaitingGang): boolean =>
    gang.scheduler === "kueue" && gang.reservedAt === null && standsInLine(gang) && !resting.has(gang.uid);
  const lines = new Map<string, number[]>(strict.map(({ name }) => [name, []]));
  // The gangs of a snapshot are in the order in which queues serve them.
  for (const [index, gang] of queueing.gangs.entries()) {
    if (gang.queue !== null && standsIn(gang)) lines.get(gang.queue)?.push(index);
  }
  return strict.flatMap((queue) => {
    const [head, ...behind] = lines.get(queue.name) ?? [];
    return head === undefined || behind.length === 0 ? [] : [{ queue, head, behind }];
  });
}

/**
 * The head of a line must ask for more than this many times what is free (or what its quota leaves) before others may use the
 * free amount. It is unknown when GPUs become free. But if the head asks for that much more, others hold more than half of it,
 * and what is lent to those behind the head does not decide when it starts.
 */
const beyond = 2;

/** Kueue's messages when it finds no flavor whose labels and taints fit (flavorassigner v0.19). */
const noFlavor = /\bNoMatchingFlavor\b|doesn't match node affinity|untolerated taint/;

/**
 * Why the head of a line will not start soon, even if these others do not use the free GPUs; `null`: it may start, or the
 * reason why it waits is not known. Kueue looks at quotas; nodes keep it from admitting a Workload only where its flavors have
 * a topology.
 */
export function whyHeadWaits(moment: AdviceMoment, line: StrictLine, others: readonly number[]): string | null {
  const { snapshot, waiting, gangFreeCapacities } = moment.analysis;
  const gang = snapshot.queueing.gangs[line.head];
  // Work that is being preempted for the head will leave at any moment, and while pods of other work are not ready, nothing is
  // admitted.
  if (gang === undefined || gang.bound > 0 || /preempt|PodsReady/i.test(gang.reason)) return null;
  if (gang.never === "above-limit") return "it asks for more than the queue may ever hold";
  if (gang.never === "limit-range") return "a LimitRange of its namespace refuses its pods";
  const head = waiting.work[line.head];
  // Room for some of its members is too little free for it, as room for none is.
  const cause = head?.hasRoomForSome === true ? "capacity" : head?.cause;
  const looksAtNodes = hasTopology(moment, line) || statedCause(gang.reason) === "topology";
  if (gang.never === "no-node" || cause === "constraint") {
    const isKnown = looksAtNodes || (noFlavor.test(gang.reason) && statedCause(gang.reason) !== "quota");
    return isKnown ? "no node or flavor that is there suits it" : null;
  }
  const asked = gangFreeCapacities.askedOf(line.head);
  if (gang.never !== null || asked === null) return null;
  if (cause !== "quota" && !(looksAtNodes && (cause === "capacity" || cause === "fragmentation"))) return null;
  return waitsForOthers(moment, asked.placed, others)
    ? "what it waits for are other GPUs"
    : shortByFar(moment, gang, asked.placed, cause);
}

function hasTopology({ analysis }: AdviceMoment, { queue }: StrictLine): boolean {
  const flavors = new Set(queue.quotas.map(({ flavor }) => flavor));
  return analysis.snapshot.queueObjects.kueueResourceFlavors.some(
    ({ name, topologyName }) => topologyName !== null && flavors.has(name),
  );
}

/** Whether the gang waits for other GPUs: no domain that the others use could serve any of its pods, even if it were empty. */
function waitsForOthers(moment: AdviceMoment, placed: readonly PlacedPods[], others: readonly number[]): boolean {
  const { snapshot, gangFreeCapacities } = moment.analysis;
  const parts = others.flatMap((other) => snapshot.queueing.gangs[other]?.parts ?? []);
  const elsewhere = [...new Set(parts.map(({ domain }) => domain))];
  return elsewhere.every(
    (domain) =>
      domain !== null &&
      placed.every(
        (pods) => pods.domain !== domain && gangFreeCapacities.fit.verdict([{ ...pods, domain }]) === "never",
      ),
  );
}

/** How far the free amount is below what a gang asks for, in words; `null` if the difference is not large enough. */
function shortByFar(
  { analysis: { snapshot, gangFreeCapacities } }: AdviceMoment,
  { parts }: WaitingGang,
  placed: readonly PlacedPods[],
  cause: "quota" | "capacity" | "fragmentation",
): string | null {
  const [index, ...otherDomains] = new Set(placed.map((pods) => pods.domain));
  const [queue = null, ...otherQueues] = new Set(parts.map((part) => part.queue));
  const domain = gangFreeCapacities.domains[index ?? -1];
  if (domain === undefined || queue === null || otherDomains.length > 0 || otherQueues.length > 0) return null;
  const isFar = (asked: number, there: number): boolean => asked > beyond * there + gpuTolerance;
  const gpus = gpusAsked(placed);
  if (cause === "quota") {
    const headroom = Math.max(0, createQueueAllowance(snapshot.queueing)(queue));
    return isFar(gpus, headroom) ? `it asks for ${amount(gpus)} and its quota leaves ${amount(headroom)}` : null;
  }
  if (cause === "capacity") {
    let free = 0;
    for (const pool of domain.pools) free += domain.freeByPool.get(pool)?.gpus ?? 0;
    return isFar(gpus, free) ? `it asks for ${amount(gpus)} and ${amount(free)} are free` : null;
  }
  const most = domain.open.at(-1)?.now?.gpus ?? 0;
  const perPod = Math.min(...placed.map(({ gpusPerPod }) => gpusPerPod));
  return isFar(perPod, most)
    ? `each of its pods asks for ${amount(perPod)} on one node, and none has more than ${amount(most)} free`
    : null;
}

/**
 * The name of work that a gang could preempt only with a boost, because it has the same priority. The gang fits without that,
 * but if other work takes the free GPUs first, Kueue would preempt this work. `null`: there is none.
 */
export function whomBoostThreatens(moment: AdviceMoment, { queue }: StrictLine, priority: number): string | null {
  const { kueueClusterQueues, kueueWorkloads } = moment.analysis.snapshot.queueObjects;
  const { withinClusterQueue, reclaimWithinCohort, borrowWithinCohort } = queue.preemption;
  const within = withinClusterQueue !== "Never";
  const cohort = queue.cohort !== null && (reclaimWithinCohort.startsWith("Lower") || borrowWithinCohort !== "Never");
  if (!within && !cohort) return null;
  const inCohorts = new Set(kueueClusterQueues.flatMap((one) => (one.cohort === null ? [] : [one.name])));
  const isThreatened = (workload: KueueWorkload): boolean => {
    const { admission } = workload;
    if (admission === null || workload.priority !== priority || isFinished(workload)) return false;
    return admission.clusterQueue === queue.name ? within : cohort && inCohorts.has(admission.clusterQueue);
  };
  const found = kueueWorkloads.find(isThreatened);
  return found === undefined ? null : fullName(found);
}
