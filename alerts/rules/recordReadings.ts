import type { ReadingName } from "./readingNames.ts";
import { maxOf, type Recordings, sumOf } from "./recorded.ts";

/** The rules of what panels read of the metrics: a panel itself says nothing about replicas. */
export const readingRecordings: Recordings<ReadingName> = {
  "cluster_signal:fairlead_activity_signal_info:max": () =>
    maxOf("fairlead_activity_signal_info", ["cluster", "signal"]),
  "cluster_stage:fairlead_cycle_duration_seconds:sum": () =>
    sumOf("fairlead_cycle_duration_seconds", ["cluster", "stage"]),
  "cluster_source:fairlead_source_up:max": () => maxOf("fairlead_source_up", ["cluster", "source"]),
  "cluster_source:fairlead_source_age_seconds:max": () => maxOf("fairlead_source_age_seconds", ["cluster", "source"]),
  "cluster_state:fairlead_targets:sum": () => sumOf("fairlead_targets", ["cluster", "state"]),
  "cluster_source_code_severity:fairlead_problems:sum": () =>
    sumOf("fairlead_problems", ["cluster", "source", "code", "severity"]),
  "cluster_resource:fairlead_kubernetes_answer_seconds:max": () =>
    maxOf("fairlead_kubernetes_answer_seconds", ["cluster", "resource"]),
  "cluster_pool:fairlead_accounting_imbalance_gpus:max": () =>
    maxOf("fairlead_accounting_imbalance_gpus", ["cluster", "pool"]),
  "cluster_pool_state:fairlead_gpus:sum": () => sumOf("fairlead_gpus", ["cluster", "pool", "state"]),
  "cluster_pool:fairlead_pool_gpu_utilization_ratio:max": () =>
    maxOf("fairlead_pool_gpu_utilization_ratio", ["cluster", "pool"]),
  "cluster_team:fairlead_team_gpu_utilization_ratio:max": () =>
    maxOf("fairlead_team_gpu_utilization_ratio", ["cluster", "team"]),
  "cluster_team_pool_state:fairlead_team_gpus:sum": () =>
    sumOf("fairlead_team_gpus", ["cluster", "team", "pool", "state"]),
  "cluster_domain:fairlead_domain_past_queues_gpus:max": () =>
    maxOf("fairlead_domain_past_queues_gpus", ["cluster", "domain"]),
  "cluster_domain_owner:fairlead_fairness_absent_capacity_gpus:sum": () =>
    sumOf("fairlead_fairness_absent_capacity_gpus", ["cluster", "domain", "owner"]),
  "cluster_queue_team_domain:fairlead_queue_allocated_gpus:sum": () =>
    sumOf("fairlead_queue_allocated_gpus", ["cluster", "queue", "team", "domain"]),
  "cluster_queue_team_domain:fairlead_queue_limit_gpus:sum": () =>
    sumOf("fairlead_queue_limit_gpus", ["cluster", "queue", "team", "domain"]),
  "cluster_queue_team_domain:fairlead_queue_weight:max": () =>
    maxOf("fairlead_queue_weight", ["cluster", "queue", "team", "domain"]),
  "cluster_queue_team_domain:fairlead_queue_reclaimable_gpus:sum": () =>
    sumOf("fairlead_queue_reclaimable_gpus", ["cluster", "queue", "team", "domain"]),
  "cluster_queue_team_domain:fairlead_fairness_deviation_gpus:sum": () =>
    sumOf("fairlead_fairness_deviation_gpus", ["cluster", "queue", "team", "domain"]),
  "cluster_queue_team_domain_cause:fairlead_queue_shortfall_gpus:sum": () =>
    sumOf("fairlead_queue_shortfall_gpus", ["cluster", "queue", "team", "domain", "cause"]),
  "cluster_queue_team_domain_cause:fairlead_queue_waiting_gpus:sum": () =>
    sumOf("fairlead_queue_waiting_gpus", ["cluster", "queue", "team", "domain", "cause"]),
  "cluster_queue_team_domain:fairlead_queue_oldest_wait_seconds:max": () =>
    maxOf("fairlead_queue_oldest_wait_seconds", ["cluster", "queue", "team", "domain"]),
  "cluster_domain_starved_queue_borrower_queue:fairlead_fairness_pair_gpus:max": () =>
    maxOf("fairlead_fairness_pair_gpus", ["cluster", "domain", "starved_queue", "borrower_queue"]),
  "cluster_domain_starved_queue_borrower_queue:fairlead_fairness_held_back_gpus:max": () =>
    maxOf("fairlead_fairness_held_back_gpus", ["cluster", "domain", "starved_queue", "borrower_queue"]),
  "cluster_queue_scheduler_number_shard_source:fairlead_queue_scheduler_value:max": () =>
    maxOf("fairlead_queue_scheduler_value", ["cluster", "queue", "scheduler", "number", "shard", "source"]),
  "cluster:fairlead_configuration_findings:sum": () => sumOf("fairlead_configuration_findings", ["cluster"]),
  "cluster_pool:fairlead_largest_placeable_pod_gpus:max": () =>
    maxOf("fairlead_largest_placeable_pod_gpus", ["cluster", "pool"]),
  "cluster_pool_size:fairlead_placeable_pods:max": () => maxOf("fairlead_placeable_pods", ["cluster", "pool", "size"]),
  "cluster_pool_reason:fairlead_stranded_gpus:sum": () =>
    sumOf("fairlead_stranded_gpus", ["cluster", "pool", "reason"]),
  "cluster_pool:fairlead_reducible_fragmentation_gpus:max": () =>
    maxOf("fairlead_reducible_fragmentation_gpus", ["cluster", "pool"]),
  "cluster_pool_blocker:fairlead_blocked_gpus:sum": () =>
    sumOf("fairlead_blocked_gpus", ["cluster", "pool", "blocker"]),
  "cluster_pool_node_pool_idle_kind_warm_pool:fairlead_idle_nodes:sum": () =>
    sumOf("fairlead_idle_nodes", ["cluster", "pool", "node_pool", "idle_kind", "warm_pool"]),
  "cluster_pool_node_pool_idle_kind_warm_pool:fairlead_idle_node_longest_seconds:max": () =>
    maxOf("fairlead_idle_node_longest_seconds", ["cluster", "pool", "node_pool", "idle_kind", "warm_pool"]),
  "cluster_pool_node_pool_idle_kind_warm_pool_window:fairlead_idle_node_hours:sum": () =>
    sumOf("fairlead_idle_node_hours", ["cluster", "pool", "node_pool", "idle_kind", "warm_pool", "window"]),
  "cluster_pool_node_pool_idle_kind_warm_pool_currency:fairlead_idle_node_cost_per_hour:sum": () =>
    sumOf("fairlead_idle_node_cost_per_hour", ["cluster", "pool", "node_pool", "idle_kind", "warm_pool", "currency"]),
  "cluster_window:fairlead_idle_node_covered_ratio:max": () =>
    maxOf("fairlead_idle_node_covered_ratio", ["cluster", "window"]),
  "cluster_pool_state_currency:fairlead_cost_per_hour:sum": () =>
    sumOf("fairlead_cost_per_hour", ["cluster", "pool", "state", "currency"]),
  "cluster_pool_currency:fairlead_unallocated_cost_per_hour:sum": () =>
    sumOf("fairlead_unallocated_cost_per_hour", ["cluster", "pool", "currency"]),
  "cluster_team_namespace_charge_currency:fairlead_namespace_cost_per_hour:sum": () =>
    sumOf("fairlead_namespace_cost_per_hour", ["cluster", "team", "namespace", "charge", "currency"]),
  "cluster_team_namespace_workload_currency:fairlead_workload_cost_per_hour:sum": () =>
    sumOf("fairlead_workload_cost_per_hour", ["cluster", "team", "namespace", "workload", "currency"]),
  "cluster_pool_capacity_type_price_basis_price_source_currency:fairlead_price_per_gpu_hour:max": () =>
    maxOf("fairlead_price_per_gpu_hour", [
      "cluster",
      "pool",
      "capacity_type",
      "price_basis",
      "price_source",
      "currency",
    ]),
  "cluster_team_currency:fairlead_budget_spent:max": () =>
    maxOf("fairlead_budget_spent", ["cluster", "team", "currency"]),
  "cluster_team_currency_bound:fairlead_budget_forecast:max": () =>
    maxOf("fairlead_budget_forecast", ["cluster", "team", "currency", "bound"]),
  "cluster_kind_state:fairlead_recommendations:sum": () =>
    sumOf("fairlead_recommendations", ["cluster", "kind", "state"]),
};
