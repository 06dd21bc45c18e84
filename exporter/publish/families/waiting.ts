import type { EvictionTotals } from "../../accounts/queueCounters.ts";
import { waitBounds } from "../../catalogue/labels.ts";
import type { waitingMetrics } from "../../catalogue/waiting.ts";
import { labelValue } from "../../kernel/labelValue.ts";
import type { FamilyInput, Producers } from "../family.ts";
import type { WaitingSeries } from "../queueSeries.ts";
import { otherTeams } from "../teamSeries.ts";

/** Bounds of ages as label values, `+Inf` last. */
const ageBounds = [...waitBounds.map((bound) => `${bound}`), "+Inf"];

/** Waiting work, evictions, and gangs that run only in part. */
export const waitingProducers: Producers<keyof typeof waitingMetrics> = {
  fairlead_queue_waiting_gpus: ({ moment }) =>
    moment?.queues.waiting.flatMap(({ labels, priorityClass, gpus }) =>
      Object.entries(gpus).map(([cause, value]) => ({
        labels: { ...labels, priority_class: priorityClass, cause },
        value,
      })),
    ),
  fairlead_queue_waiting_gangs: (input) => ofWaiting(input, ({ gangs }) => gangs),
  fairlead_queue_oldest_wait_seconds: (input) => ofWaiting(input, ({ oldestSeconds }) => oldestSeconds),
  fairlead_queue_mean_gpu_wait_seconds: (input) => ofWaiting(input, ({ meanGpuAgeSeconds }) => meanGpuAgeSeconds),
  fairlead_queue_late_gangs: (input) => ofWaiting(input, ({ late }) => late),
  fairlead_team_late_serving_workloads: ({ moment }) => moment && lateOfTeams(moment),
  fairlead_queue_waiting_gangs_by_age: ({ moment }) =>
    moment?.queues.waiting.flatMap(({ labels, priorityClass, ageBuckets }) =>
      ageBounds.map((bound, index) => ({
        labels: { ...labels, priority_class: priorityClass, age_le: bound },
        value: ageBuckets[index] ?? 0,
      })),
    ),
  fairlead_queue_wait_seconds: ({ accounts }) =>
    accounts?.queues.waits.map(({ queue, priorityClass, phase, buckets, sumSeconds, count }) => ({
      labels: { queue, priority_class: priorityClass, phase },
      value: count,
      histogram: { buckets, sum: sumSeconds },
    })),
  fairlead_evictions_total: (input) => ofEvictions(input, ({ evictions }) => evictions),
  fairlead_evicted_lost_gpu_seconds_total: (input) => ofEvictions(input, ({ lostGpuSeconds }) => lostGpuSeconds),
  fairlead_partial_gangs: (input) =>
    ofPools(input, ({ partialGangs }, pool) => partialGangs.filter((g) => g.pool === pool).length),
  fairlead_partial_gang_gpus: (input) =>
    ofPools(input, ({ partialGangs }, pool) =>
      partialGangs.reduce((sum, gang) => sum + (gang.pool === pool ? gang.allocatedGpus : 0), 0),
    ),
  fairlead_partial_gang_gpu_seconds_total: ({ accounts }) =>
    accounts?.queues.partialGangGpuSeconds.map(({ pool, gpuSeconds }) => ({ labels: { pool }, value: gpuSeconds })),
  fairlead_team_broken_gang_gpus: ({ moment }) => moment && brokenOfTeams(moment),
  fairlead_gang_deadlocks: (input) =>
    ofPools(input, ({ deadlocks }, pool) => deadlocks.filter((d) => d.pool === pool).length),
};

/** GPUs of broken gangs, by team. Every team has a value, so that its alert ends when the gang is gone. */
function brokenOfTeams({ analysis: { waiting }, teams }: NonNullable<FamilyInput["moment"]>) {
  const broken = new Map<string, number>(teams.map(({ team }) => [team, 0]));
  for (const { team, allocatedGpus, hasLostMember } of waiting.partialGangs) {
    if (!hasLostMember) continue;
    const own = labelValue(team);
    const named = broken.has(own) ? own : otherTeams;
    broken.set(named, (broken.get(named) ?? 0) + allocatedGpus);
  }
  return [...broken].map(([team, value]) => ({ labels: { team }, value }));
}

/**
 * How many workloads with a target another replica would help, by team. Teams without such targets are left out, and teams
 * beyond the budget are added up.
 */
function lateOfTeams({ analysis: { latencies, snapshot }, teams }: NonNullable<FamilyInput["moment"]>) {
  const named = new Set(teams.map(({ team }) => team));
  const late = new Map<string, number>();
  for (const { workload, isShort } of latencies) {
    const own = labelValue(snapshot.workloads[workload]?.team ?? "");
    const team = named.has(own) ? own : otherTeams;
    late.set(team, (late.get(team) ?? 0) + (isShort ? 1 : 0));
  }
  return [...late].map(([team, value]) => ({ labels: { team }, value }));
}

/** One number of each queue and priority class. */
function ofWaiting({ moment }: FamilyInput, of: (waiting: WaitingSeries) => number | null) {
  return moment?.queues.waiting.map((waiting) => ({
    labels: { ...waiting.labels, priority_class: waiting.priorityClass },
    value: of(waiting),
  }));
}

function ofEvictions({ accounts }: FamilyInput, of: (totals: EvictionTotals) => number) {
  return accounts?.queues.evictions.map((totals) => {
    const { queue, team, reason, preemptorQueue } = totals;
    return { labels: { queue, team, reason, preemptor_queue: preemptorQueue }, value: of(totals) };
  });
}

type Waiting = NonNullable<FamilyInput["moment"]>["analysis"]["waiting"];

/** One number for each pool, including 0, if pods were read. */
function ofPools({ moment }: FamilyInput, of: (waiting: Waiting, pool: string) => number) {
  if (!moment?.analysis.snapshot.coverage.objects) return [];
  const { pools, waiting } = moment.analysis;
  return pools.map(({ pool }) => ({ labels: { pool }, value: of(waiting, pool) }));
}
