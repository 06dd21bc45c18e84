import { aggregate, metric, withLabelsOf } from "../../exporter/catalogue/promql.ts";
import { maxOf, ofOneReplica, type Recordings, sumOf } from "./recorded.ts";
import type { RecordedName } from "./recordedNames.ts";
import { workingReplicas } from "./recordReplicas.ts";

const cluster = ["cluster"] as const;
const advice = ["cluster", "kind", "id", "from_team", "for_team", "queue", "pool"] as const;

/** Fairlead itself, and what it recommends. */
export const selfRecordings = {
  // Any replica: whether there is one at all must not depend on which was chosen.
  "cluster:fairlead_build_info:max": () => aggregate("max", metric("fairlead_build_info"), cluster),
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
} satisfies Partial<Recordings<RecordedName>>;
