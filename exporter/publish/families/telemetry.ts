import type { Analysis } from "../../analysis/analysis.ts";
import { targetStates } from "../../catalogue/labels.ts";
import type { telemetryMetrics } from "../../catalogue/telemetry.ts";
import type { FamilyInput, Producers } from "../family.ts";
import { ageInUse, isUp, type PartFreshness } from "../health.ts";
import { kubernetesReadsProducers } from "./kubernetesReads.ts";

/** The name of the team of workloads that no rule assigns. */
const unassigned = "unassigned";

/** How far the other numbers can be trusted. */
export const telemetryProducers: Producers<keyof typeof telemetryMetrics> = {
  fairlead_source_up: ({ health: { cluster, sources } }) =>
    sources.map((source) => ({ labels: { cluster, source: source.source }, value: isUp(source) ? 1 : 0 })),
  fairlead_source_age_seconds: ({ health: { cluster, sources } }) =>
    sources.flatMap((source) => {
      const value = ageInUse(source);
      return value === null ? [] : [{ labels: { cluster, source: source.source }, value }];
    }),
  fairlead_targets: ({ health: { cluster, sources } }) => {
    const telemetry = sources.filter((source) => source.telemetry);
    if (telemetry.length === 0) return [];
    const states = telemetry.flatMap((source) => source.parts.map(targetState));
    return targetStates.map((state) => ({
      labels: { cluster, state },
      value: states.filter((found) => found === state).length,
    }));
  },
  fairlead_problems: problemCounts,
  ...kubernetesReadsProducers,
  fairlead_samples_dropped: ({ health: { cluster }, moment }) =>
    Object.entries(moment?.analysis.snapshot.dropped ?? {}).map(([reason, value]) => ({
      labels: { cluster, reason },
      value,
    })),
  fairlead_activity_signal_info: ({ health: { cluster }, moment }) => {
    const signal = moment?.analysis.snapshot.signal ?? null;
    return signal === null ? [] : [{ labels: { cluster, signal }, value: 1 }];
  },
  fairlead_unassigned_gpus: (input) =>
    ofAllocated(input, (analysis) => analysis.teams.find((totals) => totals.team === unassigned)?.allocated ?? 0),
  fairlead_estimated_gpus: (input) => ofAllocated(input, estimatedGpus),
  fairlead_estimated_ratio: (input) =>
    ofAllocated(input, (analysis) => {
      const allocated = analysis.pools.reduce((sum, pool) => sum + pool.allocated, 0);
      return allocated > 0 ? estimatedGpus(analysis) / allocated : null;
    }),
};

function targetState({ fresh, ageSeconds }: PartFreshness): (typeof targetStates)[number] {
  if (fresh) return "fresh";
  return ageSeconds === null ? "never" : "stale";
}

/** One number about what is allocated, where anything is known about that. */
function ofAllocated({ health: { cluster }, moment }: FamilyInput, of: (analysis: Analysis) => number | null) {
  if (moment === null) return [];
  const { objects, telemetry } = moment.analysis.snapshot.coverage;
  const value = objects || telemetry ? of(moment.analysis) : null;
  return value === null ? [] : [{ labels: { cluster }, value }];
}

function estimatedGpus(analysis: Analysis): number {
  return analysis.pools.reduce((sum, pool) => sum + pool.estimated, 0);
}

function problemCounts({ health: { cluster, problems } }: FamilyInput) {
  const counts = new Map<
    string,
    { labels: { cluster: string; source: string; code: string; severity: string }; value: number }
  >();
  for (const { source, code, severity } of problems) {
    const key = `${source} ${code} ${severity}`;
    const count = counts.get(key) ?? { labels: { cluster, source, code, severity }, value: 0 };
    count.value += 1;
    counts.set(key, count);
  }
  return [...counts.values()];
}
