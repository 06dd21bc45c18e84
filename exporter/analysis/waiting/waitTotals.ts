import type { WaitingGang } from "../../join/queues/queueing.ts";
import { keepShape } from "../../kernel/inRanges.ts";
import type { WaitCause } from "../../model/waitCauses.ts";
import { type QueueWaiting, type WaitingWork, waitBuckets } from "./waiting.ts";

/** A QueueWaiting that is still being added up. */
interface Sum {
  readonly queue: number | null;
  readonly domain: number | null;
  readonly priorityClass: string;
  gangs: number;
  readonly gpus: Partial<Record<WaitCause, number>>;
  oldestSeconds: number | null;
  gpuAge: number;
  gpusWithAge: number;
  readonly ageBuckets: number[];
  late: number;
}

/** Totals of what waits by leaf queue, domain and priority class. */
export class WaitTotals {
  readonly #byClass = new Map<string, Map<number, Sum>>();

  add(gang: WaitingGang, work: WaitingWork): void {
    const { parts } = gang;
    if (parts.length > 1) {
      this.#addParts(gang, work);
      return;
    }
    const first = parts[0];
    const sum = this.#sumOf(first?.queue ?? null, first?.domain ?? null, gang.priorityClass);
    addGang(sum, work);
    if (gang.gpus !== null) addGpus(sum, work, gang.gpus);
  }

  /** The totals, ordered by queue (those without one last), domain and class. */
  total(): readonly QueueWaiting[] {
    return [...this.#byClass.values()]
      .flatMap((sums) => [...sums.values()])
      .sort(bySubject)
      .map(finished);
  }

  /** Adds the parts of a gang: each part counts in its own queue, and the gang once in each of its queues. */
  #addParts(gang: WaitingGang, work: WaitingWork): void {
    const seen = new Set<Sum>();
    for (const { queue, domain, pods, gpusPerPod } of gang.parts) {
      const sum = this.#sumOf(queue, domain, gang.priorityClass);
      if (!seen.has(sum)) addGang(sum, work);
      seen.add(sum);
      if (gang.gpus !== null && gpusPerPod !== null) addGpus(sum, work, pods * gpusPerPod);
    }
  }

  #sumOf(queue: number | null, domain: number | null, priorityClass: string): Sum {
    const sums = this.#byClass.get(priorityClass) ?? new Map<number, Sum>();
    if (sums.size === 0) this.#byClass.set(priorityClass, sums);
    // A queue is in only one domain.
    const key = queue ?? -2 - (domain ?? -1);
    const known = sums.get(key);
    if (known !== undefined) return known;
    const sum: Sum = {
      queue,
      domain,
      priorityClass,
      gangs: 0,
      gpus: {},
      oldestSeconds: null,
      gpuAge: 0,
      gpusWithAge: 0,
      late: 0,
      ageBuckets: new Array<number>(waitBuckets.length + 1).fill(0),
    };
    sums.set(key, sum);
    return sum;
  }
}

keepShape(new WaitTotals());

function addGang(sum: Sum, { ageSeconds, isLate }: WaitingWork): void {
  sum.gangs += 1;
  if (isLate === true) sum.late += 1;
  if (ageSeconds === null) return;
  sum.oldestSeconds = Math.max(sum.oldestSeconds ?? 0, ageSeconds);
  const bucket = bucketOf(ageSeconds);
  sum.ageBuckets[bucket] = (sum.ageBuckets[bucket] ?? 0) + 1;
}

function addGpus(sum: Sum, { cause, ageSeconds }: WaitingWork, gpus: number): void {
  sum.gpus[cause] = (sum.gpus[cause] ?? 0) + gpus;
  if (ageSeconds === null) return;
  sum.gpuAge += gpus * ageSeconds;
  sum.gpusWithAge += gpus;
}

function bucketOf(seconds: number): number {
  let bucket = 0;
  while (bucket < waitBuckets.length && seconds > (waitBuckets[bucket] ?? 0)) bucket += 1;
  return bucket;
}

function finished({ gpuAge, gpusWithAge, ageBuckets, ...sum }: Sum): QueueWaiting {
  let count = 0;
  return {
    ...sum,
    meanGpuAgeSeconds: gpusWithAge > 0 ? gpuAge / gpusWithAge : null,
    ageBuckets: ageBuckets.map((gangs) => {
      count += gangs;
      return count;
    }),
  };
}

const bySubject = (a: Sum, b: Sum): number =>
  order(a.queue) - order(b.queue) ||
  order(a.domain) - order(b.domain) ||
  (a.priorityClass < b.priorityClass ? -1 : a.priorityClass > b.priorityClass ? 1 : 0);

const order = (index: number | null): number => index ?? Number.MAX_SAFE_INTEGER;
