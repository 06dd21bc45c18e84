import { waitCauses } from "../model/waitCauses.ts";
import { waitBounds, waitPhases } from "./labels.ts";
import type { MetricArea } from "./metric.ts";

const waiting = ["cluster", "scheduler", "kind", "queue", "domain", "team", "priority_class"] as const;

/** What waits, why and for how long; which work was evicted; gangs of which only a part runs. */
export const waitingMetrics = {
  fairlead_queue_waiting_gpus: {
    unit: "gpus",
    help: "Physical GPUs that gangs of the queue wait for, each gang by the one cause for which it waits.",
    labels: [...waiting, "cause"],
    values: { cause: waitCauses },
  },
  fairlead_queue_waiting_gangs: {
    unit: "count",
    help: "Gangs of the queue that wait; a single pod is a gang of one.",
    labels: waiting,
  },
  fairlead_queue_oldest_wait_seconds: {
    unit: "seconds",
    help: "How long the gang that has waited longest waits; absent where that is not known.",
    labels: waiting,
  },
  fairlead_queue_mean_gpu_wait_seconds: {
    unit: "seconds",
    help: "Mean age of what waits, weighted by its GPUs.",
    labels: waiting,
  },
  fairlead_queue_late_gangs: {
    unit: "count",
    help: "Gangs that wait longer than their target of queues.waitTargets.",
    labels: waiting,
  },
  fairlead_team_late_serving_workloads: {
    unit: "count",
    help: "Workloads of the team that serve and are over their target of latency (serving.latencyTargets) while requests wait; absent for teams without a target.",
    labels: ["cluster", "team"],
    stability: "alpha",
  },
  fairlead_queue_waiting_gangs_by_age: {
    unit: "count",
    help: "Gangs of known age that wait now and have waited for at most so long; what the histogram of ended waits cannot show yet.",
    labels: [...waiting, "age_le"],
    stability: "alpha",
  },
  fairlead_queue_wait_seconds: {
    unit: "seconds",
    help: "Waits that ended since the start, by how long they took.",
    labels: ["cluster", "queue", "priority_class", "phase"],
    values: { phase: waitPhases },
    buckets: waitBounds,
  },
  fairlead_evictions_total: {
    unit: "count",
    help: "Evictions of work of the queue since the start, by reason and by the queue whose work took the place.",
    labels: ["cluster", "queue", "team", "reason", "preemptor_queue"],
  },
  fairlead_evicted_lost_gpu_seconds_total: {
    unit: "gpu_seconds",
    help: "GPU time that evictions undid: since the last checkpoint, or since the start where none is known, which is an upper bound.",
    labels: ["cluster", "queue", "team", "reason", "preemptor_queue"],
  },
  fairlead_partial_gangs: {
    unit: "count",
    help: "Gangs in which some members hold GPUs of the pool while others cannot start.",
    labels: ["cluster", "pool"],
  },
  fairlead_partial_gang_gpus: {
    unit: "gpus",
    help: "Physical GPUs that partial gangs hold.",
    labels: ["cluster", "pool"],
  },
  fairlead_partial_gang_gpu_seconds_total: {
    unit: "gpu_seconds",
    help: "GPU time that was allocated to partial gangs.",
    labels: ["cluster", "pool"],
  },
  fairlead_team_broken_gang_gpus: {
    unit: "gpus",
    help: "Physical GPUs that gangs of the team hold which have run, lost a member, and do nothing since.",
    labels: ["cluster", "team"],
    stability: "alpha",
  },
  fairlead_gang_deadlocks: {
    unit: "count",
    help: "1 if partial gangs of the pool keep each other from starting: together they miss more than is free.",
    labels: ["cluster", "pool"],
  },
} as const satisfies MetricArea;
