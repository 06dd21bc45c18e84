import type { Chunk } from "./dayChunks.ts";
import { labelIn } from "./prometheusAnswer.ts";
import type { PrometheusClient } from "./prometheusClient.ts";
import { segmentsOfDay } from "./prometheusDay.ts";
import { type QueueCounter, queueGrowthQuery, type SeriesScope } from "./prometheusQueries.ts";
import type { QueueAmount, QueueTotalsResult } from "./queueHistory.ts";

type Failure = Extract<QueueTotalsResult, { readonly ok: false }>;

/** What queues had within one day of a window. */
export interface CountedQueueDay {
  readonly parts: readonly { readonly team: string; readonly of: QueueAmount; readonly amount: number }[];
  readonly clusters: readonly string[];
}

/** The same, or why it is not known. */
export type QueueDayResult = { readonly ok: true; readonly day: CountedQueueDay } | Failure;

const counters: readonly QueueCounter[] = [
  "fairlead_queue_judged_seconds_total",
  "fairlead_queue_held_gpu_seconds_total",
  "fairlead_queue_entitled_gpu_seconds_total",
  "fairlead_queue_excess_gpu_seconds_total",
  "fairlead_queue_shortfall_gpu_seconds_total",
  "fairlead_queue_pending_gpu_seconds_total",
];

const amountOf: Readonly<Record<QueueCounter, (cause: string) => QueueAmount | null>> = {
  fairlead_queue_judged_seconds_total: () => "judgedSeconds",
  fairlead_queue_held_gpu_seconds_total: () => "held",
  fairlead_queue_entitled_gpu_seconds_total: () => "entitled",
  fairlead_queue_excess_gpu_seconds_total: () => "excess",
  fairlead_queue_shortfall_gpu_seconds_total: (cause) =>
    cause === "by_others" ? "shortfallByBorrowers" : cause === "idle_gap" ? "shortfallByIdleGap" : null,
  fairlead_queue_pending_gpu_seconds_total: () => "pending",
};

/** Asks for one day, or a part of it: of one process wherever several cover the same time. */
export async function queueTotalsOfDay(
  client: PrometheusClient,
  scope: SeriesScope,
  chunk: Chunk,
  team: string | null,
): Promise<QueueDayResult> {
  const found = await segmentsOfDay(client, scope, chunk);
  if (!found.ok) return found;
  const parts: CountedQueueDay["parts"][number][] = [];
  for (const { from, to, process } of found.segments) {
    const ask = (counter: QueueCounter) =>
      client.instant(queueGrowthQuery(counter, scope, process, team, to - from), to);
    const answers = await Promise.all(counters.map(async (counter) => ({ counter, asked: await ask(counter) })));
    for (const { counter, asked } of answers) {
      if (!asked.ok) return asked;
      for (const { labels, points } of asked.series) {
        const of = amountOf[counter](labelIn(labels, "cause"));
        const amount = points[0]?.[1] ?? 0;
        if (of !== null && amount >= 0) parts.push({ team: labelIn(labels, "team"), of, amount });
      }
    }
  }
  return { ok: true, day: { parts, clusters: found.clusters } };
}
