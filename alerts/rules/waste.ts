import { filter, where } from "../../exporter/catalogue/promql.ts";
import type { AlertName } from "../alertList.ts";
import { type Conditions, recorded, subject } from "./recorded.ts";
import { gpuNumber, gpuWord, valueInGpuHours, valueInGpus } from "./wording.ts";
import { worthWaking } from "./worthWaking.ts";

const cluster = ["cluster"] as const;
const pool = ["cluster", "pool"] as const;

/**
 * Alerts about GPUs that are allocated and do nothing, and about those that are free and cannot be used. There is no verdict on
 * idleness while telemetry is missing.
 */
export const wasteConditions = {
  GpuIdleAllocated: {
    expression: (config) =>
      filter(
        where(
          subject("cluster_team_pool:fairlead_idle_gpus:sum", "GpuIdleAllocated", config),
          ">=",
          config.alerts.GpuIdleAllocated.minIdleGpus,
        ),
        "unless",
        where(
          recorded("cluster_pool:fairlead_unobserved_gpus:ratio"),
          ">",
          config.alerts.GpuTelemetryMissing.unobservedAbove,
        ),
        pool,
      ),
    description: `Team {{ $labels.team }} in {{ $labels.cluster }} holds ${gpuNumber("$value")} idle ${gpuWord("$value")} of {{ $labels.pool }}.`,
  },
  GpuIdleExpensive: {
    expression: (config) =>
      filter(
        where(
          subject("cluster_team_currency:fairlead_idle_cost:increase1d", "GpuIdleExpensive", config),
          ">",
          config.alerts.GpuIdleExpensive.perDayAbove,
        ),
        "unless",
        where(
          recorded("cluster:fairlead_unobserved_gpus:ratio"),
          ">",
          config.alerts.GpuTelemetryMissing.unobservedAbove,
        ),
        cluster,
      ),
    description:
      'Idle GPUs of team {{ $labels.team }} in {{ $labels.cluster }} cost {{ $value | printf "%.0f" }} {{ $labels.currency }} in the last 24 hours.',
  },
  GpuGangBroken: {
    expression: (config) =>
      where(
        subject("cluster_team:fairlead_broken_gang_gpus:sum", "GpuGangBroken", config),
        ">=",
        config.alerts.GpuGangBroken.minBrokenGpus,
      ),
    description: `Team {{ $labels.team }} in {{ $labels.cluster }} holds ${gpuNumber("$value")} ${gpuWord("$value")} with gangs that have run, lost a member, and do nothing since. Which they are: partialGangs of the API, with hasLostMember.`,
  },
  GpuFragmentationHigh: {
    expression: (config) => {
      const { strandedAbove, minFreeGpus } = config.alerts.GpuFragmentationHigh;
      return filter(
        where(subject("cluster_pool:fairlead_stranded_gpus:ratio", "GpuFragmentationHigh", config), ">", strandedAbove),
        "and",
        where(recorded("cluster_pool:fairlead_whole_free_gpus:sum"), ">=", minFreeGpus),
        pool,
      );
    },
    description:
      "{{ $value | humanizePercentage }} of the fully free GPUs of {{ $labels.pool }} in {{ $labels.cluster }} are on nodes where no typical pod fits.",
  },
  GpuJobUnplaceable: {
    expression: (config) => {
      const { blockedAboveSeconds, minBlockedGpus } = config.alerts.GpuJobUnplaceable;
      return filter(
        where(subject("cluster_pool:fairlead_blocked_gpus:sum", "GpuJobUnplaceable", config), ">=", minBlockedGpus),
        "and",
        where(recorded("cluster_pool:fairlead_longest_blocked_seconds:max"), ">=", blockedAboveSeconds),
        pool,
      );
    },
    description: `Work for ${valueInGpus} of {{ $labels.pool }} in {{ $labels.cluster }} waits although enough are free: they are not where it could run.`,
  },
  GpuJobUnplaceableLong: {
    expression: (config) =>
      filter(
        worthWaking(
          subject("cluster_pool:fairlead_blocked_gpu_hours:sum", "GpuJobUnplaceableLong", config),
          recorded("cluster_pool_currency:fairlead_price_per_gpu_hour:max"),
          pool,
          config.alerts.GpuJobUnplaceableLong,
        ),
        "and",
        where(recorded("cluster_pool:fairlead_blocked_gpus:sum"), ">", 0),
        pool,
      ),
    description: ({ alerts: { GpuJobUnplaceableLong } }) =>
      `Waiting work has missed ${valueInGpuHours(GpuJobUnplaceableLong)} of {{ $labels.pool }} in {{ $labels.cluster }} although enough GPUs are free: they are not where it could run.`,
  },
} satisfies Partial<Conditions<AlertName>>;
