import type { Analysis } from "../../analysis/analysis.ts";
import type { QueueFairness, StarvedBorrower } from "../../analysis/fairness/fairness.ts";
import { queueKey } from "../../analysis/fairness/shortSince.ts";
import type { LocalQueues } from "../../analysis/localQueues/localQueues.ts";
import type { SchedulerView } from "../../analysis/schedulerViews/schedulerView.ts";
import { absentCapacity, allocatedPastQueues } from "../../analysis/sums/domainSums.ts";
import type { Queueing, QueueView, QuotaDomain } from "../../join/queues/queueing.ts";
import { gpuTolerance } from "../../model/gpuTolerance.ts";
import { type AbsentOwner, absentOwners } from "../../model/shortfall.ts";
import type { WaitCause } from "../../model/waitCauses.ts";
import { instant, sortByTexts } from "./order.ts";
import type { DomainRecord, LocalQueueRecord, QueueRecord } from "./schema.ts";

/** The most pairs of a starved queue and a borrower that the record of a domain has. */
const shownPairs = 1000;

/** The quota domains of a moment, by name. */
export function domainRecords({ snapshot, fairness }: Analysis): readonly DomainRecord[] {
  const { domains, queues } = snapshot.queueing;
  const sums = domains.map(() => ({ allocated: 0, pending: 0 }));
  for (const { isLeaf, domain, allocated, pending } of queues) {
    const sum = sums[domain];
    if (!isLeaf || sum === undefined) continue;
    sum.allocated += allocated;
    sum.pending += pending;
  }
  const past = allocatedPastQueues(snapshot.queueing);
  const missing = absentCapacity(snapshot.queueing, fairness);
  return domains.map((domain, index) => {
    const { name, pools, capacity, allocatedOnUnschedulable, unknownBecause } = domain;
    const own = fairness.domains[index] ?? null;
    return {
      domain: name,
      pools,
      capacity,
      allocatedOnUnschedulable,
      pastQueues: past[index] ?? 0,
      nodeClasses: domainClasses(domain),
      unknownBecause,
      allocated: sums[index]?.allocated ?? 0,
      pending: sums[index]?.pending ?? 0,
      entitled: own?.entitled ?? null,
      excess: own?.excess ?? null,
      shortfall: own?.shortfall ?? null,
      idleGap: own?.idleGap ?? null,
      absentCapacity:
        own === null ? null : byOwner(absentOwners.map((owner) => ({ owner, gpus: missing[index]?.[owner] ?? 0 }))),
      misallocatedRatio: own?.misallocatedRatio ?? null,
      jainIndex: own?.jainIndex ?? null,
      pairs: (own?.pairs ?? []).slice(0, shownPairs).map(named),
      heldBack: (own?.heldBack ?? []).slice(0, shownPairs).map(({ because, ...pair }) => ({ ...named(pair), because })),
    };
  });

  function named({ starved, borrower, gpus }: StarvedBorrower) {
    return { starved: queues[starved]?.name ?? "", borrower: queues[borrower]?.name ?? "", gpus };
  }
}

/** The queues of a moment, by domain, scheduler and name. */
export function queueRecords(analysis: Analysis): readonly QueueRecord[] {
  const { domains, queues } = analysis.snapshot.queueing;
  const waits = waitsByQueue(analysis);
  const views = Map.groupBy(analysis.schedulerViews, viewKey);
  const records: QueueRecord[] = [];
  for (const [index, queue] of queues.entries()) {
    const fairness = analysis.fairness.queues[index] ?? null;
    const own = views.get(viewKey(queue)) ?? [];
    records.push({
      scheduler: queue.scheduler,
      kind: queue.kind,
      name: queue.name,
      parent: queue.parent === null ? null : (queues[queue.parent]?.name ?? null),
      domain: domains[queue.domain]?.name ?? "",
      team: queue.team,
      isLeaf: queue.isLeaf,
      guaranteed: queue.guaranteed,
      limit: finite(queue.limit),
      lendingLimit: finite(queue.lendingLimit),
      weight: queue.weight,
      allocated: queue.allocated,
      allocatedOnUnschedulable: queue.allocatedOnUnschedulable,
      reserved: queue.reserved,
      pending: queue.pending,
      demand: fairness?.demand ?? null,
      entitled: fairness?.entitled ?? null,
      deviation: fairness?.deviation ?? null,
      nodeClasses: fairness === null ? null : queueClasses(queue, domains[queue.domain], fairness),
      shortSince: instant(analysis.shortSince.get(queueKey(queue, domains[queue.domain]?.name ?? "")) ?? null),
      ...shortfallRecord(fairness),
      teams: queue.teams,
      waiting: waits.get(index) ?? { gangs: 0, gpus: {}, oldestSeconds: null, late: 0 },
      schedulerView: mainView(own),
      schedulerViews: own.map(({ number, shard, computed, reported }) => ({
        number,
        shard,
        computed: jsonNumber(computed),
        reported: jsonNumber(reported),
      })),
    });
  }
  return sortByTexts(records, (record) => [record.domain, record.scheduler, record.name, record.kind]);
}

/** What a queue lacks, by cause; `null` if its entitlement cannot be reported. */
function shortfallRecord(fairness: QueueFairness | null) {
  return {
    shortfall: fairness?.shortfall ?? null,
    shortfallByBorrowers: fairness?.shortfallByBorrowers ?? null,
    shortfallByIdleGap: fairness?.shortfallByIdleGap ?? null,
    shortfallByAbsentCapacity: fairness && byOwner(fairness.shortfallByAbsentCapacity),
    shortfallByIndivisible: fairness?.shortfallByIndivisible ?? null,
    actionableShortfall: fairness?.actionableShortfall ?? null,
    heldBackBy: fairness?.heldBackBy ?? null,
  };
}

