import { blockers } from "../model/blockers.ts";
import { careTiers, healthCauses } from "../model/gpuFaults.ts";
import { waitCauses } from "../model/waitCauses.ts";
import type { MetricArea } from "./metric.ts";

/** The most workloads or nodes that have a name in series: for each team and pool, each pool, or each node pool. */
export const namedEach = 3;

/** The most series of each of these metrics, however large the cluster is; the largest values have them. */
export const namedInAll = 500;

/**
 * The few workloads and nodes that an alert is about, so that its text can name them. A series lasts as long as its condition
 * is true; the lists of the API contain all of them.
 */
export const subjectMetrics = {
  fairlead_queue_head_gpus: {
    unit: "gpus",
    help: "Physical GPUs that the first waiting gang of a queue asks for, by team, quota domain and cause of its wait; at most 500 series, the largest first.",
    formula:
      "GPUs of the members that wait, of the gang that the queue serves first among those of one team that wait for one reason",
    example: "train-9 of search, 16 GPUs, is the first of its queue, and waits for capacity: 16.",
    labels: ["cluster", "queue", "team", "domain", "cause", "namespace", "workload"],
    values: { cause: waitCauses },
    stability: "alpha",
  },
  fairlead_blocked_workload_gpus: {
    unit: "gpus",
    help: "Physical GPUs that the largest blocked workloads of a pool need to start; three for each pool and blocker, and at most 500 series.",
    formula: "sum over the gangs of fairlead_blocked_gpus that are the workload's of the GPUs that they need to start",
    example: "eval-7 waits for 8 GPUs on one node, and free are 6 + 6: 8 with blocker spread.",
    labels: ["cluster", "pool", "blocker", "namespace", "workload"],
    values: { blocker: blockers },
    stability: "alpha",
  },
  fairlead_idle_workload_gpus: {
    unit: "gpus",
    help: "Idle physical GPUs of the workloads that hold most of them; three for each team and pool, and at most 500 series.",
    formula: "sum over the accounting entries of its pods in state idle of physical GPUs",
    example: "a notebook holds 2 A100 on which nothing has run for a day: 2.",
    labels: ["cluster", "team", "pool", "namespace", "workload"],
    stability: "alpha",
  },
  fairlead_lost_node_gpus: {
    unit: "gpus",
    help: "Physical GPUs of the largest nodes that are not ready; three for each node pool, and at most 500 series.",
    formula: "physical GPUs of the node; nodes with GPUs that nothing counts have no series",
    example: "h100-03 with 8 GPUs has not been ready for ten minutes: 8.",
    labels: ["cluster", "node_pool", "lost_node"],
    stability: "alpha",
  },
  fairlead_sick_gpu_gpus: {
    unit: "gpus",
    help: "GPUs that need care, one by one: three for each node pool and tier, and at most 500 series.",
    formula: "1, or the part of a physical GPU that its MIG instances are",
    example:
      "GPU-5f of h100-03 had XID 79, is not offered any more, and a pod still holds it: tier drain, cause gpu_lost.",
    labels: ["cluster", "node_pool", "sick_node", "gpu", "tier", "cause"],
    values: { tier: careTiers, cause: healthCauses },
    stability: "alpha",
  },
} as const satisfies MetricArea;
