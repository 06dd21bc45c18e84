import type { ActivitySignal } from "../model/activitySignals.ts";
import { activitySignals } from "../model/activitySignals.ts";
import type { Problem } from "../model/problem.ts";
import type { DeviceReading } from "../model/telemetry.ts";
import type { Device } from "./snapshot.ts";

/** A signal is used for the whole cluster when at least this part of its devices have it, so that teams can be compared. */
const coverageNeeded = 0.95;

/**
 * If a device runs kernels for at least this part of the time while its profiling counters are exactly 0, they do not measure
 * it.
 */
const brokenProfilingUtil = 0.5;

/** Whether profiling has stopped, or another profiler has locked it: its ratios are then stuck at 0 while GPU_UTIL is high. */
export function profilingIsBroken(reading: DeviceReading): boolean {
  if (reading.gpuInstance !== null || reading.gpuUtil === null || reading.gpuUtil < brokenProfilingUtil) return false;
  const { smActive, grEngineActive } = reading;
  return (
    (smActive !== null || grEngineActive !== null) &&
    (smActive === null || smActive === 0) &&
    (grEngineActive === null || grEngineActive === 0)
  );
}

/** One line per node with devices whose profiling counters are not believed. */
export function brokenProfiling(broken: readonly Pick<Device, "node" | "uuid" | "gpuInstance">[]): readonly Problem[] {
  return [...Map.groupBy(broken, (d) => d.node)].map(([node, group]) => ({
    source: "join",
    code: "profiling-broken",
    severity: "warning",
    subject: node,
    message: `node ${node}: the profiling counters of ${new Set(group.map(({ uuid }) => uuid)).size} GPUs (${group[0]?.uuid ?? "?"} first) are 0 ${
      group.some(({ gpuInstance }) => gpuInstance !== null)
        ? "while they draw power as they do at work; what their MIG instances do is unknown"
        : "while GPU_UTIL is high; GPU_UTIL is used for them"
    }`,
    nextStep:
      "Look for another profiler that locks the counters (Nsight, dcgmi profile --pause), or restart the DCGM host engine.",
  }));
}

/** The value of one signal, 0..1; `null` when the device does not have it. GPU_UTIL says nothing about MIG instances. */
export function signalValue(reading: DeviceReading, signal: ActivitySignal): number | null {
  if (signal === "gpu_util") return reading.gpuInstance === null ? reading.gpuUtil : null;
  if (profilingIsBroken(reading)) return null;
  return signal === "sm_active" ? reading.smActive : reading.grEngineActive;
}

/**
 * The signal for the whole cluster: the best one that at least 95 % of its devices have; if none has that many, the one
 * that most devices have. `null` when no device has any.
 */
export function chooseSignal(
  readings: readonly DeviceReading[],
  fixed: ActivitySignal | "auto",
): ActivitySignal | null {
  if (fixed !== "auto") return readings.length > 0 ? fixed : null;
  let most: { readonly signal: ActivitySignal | null; readonly count: number } = { signal: null, count: 0 };
  for (const signal of activitySignals) {
    let count = 0;
    for (const reading of readings) if (has(reading, signal)) count += 1;
    if (readings.length > 0 && count >= coverageNeeded * readings.length) return signal;
    if (count > most.count) most = { signal, count };
  }
  return most.signal;
}

/** Broken profiling still counts as having the signal: one broken device must not change everyone's signal. */
function has(reading: DeviceReading, signal: ActivitySignal): boolean {
  if (signal === "gpu_util") return signalValue(reading, signal) !== null;
  return (signal === "sm_active" ? reading.smActive : reading.grEngineActive) !== null;
}

/** A device's activity by the cluster's signal, else by the best one that it has. */
export function activityOf(
  reading: DeviceReading,
  chosen: ActivitySignal | null,
): { readonly activity: number; readonly signal: ActivitySignal } | null {
  const best = chosen === null ? null : signalValue(reading, chosen);
  if (chosen !== null && best !== null) return { activity: best, signal: chosen };
  for (const signal of activitySignals) {
    const activity = signal === chosen ? null : signalValue(reading, signal);
    if (activity !== null) return { activity, signal };
  }
  return null;
}

/**
 * Whether every signal that the device has is at most `threshold`; `null` when it has none. GPU_UTIL of a MIG instance
 * is absent, a constant 0 or the GPU's: it is no signal of the instance.
 */
export function isIdle(reading: DeviceReading, threshold: number): boolean | null {
  const { smActive, grEngineActive, dramActive, encoderUtil, decoderUtil } = reading;
  const gpuUtil = signalValue(reading, "gpu_util");
  if (isAbove(smActive, threshold) || isAbove(grEngineActive, threshold) || isAbove(gpuUtil, threshold)) return false;
  if (isAbove(dramActive, threshold) || isAbove(encoderUtil, threshold) || isAbove(decoderUtil, threshold))
    return false;
  const hasAny =
    smActive !== null ||
    grEngineActive !== null ||
    gpuUtil !== null ||
    dramActive !== null ||
    encoderUtil !== null ||
    decoderUtil !== null;
  return hasAny ? true : null;
}

function isAbove(value: number | null, threshold: number): boolean {
  return value !== null && !(value <= threshold);
}
