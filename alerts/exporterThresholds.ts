import { z } from "zod";
import { common, count, gpus, ratio, span } from "./settingParts.ts";

/** The thresholds of the alerts about Fairlead itself and what it reads. */
export const exporterThresholds = {
  GpuTelemetryMissing: z
    .strictObject({
      ...common("GpuTelemetryMissing", { for: "15m", keepFiringFor: "5m" }),
      unobservedAbove: ratio
        .default(0.1)
        .describe("Part of a pool's allocated GPUs without telemetry; above it, idle alerts are silent there."),
      minUnobservedGpus: gpus.default(1).describe("Allocated GPUs without telemetry that there must be at least."),
    })
    .prefault({}),
  GpuTeamMappingIncomplete: z
    .strictObject({
      ...common("GpuTeamMappingIncomplete", { for: "1h", keepFiringFor: "0m" }),
      unassignedAbove: ratio.default(0.05).describe("Part of the allocated GPUs that no team rule assigns."),
      minUnassignedGpus: gpus.default(4).describe("Such GPUs that there must be at least."),
    })
    .prefault({}),
  GpuExporterDown: z
    .strictObject({
      ...common("GpuExporterDown", { for: "5m", keepFiringFor: "0m" }),
      rememberFor: span
        .default("1d")
        .describe("A cluster that was seen in this time is missed; after it, only if none is left."),
    })
    .prefault({}),
  GpuExporterStale: z
    .strictObject({
      ...common("GpuExporterStale", { for: "10m", keepFiringFor: "0m" }),
      ageAboveSeconds: z
        .number()
        .min(1)
        .max(86_400)
        .default(90)
        .describe("Age of the last complete cycle: three times `interval`."),
    })
    .prefault({}),
  GpuExporterReplicaMissing: z
    .strictObject({
      ...common("GpuExporterReplicaMissing", { for: "10m", keepFiringFor: "0m" }),
      ageAboveSeconds: z
        .number()
        .min(1)
        .max(86_400)
        .default(90)
        .describe("Age of its last complete cycle from which a replica is missing: three times `interval`."),
    })
    .prefault({}),
  GpuExporterSlow: z
    .strictObject({
      ...common("GpuExporterSlow", { for: "30m", keepFiringFor: "0m" }),
      cycleAboveSeconds: z
        .number()
        .min(0.1)
        .max(86_400)
        .default(24)
        .describe("99th percentile of a cycle's duration: 80 % of `interval`."),
      window: span.default("30m").describe("Window of that percentile."),
    })
    .prefault({}),
  GpuSeriesLimit: z
    .strictObject({
      ...common("GpuSeriesLimit", { for: "30m", keepFiringFor: "0m" }),
      droppedAbove: count.default(0).describe("Series that are left out."),
    })
    .prefault({}),
};
