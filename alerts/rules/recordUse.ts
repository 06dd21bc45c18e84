import { aggregate, arithmetic, arithmeticOn, filter, oneOf, where } from "../../exporter/catalogue/promql.ts";
import { clampMin, gpuHoursOver, sumOfEither } from "../../exporter/catalogue/promqlSeries.ts";
import { increaseOf, maxOf, orZero, type Recordings, recorded, sumOf } from "./recorded.ts";
import type { RecordedName } from "./recordedNames.ts";

const cluster = ["cluster"] as const;
const pool = ["cluster", "pool"] as const;
const nodePool = ["cluster", "node_pool"] as const;
const teamMoney = ["cluster", "team", "currency"] as const;

/** Seconds of the window of a mean. */
const tenMinutes = 600;

/** GPUs that are allocated and not used, observed or not, those that are free and not usable, and what they cost. */
export const useRecordings = {
  "cluster:fairlead_allocated_gpus:sum": () => sumOf("fairlead_team_gpus", cluster),
  "cluster:fairlead_unassigned_gpus:sum": () => sumOf("fairlead_unassigned_gpus", cluster),
  "cluster:fairlead_unassigned_gpus:ratio": () =>
    arithmeticOn(
      recorded("cluster:fairlead_unassigned_gpus:sum"),
      "/",
      where(recorded("cluster:fairlead_allocated_gpus:sum"), ">", 0),
      cluster,
    ),
  "cluster_pool:fairlead_allocated_gpus:sum": () => sumOf("fairlead_team_gpus", pool),
  "cluster_pool:fairlead_unobserved_gpus:sum": () => sumOf("fairlead_team_gpus", pool, { state: "unobserved" }),
  "cluster_pool:fairlead_unobserved_gpus:ratio": () =>
    arithmeticOn(
      recorded("cluster_pool:fairlead_unobserved_gpus:sum"),
      "/",
      where(recorded("cluster_pool:fairlead_allocated_gpus:sum"), ">", 0),
      pool,
    ),
  "cluster:fairlead_unobserved_gpus:ratio": () =>
    arithmeticOn(
      aggregate("sum", recorded("cluster_pool:fairlead_unobserved_gpus:sum"), cluster),
      "/",
      where(recorded("cluster:fairlead_allocated_gpus:sum"), ">", 0),
      cluster,
    ),
  "cluster_team_pool:fairlead_idle_gpus:sum": () =>
    sumOf("fairlead_team_gpus", ["cluster", "team", "pool"], { state: "idle" }),
  "cluster_team_pool_reason:fairlead_idle_gpus:mean10m": () =>
    arithmetic(
      increaseOf("fairlead_idle_gpu_seconds_total", "10m", ["cluster", "team", "pool", "reason"]),
      "/",
      tenMinutes,
    ),
  "cluster_team_pool_state:fairlead_gpu_seconds:increase10m": () =>
    increaseOf("fairlead_gpu_seconds_total", "10m", ["cluster", "team", "pool", "state"]),
  "cluster_team_currency:fairlead_idle_cost:increase1d": () =>
    increaseOf("fairlead_cost_total", "1d", teamMoney, { state: "idle" }),
  "cluster_pool:fairlead_whole_free_gpus:sum": () => sumOf("fairlead_pool_free_gpus", pool, { part: "whole" }),
  "cluster_pool:fairlead_stranded_gpus:sum": () =>
    sumOf("fairlead_stranded_gpus", pool, { reason: oneOf(["gpus", "cpu", "memory", "cpu_and_memory"]) }),
  "cluster_pool:fairlead_stranded_gpus:ratio": () =>
    arithmeticOn(
      recorded("cluster_pool:fairlead_stranded_gpus:sum"),
      "/",
      where(recorded("cluster_pool:fairlead_whole_free_gpus:sum"), ">", 0),
      pool,
    ),
  "cluster_pool:fairlead_usable_free_gpus:sum": () => {
    const free = aggregate(
      "sum",
      recorded("cluster_pool_state:fairlead_gpus:sum", { state: oneOf(["free", "idle_node"]) }),
      pool,
    );
    return clampMin(arithmetic(free, "-", orZero(recorded("cluster_pool:fairlead_stranded_gpus:sum"), free)), 0);
  },
  "cluster_pool:fairlead_blocked_gpus:sum": () => sumOf("fairlead_blocked_gpus", pool),
  "cluster_pool:fairlead_blocked_gpu_hours:sum": ({ alerts: { GpuJobUnplaceableLong } }) =>
    gpuHoursOver(recorded("cluster_pool:fairlead_blocked_gpus:sum"), GpuJobUnplaceableLong.window),
  "cluster_pool:fairlead_longest_blocked_seconds:max": () => maxOf("fairlead_longest_blocked_seconds", pool),
  "cluster_node_pool:fairlead_not_ready_nodes:sum": () => sumOf("fairlead_nodes", nodePool, { state: "not_ready" }),
  "cluster_node_pool:fairlead_unavailable_gpus:sum": () => sumOf("fairlead_gpus", nodePool, { state: "unavailable" }),
  "cluster_node_pool:fairlead_drain_gpus:sum": () => sumOf("fairlead_sick_gpus", nodePool, { tier: "drain" }),
  "cluster_node_pool:fairlead_look_today_gpus:sum": () => sumOf("fairlead_sick_gpus", nodePool, { tier: "today" }),
  "cluster_node_pool:fairlead_watch_gpus:sum": () => sumOf("fairlead_sick_gpus", nodePool, { tier: "watch" }),
  "cluster_node_pool:fairlead_lost_gpus:sum": () =>
    filter(
      recorded("cluster_node_pool:fairlead_unavailable_gpus:sum"),
      "and",
      where(recorded("cluster_node_pool:fairlead_not_ready_nodes:sum"), ">", 0),
      nodePool,
    ),
  "cluster_node_pool:fairlead_lost_gpu_hours:sum": ({ alerts: { GpuNodeLostLong } }) =>
    gpuHoursOver(recorded("cluster_node_pool:fairlead_lost_gpus:sum"), GpuNodeLostLong.window),
  "cluster_team_currency:fairlead_budget_amount:max": () => maxOf("fairlead_budget_amount", teamMoney),
  "cluster_team_currency:fairlead_budget_spent:ratio": () =>
    arithmeticOn(
      maxOf("fairlead_budget_spent", teamMoney),
      "/",
      where(recorded("cluster_team_currency:fairlead_budget_amount:max"), ">", 0),
      teamMoney,
    ),
  "cluster_team_currency:fairlead_budget_burn_rate_ratio:max": () =>
    maxOf("fairlead_budget_burn_rate_ratio", teamMoney),
  "cluster_team_currency:fairlead_team_cost_per_hour:sum": () =>
    sumOf("fairlead_team_cost_per_hour", teamMoney, { charge: "allocation" }),
  "cluster_pool:fairlead_stale_price_gpus:sum": () => sumOf("fairlead_stale_price_gpus", pool),
  "cluster_pool:fairlead_unpriced_gpus:sum": () => sumOf("fairlead_unpriced_gpus", pool),
  "cluster_pool:fairlead_doubtful_price_gpus:sum": () =>
    sumOfEither(
      recorded("cluster_pool:fairlead_stale_price_gpus:sum"),
      recorded("cluster_pool:fairlead_unpriced_gpus:sum"),
    ),
} satisfies Partial<Recordings<RecordedName>>;
