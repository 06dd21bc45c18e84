import type { ListedAlert } from "./alertList.ts";

/** Alerts about Fairlead itself and what it reads. */
export const exporterAlerts = {
  GpuTelemetryMissing: {
    area: "exporter",
    action: "ticket",
    labels: ["cluster", "pool"],
    dashboard: "exporter",
    advice: { kinds: ["fix_source"], same: { pool: "pool" } },
    summary: "Allocated GPUs have no telemetry; nobody is called idle there until it is back.",
  },
  GpuTeamMappingIncomplete: {
    area: "exporter",
    action: "ticket",
    labels: ["cluster"],
    dashboard: "exporter",
    advice: null,
    summary: "Many allocated GPUs belong to no team, so shares and costs of teams are incomplete.",
  },
  GpuExporterDown: {
    area: "exporter",
    action: "page",
    labels: ["cluster"],
    dashboard: "exporter",
    advice: null,
    summary: "Fairlead's metrics are gone, or it has never completed a cycle: nothing else here can fire.",
  },
  GpuExporterStale: {
    area: "exporter",
    action: "page",
    labels: ["cluster"],
    dashboard: "exporter",
    advice: null,
    summary: "Fairlead answers but has not completed a cycle for minutes: what it shows is old.",
  },
  GpuExporterReplicaMissing: {
    area: "exporter",
    action: "ticket",
    labels: ["cluster"],
    dashboard: "exporter",
    advice: null,
    summary: "Fewer replicas of Fairlead work than its configuration says.",
  },
  GpuExporterSlow: {
    area: "exporter",
    action: "ticket",
    labels: ["cluster"],
    dashboard: "exporter",
    advice: null,
    summary: "Fairlead's cycles take almost as long as the time between them.",
  },
  GpuSeriesLimit: {
    area: "exporter",
    action: "ticket",
    labels: ["cluster"],
    dashboard: "exporter",
    advice: null,
    summary: "Fairlead leaves series out because its page is at its limit.",
  },
} as const satisfies Readonly<Record<string, ListedAlert>>;
