import {
  aggregate,
  arithmetic,
  type Expression,
  isNot,
  metric,
  secondsSince,
  withLabelsOf,
} from "../../exporter/catalogue/promql.ts";
import { arithmeticWithOne, sumOfEither } from "../../exporter/catalogue/promqlSeries.ts";
import { increaseOf, maxOf, ofOneReplica, type Recordings, recorded, sumOf } from "./recorded.ts";
import type { RecordedName } from "./recordedNames.ts";
import { workingReplicas } from "./recordReplicas.ts";

const cluster = ["cluster"] as const;
const advice = ["cluster", "kind", "id", "from_team", "for_team", "queue", "pool"] as const;

/** Fairlead itself, and its recommendations. */
export const selfRecordings = {
  // Any replica counts: whether there is one at all must not depend on which one was chosen.
  "cluster:fairlead_build_info:max": () => aggregate("max", metric("fairlead_build_info"), cluster),
  "cluster_version_node_version:fairlead_build_info:max": () =>
    aggregate("max", metric("fairlead_build_info"), ["cluster", "version", "node_version"]),
  "cluster:fairlead_covered_seconds:increase10m": () => increaseOf("fairlead_covered_seconds_total", "10m", cluster),
  "cluster:fairlead_accounted_seconds:increase10m": () =>
    sumOfEither(
      recorded("cluster:fairlead_covered_seconds:increase10m"),
      increaseOf("fairlead_uncovered_seconds_total", "10m", cluster),
    ),
  "cluster_reason:fairlead_kubernetes_restarts:increase10m": () =>
    increaseOf("fairlead_kubernetes_restarts_total", "10m", ["cluster", "reason"], { reason: isNot("closed") }),
  "cluster:fairlead_last_cycle_timestamp_seconds:max": () =>
    aggregate("max", metric("fairlead_last_cycle_timestamp_seconds"), cluster),
  "cluster:fairlead_replicas:max": () => aggregate("max", metric("fairlead_replicas"), cluster),
  "cluster:fairlead_working_replicas:count": ({ alerts: { GpuExporterReplicaMissing } }) =>
    workingReplicas(GpuExporterReplicaMissing.ageAboveSeconds),
  "cluster:fairlead_cycle_duration_seconds:sum": () => sumOf("fairlead_cycle_duration_seconds", cluster),
  "cluster:fairlead_series_dropped:max": () => maxOf("fairlead_series_dropped", cluster),
  "cluster_recommendation:fairlead_recommendation_gpus:max": () =>
    aggregate(
      "max",
      withLabelsOf(
        maxOf("fairlead_recommendation_gpus", advice),
        maxOf("fairlead_recommendation_info", ["cluster", "id", "title"]),
        ["cluster", "id"],
        ["title"],
      ),
      [...advice, "title"],
    ),
  "cluster_recommendation:fairlead_recommendation_saving_per_week:max": () =>
    maxOf("fairlead_recommendation_saving_per_week", [...advice, "currency"]),
  "cluster_recommendation:fairlead_recommendation_first_seen_timestamp_seconds:min": () =>
    aggregate("min", ofOneReplica(metric("fairlead_recommendation_first_seen_timestamp_seconds")), [
      "cluster",
      "kind",
      "id",
    ]),
  "cluster_recommendation:fairlead_open_saving_per_week:sum": () =>
    withLabelsOf(
      aggregate("sum", recorded("cluster_recommendation:fairlead_recommendation_saving_per_week:max"), [
        "cluster",
        "id",
        "currency",
      ]),
      arithmetic(openAdvice(), "+", 1),
      ["cluster", "id"],
      ["kind", "from_team", "for_team", "title"],
    ),
  "cluster_recommendation:fairlead_open_seconds:max": () =>
    arithmeticWithOne(
      openAdvice(),
      "+",
      secondsSince(
        aggregate("min", recorded("cluster_recommendation:fairlead_recommendation_first_seen_timestamp_seconds:min"), [
          "cluster",
          "id",
        ]),
      ),
      ["cluster", "id"],
    ),
} satisfies Partial<Recordings<RecordedName>>;

/** The value 0 for each open recommendation with its texts, so that a table can add columns to the same rows. */
function openAdvice(): Expression<"cluster" | "kind" | "id" | "from_team" | "for_team" | "title"> {
  const gpus = recorded("cluster_recommendation:fairlead_recommendation_gpus:max");
  return arithmetic(aggregate("max", gpus, ["cluster", "kind", "id", "from_team", "for_team", "title"]), "*", 0);
}
