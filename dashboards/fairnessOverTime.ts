import { arithmetic, filter, where } from "../exporter/catalogue/promql.ts";
import type { Tools } from "./dashboard.ts";
import type { PanelDraft } from "./panel/draft.ts";
import { shows } from "./panel/shown.ts";
import { table } from "./panel/table.ts";
import { timeSeries } from "./panel/timeSeries.ts";
import { units } from "./panel/units.ts";

/** Who borrowed and who lent over time, and who is still owed. */
export function fairnessOverTime(tools: Tools): readonly PanelDraft[] {
  return [borrowed(tools), owed(tools)];
}

function borrowed({ query, seriesLink }: Tools): PanelDraft {
  return timeSeries({
    title: "Who had more, who less than its share?",
    meaning:
      "GPUs that each queue holds above what it is entitled to in a quota domain; below 0 it lacks as many. Lines that mirror each other are two queues where one holds what the other is owed.",
    unit: units.gpusMoreOrLess,
    size: [12, 11],
    noValue: "no shares known",
    shows: [
      shows(
        query.sum("fairlead_fairness_deviation_gpus", ["cluster", "queue", "domain"]),
        "{{queue}} {{domain}} ({{cluster}})",
      ),
    ],
    links: [seriesLink("fairness", "Only this queue", { cluster: "cluster", queue: "queue", domain: "domain" })],
  });
}

function owed({ query, rowLink }: Tools): PanelDraft {
  const by = ["cluster", "queue", "domain", "half_life"] as const;
  const debt = arithmetic(arithmetic(query.sum("fairlead_fairness_debt_gpu_seconds", by), "*", -1), "/", 3600);
  // Less than a GPU-hour is nothing that anybody would give back.
  const missing = where(debt, ">=", 1);
  const part = arithmetic(query.max("fairlead_fairness_deviation_ratio", by), "*", -1);
  return table({
    title: "Who is owed GPU time from before?",
    meaning:
      "GPU-hours that a queue was entitled to and did not get, less what was allocated to it above its share; the past counts half after each half-life, and less than one GPU-hour is left out. The part is that of all it was entitled to. Short half-lives say who lacks now, long ones who has lacked for days.",
    size: [12, 11],
    labels: { queue: "Queue", domain: "Quota domain", half_life: "Half-life", cluster: null },
    values: [
      { title: "Is owed", query: missing, unit: units.gpuHours },
      { title: "Part", query: filter(part, "and", missing, by), unit: units.ratio },
    ],
    sortBy: "Is owed",
    noValue: "–",
    widths: { "Quota domain": 140, "Half-life": 70, "Is owed": 95, Part: 50 },
    links: { queue: rowLink("fairness", "Only this queue", { cluster: "cluster", queue: "queue", domain: "domain" }) },
  });
}
