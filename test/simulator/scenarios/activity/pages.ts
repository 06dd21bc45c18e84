import type { ExporterSpec } from "../../../../simulator/scenario.ts";
import { exporterOf } from "../../../../simulator/scenarios/parts.ts";

const power = "DCGM_FI_DEV_POWER_USAGE";
const tensor = "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE";

/** What an exporter's page shows: its list of counters. */
export interface PageKind {
  readonly name: string;
  readonly exporter: ExporterSpec | null;
  /** Tensor, DRAM and power: what it takes to see that a GPU computes nothing. */
  readonly showsStalls: boolean;
  /** Whether an instance of a GPU that is cut is active: GPU_UTIL says nothing about it. */
  readonly showsInstances: boolean;
  /** Clock event reasons. */
  readonly showsReasons: boolean;
}

const plain = { showsStalls: true, showsInstances: true, showsReasons: false } as const;
const own = { ...plain, showsReasons: true } as const;
const blind = { showsStalls: false, showsInstances: false, showsReasons: false } as const;
const all = { counters: "all" } as const;

/** Those that come up more often stand more than once. */
export const pageKinds = [
  { name: "the default list of 4.x", exporter: exporterOf("4.5"), ...plain },
  { name: "the default list of 4.x", exporter: exporterOf("4.8.3"), ...plain },
  { name: "the GPU operator's list, 3.x", exporter: exporterOf("3.3"), ...plain },
  { name: "all that Fairlead reads", exporter: exporterOf("4.5", all), ...own },
  { name: "all that Fairlead reads", exporter: exporterOf("4.8.3", all), ...own },
  { name: "without power", exporter: exporterOf("4.5", { ...all, lacks: [power] }), ...own, showsStalls: false },
  { name: "without the tensor pipe", exporter: exporterOf("4.5", { lacks: [tensor] }), ...plain, showsStalls: false },
  { name: "without profiling (3.x)", exporter: exporterOf("3.3", { counters: "default" }), ...blind },
  { name: "without profiling (1.x)", exporter: exporterOf("old-namespace", { counters: "default" }), ...blind },
  { name: "no exporter", exporter: null, ...blind },
] as const satisfies readonly PageKind[];
