import { type Accounting, createAccounting } from "../../exporter/accounts/accounting.ts";
import type { EvictedWork, StartedWork } from "../../exporter/join/queues/queueing.ts";
import { type MomentParts, queueMoment } from "./queueMoments.ts";

/** When lifecycles of queues begin. */
export const start = 1_793_577_600;
export const limits = { teams: 1000, series: 50_000 };
/** An accounting with these budgets of series and teams. */
export const accounts = (series = limits.series, teams = limits.teams): Accounting =>
  createAccounting({ intervalSeconds: 30, limits: { teams, series } });
/** Both clocks, some seconds after the begin. */
export const clock = (seconds: number) => ({ wall: start + seconds, monotonic: seconds });

/** Gives the accounting a moment each 30 s; all its answers. */
export function play(account: Accounting, moments: readonly MomentParts[], from = 0) {
  return moments.map((parts, i) => account.account(queueMoment(parts), clock(from + 30 * i)));
}

/** A queue that is short of 4 GPUs. */
export const a = { name: "a", domain: "H100", allocated: 4, pending: 6, entitled: 8 } as const;

/** Work that began after ten minutes. */
export const work = (values: Partial<StartedWork> = {}): StartedWork => ({
  uid: "u1",
  queue: 1,
  priorityClass: "high",
  since: start - 600,
  reservedAt: start + 10,
  startedAt: start + 25,
  gpus: 8,
  ...values,
});

/** A preemption. */
export const evicted = (values: Partial<EvictedWork> = {}): EvictedWork => ({
  key: "u1@1",
  scheduler: "kueue",
  kind: "Job",
  namespace: "n",
  name: "job",
  team: "a",
  queue: "a",
  priorityClass: "low",
  at: start + 20,
  reason: "InCohortReclamation",
  isPreemption: true,
  preemptor: { name: "n/other", team: "b", queue: "b" },
  gpus: 8,
  lostGpuSeconds: 1000,
  isUpperBound: false,
  ...values,
});
