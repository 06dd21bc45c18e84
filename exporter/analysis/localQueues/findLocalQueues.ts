import type { WaitingGang } from "../../join/queues/queueing.ts";
import type { Snapshot } from "../../join/snapshot.ts";
import { gpuTolerance } from "../../model/gpuTolerance.ts";
import type { KueueLocalQueue } from "../../model/queues/kueue.ts";
import type { Fairness } from "../fairness/fairness.ts";
import { admissionOf, usageForWeight } from "./admission.ts";
import { divideEntitlement } from "./divideEntitlement.ts";
import { type LinePosition, type LocalQueueShare, type LocalQueues, noLocalQueues } from "./localQueues.ts";
import { type LocalName, type LocalWork, localWorkOf } from "./localWork.ts";

/** Finds what each LocalQueue of Kueue holds, waits for and is entitled to, and which work is next in line. Pure. */
export function findLocalQueues(snapshot: Snapshot, fairness: Fairness): LocalQueues {
  const { queueObjects, schedulerSettings } = snapshot;
  const { kueueClusterQueues, kueueLocalQueues } = queueObjects;
  if (kueueClusterQueues.length === 0 && kueueLocalQueues.length === 0) return noLocalQueues;
  const settings = schedulerSettings.kueue;
  const admission = new Map(kueueClusterQueues.map((queue) => [queue.name, admissionOf(queue, settings)] as const));
  const facts: Facts = {
    fairness,
    admission,
    objects: new Map(kueueLocalQueues.map((queue) => [keyOf(queue), queue] as const)),
    usage: new Map(kueueLocalQueues.map((queue) => [keyOf(queue), usageForWeight(queue, settings)] as const)),
  };
  const shares: LocalQueueShare[] = [];
  const placed = new Set<string>();
  for (const work of localWorkOf(snapshot)) {
    shares.push(...sharesOf(work, facts));
    for (const name of work.names) placed.add(`${work.clusterQueue} ${keyOf(name)}`);
  }
  shares.sort((a, b) => (a.queue ?? 0) - (b.queue ?? 0));
  const elsewhere = kueueLocalQueues
    .filter((queue) => !placed.has(`${queue.clusterQueue} ${keyOf(queue)}`))
    .map((queue) => shareWithoutQuota(queue, facts))
    .sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  return { shares: [...shares, ...elsewhere], admission, ...linesOf(snapshot, facts) };
}

type LineInput = Pick<Snapshot, "queueing" | "queueObjects" | "kueuePendingWorkloads">;

/** The facts that decide the order of a line. */
interface LineFacts {
  readonly admission: LocalQueues["admission"];
  /** What LocalQueues have used for their weight, by `namespace/name`; `null`: not known. */
  readonly usage: ReadonlyMap<string, number | null>;
}

/**
 * The line of each ClusterQueue. If its visibility API reported the line lately, it is Kueue's own; work that has come since
 * follows in the computed order. That is Kueue's rule (v0.19, pkg/cache/queue `queueOrderingFunc`): if it admits by usage, the
 * LocalQueue that has used the least for its weight comes first; then priority, then time decide, as gangs are ordered already.
 * Work that has quota, was taken out by a person, or is in no queue, is in no line. Work for which Kueue preempts at this
 * moment is first in Kueue's own line, which no object shows.
 */
function linesOf(
  { queueing, queueObjects, kueuePendingWorkloads }: LineInput,
  { admission, usage }: LineFacts,
): Pick<LocalQueues, "lines" | "positions" | "reportedByKueue"> {
  const names = new Map(queueObjects.kueueWorkloads.map(({ uid, namespace, name }) => [uid, `${namespace}/${name}`]));
  const waiting = waitingByQueue(queueing.gangs, names);
  const lines = new Map<string, readonly number[] | null>();
  const positions = new Map<number, LinePosition>();
  const localOf = (index: number): string => localKey(queueing.gangs[index]);
  const reportedByKueue = new Set<string>();
  for (const [name, gangs] of waiting) {
    const computed = admission.get(name)?.byUsage === true ? byUsage(gangs, localOf, usage) : gangs;
    const reported = kueuePendingWorkloads.get(name);
    const workloadOf = (index: number): string => names.get(queueing.gangs[index]?.uid ?? "") ?? "";
    const line = reported === undefined ? computed : asReported(computed ?? gangs, reported, workloadOf);
    if (reported !== undefined) reportedByKueue.add(name);
    lines.set(name, line);
    const counts = new Map<string, number>();
    for (const [place, index] of (line ?? gangs).entries()) {
      const inLocalQueue = (counts.get(localOf(index)) ?? 0) + 1;
      counts.set(localOf(index), inLocalQueue);
      positions.set(index, { inClusterQueue: line === null ? null : place + 1, inLocalQueue });
    }
  }
  return { lines, positions, reportedByKueue };
}

