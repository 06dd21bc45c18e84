import type { Analysis } from "../analysis/analysis.ts";
import type { Steps } from "../kernel/steps.ts";
import type { PartialGangTime, QueueTime } from "./posting.ts";
import type { HourPart } from "./stepTime.ts";

const queuesPerStep = 1000;

/**
 * What each leaf queue of the earlier moment had over a step: its held, entitled and pending GPUs of that moment times the
 * seconds of each hour. Where the entitlement cannot be told, only held and pending.
 */
export function* queueTimesOf(before: Analysis, parts: readonly HourPart[]): Steps<readonly QueueTime[]> {
  const { queues, domains } = before.snapshot.queueing;
  const times: QueueTime[] = [];
  for (const [i, view] of queues.entries()) {
    if (i % queuesPerStep === queuesPerStep - 1) yield;
    const domain = domains[view.domain];
    if (!view.isLeaf || domain === undefined) continue;
    const fairness = before.fairness.queues[i] ?? null;
    const { held, pending, scheduler, kind, name, team } = view;
    const { entitled = 0, excess = 0, shortfallByOthers = 0, shortfallByIdleGap = 0 } = fairness ?? {};
    if (!(held > 0) && !(pending > 0) && !(entitled > 0)) continue;
    for (const { hour, seconds } of parts) {
      const over = (gpus: number): number => (gpus > 0 ? gpus * seconds : 0);
      times.push({
        hour,
        scheduler,
        kind,
        queue: name,
        domain: domain.name,
        team,
        seconds,
        judgedSeconds: fairness === null ? 0 : seconds,
        held: over(held),
        entitled: over(entitled),
        excess: over(excess),
        shortfallByOthers: over(shortfallByOthers),
        shortfallByIdleGap: over(shortfallByIdleGap),
        pending: over(pending),
      });
    }
  }
  return times;
}

/** GPU time that the partial gangs of the earlier moment held, by pool; every pool that has one. */
export function partialGangTimes(before: Analysis, seconds: number): readonly PartialGangTime[] {
  const sums = new Map<string, number>();
  for (const { pool, heldGpus } of before.waiting.partialGangs)
    sums.set(pool, (sums.get(pool) ?? 0) + heldGpus * seconds);
  return [...sums].map(([pool, gpuSeconds]) => ({ pool, gpuSeconds }));
}
