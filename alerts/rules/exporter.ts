import { arithmetic, arithmeticOn, filter, secondsSince, where } from "../../exporter/catalogue/promql.ts";
import { absentOverTime, quantileOverTime, seriesOverTime, union } from "../../exporter/catalogue/promqlSeries.ts";
import type { AlertName } from "../alertList.ts";
import { type Conditions, recorded, subject } from "./recorded.ts";
import { gpuNumber, gpuWord } from "./wording.ts";

const cluster = ["cluster"] as const;
const pool = ["cluster", "pool"] as const;

/** Alerts about whether the series that other alerts read can be believed. */
export const exporterConditions = {
  GpuTelemetryMissing: {
    expression: (config) => {
      const { unobservedAbove, minUnobservedGpus } = config.alerts.GpuTelemetryMissing;
      return filter(
        where(
          subject("cluster_pool:fairlead_unobserved_gpus:sum", "GpuTelemetryMissing", config),
          ">=",
          minUnobservedGpus,
        ),
        "and",
        where(recorded("cluster_pool:fairlead_unobserved_gpus:ratio"), ">", unobservedAbove),
        pool,
      );
    },
    description: `There is no telemetry of ${gpuNumber("$value")} allocated ${gpuWord("$value")} of {{ $labels.pool }} in {{ $labels.cluster }}.`,
  },
  GpuTeamMappingIncomplete: {
    expression: (config) => {
      const { unassignedAbove, minUnassignedGpus } = config.alerts.GpuTeamMappingIncomplete;
      return filter(
        where(
          subject("cluster:fairlead_unassigned_gpus:ratio", "GpuTeamMappingIncomplete", config),
          ">",
          unassignedAbove,
        ),
        "and",
        where(recorded("cluster:fairlead_unassigned_gpus:sum"), ">=", minUnassignedGpus),
        cluster,
      );
    },
    description: "{{ $value | humanizePercentage }} of the allocated GPUs in {{ $labels.cluster }} belong to no team.",
  },
  GpuExporterDown: {
    expression: (config) => {
      const build = subject("cluster:fairlead_build_info:max", "GpuExporterDown", config);
      const { rememberFor } = config.alerts.GpuExporterDown;
      return union(
        filter(
          seriesOverTime("last", build, rememberFor),
          "unless",
          recorded("cluster:fairlead_last_cycle_timestamp_seconds:max"),
          cluster,
        ),
        absentOverTime(recorded("cluster:fairlead_build_info:max"), rememberFor),
      );
    },
    description:
      "{{ if $labels.cluster }}Fairlead of {{ $labels.cluster }}{{ else }}Every Fairlead{{ end }} has no metrics, or none of a complete cycle.",
  },
  GpuExporterStale: {
    expression: (config) =>
      where(
        secondsSince(subject("cluster:fairlead_last_cycle_timestamp_seconds:max", "GpuExporterStale", config)),
        ">",
        config.alerts.GpuExporterStale.ageAboveSeconds,
      ),
    description:
      "The last complete cycle of Fairlead of {{ $labels.cluster }} ended {{ $value | humanizeDuration }} ago.",
  },
  GpuExporterReplicaMissing: {
    expression: (config) => {
      const wanted = where(
        subject("cluster:fairlead_replicas:max", "GpuExporterReplicaMissing", config),
        // Where there should be only one replica, GpuExporterDown reports that it is missing.
        ">",
        1,
      );
      const working = union(
        recorded("cluster:fairlead_working_replicas:count"),
        arithmetic(recorded("cluster:fairlead_replicas:max"), "*", 0),
      );
      return where(arithmeticOn(wanted, "-", working, cluster), ">", 0);
    },
    description:
      "{{ $value | humanize }} of the replicas of Fairlead in {{ $labels.cluster }} {{ if eq $value 1.0 }}is{{ else }}are{{ end }} missing: gone, without a fresh cycle, or without the Kubernetes API.",
  },
  GpuExporterSlow: {
    expression: (config) => {
      const { cycleAboveSeconds, window } = config.alerts.GpuExporterSlow;
      return where(
        quantileOverTime(
          0.99,
          subject("cluster:fairlead_cycle_duration_seconds:sum", "GpuExporterSlow", config),
          window,
        ),
        ">",
        cycleAboveSeconds,
      );
    },
    description:
      "A cycle of Fairlead of {{ $labels.cluster }} takes {{ $value | humanizeDuration }} (99th percentile).",
  },
  GpuSeriesLimit: {
    expression: (config) =>
      where(
        subject("cluster:fairlead_series_dropped:max", "GpuSeriesLimit", config),
        ">",
        config.alerts.GpuSeriesLimit.droppedAbove,
      ),
    description: "Fairlead of {{ $labels.cluster }} leaves out {{ $value | humanize }} series.",
  },
} satisfies Partial<Conditions<AlertName>>;
