import type { LabelsOf, SeriesName } from "../../exporter/catalogue/catalogue.ts";

/**
 * Metrics of the catalogue in the form in which panels read them: of the replica that is read, as the sum by the labels of the
 * name, or as the largest value where all series of a metric have the same number. Each metric occurs once, so that a panel
 * itself contains nothing about replicas.
 */
export const readingLabels = {
  "cluster_signal:fairlead_activity_signal_info:max": ["cluster", "signal"],
  "cluster_stage:fairlead_cycle_duration_seconds:sum": ["cluster", "stage"],
  "cluster_source:fairlead_source_up:max": ["cluster", "source"],
  "cluster_source:fairlead_source_age_seconds:max": ["cluster", "source"],
  "cluster_state:fairlead_targets:sum": ["cluster", "state"],
  "cluster_source_code_severity:fairlead_problems:sum": ["cluster", "source", "code", "severity"],
  "cluster_resource:fairlead_kubernetes_answer_seconds:max": ["cluster", "resource"],
  "cluster_pool:fairlead_accounting_imbalance_gpus:max": ["cluster", "pool"],
  "cluster_pool_state:fairlead_gpus:sum": ["cluster", "pool", "state"],
  "cluster_pool_node_pool_cause:fairlead_unavailable_gpus:sum": ["cluster", "pool", "node_pool", "cause"],
  "cluster_pool_node_pool_cause:fairlead_degraded_gpus:sum": ["cluster", "pool", "node_pool", "cause"],
  "cluster_pool:fairlead_pool_gpu_utilization_ratio:max": ["cluster", "pool"],
  "cluster_team:fairlead_team_gpu_utilization_ratio:max": ["cluster", "team"],
  "cluster_team_pool:fairlead_team_tensor_active_ratio:max": ["cluster", "team", "pool"],
  "cluster_team_pool:fairlead_team_dram_active_ratio:max": ["cluster", "team", "pool"],
  "cluster_team_pool:fairlead_team_power_ratio:max": ["cluster", "team", "pool"],
  "cluster_pool:fairlead_pool_tensor_active_ratio:max": ["cluster", "pool"],
  "cluster_pool:fairlead_pool_dram_active_ratio:max": ["cluster", "pool"],
  "cluster_pool:fairlead_pool_power_ratio:max": ["cluster", "pool"],
  "cluster_pool_signal:fairlead_signal_gpus:max": ["cluster", "pool", "signal"],
  "cluster_pool_reason:fairlead_stall_unknown_gpus:max": ["cluster", "pool", "reason"],
  "cluster_team_pool_state:fairlead_team_gpus:sum": ["cluster", "team", "pool", "state"],
  "cluster_domain:fairlead_domain_past_queues_gpus:max": ["cluster", "domain"],
  "cluster_domain_owner:fairlead_fairness_absent_capacity_gpus:sum": ["cluster", "domain", "owner"],
  "cluster_queue_team_domain:fairlead_queue_allocated_gpus:sum": ["cluster", "queue", "team", "domain"],
  "cluster_queue_team_domain:fairlead_queue_limit_gpus:sum": ["cluster", "queue", "team", "domain"],
  "cluster_queue_team_domain:fairlead_queue_weight:max": ["cluster", "queue", "team", "domain"],
  "cluster_queue_team_domain:fairlead_queue_reclaimable_gpus:sum": ["cluster", "queue", "team", "domain"],
  "cluster_queue_team_domain:fairlead_fairness_deviation_gpus:sum": ["cluster", "queue", "team", "domain"],
  "cluster_queue_team_domain_cause:fairlead_queue_shortfall_gpus:sum": ["cluster", "queue", "team", "domain", "cause"],
  "cluster_queue_team_domain_cause:fairlead_queue_waiting_gpus:sum": ["cluster", "queue", "team", "domain", "cause"],
  "cluster_queue_team_domain:fairlead_queue_oldest_wait_seconds:max": ["cluster", "queue", "team", "domain"],
  "cluster_domain_starved_queue_borrower_queue:fairlead_fairness_pair_gpus:max": [
    "cluster",
    "domain",
    "starved_queue",
    "borrower_queue",
  ],
  "cluster_domain_starved_queue_borrower_queue:fairlead_fairness_held_back_gpus:max": [
    "cluster",
    "domain",
    "starved_queue",
    "borrower_queue",
  ],
  "cluster_queue_scheduler_number_shard_source:fairlead_queue_scheduler_value:max": [
    "cluster",
    "queue",
    "scheduler",
    "number",
    "shard",
    "source",
  ],
  "cluster:fairlead_configuration_findings:sum": ["cluster"],
  "cluster_pool:fairlead_largest_placeable_pod_gpus:max": ["cluster", "pool"],
  "cluster_pool_size:fairlead_placeable_pods:max": ["cluster", "pool", "size"],
  "cluster_pool_reason:fairlead_stranded_gpus:sum": ["cluster", "pool", "reason"],
  "cluster_pool:fairlead_reducible_fragmentation_gpus:max": ["cluster", "pool"],
  "cluster_pool_level:fairlead_topology_domains:max": ["cluster", "pool", "level"],
  "cluster_pool_level:fairlead_topology_free_domains:max": ["cluster", "pool", "level"],
  "cluster_pool_level:fairlead_topology_nodes_outside:max": ["cluster", "pool", "level"],
  "cluster_pool_level:fairlead_topology_unusable_gpus:max": ["cluster", "pool", "level"],
  "cluster_pool_level_gang_gpus:fairlead_topology_gang_slots:max": ["cluster", "pool", "level", "gang_gpus"],
  "cluster_pool_level_gang_gpus:fairlead_topology_possible_gang_slots:max": ["cluster", "pool", "level", "gang_gpus"],
  "cluster_pool_blocker:fairlead_blocked_gpus:sum": ["cluster", "pool", "blocker"],
  "cluster_pool_node_pool_idle_kind_warm_pool:fairlead_idle_nodes:sum": [
    "cluster",
    "pool",
    "node_pool",
    "idle_kind",
    "warm_pool",
  ],
  "cluster_pool_node_pool_idle_kind_warm_pool:fairlead_idle_node_longest_seconds:max": [
    "cluster",
    "pool",
    "node_pool",
    "idle_kind",
    "warm_pool",
  ],
  "cluster_pool_node_pool_idle_kind_warm_pool_window:fairlead_idle_node_hours:sum": [
    "cluster",
    "pool",
    "node_pool",
    "idle_kind",
    "warm_pool",
    "window",
  ],
  "cluster_pool_node_pool_idle_kind_warm_pool_currency:fairlead_idle_node_cost_per_hour:sum": [
    "cluster",
    "pool",
    "node_pool",
    "idle_kind",
    "warm_pool",
    "currency",
  ],
  "cluster_window:fairlead_idle_node_covered_ratio:max": ["cluster", "window"],
  "cluster_pool_state_currency:fairlead_cost_per_hour:sum": ["cluster", "pool", "state", "currency"],
  "cluster_pool_currency:fairlead_unallocated_cost_per_hour:sum": ["cluster", "pool", "currency"],
  "cluster_team_namespace_charge_currency:fairlead_namespace_cost_per_hour:sum": [
    "cluster",
    "team",
    "namespace",
    "charge",
    "currency",
  ],
  "cluster_team_namespace_workload_currency:fairlead_workload_cost_per_hour:sum": [
    "cluster",
    "team",
    "namespace",
    "workload",
    "currency",
  ],
  "cluster_pool_capacity_type_price_basis_price_source_currency:fairlead_price_per_gpu_hour:max": [
    "cluster",
    "pool",
    "capacity_type",
    "price_basis",
    "price_source",
    "currency",
  ],
  "cluster_team_currency:fairlead_budget_spent:max": ["cluster", "team", "currency"],
  "cluster_team_currency_bound:fairlead_budget_forecast:max": ["cluster", "team", "currency", "bound"],
  "cluster_kind_state:fairlead_recommendations:sum": ["cluster", "kind", "state"],
} as const satisfies {
  readonly [Name in `${string}:${SeriesName}:${"sum" | "max"}`]?: readonly LabelsOf<MetricOf<Name>>[];
};

type MetricOf<Name extends string> = Name extends `${string}:${infer Metric extends SeriesName}:${string}`
  ? Metric
  : never;

export type ReadingName = keyof typeof readingLabels;
