import type { DeviceReading, TelemetryClaimant } from "../../model/telemetry.ts";
import { withProcessValues } from "./claimants.ts";
import { largestOf } from "./columns.ts";
import { type Signal, signals } from "./dialects.ts";

/** The rows of the columns that make up a device, and what was last read of it. */
export interface DeviceShape {
  /** The device's own rows: those of the instance, or of the whole GPU. */
  readonly rows: readonly number[];
  /**
   * The rows without a pod, or all rows if each has a pod. Beside rows without a pod, those with a pod may be per-process
   * values.
   */
  readonly ownRows: readonly number[];
  /** All rows of its GPU. */
  readonly gpuRows: readonly number[];
  /** The rows with per-process values of each claimant; see `ClaimedDevice`. */
  readonly processRows: readonly (readonly number[])[] | null;
  /** The last reading. It carries what the labels contain; before the first page its values are `null`. */
  last: DeviceReading;
}

const columnOf = Object.fromEntries(signals.map((signal, column) => [signal, column]));
const column = (signal: Signal): number => columnOf[signal] ?? -1;
const gpuUtilColumn = column("gpuUtil");
const encoderColumn = column("encoderUtil");
const decoderColumn = column("decoderUtil");
const engineColumn = column("grEngineActive");
const smColumn = column("smActive");
const dramColumn = column("dramActive");
const tensorColumn = column("tensorActive");
const pipeColumns = (["fp64Active", "fp32Active", "fp16Active", "integerActive"] as const).map(column);
const memoryCopyColumn = column("memoryCopyUtil");
const trafficColumns = (["pcieSentBytes", "pcieReceivedBytes", "nvlinkSentBytes", "nvlinkReceivedBytes"] as const).map(
  column,
);
const usedColumn = column("memoryUsedBytes");
const freeColumn = column("memoryFreeBytes");
const reservedColumn = column("memoryReservedBytes");
const totalColumn = column("memoryTotalBytes");
const powerColumn = column("powerWatts");
const powerLimitColumn = column("powerLimitWatts");
const clockEventColumn = column("clockEventReasons");
const energyColumn = column("energyJoules");
const temperatureColumn = column("temperatureCelsius");
const xidColumn = column("lastXid");
const remapPendingColumn = column("rowRemapPending");
const remapFailureColumn = column("rowRemapFailure");
const healthColumn = column("dcgmHealth");

/**
 * Reads a device from the columns and remembers the reading as the shape's last. Where nothing changed, the result is the same
 * object as for the last page; `claimants` is the same list as before for as long as its content is the same.
 */
export function readDevice(shape: DeviceShape, values: Float64Array): DeviceReading {
  const { last } = shape;
  const isInstance = last.gpuInstance !== null;
  const used = deviceValue(values, shape, usedColumn);
  const total = deviceValue(values, shape, totalColumn);
  const next: DeviceReading = {
    uuid: last.uuid,
    gpuInstance: last.gpuInstance,
    profile: last.profile,
    migUuid: last.migUuid,
    modelName: last.modelName,
    gpuIndex: last.gpuIndex,
    // NVML does not measure these four on an instance; where a page has them there, they are a constant 0.
    gpuUtil: isInstance ? null : orNull(deviceValue(values, shape, gpuUtilColumn)),
    grEngineActive: orNull(deviceValue(values, shape, engineColumn)),
    smActive: orNull(deviceValue(values, shape, smColumn)),
    dramActive: orNull(deviceValue(values, shape, dramColumn)),
    tensorActive: orNull(deviceValue(values, shape, tensorColumn)),
    pipeActive: orNull(largestValue(values, shape, pipeColumns)),
    memoryCopyUtil: isInstance ? null : orNull(deviceValue(values, shape, memoryCopyColumn)),
    movedBytesPerSecond: orNull(sumOfValues(values, shape, trafficColumns)),
    encoderUtil: isInstance ? null : orNull(deviceValue(values, shape, encoderColumn)),
    decoderUtil: isInstance ? null : orNull(deviceValue(values, shape, decoderColumn)),
    memoryUsedBytes: orNull(used),
    memoryTotalBytes: orNull(Number.isNaN(total) ? sumOfMemory(values, shape, used) : total),
    powerWatts: orNull(largestOf(values, shape.gpuRows, powerColumn)),
    powerLimitWatts: orNull(largestOf(values, shape.gpuRows, powerLimitColumn)),
    clockEventReasons: orNull(largestOf(values, shape.gpuRows, clockEventColumn)),
    energyJoules: orNull(largestOf(values, shape.gpuRows, energyColumn)),
    temperatureCelsius: orNull(largestOf(values, shape.gpuRows, temperatureColumn)),
    lastXid: orNull(largestOf(values, shape.gpuRows, xidColumn)),
    rowRemapPending: orNull(largestOf(values, shape.gpuRows, remapPendingColumn)),
    rowRemapFailure: orNull(largestOf(values, shape.gpuRows, remapFailureColumn)),
    dcgmHealth: orNull(largestOf(values, shape.gpuRows, healthColumn)),
    virtualSlots: last.virtualSlots,
    claimants: shape.processRows === null ? last.claimants : claimantsNow(values, shape, shape.processRows, isInstance),
  };
  if (next.claimants === last.claimants && isSameMeasurement(next, last)) return last;
  shape.last = next;
  return next;
}

