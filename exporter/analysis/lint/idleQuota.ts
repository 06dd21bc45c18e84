import { quotaKey } from "../../join/queues/nodeQuotas.ts";
import type { QueueView, WaitingGang } from "../../join/queues/queueing.ts";
import type { Snapshot } from "../../join/snapshot.ts";
import { nameWords } from "../../kernel/nameWords.ts";
import { gpuLikeResource } from "../../model/gpuResource.ts";
import { gpuTolerance } from "../../model/gpuTolerance.ts";
import type { KueueClusterQueue, KueueQuota } from "../../model/queues/kueue.ts";
import type { Finding } from "./finding.ts";
import { kueueFinding } from "./kueueFindings.ts";

/** Seconds: work that has waited for a shorter time may still be admitted in the next rounds. */
const waitedSeconds = 300;

/** A ClusterQueue without a cohort whose work waits while the quota of others without a cohort is idle. Physical GPUs. */
export interface UnsharedQuota {
  readonly queue: QueueView;
  /** The queues that have idle quota of the same flavors, the most idle first, and no more queues than are needed. */
  readonly lenders: readonly { readonly view: QueueView; readonly idle: number }[];
  /** GPUs and number of the gangs that would start within its own quota and theirs, and the first of these gangs. */
  readonly gpus: number;
  readonly gangs: number;
  readonly first: WaitingGang;
  /** GPUs that are free in the domain, whoever's quota they are. */
  readonly free: number;
}

/**
 * ClusterQueues whose waiting work could be started with the quota of others if they were in one cohort: outside a cohort a
 * queue has only its nominal quota, and lends nothing (kueue v0.19, pkg/cache/scheduler: available, without a parent).
 */
export function unsharedQuota(snapshot: Snapshot): readonly UnsharedQuota[] {
  const { queueObjects, queueing, at } = snapshot;
  const alone = new Map(
    queueObjects.kueueClusterQueues
      .filter(({ cohort, stopPolicy }) => cohort === null && stopPolicy === "None")
      .map((queue) => [queue.name, queue] as const),
  );
  if (alone.size < 2) return [];
  const allocated = queueing.domains.map(() => 0);
  const ofDomain = queueing.domains.map((): QueueView[] => []);
  for (const view of queueing.queues) {
    if (view.isLeaf) allocated[view.domain] = (allocated[view.domain] ?? 0) + view.allocated;
    if (view.kind === "ClusterQueue" && alone.has(view.name)) ofDomain[view.domain]?.push(view);
  }
  return queueing.domains.flatMap(({ capacity, unknownBecause }, index): readonly UnsharedQuota[] => {
    const views = ofDomain[index] ?? [];
    const free = capacity - (allocated[index] ?? 0);
    if (unknownBecause !== null || free <= gpuTolerance) return [];
    const lenders = lendersByFlavor(views, alone);
    if (lenders.size === 0) return [];
    return views.flatMap((view) => {
      if (!view.gangs.some((gang) => waitsForQuota(queueing.gangs[gang], at))) return [];
      const found = startedWith(snapshot, view, lendersFor(view, alone, lenders), free);
      return found === null ? [] : [found];
    });
  });
}

type Lenders = UnsharedQuota["lenders"];

/** Queues with idle quota by flavor and resource, the most idle first: quota is lent only within one flavor and resource. */
function lendersByFlavor(
  views: readonly QueueView[],
  alone: ReadonlyMap<string, KueueClusterQueue>,
): ReadonlyMap<string, Lenders> {
  const idle = views
    .map((view) => ({ view, idle: unusedBy(view) - view.pending }))
    .filter((one) => one.idle > gpuTolerance);
  idle.sort((a, b) => b.idle - a.idle || (a.view.name < b.view.name ? -1 : 1));
  const lenders = new Map<string, Lenders[number][]>();
  for (const one of idle) {
    for (const key of gpuKeys(alone.get(one.view.name), ({ nominal }) => nominal > 0)) {
      const ofKey = lenders.get(key) ?? [];
      ofKey.push(one);
      lenders.set(key, ofKey);
    }
  }
  return lenders;
}

function lendersFor(
  view: QueueView,
  alone: ReadonlyMap<string, KueueClusterQueue>,
  byFlavor: ReadonlyMap<string, Lenders>,
): Lenders {
  const found = new Set(gpuKeys(alone.get(view.name), () => true).flatMap((key) => byFlavor.get(key) ?? []));
  return [...found].filter((lender) => lender.view !== view);
}

