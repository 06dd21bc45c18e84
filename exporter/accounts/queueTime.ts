import type { Analysis } from "../analysis/analysis.ts";
import type { QueueFairness } from "../analysis/fairness/fairness.ts";
import type { QueueView, QuotaDomain, WaitingGang } from "../join/queues/queueing.ts";
import { absentAmounts, type PartialGangTime, type QueueAmount, type QueueTime, queueAmounts } from "./posting.ts";
import type { QueueKey } from "./queueCounters.ts";
import type { HourPart } from "./stepTime.ts";

/**
 * The amounts of each leaf queue of the earlier moment over a step: its allocated, entitled and pending GPUs of that moment
 * times the seconds of each hour. Where the entitlement is not known, there are only allocated and pending GPUs. A queue that
 * has only a guarantee has only the amounts of the guarantee. Of several clusters, each waiting job is pending in one: work
 * that MultiKueue will send away is pending where it was submitted, and its copies in other clusters are not.
 */
export function queueTimesOf(before: Analysis, parts: readonly HourPart[]): readonly QueueTime[] {
  const { queues, domains, gangs } = before.snapshot.queueing;
  const sent = sentAway(gangs);
  const times: QueueTime[] = [];
  const put = (had: QueueMoment): void => {
    for (const { hour, seconds } of parts) times.push(timeOf(had, hour, seconds));
  };
  for (const [i, view] of queues.entries()) {
    const domain = domains[view.domain];
    if (!view.isLeaf || domain === undefined) continue;
    const pending = Math.max(0, view.pending + (sent.byLeaf.get(i) ?? 0));
    const had = hadOf(view, pending, domain, before.fairness.queues[i] ?? null);
    if (had !== null) put(had);
  }
  for (const one of sent.nowhere) put(one);
  return times;
}

/** The name in the ledger for the quota domains of other clusters. */
export const otherClusters = "other clusters";

/** The queues in which work waits for other clusters although they have no GPUs here, and their team. */
export const queuesElsewhere = (gangs: readonly WaitingGang[]): readonly (QueueKey & Pick<QueueTime, "team">)[] =>
  sentAway(gangs).nowhere;

/**
 * What MultiKueue changes in the pending GPUs of queues, by index of the leaf: more by what waits here for another cluster, less
 * by the copies of what waits elsewhere. `nowhere`: what waits in queues that have no GPUs here.
 */
function sentAway(gangs: readonly WaitingGang[]) {
  const byLeaf = new Map<number, number>();
  const nowhere = new Map<string, QueueMoment>();
  for (const gang of gangs) {
    const sign = gang.never === "elsewhere" ? 1 : gang.isCopy === true && gang.never === null ? -1 : 0;
    if (sign === 0) continue;
    for (const { queue, pods, gpusPerPod } of gang.parts) {
      const gpus = pods * (gpusPerPod ?? 0);
      if (queue !== null) byLeaf.set(queue, (byLeaf.get(queue) ?? 0) + sign * gpus);
      else if (sign > 0 && gpus > 0) addNowhere(nowhere, gang, gpus);
    }
  }
  return { byLeaf, nowhere: [...nowhere.values()] };
}

const noAmounts: Readonly<Record<QueueAmount, number>> = {
  seconds: 0,
  judgedSeconds: 0,
  allocated: 0,
  entitled: 0,
  excess: 0,
  shortfallByBorrowers: 0,
  shortfallByIdleGap: 0,
  shortfallByLostNode: 0,
  shortfallByNodeToCome: 0,
  shortfallByPastQueues: 0,
  shortfallByPromisedTwice: 0,
  shortfallByIndivisible: 0,
  pending: 0,
  judgedAllocated: 0,
  guaranteedSeconds: 0,
  guaranteed: 0,
};

function addNowhere(moments: Map<string, QueueMoment>, { scheduler, queue, team }: WaitingGang, gpus: number): void {
  const name = queue ?? "";
  const known = moments.get(name);
  moments.set(name, {
    ...noAmounts,
    scheduler,
    kind: "ClusterQueue",
    queue: name,
    domain: otherClusters,
    team: known === undefined || known.team === team ? team : null,
    seconds: 1,
    pending: (known?.pending ?? 0) + gpus,
  });
}

/** The amounts of a leaf queue at a moment: its names, how many seconds of each kind one second counts, and GPUs. */
type QueueMoment = Omit<QueueTime, "hour">;

function hadOf(
  view: QueueView,
  pending: number,
  domain: QuotaDomain,
  fairness: QueueFairness | null,
): QueueMoment | null {
  const { allocated, scheduler, kind, name, team } = view;
  const entitled = fairness?.entitled ?? 0;
  const isKnown = domain.unknownBecause === null;
  // Pods that belong to no queue have no guarantee.
  const guaranteed = isKnown && kind !== "Unqueued" ? view.guaranteed : 0;
  const has = allocated > 0 || pending > 0 || entitled > 0;
  if (!has && !(guaranteed > 0)) return null;
  return {
    scheduler,
    kind,
    queue: name,
    domain: domain.name,
    team,
    seconds: has ? 1 : 0,
    judgedSeconds: has && fairness !== null ? 1 : 0,
    allocated,
    entitled,
    pending,
    ...shortfallsOf(fairness),
    excess: fairness?.excess ?? 0,
    judgedAllocated: fairness === null ? 0 : allocated,
    guaranteedSeconds: isKnown ? 1 : 0,
    guaranteed,
  };
}

/** The shortfalls by cause, and those by absent capacity by who can fix them. */
function shortfallsOf(fairness: QueueFairness | null) {
  const { shortfallByBorrowers = 0, shortfallByIdleGap = 0, shortfallByIndivisible = 0 } = fairness ?? {};
  const absent = {
    shortfallByLostNode: 0,
    shortfallByNodeToCome: 0,
    shortfallByPastQueues: 0,
    shortfallByPromisedTwice: 0,
  };
  for (const { owner, gpus } of fairness?.shortfallByAbsentCapacity ?? []) absent[absentAmounts[owner]] += gpus;
  return { shortfallByBorrowers, shortfallByIdleGap, ...absent, shortfallByIndivisible };
}

function timeOf(had: QueueMoment, hour: number, seconds: number): QueueTime {
  const time: { -readonly [K in keyof QueueTime]: QueueTime[K] } = { ...had, hour };
  for (const name of queueAmounts) time[name] = over(had[name], seconds);
  return time;
}

const over = (amount: number, seconds: number): number => (amount > 0 ? amount * seconds : 0);

/** GPU time that the partial gangs of the earlier moment held, for every pool that has one. */
export function partialGangTimes(before: Analysis, seconds: number): readonly PartialGangTime[] {
  const sums = new Map<string, number>();
  for (const { pool, allocatedGpus } of before.waiting.partialGangs)
    sums.set(pool, (sums.get(pool) ?? 0) + allocatedGpus * seconds);
  return [...sums].map(([pool, gpuSeconds]) => ({ pool, gpuSeconds }));
}
