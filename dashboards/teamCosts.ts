import { arithmetic, filter, topk } from "../exporter/catalogue/promql.ts";
import type { Tools } from "./dashboard.ts";
import { barChart } from "./panel/barChart.ts";
import type { PanelDraft } from "./panel/draft.ts";
import { table } from "./panel/table.ts";

/** What the team pays, for what, and how far its budget goes. */
export function teamCosts(tools: Tools): readonly PanelDraft[] {
  return [byNamespace(tools), dearest(tools)];
}

function byNamespace({ query, currency, money, seriesLink }: Tools): PanelDraft {
  const by = ["cluster", "namespace"] as const;
  const aDay = (charge: "allocation" | "use") =>
    arithmetic(query.sum("fairlead_namespace_cost_per_hour", by, { charge, currency }), "*", 24);
  const allocated = topk(10, aDay("allocation"));
  return barChart({
    title: "What does a day of each namespace cost?",
    meaning: `What 24 hours of what each namespace holds now would cost, in ${currency}, and the part of it that is in use. The gap between the two is paid for nothing: look there first.`,
    unit: money,
    size: [12, 9],
    labels: { namespace: "Namespace", cluster: null },
    along: "namespace",
    values: [
      { title: "Allocated", query: allocated, unit: money, decimals: 0 },
      { title: "Used", query: filter(aDay("use"), "and", allocated, by), unit: money, decimals: 0 },
    ],
    colours: { Allocated: "watch", Used: "good" },
    noValue: `nothing allocated has a ${currency} price`,
    links: [seriesLink("cost", "What was it charged?", {})],
  });
}

function dearest({ query, currency, money, rowLink }: Tools): PanelDraft {
  const perHour = query.sum("fairlead_workload_cost_per_hour", ["cluster", "namespace", "workload"], { currency });
  return table({
    title: "Which of its work costs most?",
    meaning: `What 24 hours of what each workload holds now would cost, in ${currency}, used or not; the ten dearest of those that Fairlead follows (cost.topWorkloads). One that nobody needs any more is the fastest saving.`,
    size: [12, 9],
    labels: { workload: "Workload", namespace: "Namespace", cluster: "Cluster" },
    values: [{ title: "a day", query: topk(10, arithmetic(perHour, "*", 24)), unit: money, cell: "bar" }],
    sortBy: "a day",
    noValue: `nothing allocated has a ${currency} price`,
    widths: { Namespace: 95, Cluster: 75, "a day": 120 },
    links: { workload: rowLink("cost", "What was the team charged?", { cluster: "cluster" }) },
  });
}
