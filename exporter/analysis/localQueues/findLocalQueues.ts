import type { Snapshot } from "../../join/snapshot.ts";
import { gpuTolerance } from "../../model/gpuTolerance.ts";
import type { KueueLocalQueue } from "../../model/queues/kueue.ts";
import type { Fairness } from "../fairness/fairness.ts";
import { admissionOf, usageForWeight } from "./admission.ts";
import { divideEntitlement } from "./divideEntitlement.ts";
import { linesOf } from "./line.ts";
import { type LocalQueueShare, type LocalQueues, noLocalQueues } from "./localQueues.ts";
import { type LocalName, type LocalWork, localWorkOf } from "./localWork.ts";

/** What each LocalQueue of Kueue holds, waits for and is entitled to, and who is next in line. Pure. */
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

interface Facts {
  readonly fairness: Fairness;
  readonly admission: LocalQueues["admission"];
  /** By `keyOf`. */
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

/** A LocalQueue that is not there counts with weight 1 (Kueue v0.19, `ResolveLQWeight`). */
function termsOf(name: LocalName, { objects, usage }: Facts): Pick<LocalQueueShare, "weight" | "usage"> {
  if (name.name === null) return noTerms;
  return { weight: objects.get(keyOf(name))?.weight ?? 1, usage: usage.get(keyOf(name)) ?? null };
}

function deviationOf(allocated: number, entitled: number | null): number | null {
  if (entitled === null) return null;
  return Math.abs(allocated - entitled) <= gpuTolerance ? 0 : allocated - entitled;
}

/** A LocalQueue whose ClusterQueue has no quota for GPUs that are here, or is not there. */
function shareWithoutQuota(queue: KueueLocalQueue, { usage }: Facts): LocalQueueShare {
  const { namespace, name, clusterQueue, weight } = queue;
  return {
    ...{ namespace, name, clusterQueue, weight, usage: usage.get(keyOf(queue)) ?? null },
    ...{ queue: null, allocated: 0, pending: 0, entitled: null, deviation: null },
  };
}
