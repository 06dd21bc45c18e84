import type { Analysis } from "../analysis/analysis.ts";
import { waitBuckets } from "../analysis/waiting/waiting.ts";
import type { EvictedWork, Queueing, QueueView } from "../join/queues/queueing.ts";
import { labelValue } from "../kernel/labelValue.ts";
import { type AbsentOwner, absentOwners } from "../model/shortfall.ts";
import { createOnceShown } from "./onceShown.ts";
import { type AccruedTime, absentAmounts, countedQueueAmounts, type QueueTime } from "./posting.ts";
import type {
  AbsentTotals,
  EndedWaits,
  EvictionTotals,
  QueueCounters,
  QueueKey,
  QueueTotals,
} from "./queueCounters.ts";
import type { NewEvents } from "./queueEvents.ts";
import { queuesElsewhere } from "./queueTime.ts";
import {
  type CounterCell,
  createCounterTable,
  createPoolCounter,
  createSeriesTable,
  type Mutable,
  other,
  shared,
} from "./seriesTable.ts";

/** Finds and counts the totals of queues, within their budgets. */
export interface QueueCounterAccount {
  /** Publishes every label set that the next step can add to, with its value before that step. */
  announce(analysis: Analysis): void;
  /** Finds the cells of a step. The function that is returned adds the step to all of them at once. */
  prepare(step: AccruedTime): () => void;
  /**
   * Counts the events of a moment. Events with new labels are counted when the next moment comes, so that their series begins
   * at 0.
   */
  count(events: Pick<NewEvents, "waits" | "evictions">): void;
  totals(): Omit<QueueCounters, "debts">;
}

interface WaitCell extends Omit<Mutable<EndedWaits>, "buckets"> {
  readonly buckets: number[];
}

type QueueLabels = QueueKey & { readonly team: string };
type AbsentLabels = Omit<AbsentTotals, "gpuSeconds">;
type WaitLabels = Pick<EndedWaits, "queue" | "priorityClass" | "phase">;
type EvictionLabels = Pick<EvictionTotals, "queue" | "team" | "reason" | "preemptorQueue">;

/** The parts of `limits.series`, and how many series one label set has on the page. */
const budgets = {
  totals: { part: 0.1, series: 10 },
  absent: { part: 0.01, series: 1 },
  waits: { part: 0.07, series: waitBuckets.length + 3 },
  evictions: { part: 0.015, series: 2 },
  partialGangs: { part: 0.005, series: 1 },
} as const;

/** The most queues whose cells are known without looking at their labels. */
const mostKnown = 100_000;

