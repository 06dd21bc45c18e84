import type { TelemetrySignal } from "../exporter/model/telemetrySignals.ts";
import type { Tools } from "./dashboard.ts";
import type { PanelDraft } from "./panel/draft.ts";
import { limit, worseAbove } from "./panel/levels.ts";
import { table } from "./panel/table.ts";
import { units } from "./panel/units.ts";

/** Which signals the GPUs of each pool have, and what remains unknown without the others. */
export function signals({ query, rowLink }: Tools): PanelDraft {
  const by = ["cluster", "pool"] as const;
  const having = (signal: TelemetrySignal) => query.max("fairlead_signal_gpus", by, { signal });
  return table({
    title: "Signals of GPUs, by pool",
    meaning:
      "GPUs whose telemetry reports each signal. Stalled GPUs are only found where tensor, DRAM and power are all there, and the model's idle and full power are known; the last column counts allocated GPUs for which this is not known. Add the missing counters to dcgm-exporter, or `gpu.power` to the configuration.",
    size: [24, 7],
    labels: { pool: "Pool", cluster: "Cluster" },
    values: [
      { title: "Engine", query: having("gr_engine_active"), unit: units.gpus },
      { title: "Tensor", query: having("tensor_active"), unit: units.gpus },
      { title: "DRAM", query: having("dram_active"), unit: units.gpus },
      { title: "Power", query: having("power"), unit: units.gpus },
      { title: "XID", query: having("xid"), unit: units.gpus },
      {
        title: "Stall unknown",
        query: query.sum("fairlead_stall_unknown_gpus", by),
        unit: units.gpus,
        levels: worseAbove(limit(1, "watch")),
      },
    ],
    sortBy: "Stall unknown",
    empty: "no GPU is known",
    links: { pool: rowLink("fleet", "What do the GPUs do?", { cluster: "cluster", pool: "pool" }) },
  });
}
