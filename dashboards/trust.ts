import { orZero } from "../alerts/rules/recorded.ts";
import { aggregate, secondsSince } from "../exporter/catalogue/promql.ts";
import { seriesOverTime } from "../exporter/catalogue/promqlSeries.ts";
import type { Tools } from "./dashboard.ts";
import type { PanelDraft } from "./panel/draft.ts";
import { limit, limitOf, worseAbove, worseBelow } from "./panel/levels.ts";
import { shows } from "./panel/shown.ts";
import { stat } from "./panel/stat.ts";
import { units } from "./panel/units.ts";
import { partOf } from "./query/queries.ts";

const cluster = ["cluster"] as const;

/** Four numbers that show how far the others of a page can be believed, for every page that people use for decisions. */
export function believed({ query, alerts, seriesLink }: Tools): readonly PanelDraft[] {
  const links = [seriesLink("exporter", "What is wrong?", { cluster: "cluster" })];
  const age = secondsSince(query.recorded("cluster:fairlead_last_cycle_timestamp_seconds:max"));
  const allocated = query.recorded("cluster_pool:fairlead_allocated_gpus:sum");
  const unseen = query.recorded("cluster_pool:fairlead_unobserved_gpus:sum");
  const covered = seriesOverTime("sum", query.recorded("cluster:fairlead_covered_seconds:increase10m"), "$__range");
  const accounted = seriesOverTime("sum", query.recorded("cluster:fairlead_accounted_seconds:increase10m"), "$__range");
  return [
    stat({
      title: "Age of the numbers",
      meaning:
        "Time since Fairlead last completed a cycle. It should be about one interval; what is older shows what was, not what is.",
      unit: units.seconds,
      decimals: 0,
      kind: "now",
      levels: worseAbove(...limitOf(alerts, "GpuExporterStale", ({ ageAboveSeconds }) => ageAboveSeconds)),
      noValue: "no data",
      shows: [shows(age, "{{cluster}}")],
      links,
    }),
    stat({
      title: "Time covered",
      meaning:
        "Part of the time range that Fairlead has accounted for; the rest is in no sum of GPU time or money. It should be all but a few minutes.",
      unit: units.ratio,
      decimals: 1,
      kind: "now",
      levels: worseBelow(limit(0.99, "watch"), limit(0.9, "act")),
      shows: [shows(partOf(covered, accounted), "{{cluster}}")],
      links,
    }),
    stat({
      title: "GPUs not observed",
      meaning:
        "Part of the allocated GPUs without telemetry: nobody knows whether they are used. Find the nodes whose exporter does not answer.",
      unit: units.ratio,
      decimals: 1,
      kind: "now",
      levels: worseAbove(...limitOf(alerts, "GpuTelemetryMissing", ({ unobservedAbove }) => unobservedAbove)),
      noValue: "none allocated",
      shows: [
        shows(
          partOf(aggregate("sum", orZero(unseen, allocated), cluster), aggregate("sum", allocated, cluster)),
          "{{cluster}}",
        ),
      ],
      links,
    }),
    stat({
      title: "GPUs without a team",
      meaning:
        "Part of the allocated GPUs that no team rule assigns: shares and costs of teams are too low by as much. Add rules under `teams`.",
      unit: units.ratio,
      decimals: 1,
      kind: "now",
      levels: worseAbove(...limitOf(alerts, "GpuTeamMappingIncomplete", ({ unassignedAbove }) => unassignedAbove)),
      noValue: "none allocated",
      shows: [shows(query.recorded("cluster:fairlead_unassigned_gpus:ratio"), "{{cluster}}")],
      links,
    }),
  ];
}
