import type { ListedAlert } from "./alertList.ts";

const self = { area: "exporter", dashboard: "exporter" } as const;

/** Alerts about Fairlead itself and what it reads. */
export const exporterAlerts = {
  GpuTelemetryMissing: {
    ...self,
    action: "ticket",
    labels: ["cluster", "pool"],
    advice: { kinds: ["fix_source"], same: { pool: "pool" } },
    summary: "Allocated GPUs have no telemetry; nobody is called idle there until it is back.",
  },
  GpuTeamMappingIncomplete: {
    ...self,
    action: "ticket",
    labels: ["cluster"],
    summary: "Many allocated GPUs belong to no team, so shares and costs of teams are incomplete.",
  },
  GpuExporterDown: {
    ...self,
    action: "page",
    labels: ["cluster"],
    summary: "Fairlead's metrics are gone, or it has never completed a cycle: nothing else here can fire.",
  },
  GpuExporterStale: {
    ...self,
    action: "page",
    labels: ["cluster"],
    summary: "Fairlead answers but has not completed a cycle for minutes: what it shows is old.",
  },
  GpuExporterReplicaMissing: {
    ...self,
    action: "ticket",
    labels: ["cluster"],
    summary: "Fewer replicas of Fairlead work than its configuration says.",
  },
  GpuExporterSlow: {
    ...self,
    action: "ticket",
    labels: ["cluster"],
    summary: "Fairlead's cycles take almost as long as the time between them.",
  },
  GpuSeriesLimit: {
    ...self,
    action: "ticket",
    labels: ["cluster"],
    summary: "Fairlead leaves series out because its page is at its limit.",
  },
} as const satisfies Readonly<Record<string, ListedAlert>>;
