/** What telemetry may show about a GPU; the signals that a cluster has decide what is known about it. */
export const telemetrySignals = [
  "sm_active",
  "gr_engine_active",
  "gpu_util",
  "tensor_active",
  "dram_active",
  "other_pipes",
  "memory_copy_util",
  "traffic",
  "power",
  "power_limit",
  "clock_event_reasons",
  "xid",
] as const;

export type TelemetrySignal = (typeof telemetrySignals)[number];

/** Why it is not known whether an allocated GPU is stalled; the first reason that applies to it. */
export const stallUnknownReasons = [
  "no_telemetry",
  "shared",
  "no_tensor",
  "no_dram",
  "no_power",
  "no_engine",
  "locked_profiling",
  "unknown_model",
] as const;

export type StallUnknownReason = (typeof stallUnknownReasons)[number];

/** A count of 0 GPUs for every signal, to be added to. */
export const noneReported = (): Record<TelemetrySignal, number> => ({
  sm_active: 0,
  gr_engine_active: 0,
  gpu_util: 0,
  tensor_active: 0,
  dram_active: 0,
  other_pipes: 0,
  memory_copy_util: 0,
  traffic: 0,
  power: 0,
  power_limit: 0,
  clock_event_reasons: 0,
  xid: 0,
});

/** A count of 0 GPUs for every reason, to be added to. */
export const noneUnknown = (): Record<StallUnknownReason, number> => ({
  no_telemetry: 0,
  shared: 0,
  no_tensor: 0,
  no_dram: 0,
  no_power: 0,
  no_engine: 0,
  locked_profiling: 0,
  unknown_model: 0,
});