/** Creates totals that have counted nothing. `teamLabel` is the label of a team within the budget of teams. */
export function createQueueCounterAccount(
  series: number,
  teamLabel: (team: string | null) => string,
): QueueCounterAccount {
  const budget = (name: keyof typeof budgets): number => (series * budgets[name].part) / budgets[name].series;
  const totals = createSeriesTable<QueueLabels, Mutable<QueueTotals>>(
    budget("totals"),
    (l) => ({ ...l, queue: other, team: shared(l.team) }),
    (l) => ({ ...l, queue: other, domain: other, team: shared(l.team) }),
    emptyTotals,
  );
  const absent = createCounterTable<AbsentLabels>(
    budget("absent"),
    (l) => ({ ...l, queue: other, team: shared(l.team) }),
    (l) => ({ ...l, queue: other, domain: other, team: shared(l.team) }),
  );
  const waits = createSeriesTable<WaitLabels, WaitCell>(
    budget("waits"),
    (l) => ({ queue: shared(l.queue), priorityClass: l.priorityClass, phase: l.phase }),
    (l) => ({ queue: shared(l.queue), priorityClass: other, phase: l.phase }),
    emptyWaits,
  );
  const evictions = createSeriesTable<EvictionLabels, Mutable<EvictionTotals>>(
    budget("evictions"),
    (l) => ({ queue: l.queue, team: shared(l.team), reason: l.reason, preemptorQueue: shared(l.preemptorQueue) }),
    (l) => ({
      queue: shared(l.queue),
      team: shared(l.team),
      reason: other,
      preemptorQueue: shared(l.preemptorQueue),
    }),
    (l) => ({ ...l, evictions: 0, lostGpuSeconds: 0 }),
  );
  const partialGangs = createPoolCounter(budget("partialGangs"));

  const known = new Map<string, Mutable<QueueTotals>>();

  function totalsOf(key: QueueKey, team: string | null): Mutable<QueueTotals> {
    const text = textOf(key.scheduler, key.kind, key.queue, key.domain, team);
    const found = known.get(text);
    if (found !== undefined) return found;
    const { scheduler, kind } = key;
    const queue = labelValue(key.queue);
    const cell = totals.cell({ scheduler, kind, queue, domain: labelValue(key.domain), team: teamLabel(team) });
    // The cell of a label set never changes, so that a cell that is forgotten here is only looked up again.
    if (known.size >= mostKnown) known.clear();
    known.set(text, cell);
    return cell;
  }

  function absentOf({ scheduler, kind, queue, domain }: QueueKey, team: string | null, owner: AbsentOwner) {
    const names = { queue: labelValue(queue), domain: labelValue(domain), team: teamLabel(team) };
    return absent.cell({ scheduler, kind, ...names, owner });
  }

  const waitsOf = (queue: string | null, priorityClass: string, phase: EndedWaits["phase"]): WaitCell =>
    waits.cell({ queue: labelValue(queue ?? ""), priorityClass: labelValue(priorityClass), phase });
  const poolOf = (pool: string): CounterCell<{ readonly pool: string }> =>
    partialGangs.cell({ pool: labelValue(pool) });

  const evictionsOf = ({ queue, team, reason, preemptor }: EvictedWork): Mutable<EvictionTotals> =>
    evictions.cell({
      queue: labelValue(queue ?? ""),
      team: teamLabel(team),
      reason: labelValue(reason),
      preemptorQueue: labelValue(preemptor?.queue ?? ""),
    });
  const events = createOnceShown();

  function announceTotals({ queues, domains, gangs }: Queueing): void {
    const added: QueueView[] = [];
    for (const view of queues) {
      const { isLeaf, scheduler, kind, name, team } = view;
      if (isLeaf && !known.has(textOf(scheduler, kind, name, domains[view.domain]?.name ?? "", team))) added.push(view);
    }
    for (const { scheduler, kind, name, domain, team } of largestFirst(added)) {
      totalsOf({ scheduler, kind, queue: name, domain: domains[domain]?.name ?? "" }, team);
    }
    for (const one of queuesElsewhere(gangs)) totalsOf(one, one.team);
  }

  function announceAbsent({ queues, domains }: Queueing, fairness: Analysis["fairness"]): void {
    for (const [i, view] of queues.entries()) {
      if (!view.isLeaf) continue;
      const { scheduler, kind, name: queue, domain, team } = view;
      for (const { owner } of fairness.queues[i]?.shortfallByAbsentCapacity ?? [])
        absentOf({ scheduler, kind, queue, domain: domains[domain]?.name ?? "" }, team, owner);
    }
  }

  function announceWaits({ gangs, queues }: Queueing): void {
    for (const { parts, priorityClass, scheduler } of gangs) {
      // This is the queue in which it waits, as its start will name it: a name that is only written on pods would cost a series
      // each.
      const queue = queues[parts.find((part) => part.queue !== null)?.queue ?? -1]?.name ?? null;
      if (scheduler === "kueue") waitsOf(queue, priorityClass, "admission");
      waitsOf(queue, priorityClass, "start");
    }
  }

  return {
    announce({ snapshot, pools, fairness }) {
      const { queueing } = snapshot;
      announceTotals(queueing);
      announceAbsent(queueing, fairness);
      announceWaits(queueing);
      if (queueing.queues.length > 0) for (const { pool } of pools) poolOf(pool);
    },
    prepare({ queueTimes, partialGangs: allocated }) {
      const cells: Mutable<QueueTotals>[] = [];
      const missing: { readonly cell: CounterCell<AbsentLabels>; readonly gpuSeconds: number }[] = [];
      for (const time of queueTimes) {
        cells.push(totalsOf(time, time.team));
        for (const owner of absentOwners) {
          const gpuSeconds = time[absentAmounts[owner]];
          if (gpuSeconds > 0) missing.push({ cell: absentOf(time, time.team, owner), gpuSeconds });
        }
      }
      const pools = allocated.map(({ pool }) => poolOf(pool));
      return () => {
        for (const [i, time] of queueTimes.entries()) addTime(cells[i], time);
        for (const { cell, gpuSeconds } of missing) cell.value += gpuSeconds;
        for (const [i, { gpuSeconds }] of allocated.entries()) {
          const cell = pools[i];
          if (cell !== undefined) cell.value += gpuSeconds;
        }
      };
    },
    count({ waits: ended, evictions: seen }) {
      events.begin();
      for (const { queue, priorityClass, phase, seconds } of ended) {
        // The histogram distinguishes the phases; their sum is in the ledger.
        if (phase === "total") continue;
        events.count(
          waits,
          () => waitsOf(queue, priorityClass, phase),
          (cell) => addWait(cell, seconds),
        );
      }
      for (const { eviction, isEarlier } of seen) {
        if (isEarlier) continue;
        events.count(
          evictions,
          () => evictionsOf(eviction),
          (cell) => addEviction(cell, eviction),
        );
      }
    },
    totals: () => ({
      totals: totals.cells,
      absent: absent.cells.map(({ labels, value }) => ({ ...labels, gpuSeconds: value })),
      waits: waits.cells,
      evictions: evictions.cells,
      partialGangGpuSeconds: partialGangs.cells.map(({ labels, value }) => ({ pool: labels.pool, gpuSeconds: value })),
    }),
  };
}

