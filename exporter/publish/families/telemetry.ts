import type { Analysis } from "../../analysis/analysis.ts";
import { targetStates } from "../../catalogue/labels.ts";
import type { telemetryMetrics } from "../../catalogue/telemetry.ts";
import { restartReasons } from "../../model/restartReasons.ts";
import { stallUnknownReasons, telemetrySignals } from "../../model/telemetrySignals.ts";
import type { FamilyInput, Producers } from "../family.ts";
import { ageInUse, isUp, type PartFreshness } from "../health.ts";
import { combined } from "./combined.ts";

/** The name of the team of workloads that no rule assigns. */
const unassigned = "unassigned";

/**
 * How far the other numbers can be trusted. Faults of reading that are over within a cycle show only in the counters of each
 * kind of object.
 */
export const telemetryProducers: Producers<keyof typeof telemetryMetrics> = {
  fairlead_source_up: ({ health: { sources } }) =>
    sources.map((source) => ({ labels: { source: source.source }, value: isUp(source) ? 1 : 0 })),
  fairlead_source_age_seconds: ({ health: { sources } }) =>
    sources.map((source) => ({ labels: { source: source.source }, value: ageInUse(source) })),
  fairlead_targets: ({ health: { sources } }) => {
    const telemetry = sources.filter((source) => source.telemetry);
    if (telemetry.length === 0) return [];
    const states = telemetry.flatMap((source) => source.parts.map(targetState));
    return targetStates.map((state) => ({
      labels: { state },
      value: states.filter((found) => found === state).length,
    }));
  },
  fairlead_problems: ({ health: { problems } }) =>
    combined(problems.map(({ source, code, severity }) => ({ labels: { source, code, severity }, value: 1 }))),
  fairlead_kubernetes_lists_total: ({ health: { kubernetesReads } }) =>
    kubernetesReads?.map(({ resource, lists }) => ({ labels: { resource }, value: lists })),
  fairlead_kubernetes_watches_total: ({ health: { kubernetesReads } }) =>
    kubernetesReads?.map(({ resource, watches }) => ({ labels: { resource }, value: watches })),
  fairlead_kubernetes_restarts_total: ({ health: { kubernetesReads } }) =>
    kubernetesReads?.flatMap(({ resource, restarts }) =>
      restartReasons.map((reason) => ({ labels: { resource, reason }, value: restarts[reason] })),
    ),
  fairlead_kubernetes_answer_seconds: ({ health: { kubernetesReads } }) =>
    kubernetesReads?.map(({ resource, answerSeconds }) => ({ labels: { resource }, value: answerSeconds })),
  fairlead_samples_dropped: ({ moment }) =>
    Object.entries(moment?.analysis.snapshot.dropped ?? {}).map(([reason, value]) => ({ labels: { reason }, value })),
  fairlead_activity_signal_info: ({ moment }) => {
    const signal = moment?.analysis.snapshot.signal ?? null;
    return signal === null ? [] : [{ labels: { signal }, value: 1 }];
  },
  fairlead_signal_gpus: ({ moment }) =>
    moment?.analysis.signals.pools.flatMap(({ pool, reported }) =>
      telemetrySignals.map((signal) => ({ labels: { pool, signal }, value: reported[signal] })),
    ),
  fairlead_stall_unknown_gpus: ({ moment }) =>
    moment?.analysis.signals.pools.flatMap(({ pool, stallUnknown }) =>
      stallUnknownReasons.map((reason) => ({ labels: { pool, reason }, value: stallUnknown[reason] })),
    ),
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

/** One number about what is allocated; none where nothing is known about that. */
function ofAllocated({ moment }: FamilyInput, of: (analysis: Analysis) => number | null) {
  if (moment === null) return [];
  const { objects, telemetry } = moment.analysis.snapshot.coverage;
  return [{ labels: {}, value: objects || telemetry ? of(moment.analysis) : null }];
}

function estimatedGpus(analysis: Analysis): number {
  return analysis.pools.reduce((sum, pool) => sum + pool.estimated, 0);
}
