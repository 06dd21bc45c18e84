import { type AlertName, areas, type SubjectLabel } from "../alertList.ts";

/** While `sources` fire, Alertmanager is silent about `targets` with the same values of the labels `equal`. */
export interface Inhibition {
  readonly sources: readonly AlertName[];
  readonly targets: readonly AlertName[] | "all areas but exporter";
  /** The labels that targets must have to be inhibited. */
  readonly where?: Readonly<Partial<Record<SubjectLabel, string>>>;
  /** Labels that source and target both have. Where both lack a label, Alertmanager considers it equal. */
  readonly equal: readonly SubjectLabel[];
}

/**
 * The alerts that need no second message. Alerts are selected by their names, never by their severity, and always in the same
 * cluster, so that no team, queue or pool silences another.
 */
export const inhibitions: readonly Inhibition[] = [
  {
    sources: ["GpuExporterDown", "GpuExporterStale"],
    targets: "all areas but exporter",
    equal: ["cluster"],
  },
  {
    sources: ["GpuExporterDown", "GpuExporterStale"],
    targets: [
      "GpuTelemetryMissing",
      "GpuTeamMappingIncomplete",
      "GpuExporterReplicaMissing",
      "GpuExporterSlow",
      "GpuSeriesLimit",
    ],
    equal: ["cluster"],
  },
  { sources: ["GpuExporterDown"], targets: ["GpuExporterStale"], equal: ["cluster"] },
  // The alerts of starved teams are not inhibited: their share is a part of the GPUs that exist, and others hold it.
  { sources: ["GpuCapacityExhausted"], targets: ["GpuCapacityForecast"], equal: ["cluster", "domain"] },
  { sources: ["GpuTeamStarvedLong"], targets: ["GpuTeamStarved"], equal: ["cluster", "team", "domain"] },
  { sources: ["GpuQueueStuckLong"], targets: ["GpuQueueStuck"], equal: ["cluster", "queue", "team"] },
  { sources: ["GpuJobUnplaceableLong"], targets: ["GpuJobUnplaceable"], equal: ["cluster", "pool"] },
  { sources: ["GpuNodeLostLong"], targets: ["GpuNodeLost"], equal: ["cluster", "node_pool"] },
  {
    sources: ["GpuTeamStarved", "GpuTeamStarvedLong"],
    targets: ["GpuFairnessLow"],
    equal: ["cluster", "domain"],
  },
  { sources: ["GpuTelemetryMissing"], targets: ["GpuIdleAllocated"], equal: ["cluster", "pool"] },
  { sources: ["GpuTelemetryMissing"], targets: ["GpuIdleExpensive"], equal: ["cluster"] },
  {
    sources: ["GpuTeamMappingIncomplete"],
    targets: ["GpuIdleAllocated", "GpuIdleExpensive"],
    where: { team: "unassigned" },
    equal: ["cluster"],
  },
  { sources: ["GpuBudgetExhausted"], targets: ["GpuBudgetBurnFast"], equal: ["cluster", "team", "currency"] },
];

/** A rule as Alertmanager reads it. */
export interface InhibitRule {
  readonly source_matchers: readonly string[];
  readonly target_matchers: readonly string[];
  readonly equal: readonly string[];
}

/** The rules, with the name that the label `cluster` has there. */
export function inhibitRules(clusterLabel: string): readonly InhibitRule[] {
  return inhibitions.map(({ sources, targets, where = {}, equal }) => ({
    source_matchers: [named(sources)],
    target_matchers: [
      targets === "all areas but exporter"
        ? `area=~"${areas.filter((area) => area !== "exporter").join("|")}"`
        : named(targets),
      ...Object.entries(where).map(([label, value]) => `${label}="${value}"`),
    ],
    equal: equal.map((label) => (label === "cluster" ? clusterLabel : label)),
  }));
}

function named(alerts: readonly AlertName[]): string {
  const [only] = alerts;
  return alerts.length === 1 ? `alertname="${only}"` : `alertname=~"${alerts.join("|")}"`;
}
