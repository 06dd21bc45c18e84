import { queueSchedulers } from "../model/queues/eviction.ts";
import { absentOwners, shortfallCauses } from "../model/shortfall.ts";
import { numberSources, schedulerNumbers } from "./labels.ts";
import type { MetricArea } from "./metric.ts";

const queue = ["cluster", "scheduler", "kind", "queue", "domain", "team"] as const;

/** The parts that the metrics of all amounts of a queue have in common. */
const ofQueue = { labels: queue, values: { scheduler: queueSchedulers } } as const;

/**
 * What queues and teams are entitled to, and how far they are from it. Only leaf queues have series: those in which pods hold
 * GPUs or wait.
 */
export const fairnessMetrics = {
  fairlead_domain_capacity_gpus: {
    unit: "gpus",
    help: "Physical GPUs of a quota domain that can be given out: on ready and schedulable nodes, and what is allocated on others.",
    labels: ["cluster", "domain"],
  },
  fairlead_domain_info: {
    unit: "info",
    help: "Pools of a quota domain.",
    labels: ["cluster", "domain", "pool"],
  },
  fairlead_domain_past_queues_gpus: {
    unit: "gpus",
    help: "Physical GPUs of a quota domain that pods outside every queue hold: no queue can have them, whatever it is guaranteed.",
    labels: ["cluster", "domain"],
    stability: "alpha",
  },
  fairlead_fairness_misallocated_ratio: {
    unit: "ratio",
    help: "GPUs allocated above entitlement that a scheduler would take back for whole waiting gangs, over all that queues of the domain are entitled to; absent where entitlement is unknown.",
    labels: ["cluster", "domain"],
  },
  fairlead_fairness_jain_index: {
    unit: "number",
    help: "Jain's fairness index of allocated over entitled GPUs, 1 when all queues have the same part of theirs; absent if none is entitled to anything.",
    labels: ["cluster", "domain"],
  },
  fairlead_fairness_idle_gap_gpus: {
    unit: "gpus",
    help: "GPUs that are free although a queue is entitled to them: fragmentation, gangs, or the scheduler; nobody takes them from anybody.",
    labels: ["cluster", "domain"],
  },
  fairlead_fairness_absent_capacity_gpus: {
    unit: "gpus",
    help: "GPUs that queues of the domain are guaranteed, wait for, and that are on no node that they can have, by why; nobody holds them above a share.",
    labels: ["cluster", "domain", "owner"],
    values: { owner: absentOwners },
    stability: "alpha",
  },
  fairlead_team_entitled_gpus: {
    unit: "gpus",
    help: "Physical GPUs that the team is entitled to now, over all queues of the domain.",
    labels: ["cluster", "team", "domain"],
  },
  fairlead_team_fairness_deviation_gpus: {
    unit: "gpus",
    help: "Allocated minus entitled GPUs of the team: above 0 it has more than its share, below 0 less.",
    labels: ["cluster", "team", "domain"],
  },
  fairlead_queue_entitled_gpus: {
    unit: "gpus",
    help: "Physical GPUs that the queue is entitled to now, given everybody's demand, guarantees, limits and weights; absent where that is not known.",
    ...ofQueue,
  },
  fairlead_queue_allocated_gpus: {
    unit: "gpus",
    help: "Physical GPUs that pods of the queue hold, used or not.",
    ...ofQueue,
  },
  fairlead_queue_pending_gpus: {
    unit: "gpus",
    help: "Eligible demand that waits: whole gangs that could be admitted, and missing members of gangs begun.",
    ...ofQueue,
  },
  fairlead_fairness_deviation_gpus: {
    unit: "gpus",
    help: "Allocated minus entitled GPUs of the queue: above 0 it has more than its share, below 0 less; 0 for everyone when all demand fits.",
    ...ofQueue,
  },
  fairlead_queue_shortfall_gpus: {
    unit: "gpus",
    help: "GPUs that the queue misses of what it could have if every guarantee had its nodes: queues above their entitlement hold them, they are free, they are on no node, or no whole gang fits into the rest or a setting keeps it where it is.",
    labels: [...queue, "cause"],
    values: { scheduler: queueSchedulers, cause: shortfallCauses },
  },
  fairlead_queue_actionable_shortfall_gpus: {
    unit: "gpus",
    help: "GPUs of the whole waiting gangs, in the order of the queue, that fit into what is free for it and what its scheduler would take back: what would start at once.",
    ...ofQueue,
  },
  fairlead_queue_reclaimable_gpus: {
    unit: "gpus",
    help: "GPUs that the queue holds above its entitlement and that its scheduler would take back for whole gangs that wait in other queues.",
    ...ofQueue,
    stability: "alpha",
  },
  fairlead_queue_guaranteed_gpus: {
    unit: "gpus",
    help: "Physical GPUs that the queue is sure of: nominal quota, quota, guarantee or deserved, by its scheduler.",
    ...ofQueue,
  },
  fairlead_queue_limit_gpus: {
    unit: "gpus",
    help: "The most physical GPUs that the queue may hold; absent without a limit.",
    ...ofQueue,
  },
  fairlead_queue_reserved_gpus: {
    unit: "gpus",
    help: "Quota that is reserved for admitted work of the queue, bound or not; absent where its scheduler has no such step.",
    ...ofQueue,
  },
  fairlead_queue_weight: {
    unit: "number",
    help: "Share of the queue in what nobody is sure of, relative to its siblings; absent for queues that are folded together.",
    ...ofQueue,
  },
  fairlead_fairness_pair_gpus: {
    unit: "gpus",
    help: "GPUs that one queue holds above its entitlement and that its scheduler would move to another, whose waiting gangs start with them; the ten largest pairs of each domain.",
    labels: ["cluster", "domain", "starved_queue", "borrower_queue"],
    stability: "alpha",
  },
  fairlead_fairness_held_back_gpus: {
    unit: "gpus",
    help: "The same of GPUs that a scheduler would move if a setting did not hold it back; /api/v1/domains names the setting.",
    labels: ["cluster", "domain", "starved_queue", "borrower_queue"],
    stability: "alpha",
  },
  fairlead_queue_allocated_gpu_seconds_total: {
    unit: "gpu_seconds",
    help: "GPU time that was allocated to the queue.",
    ...ofQueue,
  },
  fairlead_queue_judged_allocated_gpu_seconds_total: {
    unit: "gpu_seconds",
    help: "GPU time that was allocated to the queue while its entitlement was known; minus what it was entitled to, this is its deviation.",
    ...ofQueue,
    stability: "alpha",
  },
  fairlead_queue_entitled_gpu_seconds_total: {
    unit: "gpu_seconds",
    help: "GPU time that the queue was entitled to.",
    ...ofQueue,
  },
  fairlead_queue_excess_gpu_seconds_total: {
    unit: "gpu_seconds",
    help: "GPU time that was allocated to the queue above its entitlement.",
    ...ofQueue,
  },
  fairlead_queue_shortfall_gpu_seconds_total: {
    unit: "gpu_seconds",
    help: "GPU time that the queue missed of what it could have had if every guarantee had its nodes, by why.",
    labels: [...queue, "cause"],
    values: { scheduler: queueSchedulers, cause: shortfallCauses },
  },
  fairlead_queue_absent_capacity_gpu_seconds_total: {
    unit: "gpu_seconds",
    help: "GPU time that the queue missed because what it is guaranteed is on no node, by why; only owners that a queue has had.",
    labels: [...queue, "owner"],
    values: { scheduler: queueSchedulers, owner: absentOwners },
    stability: "alpha",
  },
  fairlead_queue_pending_gpu_seconds_total: {
    unit: "gpu_seconds",
    help: "Eligible demand that waited, times how long. Over several clusters each job counts once: what MultiKueue has not sent to a cluster yet counts in its manager, and its copies in workers do not.",
    ...ofQueue,
  },
  fairlead_queue_judged_seconds_total: {
    unit: "seconds",
    help: "Covered time in which the queue's entitlement was known and anything was allocated to it, waited in it or was owed to it.",
    ...ofQueue,
    stability: "alpha",
  },
  fairlead_fairness_debt_gpu_seconds: {
    unit: "gpu_seconds",
    help: "Deviation of the queue over time; past deviation counts half after each half-life. Below 0 the queue is owed GPU time.",
    labels: [...queue, "half_life"],
    values: { scheduler: queueSchedulers },
  },
  fairlead_fairness_deviation_ratio: {
    unit: "ratio",
    help: "That deviation over the entitlement decayed likewise; absent while too little time is covered, or the queue is entitled to next to nothing.",
    labels: [...queue, "half_life"],
    values: { scheduler: queueSchedulers },
  },
  fairlead_queue_scheduler_value: {
    unit: "number",
    help: "The scheduler's own number for a queue, computed from the objects and as the scheduler reports it; +Inf: weight 0 while borrowing. Cohorts and LocalQueues have one too, up to limits.teams of them.",
    labels: ["cluster", "scheduler", "kind", "queue", "shard", "number", "source"],
    values: { scheduler: queueSchedulers, number: schedulerNumbers, source: numberSources },
    stability: "alpha",
  },
  fairlead_configuration_findings: {
    unit: "count",
    help: "Ways in which the configuration of queues makes fairness other than its author meant; /api/v1/findings names them with the change that fixes each.",
    labels: ["cluster", "scheduler", "code"],
    values: { scheduler: queueSchedulers },
  },
} as const satisfies MetricArea;
