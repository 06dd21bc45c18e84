import type { Tools } from "./dashboard.ts";
import type { PanelDraft, ValueLink } from "./panel/draft.ts";
import { table } from "./panel/table.ts";
import { units } from "./panel/units.ts";

/** How much the GPUs of each pool work, by signals that only change with computing. */
export function poolWork(tools: Tools): PanelDraft {
  const link = tools.rowLink("fleet", "What do these GPUs do?", { cluster: "cluster", pool: "pool" });
  return workOfGpus(tools, "pool", "one pod holds alone. Where a pool", link);
}

/** How much the GPUs that the team holds work, by the same signals. */
export function teamWork(tools: Tools): PanelDraft {
  const link = tools.rowLink("waste", "What is wasted here?", { cluster: "cluster", pool: "pool" });
  return workOfGpus(tools, "team", "one pod of the team holds alone. Where the team", link);
}

function workOfGpus({ query }: Tools, of: "pool" | "team", whose: string, link: ValueLink): PanelDraft {
  const by = ["cluster", "pool"] as const;
  return table({
    title: "Work of GPUs by pool",
    meaning: `How busy tensor cores are, how much of the time memory is read or written, and power over what the GPUs may draw, of GPUs that ${whose} is busy and all three are low, its GPUs wait more than they compute. A gap is a signal that no telemetry reports.`,
    size: [24, 6],
    labels: { pool: "Pool", cluster: "Cluster" },
    values: [
      { title: "Tensor", query: query.max(`fairlead_${of}_tensor_active_ratio`, by), unit: units.ratio },
      { title: "DRAM", query: query.max(`fairlead_${of}_dram_active_ratio`, by), unit: units.ratio },
      { title: "Power", query: query.max(`fairlead_${of}_power_ratio`, by), unit: units.ratio },
    ],
    sortBy: "Power",
    empty: "no telemetry reports it",
    links: { pool: link },
  });
}
