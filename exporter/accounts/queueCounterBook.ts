import type { Analysis } from "../analysis/analysis.ts";
import { waitBuckets } from "../analysis/waiting/waiting.ts";
import type { EvictedWork, Queueing, QueueView } from "../join/queues/queueing.ts";
import { labelValue } from "../kernel/labelValue.ts";
import type { Steps } from "../kernel/steps.ts";
import { type CounterCell, createCounterTable } from "./counterTable.ts";
import { type AccruedTime, countedQueueAmounts } from "./posting.ts";
import type { EndedWaits, EvictionTotals, QueueCounters, QueueKey, QueueTotals } from "./queueCounters.ts";
import type { NewEvents } from "./queueEvents.ts";
import { createSeriesTable } from "./seriesTable.ts";

/** Finds and counts the totals of queues, within their budgets. */
export interface QueueCounterBook {
  /** Every label set that the next step can add to comes up with its value before it. */
  announce(analysis: Analysis): Steps<void>;
  /** Finds the cells of a step; what is returned adds it to all of them, at once. */
  prepare(step: AccruedTime): Steps<() => void>;
  /** Counts the events of a moment; those with new labels when the next moment comes, so that their series begins at 0. */
  count(events: NewEvents): void;
  totals(): Omit<QueueCounters, "debts">;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

interface WaitCell extends Omit<Mutable<EndedWaits>, "buckets"> {
  readonly buckets: number[];
}

type QueueLabels = QueueKey & { readonly team: string };
type WaitLabels = Pick<EndedWaits, "queue" | "priorityClass" | "phase">;
type EvictionLabels = Pick<EvictionTotals, "queue" | "team" | "reason" | "preemptorQueue">;

const other = "other";
const shared = (name: string): string => (name === "" ? "" : other);

/** Parts of `limits.series`, and how many series one label set has on the page. */
const budgets = {
  totals: { part: 0.1, series: 7 },
  waits: { part: 0.08, series: waitBuckets.length + 3 },
  evictions: { part: 0.015, series: 2 },
  partialGangs: { part: 0.005, series: 1 },
} as const;

const queuesPerStep = 1000;
/** Queues whose cells are known without a look at their labels. */
const mostKnown = 100_000;

/** Creates totals that have counted nothing. `teamLabel` is the label of a team within the budget of teams. */
export function createQueueCounterBook(series: number, teamLabel: (team: string | null) => string): QueueCounterBook {
  const budget = (name: keyof typeof budgets): number => (series * budgets[name].part) / budgets[name].series;
  const totals = createSeriesTable<QueueLabels, Mutable<QueueTotals>>(
    budget("totals"),
    (l) => ({ ...l, queue: other, team: shared(l.team) }),
    (l) => ({ ...l, queue: other, domain: other, team: shared(l.team) }),
    emptyTotals,
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
  const partialGangs = createCounterTable<{ readonly pool: string }>(
    budget("partialGangs"),
    () => ({ pool: other }),
    () => ({ pool: other }),
  );

  const known = new Map<string, Mutable<QueueTotals>>();

  function totalsOf(key: QueueKey, team: string | null): Mutable<QueueTotals> {
    const text = textOf(key.scheduler, key.kind, key.queue, key.domain, team);
    const found = known.get(text);
    if (found !== undefined) return found;
    const { scheduler, kind } = key;
    const queue = labelValue(key.queue);
    const cell = totals.cell({ scheduler, kind, queue, domain: labelValue(key.domain), team: teamLabel(team) });
    // The cell of a label set never changes: what is forgotten is only looked up again.
    if (known.size >= mostKnown) known.clear();
    known.set(text, cell);
    return cell;
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
  /** Events whose label set came up with them: they count once it was shown without them, else `increase` loses them. */
  const onceShown: (() => void)[] = [];

  function* announceTotals({ queues, domains }: Queueing): Steps<void> {
    const added: QueueView[] = [];
    for (const [i, view] of queues.entries()) {
      if (i % queuesPerStep === queuesPerStep - 1) yield;
      const { isLeaf, scheduler, kind, name, team } = view;
      if (isLeaf && !known.has(textOf(scheduler, kind, name, domains[view.domain]?.name ?? "", team))) added.push(view);
    }
    for (const [i, { scheduler, kind, name, domain, team }] of largestFirst(added).entries()) {
      if (i % queuesPerStep === queuesPerStep - 1) yield;
      totalsOf({ scheduler, kind, queue: name, domain: domains[domain]?.name ?? "" }, team);
    }
  }

  function* announceWaits({ gangs }: Queueing): Steps<void> {
    for (const [i, { queue, priorityClass, scheduler }] of gangs.entries()) {
      if (i % queuesPerStep === queuesPerStep - 1) yield;
      if (scheduler === "kueue") waitsOf(queue, priorityClass, "admission");
      waitsOf(queue, priorityClass, "start");
    }
  }

  return {
    *announce({ snapshot, pools }) {
      const { queueing } = snapshot;
      yield* announceTotals(queueing);
      yield;
      yield* announceWaits(queueing);
      if (queueing.queues.length > 0) for (const { pool } of pools) poolOf(pool);
    },
    *prepare({ queueTimes, partialGangs: held }) {
      const cells: Mutable<QueueTotals>[] = [];
      for (const time of queueTimes) {
        if (cells.length % queuesPerStep === queuesPerStep - 1) yield;
        cells.push(totalsOf(time, time.team));
      }
      const pools = held.map(({ pool }) => poolOf(pool));
      return () => {
        for (const [i, time] of queueTimes.entries()) {
          const cell = cells[i];
          if (cell === undefined) continue;
          for (const amount of countedQueueAmounts) cell[amount] += time[amount];
        }
        for (const [i, { gpuSeconds }] of held.entries()) {
          const cell = pools[i];
          if (cell !== undefined) cell.value += gpuSeconds;
        }
      };
    },
    count({ waits: ended, evictions: seen }) {
      for (const add of onceShown.splice(0)) add();
      const fresh = new Set<object>();
      const add = (cell: object, isFresh: boolean, event: () => void): void => {
        if (isFresh) fresh.add(cell);
        if (fresh.has(cell)) onceShown.push(event);
        else event();
      };
      for (const { queue, priorityClass, phase, seconds } of ended) {
        // The histogram tells the phases apart; their sum is the ledger's.
        if (phase === "total") continue;
        const before = waits.cells.length;
        const cell = waitsOf(queue, priorityClass, phase);
        add(cell, waits.cells.length > before, () => addWait(cell, seconds));
      }
      for (const { eviction, isEarlier } of seen) {
        if (isEarlier) continue;
        const before = evictions.cells.length;
        const cell = evictionsOf(eviction);
        add(cell, evictions.cells.length > before, () => addEviction(cell, eviction));
      }
    },
    totals: () => ({
      totals: totals.cells,
      waits: waits.cells,
      evictions: evictions.cells,
      partialGangGpuSeconds: partialGangs.cells.map(({ labels, value }) => ({ pool: labels.pool, gpuSeconds: value })),
    }),
  };
}

/** Lengths keep names apart: they are untrusted, and may hold whatever would stand between them. */
function textOf(scheduler: string, kind: string, queue: string, domain: string, team: string | null): string {
  return `${scheduler} ${kind} ${queue.length} ${domain.length} ${team === null ? "-" : "+"} ${queue} ${domain} ${team}`;
}

function emptyTotals(labels: QueueLabels): Mutable<QueueTotals> {
  return {
    ...labels,
    judgedSeconds: 0,
    held: 0,
    entitled: 0,
    excess: 0,
    shortfallByBorrowers: 0,
    shortfallByIdleGap: 0,
    pending: 0,
  };
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

/** Leaves in the order in which the budget of series is given out. */
function largestFirst(queues: readonly QueueView[]): readonly QueueView[] {
  const size = ({ held, pending }: QueueView): number => held + pending;
  return [...queues].sort((a, b) => size(b) - size(a) || (a.name < b.name ? -1 : 1));
}