/** Indices of the gangs that are in the line of each ClusterQueue, in their own order. */
function waitingByQueue(
  gangs: readonly WaitingGang[],
  workloads: ReadonlyMap<string, string>,
): ReadonlyMap<string, readonly number[]> {
  const waiting = new Map<string, number[]>();
  for (const [index, gang] of gangs.entries()) {
    if (gang.queue === null || !standsInLine(gang) || !workloads.has(gang.uid)) continue;
    const line = waiting.get(gang.queue);
    if (line === undefined) waiting.set(gang.queue, [index]);
    else line.push(index);
  }
  return waiting;
}

/** Orders work as Kueue reported it; what Kueue named comes first. */
function asReported(
  gangs: readonly number[],
  reported: readonly string[],
  workloadOf: (index: number) => string,
): readonly number[] {
  const places = new Map(reported.map((name, place) => [name, place] as const));
  const entries = gangs.map((gang) => ({ gang, place: places.get(workloadOf(gang)) ?? reported.length }));
  return entries.toSorted((a, b) => a.place - b.place).map(({ gang }) => gang);
}

/** Orders work by usage; `null`: several LocalQueues wait, and for one of them it is not known how much it has used. */
function byUsage(
  gangs: readonly number[],
  localOf: (index: number) => string,
  usage: LineFacts["usage"],
): readonly number[] | null {
  const keys = gangs.map(localOf);
  if (new Set(keys).size <= 1) return gangs;
  const entries: { readonly gang: number; readonly used: number }[] = [];
  for (const [i, gang] of gangs.entries()) {
    const used = usage.get(keys[i] ?? "") ?? null;
    if (used === null) return null;
    entries.push({ gang, used });
  }
  // Gangs are already ordered by priority and time, and equal ones keep their order.
  const sorted = entries.toSorted((a, b) => (a.used === b.used ? 0 : a.used < b.used ? -1 : 1));
  return sorted.map(({ gang }) => gang);
}

function standsInLine({ scheduler, localQueue, reservedAt, never }: WaitingGang): boolean {
  return (
    scheduler === "kueue" && localQueue !== null && reservedAt === null && never !== "paused" && never !== "no-queue"
  );
}

const localKey = (gang: WaitingGang | undefined): string => `${gang?.namespace ?? ""}/${gang?.localQueue ?? ""}`;

interface Facts {
  readonly fairness: Fairness;
  readonly admission: LocalQueues["admission"];
  /** LocalQueues by `keyOf`. */
  readonly objects: ReadonlyMap<string, KueueLocalQueue>;
  readonly usage: ReadonlyMap<string, number | null>;
}

const keyOf = ({ namespace, name }: LocalName): string => `${namespace ?? ""}/${name ?? ""}`;

function sharesOf(work: LocalWork, facts: Facts): readonly LocalQueueShare[] {
  const { clusterQueue, records, names, allocated, pending } = work;
  const terms = names.map((name) => termsOf(name, facts));
  const reported = records.map((record) => facts.fairness.queues[record]?.entitled ?? null);
  const divided = divideEntitlement(
    work,
    reported.map((gpus) => gpus ?? 0),
    facts.admission.get(clusterQueue)?.byWeight === true ? terms.map(({ weight }) => weight ?? 1) : null,
  );
  const at = (amounts: readonly Float64Array[], local: number, record: number) => amounts[local]?.[record] ?? 0;
  return records.flatMap((queue, record) =>
    names.map((name, local): LocalQueueShare => {
      const entitled = reported[record] === null ? null : at(divided, local, record);
      const own = at(allocated, local, record);
      const amounts = {
        allocated: own,
        pending: at(pending, local, record),
        entitled,
        deviation: deviationOf(own, entitled),
      };
      return { ...name, clusterQueue, queue, ...(terms[local] ?? noTerms), ...amounts };
    }),
  );
}

const noTerms = { weight: null, usage: null } as const;

/** Weight and usage of a LocalQueue. One that does not exist counts with weight 1 (Kueue v0.19, `ResolveLQWeight`). */
function termsOf(name: LocalName, { objects, usage }: Facts): Pick<LocalQueueShare, "weight" | "usage"> {
  if (name.name === null) return noTerms;
  return { weight: objects.get(keyOf(name))?.weight ?? 1, usage: usage.get(keyOf(name)) ?? null };
}

function deviationOf(allocated: number, entitled: number | null): number | null {
  if (entitled === null) return null;
  return Math.abs(allocated - entitled) <= gpuTolerance ? 0 : allocated - entitled;
}

/** The share of a LocalQueue whose ClusterQueue has no quota for GPUs of this cluster, or does not exist. */
function shareWithoutQuota(queue: KueueLocalQueue, { usage }: Facts): LocalQueueShare {
  const { namespace, name, clusterQueue, weight } = queue;
  return {
    namespace,
    name,
    clusterQueue,
    weight,
    usage: usage.get(keyOf(queue)) ?? null,
    queue: null,
    allocated: 0,
    pending: 0,
    entitled: null,
    deviation: null,
  };
}
