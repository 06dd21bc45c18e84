import type { KaiHistorySpec } from "./spec.ts";

/** What KAI's queues held for some time. */
export interface UseSample {
  /** When this was measured, seconds: the end of the time that it covers. */
  readonly at: number;
  readonly seconds: number;
  /** GPUs by queue, with those of its children. */
  readonly allocated: ReadonlyMap<string, number>;
  /** The number of GPUs on the shard's nodes. */
  readonly capacity: number;
}

/** The samples that still count at `now`. */
export function withinWindow(
  samples: readonly UseSample[],
  { windowSeconds }: KaiHistorySpec,
  now: number,
): readonly UseSample[] {
  return samples.filter(({ at }) => at > now - windowSeconds);
}

/**
 * The past use of each queue as KAI's usage database has it (usagedb/prometheus): the sum over the window of what the queue
 * held, divided by the sum of the capacity, both weighted by 0.5^(age / half-life). The result is 0..1; queues that held
 * nothing are absent.
 */
export function pastUse(
  samples: readonly UseSample[],
  history: KaiHistorySpec,
  now: number,
): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  let whole = 0;
  for (const { at, seconds, allocated, capacity } of withinWindow(samples, history, now)) {
    const weight = seconds * 0.5 ** ((now - at) / history.halfLifeSeconds);
    whole += capacity * weight;
    for (const [queue, gpus] of allocated) sums.set(queue, (sums.get(queue) ?? 0) + gpus * weight);
  }
  return new Map([...sums].map(([queue, sum]) => [queue, whole === 0 ? 0 : sum / whole]));
}