/** Amounts by owner; amounts of 0 are left out. */
function byOwner(
  amounts: readonly { readonly owner: AbsentOwner; readonly gpus: number }[],
): Partial<Record<AbsentOwner, number>> {
  return Object.fromEntries(amounts.filter(({ gpus }) => gpus > 0).map(({ owner, gpus }) => [owner, gpus]));
}

/** The node classes of a domain; the domain itself if it is not divided. */
function domainClasses({
  name,
  classes,
  capacity,
  allocatedOnUnschedulable,
}: QuotaDomain): DomainRecord["nodeClasses"] {
  if (classes !== undefined) return classes.map((one) => ({ nodeClass: one.name, capacity: one.capacity }));
  return [{ nodeClass: name, capacity: capacity - allocatedOnUnschedulable }];
}

/** The node classes in which a leaf holds or may hold anything, on nodes that take pods; none for inner queues. */
function queueClasses(
  { isLeaf, allocated, allocatedOnUnschedulable, allocatedByClass }: QueueView,
  domain: QuotaDomain | undefined,
  { nodeClasses, entitled }: QueueFairness,
): QueueRecord["nodeClasses"] {
  if (nodeClasses !== undefined) return nodeClasses;
  if (!isLeaf || domain === undefined) return [];
  const here =
    domain.classes === undefined
      ? [
          {
            nodeClass: domain.name,
            allocated: allocated - allocatedOnUnschedulable,
            entitled: entitled - allocatedOnUnschedulable,
          },
        ]
      : // Work that no queue answers for is entitled to what it holds, where it holds it.
        domain.classes.map(({ name }, i) => {
          const own = allocatedByClass?.[i];
          const amount = own === undefined ? 0 : own.allocated - own.allocatedOnUnschedulable;
          return { nodeClass: name, allocated: amount, entitled: amount };
        });
  return here
    .map(({ nodeClass, ...amounts }) => ({
      nodeClass,
      allocated: Math.max(0, amounts.allocated),
      entitled: Math.max(0, amounts.entitled),
    }))
    .filter((one) => Math.max(one.allocated, one.entitled) > gpuTolerance);
}

const finite = (amount: number): number | null => (Number.isFinite(amount) ? amount : null);

/** A number for JSON, which has no infinity: that becomes a word, because `null` means unknown. */
export const jsonNumber = (value: number | null): number | "Infinity" | null =>
  value === null || Number.isNaN(value) ? null : Number.isFinite(value) ? value : "Infinity";

/** The schedulers' own numbers that show how fairly a queue is served, the most informative first. */
const mainNumbers: readonly SchedulerView["number"][] = [
  "kueue-weighted-share",
  "kai-fair-share-with-history",
  "kai-fair-share",
  "volcano-deserved",
  "volcano-share",
  "kueue-admission-usage",
];

function mainView(views: readonly SchedulerView[]): QueueRecord["schedulerView"] {
  const isKnown = ({ computed, reported }: SchedulerView) => computed !== null || reported !== null;
  const found = mainNumbers.flatMap((number) => views.filter((view) => view.number === number && isKnown(view)));
  const [first] = found;
  return first === undefined ? null : { name: first.number, value: jsonNumber(first.reported ?? first.computed) };
}

/** The sums of what waits in one queue. */
interface Waits {
  gangs: number;
  readonly gpus: Partial<Record<WaitCause, number>>;
  oldestSeconds: number | null;
  late: number;
}

/** What waits in each queue, all priority classes together. */
function waitsByQueue({ waiting }: Analysis): ReadonlyMap<number, Waits> {
  const waits = new Map<number, Waits>();
  for (const { queue, gangs, gpus, oldestSeconds, late } of waiting.queues) {
    if (queue === null) continue;
    const sum = waits.get(queue) ?? { gangs: 0, gpus: {}, oldestSeconds: null, late: 0 };
    waits.set(queue, sum);
    sum.gangs += gangs;
    sum.late += late;
    if (oldestSeconds !== null) sum.oldestSeconds = Math.max(oldestSeconds, sum.oldestSeconds ?? 0);
    for (const cause in gpus) {
      if (isCause(cause, gpus)) sum.gpus[cause] = (sum.gpus[cause] ?? 0) + (gpus[cause] ?? 0);
    }
  }
  return waits;
}

function isCause(key: string, gpus: Readonly<Partial<Record<WaitCause, number>>>): key is WaitCause {
  return Object.hasOwn(gpus, key);
}

function viewKey({ scheduler, kind, name }: Pick<SchedulerView, "scheduler" | "kind" | "name">): string {
  return `${scheduler} ${kind} ${name}`;
}

/** The LocalQueues of a moment, by ClusterQueue, domain and name. */
export function localQueueRecords(
  { queues, domains }: Pick<Queueing, "queues" | "domains">,
  { shares, admission }: LocalQueues,
): readonly LocalQueueRecord[] {
  const records = shares.map((share): LocalQueueRecord => {
    const { byUsage = false, byWeight = false } = admission.get(share.clusterQueue) ?? {};
    const domain = share.queue === null ? undefined : domains[queues[share.queue]?.domain ?? -1];
    return {
      namespace: share.namespace,
      name: share.name,
      clusterQueue: share.clusterQueue,
      domain: domain?.name ?? null,
      servedBy: byUsage ? "usage" : "priority",
      weight: share.weight,
      weightIsUsed: byWeight,
      usage: jsonNumber(share.usage),
      allocated: share.allocated,
      pending: share.pending,
      entitled: share.entitled,
      deviation: share.deviation,
    };
  });
  return sortByTexts(records, (record) => [
    record.clusterQueue,
    record.domain ?? "",
    record.namespace ?? "\uffff",
    record.name ?? "\uffff",
  ]);
}
