import { aggregate, arithmetic, arithmeticOn, oneOf, where } from "../../exporter/catalogue/promql.ts";
import { arithmeticWithOne, union } from "../../exporter/catalogue/promqlSeries.ts";
import { observedStates } from "../../exporter/model/gpuStates.ts";
import { maxOf, orZero, type Recordings, recorded, sumOf } from "./recorded.ts";
import type { RecordedName } from "./recordedNames.ts";

const team = ["cluster", "team"] as const;
const teamPool = ["cluster", "team", "pool"] as const;
const teamDomain = ["cluster", "team", "domain"] as const;
const queueDomain = ["cluster", "queue", "domain"] as const;

/** What teams and queues hold, use and wait for, and what part of their share they hold. */
export const teamRecordings = {
  // A team that has a share but holds nothing has no series of GPUs: it holds 0.
  "cluster_team:fairlead_allocated_gpus:sum": () =>
    orZero(
      sumOf("fairlead_team_gpus", team),
      aggregate("sum", recorded("cluster_team_domain:fairlead_team_entitled_gpus:sum"), team),
    ),
  "cluster_team:fairlead_idle_gpus:sum": () =>
    orZero(
      aggregate("sum", recorded("cluster_team_pool:fairlead_idle_gpus:sum"), team),
      recorded("cluster_team:fairlead_allocated_gpus:sum"),
    ),
  "cluster_team_pool:fairlead_judged_gpus:sum": () =>
    aggregate(
      "sum",
      recorded("cluster_team_pool_state:fairlead_team_gpus:sum", {
        state: oneOf(observedStates),
      }),
      teamPool,
    ),
  "cluster_team_pool:fairlead_busy_gpus:sum": () =>
    orZero(
      aggregate("sum", recorded("cluster_team_pool_state:fairlead_team_gpus:sum", { state: "active" }), teamPool),
      recorded("cluster_team_pool:fairlead_judged_gpus:sum"),
    ),
  // Work that its queue has not admitted may have no pods yet, and a queue that several teams share names none of them. Of the
  // numbers from queues and from pods, the larger is at least a lower bound.
  "cluster_team:fairlead_waiting_gpus:max": () => {
    const inQueues = sumOf("fairlead_queue_waiting_gpus", team);
    const ofPods = maxOf("fairlead_team_pending_gpus", team);
    return union(union(where(inQueues, ">=", ofPods), ofPods), inQueues);
  },
  "cluster_team:fairlead_late_serving_workloads:sum": () => sumOf("fairlead_team_late_serving_workloads", team),
  "cluster_team:fairlead_broken_gang_gpus:sum": () => sumOf("fairlead_team_broken_gang_gpus", team),
  "cluster_queue_team_cause:fairlead_oldest_wait_seconds:max": () =>
    arithmeticWithOne(
      arithmetic(where(sumOf("fairlead_queue_waiting_gpus", ["cluster", "queue", "team", "cause"]), ">", 0), "*", 0),
      "+",
      maxOf("fairlead_queue_oldest_wait_seconds", ["cluster", "queue"]),
      ["cluster", "queue"],
    ),
  "cluster_team:fairlead_demand_gpus:sum": () => {
    const allocated = recorded("cluster_team:fairlead_allocated_gpus:sum");
    return arithmetic(allocated, "+", orZero(recorded("cluster_team:fairlead_waiting_gpus:max"), allocated));
  },
  "cluster_team_domain:fairlead_allocated_of_entitled:ratio": () => {
    const entitled = recorded("cluster_team_domain:fairlead_team_entitled_gpus:sum");
    const deviation = recorded("cluster_team_domain:fairlead_team_fairness_deviation_gpus:sum");
    return arithmeticOn(arithmetic(entitled, "+", deviation), "/", where(entitled, ">", 0), teamDomain);
  },
  "cluster_team:fairlead_allocated_of_entitled:ratio": () => {
    const entitled = aggregate("sum", recorded("cluster_team_domain:fairlead_team_entitled_gpus:sum"), team);
    const deviation = recorded("cluster_team_domain:fairlead_team_fairness_deviation_gpus:sum");
    const allocated = arithmetic(entitled, "+", aggregate("sum", deviation, team));
    return arithmeticOn(allocated, "/", where(entitled, ">", 0), team);
  },
  "cluster_queue_domain:fairlead_allocated_of_entitled:ratio": () => {
    const entitled = sumOf("fairlead_queue_entitled_gpus", queueDomain);
    const deviation = aggregate(
      "sum",
      recorded("cluster_queue_team_domain:fairlead_fairness_deviation_gpus:sum"),
      queueDomain,
    );
    return arithmeticOn(arithmetic(entitled, "+", deviation), "/", where(entitled, ">", 0), queueDomain);
  },
} satisfies Partial<Recordings<RecordedName>>;
