import { maxOf, type Recordings, sumOf } from "./recorded.ts";
import type { RecordedName } from "./recordedNames.ts";

/** The few workloads, nodes and GPUs that annotations name. */
export const nameRecordings = {
  "cluster_queue_team_domain_cause_namespace_workload:fairlead_queue_head_gpus:max": () =>
    maxOf("fairlead_queue_head_gpus", ["cluster", "queue", "team", "domain", "cause", "namespace", "workload"]),
  "cluster_pool_namespace_workload:fairlead_blocked_workload_gpus:sum": () =>
    sumOf("fairlead_blocked_workload_gpus", ["cluster", "pool", "namespace", "workload"]),
  "cluster_team_pool_namespace_workload:fairlead_idle_workload_gpus:sum": () =>
    sumOf("fairlead_idle_workload_gpus", ["cluster", "team", "pool", "namespace", "workload"]),
  "cluster_node_pool_lost_node:fairlead_lost_node_gpus:max": () =>
    maxOf("fairlead_lost_node_gpus", ["cluster", "node_pool", "lost_node"]),
  "cluster_node_pool_sick_node_gpu_tier_cause:fairlead_sick_gpu_gpus:max": () =>
    maxOf("fairlead_sick_gpu_gpus", ["cluster", "node_pool", "sick_node", "gpu", "tier", "cause"]),
} satisfies Partial<Recordings<RecordedName>>;
