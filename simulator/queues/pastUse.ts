import type { KaiHistorySpec } from "./spec.ts";

/** What KAI's queues held for some time. */
export interface UseSample {
  /** When this was measured, seconds; the end of the time that it covers. */
  readonly at: number;
  readonly seconds: number;
  /** GPUs by queue, those of its children included. */
  readonly allocated: ReadonlyMap<string, number>;
  /** GPUs of the shard's nodes. */
  readonly capacity: number;
}

/** Samples that still count at `now`. */
export function withinWindow(
  samples: readonly UseSample[],
  { windowSeconds }: KaiHistorySpec,
  now: number,
): readonly UseSample[] {
  return samples.filter(({ at }) => at > now - windowSeconds);
}

/**
 * Past use of each queue as KAI's usage database has it (usagedb/prometheus): the sum over the window of what it held, over
 * that of the capacity, both times 0.5^(age / half-life). 0..1; queues that held nothing are absent.
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
