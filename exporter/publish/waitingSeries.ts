import type { QueueWaiting } from "../analysis/waiting/waiting.ts";
import type { Queueing } from "../join/queues/queueing.ts";
import { labelValue } from "../kernel/labelValue.ts";

/** The labels of a queue's series. */
export interface QueueLabels {
  readonly scheduler: string;
  readonly kind: string;
  readonly queue: string;
  readonly domain: string;
  /** Empty where several teams share it, or none is known. */
  readonly team: string;
}

/** The same text for the same series. */
export function seriesKey({ scheduler, kind, queue, domain, team }: QueueLabels): string {
  return [scheduler, kind, queue, domain, team].join("\u0000");
}

/** What is published of all that waits in one queue with one priority class. */
export interface WaitingSeries {
  readonly labels: QueueLabels;
  readonly priorityClass: string;
  readonly gangs: number;
  readonly gpus: QueueWaiting["gpus"];
  readonly oldestSeconds: number | null;
  readonly meanGpuAgeSeconds: number | null;
  readonly ageBuckets: readonly number[];
  readonly late: number;
}

/** What waits, by the labels of its queues' series; what no queue takes has empty ones. */
export function foldWaiting(
  waiting: readonly QueueWaiting[],
  queueing: Queueing,
  labels: ReadonlyMap<number, QueueLabels>,
): readonly WaitingSeries[] {
  const sums = new Map<string, WaitingSeries>();
  for (const { queue, domain, priorityClass, ...rest } of waiting) {
    const own = (queue === null ? undefined : labels.get(queue)) ?? noQueue(queueing, domain);
    const one = { ...rest, labels: own, priorityClass: labelValue(priorityClass) };
    const key = `${seriesKey(own)}\u0000${one.priorityClass}`;
    const known = sums.get(key);
    sums.set(key, known === undefined ? one : together(known, one));
  }
  return [...sums.values()];
}

function noQueue({ domains }: Queueing, domain: number | null): QueueLabels {
  const name = domain === null ? "" : (domains[domain]?.name ?? "");
  return { scheduler: "", kind: "", queue: "", domain: labelValue(name), team: "" };
}

function together(a: WaitingSeries, b: WaitingSeries): WaitingSeries {
  const gpus = { ...a.gpus };
  for (const [cause, amount] of Object.entries(b.gpus)) {
    if (isCause(cause, b.gpus)) gpus[cause] = (gpus[cause] ?? 0) + amount;
  }
  return {
    labels: a.labels,
    priorityClass: a.priorityClass,
    gangs: a.gangs + b.gangs,
    gpus,
    oldestSeconds: largest(a.oldestSeconds, b.oldestSeconds),
    meanGpuAgeSeconds: meanOf(a, b),
    ageBuckets: a.ageBuckets.map((count, index) => count + (b.ageBuckets[index] ?? 0)),
    late: a.late + b.late,
  };
}

function isCause(key: string, gpus: QueueWaiting["gpus"]): key is keyof QueueWaiting["gpus"] {
  return Object.hasOwn(gpus, key);
}

function largest(a: number | null, b: number | null): number | null {
  if (a === null) return b;
  return b === null ? a : Math.max(a, b);
}

function meanOf(a: WaitingSeries, b: WaitingSeries): number | null {
  if (a.meanGpuAgeSeconds === null) return b.meanGpuAgeSeconds;
  if (b.meanGpuAgeSeconds === null) return a.meanGpuAgeSeconds;
  const [x, y] = [totalGpus(a), totalGpus(b)];
  return x + y > 0 ? (a.meanGpuAgeSeconds * x + b.meanGpuAgeSeconds * y) / (x + y) : a.meanGpuAgeSeconds;
}

function totalGpus({ gpus }: WaitingSeries): number {
  return Object.values(gpus).reduce((sum, amount) => sum + amount, 0);
}
