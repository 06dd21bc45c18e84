import type { Tools } from "./dashboard.ts";
import type { PanelDraft } from "./panel/draft.ts";
import { shows } from "./panel/shown.ts";
import { table } from "./panel/table.ts";
import { timeSeries } from "./panel/timeSeries.ts";
import { units } from "./panel/units.ts";

const byLevel = ["cluster", "pool", "level"] as const;
const byGang = [...byLevel, "gang_gpus"] as const;

/** What is shown where there is nothing to show: the panels are about nodes whose place is known. */
const noLevel = "no level is known: label nodes by rack";

/** What gangs can use of the free GPUs of each level of the cluster's topology, such as racks. */
export function topology(tools: Tools): readonly PanelDraft[] {
  return [gangSlots(tools), domains(tools), unusableOverTime(tools)];
}

function gangSlots({ query, rowLink }: Tools): PanelDraft {
  const slots = query.max("fairlead_topology_gang_slots", byGang);
  const possible = query.max("fairlead_topology_possible_gang_slots", byGang);
  return table({
    title: "Gangs that fit now, by level and size",
    meaning:
      "Gangs of so many GPUs that could start now side by side, each within one domain of the level, such as a rack, and how many there would be if all nodes were empty. Sizes that no empty domain could take are left out. Where none fits and GPUs are free, they are scattered: a plan of moves may open a slot.",
    size: [12, 9],
    labels: { pool: "Pool", level: "Level", gang_gpus: "GPUs", cluster: "Cluster" },
    values: [
      { title: "Possible", query: possible, unit: units.count },
      { title: "Fit now", query: slots, unit: units.count },
    ],
    nonZero: ["Possible"],
    sortBy: "Possible",
    empty: noLevel,
    widths: { GPUs: 70, Cluster: 90, Possible: 95, "Fit now": 90 },
    links: { pool: rowLink("fairness", "Which work waits?", { cluster: "cluster" }) },
  });
}

function domains({ query, page }: Tools): PanelDraft {
  return table({
    title: "Domains and unusable GPUs, by level",
    meaning:
      "Domains of each level, such as racks, that have nodes of the pool; those whose GPUs are all free; free GPUs that gangs are expected not to be able to use, because too few are in one domain; and nodes in no domain, which no gang of this level can use.",
    size: [12, 9],
    labels: { pool: "Pool", level: "Level", cluster: "Cluster" },
    values: [
      { title: "Domains", query: query.max("fairlead_topology_domains", byLevel), unit: units.count },
      { title: "Wholly free", query: query.max("fairlead_topology_free_domains", byLevel), unit: units.count },
      {
        title: "Unusable",
        query: query.max("fairlead_topology_unusable_gpus", byLevel),
        unit: units.gpus,
        decimals: 1,
      },
      { title: "Nodes outside", query: query.max("fairlead_topology_nodes_outside", byLevel), unit: units.count },
    ],
    sortBy: "Unusable",
    empty: noLevel,
    widths: { Cluster: 90, Domains: 90, "Wholly free": 105, Unusable: 110, "Nodes outside": 120 },
    links: { pool: page("/recommendations", "Which moves would help?") },
  });
}

function unusableOverTime({ query, seriesLink }: Tools): PanelDraft {
  return timeSeries({
    title: "Free GPUs that no gang can use, by level",
    meaning:
      "Free GPUs in domains of each level that gangs are expected not to be able to use: the mean over the sizes that an empty domain could take. It rises while small pods spread over racks, and is of no matter while almost nothing is free.",
    unit: units.gpus,
    decimals: 1,
    size: [24, 8],
    noValue: noLevel,
    shows: [shows(query.max("fairlead_topology_unusable_gpus", byLevel), "{{level}}, {{pool}} ({{cluster}})")],
    links: [seriesLink("fleet", "What does the pool have?", { cluster: "cluster", pool: "pool" })],
  });
}