const gpuKeys = (queue: KueueClusterQueue | undefined, isMeant: (quota: KueueQuota) => boolean): readonly string[] => [
  ...new Set(queue?.quotas.filter((quota) => gpuLikeResource(quota.resource) && isMeant(quota)).map(quotaKey)),
];

const unusedBy = ({ guaranteed, allocated, reserved }: QueueView): number =>
  guaranteed - Math.max(allocated, reserved ?? 0);

/** The part of a queue's waiting work, in its order, that fits into its own quota and that of the lenders. */
function startedWith(
  { queueing, at }: Snapshot,
  queue: QueueView,
  lenders: Lenders,
  free: number,
): UnsharedQuota | null {
  const own = Math.max(0, unusedBy(queue));
  const lent = lenders.reduce((sum, { idle }) => sum + idle, 0);
  const headroom = Math.min(free, own + lent);
  const started: WaitingGang[] = [];
  let gpus = 0;
  for (const index of queue.gangs) {
    const gang = queueing.gangs[index];
    if (!waitsForQuota(gang, at)) continue;
    const fits = gang.gpus !== null && gpus + gang.gpus <= headroom + gpuTolerance;
    if (fits) {
      started.push(gang);
      gpus += gang.gpus ?? 0;
    } else if (queue.isStrictOrder) break;
  }
  const [first] = started;
  // Work that fits into its own quota waits for another reason.
  if (first === undefined || gpus <= own + gpuTolerance) return null;
  return { queue, lenders: enough(lenders, gpus - own), gpus, gangs: started.length, first, free };
}

function waitsForQuota(gang: WaitingGang | undefined, at: number): gang is WaitingGang {
  if (gang === undefined) return false;
  const { never, reservedAt, since, bound } = gang;
  if (never !== null && never !== "above-limit") return false;
  return reservedAt === null && bound === 0 && since !== null && at - since >= waitedSeconds;
}

/** The first lenders that together have this much. */
function enough(lenders: Lenders, gpus: number): Lenders {
  let left = gpus;
  return lenders.filter(({ idle }) => {
    const isNeeded = left > gpuTolerance;
    left -= idle;
    return isNeeded;
  });
}

/**
 * Findings about quota that is idle while work waits to which no queue may lend it. One finding for each queue whose work
 * waits.
 */
export function unsharedQuotaFindings(snapshot: Snapshot): readonly Finding[] {
  const reported = new Set<string>();
  return unsharedQuota(snapshot).flatMap((found) => {
    if (reported.has(found.queue.name)) return [];
    reported.add(found.queue.name);
    return [notShared(found, snapshot.queueing.domains[found.queue.domain]?.name ?? "")];
  });
}

function notShared({ queue, lenders, gpus, gangs, first, free }: UnsharedQuota, domain: string): Finding {
  const used = Math.max(queue.allocated, queue.reserved ?? 0);
  const work = gangs === 1 ? `${workOf(first)} waits` : `${gangs} workloads wait (${workOf(first)} first)`;
  const idle = lenders.map(
    ({ view, idle: unused }) => `${view.name} leaves ${rounded(unused)} of its ${rounded(view.guaranteed)} unused`,
  );
  const more = rounded(used + gpus - queue.guaranteed);
  return kueueFinding(
    "kueue-quota-not-shared",
    "ClusterQueue",
    queue.name,
    `${work} for ${rounded(gpus)} GPUs of ${domain}, of which ${rounded(free)} are free: ${queue.name} uses ${rounded(used)} of its quota of ${rounded(queue.guaranteed)} and is in no cohort, so that it borrows nothing, while ${nameWords(idle)}, but ${lenders.length === 1 ? "is in no cohort either and lends" : "are in no cohort either and lend"} nothing.`,
    `Set spec.cohortName of ClusterQueues ${nameWords([queue.name, ...lenders.map(({ view }) => view.name)])} to the same name, with spec.preemption.reclaimWithinCohort: Any where a queue must get back what it lent as soon as its own work waits; or raise nominalQuota of ${queue.name} by ${more}, and lower that of others by as much where all of it is promised.`,
  );
}

const workOf = ({ namespace, name }: WaitingGang): string => `${namespace}/${name}`;

const rounded = (gpus: number): number => Math.round(gpus * 1000) / 1000;
