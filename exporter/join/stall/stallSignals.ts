import type { DeviceReading } from "../../model/telemetry.ts";

type Signal = readonly [
  name: string,
  unit: string,
  /** The value of a reading, in the unit; `null` if the exporter does not report it. */
  of: (reading: DeviceReading) => number | null,
];

const percent = (ratio: number | null): number | null => (ratio === null ? null : Math.round(ratio * 1000) / 10);
const rounded = (value: number | null): number | null => (value === null ? null : Math.round(value));

const signals: readonly Signal[] = [
  ["GPU_UTIL", "%", ({ gpuUtil }) => percent(gpuUtil)],
  ["GR_ENGINE_ACTIVE", "%", ({ grEngineActive }) => percent(grEngineActive)],
  ["SM_ACTIVE", "%", ({ smActive }) => percent(smActive)],
  ["tensor pipe", "%", ({ tensorActive }) => percent(tensorActive)],
  ["other pipes", "%", ({ pipeActive }) => percent(pipeActive)],
  ["DRAM", "%", ({ dramActive }) => percent(dramActive)],
  ["power", "W", ({ powerWatts }) => rounded(powerWatts)],
  [
    "PCIe and NVLink",
    "MB/s",
    ({ movedBytesPerSecond: bytes }) => (bytes === null ? null : Math.round(bytes / 1e5) / 10),
  ],
];

/** What GPUs show about whether they compute, in words: `GPU_UTIL 100 %`, or `power 118 to 131 W` for several that differ. */
export function stallSignals(readings: readonly DeviceReading[]): readonly string[] {
  return signals.flatMap(([name, unit, of]) => {
    const values = readings.map(of).filter((value) => value !== null);
    if (values.length === 0) return [];
    const least = values.reduce((one, other) => Math.min(one, other));
    const most = values.reduce((one, other) => Math.max(one, other));
    return [`${name} ${least === most ? least : `${least} to ${most}`} ${unit}`];
  });
}
