import { aggregate, arithmetic, filter, isNot, where, withLabelsOf } from "../../exporter/catalogue/promql.ts";
import {
  gpuHoursOver,
  labelFrom,
  labelled,
  quantileOfBuckets,
  quantileOverTime,
  sumOfEither,
} from "../../exporter/catalogue/promqlSeries.ts";
import { increaseOf, maxOf, type Recordings, recorded, sumOf } from "./recorded.ts";
import type { RecordedName } from "./recordedNames.ts";

const queue = ["cluster", "queue"] as const;
const queueTeam = ["cluster", "queue", "team"] as const;
const domain = ["cluster", "domain"] as const;
const waits = ["cluster", "queue", "phase", "le"] as const;

/** What waits, starts and is evicted, and whether there are GPUs for it. */
export const queueRecordings = {
  // Waits that ended in the window, and those that still last, by the same bounds: a queue where nothing starts is not a fast
  // one.
  "cluster_queue_phase_le:fairlead_queue_waits:increase": ({ alerts: { GpuQueueWaitHigh } }) =>
    sumOfEither(
      sumOfEither(
        increaseOf("fairlead_queue_wait_seconds_bucket", GpuQueueWaitHigh.window, waits),
        lasting("admission", { scheduler: "kueue" }),
      ),
      lasting("start", { scheduler: isNot("kueue") }),
    ),
  "cluster_queue:fairlead_queue_waits:increase": () =>
    aggregate("max", recorded("cluster_queue_phase_le:fairlead_queue_waits:increase", { le: "+Inf" }), queue),
  "cluster_queue:fairlead_queue_wait_seconds:p50": () => waitsBelow(0.5),
  "cluster_queue:fairlead_queue_wait_seconds:p95": () => waitsBelow(0.95),
  "cluster_queue:fairlead_started_gangs:increase": ({ alerts: { GpuQueueStuck } }) =>
    increaseOf("fairlead_queue_wait_seconds_count", GpuQueueStuck.window, queue, { phase: "start" }),
  "cluster_queue:fairlead_evictions:increase1h": () => increaseOf("fairlead_evictions_total", "1h", queue),
  "cluster_team:fairlead_undone_gpu_seconds:increase10m": () =>
    sumOfEither(
      increaseOf("fairlead_evicted_lost_gpu_seconds_total", "10m", ["cluster", "team"]),
      increaseOf("fairlead_failed_lost_gpu_seconds_total", "10m", ["cluster", "team"]),
    ),
  "cluster_queue_team:fairlead_scheduler_waiting_gpus:sum": () =>
    sumOf("fairlead_queue_waiting_gpus", ["cluster", "queue", "team"], { cause: "scheduler", queue: isNot("") }),
  // Queues for which none of the GPUs that they lack is free: no scheduler can start work for which there are no nodes.
  "cluster_queue_team:fairlead_queue_absent_capacity_gpus:sum": () =>
    filter(
      where(sumOf("fairlead_queue_shortfall_gpus", queueTeam, { cause: "absent_capacity" }), ">", 0),
      "unless",
      where(sumOf("fairlead_queue_shortfall_gpus", queueTeam, { cause: "idle_gap" }), ">", 0),
      queueTeam,
    ),
  // Work that fits and is allowed, in queues where nothing has started for a while, except work that fits on no node.
  "cluster_queue_team:fairlead_stuck_gpus:sum": () =>
    filter(
      filter(
        where(recorded("cluster_queue_team:fairlead_scheduler_waiting_gpus:sum"), ">", 0),
        "unless",
        recorded("cluster_queue_team:fairlead_queue_absent_capacity_gpus:sum"),
        queueTeam,
      ),
      "unless",
      where(recorded("cluster_queue:fairlead_started_gangs:increase"), ">", 0),
      queue,
    ),
  "cluster_queue_team:fairlead_stuck_gpu_hours:sum": ({ alerts: { GpuQueueStuckLong } }) =>
    gpuHoursOver(recorded("cluster_queue_team:fairlead_stuck_gpus:sum"), GpuQueueStuckLong.window),
  "cluster_domain:fairlead_domain_capacity_gpus:max": () => maxOf("fairlead_domain_capacity_gpus", domain),
  "cluster_domain:fairlead_queue_pending_gpus:sum": () => sumOf("fairlead_queue_pending_gpus", domain),
  "cluster_domain:fairlead_demand_gpus:sum": () =>
    arithmetic(
      sumOf("fairlead_queue_allocated_gpus", domain),
      "+",
      recorded("cluster_domain:fairlead_queue_pending_gpus:sum"),
    ),
  "cluster_domain:fairlead_demand_gpus:p95": ({ alerts: { GpuCapacityForecast } }) =>
    quantileOverTime(0.95, recorded("cluster_domain:fairlead_demand_gpus:sum"), GpuCapacityForecast.demandWindow),
  "cluster_domain:fairlead_free_gpus:sum": () =>
    aggregate(
      "sum",
      withLabelsOf(
        maxOf("fairlead_domain_info", ["cluster", "domain", "pool"]),
        sumOf("fairlead_pool_free_gpus", ["cluster", "pool"]),
        ["cluster", "pool"],
        [],
      ),
      domain,
    ),
  "cluster_domain:fairlead_capacity_waiting_gpus:sum": () =>
    sumOf("fairlead_queue_waiting_gpus", domain, { cause: "capacity" }),
} satisfies Partial<Recordings<RecordedName>>;

/** The time in seconds that this part of the waits of a queue do not exceed, in the phase in which they are longest. */
function waitsBelow(part: number) {
  return aggregate(
    "max",
    quantileOfBuckets(part, recorded("cluster_queue_phase_le:fairlead_queue_waits:increase")),
    queue,
  );
}

/**
 * Waits that still last, counted as if they had ended in a phase: in admission where a scheduler has that step, else in start.
 */
function lasting(
  phase: "admission" | "start",
  matchers: Parameters<typeof sumOf<"fairlead_queue_waiting_gangs_by_age", "cluster">>[2],
) {
  const byAge = sumOf("fairlead_queue_waiting_gangs_by_age", ["cluster", "queue", "age_le"], matchers);
  return aggregate("sum", labelled(labelFrom(byAge, "le", "age_le"), "phase", phase), waits);
}