/** The key that identifies a device on the pages of its node. */
export function deviceKey({ uuid, gpuInstance }: DeviceReading): string {
  return `${gpuInstance ?? ""}\n${uuid}`;
}

/** Whether two readings of a device have the same numbers, apart from those of single pods. */
export function isSameMeasurement(one: DeviceReading, other: DeviceReading): boolean {
  return (
    one.energyJoules === other.energyJoules &&
    one.powerWatts === other.powerWatts &&
    one.temperatureCelsius === other.temperatureCelsius &&
    one.gpuUtil === other.gpuUtil &&
    one.grEngineActive === other.grEngineActive &&
    one.smActive === other.smActive &&
    one.dramActive === other.dramActive &&
    one.tensorActive === other.tensorActive &&
    one.pipeActive === other.pipeActive &&
    one.memoryCopyUtil === other.memoryCopyUtil &&
    one.movedBytesPerSecond === other.movedBytesPerSecond &&
    one.powerLimitWatts === other.powerLimitWatts &&
    one.clockEventReasons === other.clockEventReasons &&
    one.memoryUsedBytes === other.memoryUsedBytes &&
    one.memoryTotalBytes === other.memoryTotalBytes &&
    one.encoderUtil === other.encoderUtil &&
    one.decoderUtil === other.decoderUtil &&
    one.lastXid === other.lastXid &&
    one.rowRemapPending === other.rowRemapPending &&
    one.rowRemapFailure === other.rowRemapFailure &&
    one.dcgmHealth === other.dcgmHealth
  );
}

function sumOfMemory(values: Float64Array, shape: DeviceShape, used: number): number {
  const reserved = deviceValue(values, shape, reservedColumn);
  return used + deviceValue(values, shape, freeColumn) + (Number.isNaN(reserved) ? 0 : reserved);
}

function claimantsNow(
  values: Float64Array,
  shape: DeviceShape,
  processRows: readonly (readonly number[])[],
  isInstance: boolean,
): readonly TelemetryClaimant[] {
  const deviceUtil = isInstance ? Number.NaN : largestOf(values, shape.ownRows, gpuUtilColumn);
  const deviceMemory = largestOf(values, shape.ownRows, usedColumn);
  return withProcessValues(shape.last.claimants, processRows, values, deviceUtil, deviceMemory);
}

/** The value of a device: that of its rows without a pod if these have one, else the largest. */
function deviceValue(values: Float64Array, shape: DeviceShape, of: number): number {
  const own = largestOf(values, shape.ownRows, of);
  return Number.isNaN(own) && shape.ownRows !== shape.rows ? largestOf(values, shape.rows, of) : own;
}

/** The largest value of several signals; `NaN` where the device has none of them. */
function largestValue(values: Float64Array, shape: DeviceShape, columns: readonly number[]): number {
  let largest = Number.NaN;
  for (const of of columns) {
    const value = deviceValue(values, shape, of);
    if (!Number.isNaN(value) && !(value <= largest)) largest = value;
  }
  return largest;
}

/** The sum of several signals. Those that the device lacks add nothing; `NaN` where it has none of them. */
function sumOfValues(values: Float64Array, shape: DeviceShape, columns: readonly number[]): number {
  let sum = Number.NaN;
  for (const of of columns) {
    const value = deviceValue(values, shape, of);
    if (!Number.isNaN(value)) sum = Number.isNaN(sum) ? value : sum + value;
  }
  return sum;
}

function orNull(value: number): number | null {
  return Number.isNaN(value) ? null : value;
}
