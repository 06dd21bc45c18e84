import type { TotalsRow } from "../../exporter/history/history.ts";
import { waterfallOf } from "../../exporter/history/waterfall.ts";
import type { GpuState } from "../../exporter/model/gpuStates.ts";
import type { WaterfallStageRow } from "../document/use.ts";
import { hoursOf } from "./hours.ts";

/** Who can act on GPU time in a state. */
const owners: Readonly<Record<GpuState, string>> = {
  active: "",
  underutilized: "team",
  idle: "team",
  stalled: "team",
  starting: "platform",
  gang_wait: "scheduler",
  unobserved: "platform",
  unavailable: "platform",
  free: "platform",
  idle_node: "platform",
  unattributed: "platform",
  cordoned: "platform",
};

/** Where the GPU time of a window went, in GPU-hours. `stranded`: of the free ones, GPU-hours; `null` where not known. */
export function waterfallRows(rows: readonly TotalsRow[], stranded: number | null): readonly WaterfallStageRow[] {
  return waterfallOf(rows).stages.map(({ level, gpuSeconds, costs, drops }) => ({
    level,
    gpuHours: hoursOf(gpuSeconds),
    costs: { ...costs },
    drops: drops.map((drop) => ({
      state: drop.state,
      isAllocated: drop.isAllocated,
      gpuHours: hoursOf(drop.gpuSeconds),
      costs: { ...drop.costs },
      strandedGpuHours: drop.state === "free" ? stranded : null,
      owner: owners[drop.state],
    })),
  }));
}
