import { absentAmounts } from "../accounts/posting.ts";
import { absentOwners } from "../model/shortfall.ts";
import { labelIn } from "./prometheusAnswer.ts";
import type { PrometheusClient } from "./prometheusClient.ts";
import { type Chunk, segmentsOfDay } from "./prometheusDay.ts";
import { type QueueCounter, queueGrowthQuery, type SeriesScope } from "./prometheusQueries.ts";
import type { QueueAmount, QueueTotalsResult } from "./queueHistory.ts";

type Failure = Extract<QueueTotalsResult, { readonly ok: false }>;

/** The amounts of queues within one day of a window. */
export interface CountedQueueDay {
  readonly parts: readonly { readonly team: string; readonly of: QueueAmount; readonly amount: number }[];
  readonly clusters: readonly string[];
}

/** A day, or the reason why it is not known. */
type QueueDayResult = { readonly ok: true; readonly day: CountedQueueDay } | Failure;

const counters: readonly QueueCounter[] = [
  "fairlead_queue_judged_seconds_total",
  "fairlead_queue_allocated_gpu_seconds_total",
  "fairlead_queue_judged_allocated_gpu_seconds_total",
  "fairlead_queue_entitled_gpu_seconds_total",
  "fairlead_queue_excess_gpu_seconds_total",
  "fairlead_queue_shortfall_gpu_seconds_total",
  "fairlead_queue_absent_capacity_gpu_seconds_total",
  "fairlead_queue_pending_gpu_seconds_total",
];

type Labels = Readonly<Record<string, string>>;
type Part = CountedQueueDay["parts"][number];

const amountOf: Readonly<Record<QueueCounter, (labels: Labels) => QueueAmount | null>> = {
  fairlead_queue_judged_seconds_total: () => "judgedSeconds",
  fairlead_queue_allocated_gpu_seconds_total: () => "allocated",
  fairlead_queue_judged_allocated_gpu_seconds_total: () => "judgedAllocated",
  fairlead_queue_entitled_gpu_seconds_total: () => "entitled",
  fairlead_queue_excess_gpu_seconds_total: () => "excess",
  fairlead_queue_shortfall_gpu_seconds_total: (labels) => byCause[labelIn(labels, "cause")] ?? null,
  fairlead_queue_absent_capacity_gpu_seconds_total: (labels) => {
    const named = labelIn(labels, "owner");
    const owner = absentOwners.find((one) => one === named);
    return owner === undefined ? null : absentAmounts[owner];
  },
  fairlead_queue_pending_gpu_seconds_total: () => "pending",
};

const byCause: Readonly<Record<string, QueueAmount>> = {
  by_others: "shortfallByBorrowers",
  idle_gap: "shortfallByIdleGap",
  indivisible: "shortfallByIndivisible",
};

/** Queries one day, or a part of it. Only one process counts wherever several cover the same time. */
export async function queueTotalsOfDay(
  client: PrometheusClient,
  scope: SeriesScope,
  chunk: Chunk,
  team: string | null,
): Promise<QueueDayResult> {
  const found = await segmentsOfDay(client, scope, chunk);
  if (!found.ok) return found;
  const parts: Part[] = [];
  for (const { from, to, process } of found.segments) {
    const ask = (counter: QueueCounter) =>
      client.instant(queueGrowthQuery(counter, scope, process, team, to - from), to);
    const answers = await Promise.all(counters.map(async (counter) => ({ counter, asked: await ask(counter) })));
    const own: Part[] = [];
    for (const { counter, asked } of answers) {
      if (!asked.ok) return asked;
      for (const { labels, points } of asked.series) own.push(...partsOf(counter, labels, points[0]?.[1] ?? 0));
    }
    parts.push(...own, ...judgedAllocatedOf(own));
  }
  return { ok: true, day: { parts, clusters: found.clusters } };
}

function partsOf(counter: QueueCounter, labels: Labels, amount: number): readonly Part[] {
  const team = labelIn(labels, "team");
  // A queue has series only for owners that it has had; for all others, the value is known to be 0.
  if (labelIn(labels, "cause") === "absent_capacity")
    return Object.values(absentAmounts).map((of) => ({ team, of, amount: 0 }));
  const of = amountOf[counter](labels);
  return of === null || !(amount >= 0) ? [] : [{ team, of, amount }];
}

/** The GPU time allocated in judged time, for processes that did not count it: it follows from their excess and shortfalls. */
function judgedAllocatedOf(parts: readonly Part[]): readonly Part[] {
  const signs: Partial<Record<QueueAmount, number>> = {
    entitled: 1,
    excess: 1,
    shortfallByBorrowers: -1,
    shortfallByIdleGap: -1,
  };
  return [...Map.groupBy(parts, ({ team }) => team)].flatMap(([team, own]): Part[] => {
    if (own.some(({ of }) => of === "judgedAllocated")) return [];
    const amount = own.reduce((sum, part) => sum + (signs[part.of] ?? 0) * part.amount, 0);
    return [{ team, of: "judgedAllocated", amount: Math.max(0, amount) }];
  });
}