/**
 * The text that identifies a queue. Lengths separate the names, because these are untrusted and could contain any separator.
 */
function textOf(scheduler: string, kind: string, queue: string, domain: string, team: string | null): string {
  return `${scheduler} ${kind} ${queue.length} ${domain.length} ${team === null ? "-" : "+"} ${queue} ${domain} ${team}`;
}

function emptyTotals(labels: QueueLabels): Mutable<QueueTotals> {
  return {
    ...labels,
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
  };
}

function addTime(cell: Mutable<QueueTotals> | undefined, time: QueueTime): void {
  if (cell !== undefined) for (const amount of countedQueueAmounts) cell[amount] += time[amount];
}

function emptyWaits(labels: WaitLabels): WaitCell {
  return { ...labels, buckets: [...waitBuckets.map(() => 0), 0], sumSeconds: 0, count: 0 };
}

function addWait(cell: WaitCell, seconds: number): void {
  for (const [i, bound] of [...waitBuckets, Number.POSITIVE_INFINITY].entries())
    if (seconds <= bound) cell.buckets[i] = (cell.buckets[i] ?? 0) + 1;
  cell.sumSeconds += seconds;
  cell.count += 1;
}

function addEviction(cell: Mutable<EvictionTotals>, { lostGpuSeconds }: EvictedWork): void {
  cell.evictions += 1;
  if (lostGpuSeconds !== null && lostGpuSeconds > 0) cell.lostGpuSeconds += lostGpuSeconds;
}

/** Leaf queues in the order in which they get series of their own: those with the most allocated and pending GPUs first. */
function largestFirst(queues: readonly QueueView[]): readonly QueueView[] {
  const size = ({ allocated, pending }: QueueView): number => allocated + pending;
  return [...queues].sort((a, b) => size(b) - size(a) || (a.name < b.name ? -1 : 1));
}
