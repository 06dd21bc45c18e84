import type { DeviceReading, TelemetryClaimant } from "../../model/telemetry.ts";
import { withProcessValues } from "./claimants.ts";
import { largestOf } from "./columns.ts";
import { type Signal, signals } from "./dialects.ts";
import { type DeviceLabels, PageReading, readingNumbers, reserveNumbers } from "./pageReading.ts";

/** The rows of the columns that make up a device, and what its labels say. */
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
  labels: DeviceLabels;
  /** The workloads that its rows name, with what was last read of their processes. */
  claimants: readonly TelemetryClaimant[];
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
 * Reads a device from the columns. `claimants` is the same list as on the page before for as long as its content is the same.
 */
export function readDevice(shape: DeviceShape, values: Float64Array): PageReading {
  const { labels, gpuRows } = shape;
  const isInstance = labels.gpuInstance !== null;
  const used = deviceValue(values, shape, usedColumn);
  const total = deviceValue(values, shape, totalColumn);
  const { values: into, at } = reserveNumbers();
  // NVML does not measure these four on an instance; where a page has them there, they are a constant 0.
  into[at] = isInstance ? Number.NaN : deviceValue(values, shape, gpuUtilColumn);
  into[at + 1] = deviceValue(values, shape, engineColumn);
  into[at + 2] = deviceValue(values, shape, smColumn);
  into[at + 3] = deviceValue(values, shape, dramColumn);
  into[at + 4] = deviceValue(values, shape, tensorColumn);
  into[at + 5] = largestValue(values, shape, pipeColumns);
  into[at + 6] = isInstance ? Number.NaN : deviceValue(values, shape, memoryCopyColumn);
  into[at + 7] = sumOfValues(values, shape, trafficColumns);
  into[at + 8] = isInstance ? Number.NaN : deviceValue(values, shape, encoderColumn);
  into[at + 9] = isInstance ? Number.NaN : deviceValue(values, shape, decoderColumn);
  into[at + 10] = used;
  into[at + 11] = Number.isNaN(total) ? sumOfMemory(values, shape, used) : total;
  into[at + 12] = largestOf(values, gpuRows, powerColumn);
  into[at + 13] = largestOf(values, gpuRows, powerLimitColumn);
  into[at + 14] = largestOf(values, gpuRows, clockEventColumn);
  into[at + 15] = largestOf(values, gpuRows, energyColumn);
  into[at + 16] = largestOf(values, gpuRows, temperatureColumn);
  into[at + 17] = largestOf(values, gpuRows, xidColumn);
  into[at + 18] = largestOf(values, gpuRows, remapPendingColumn);
  into[at + 19] = largestOf(values, gpuRows, remapFailureColumn);
  into[at + 20] = largestOf(values, gpuRows, healthColumn);
  if (shape.processRows !== null) shape.claimants = claimantsNow(values, shape, shape.processRows, isInstance);
  return new PageReading(labels, shape.claimants, into, at);
}

/** The key that identifies a device on the pages of its node. */
export function deviceKey({ uuid, gpuInstance }: Pick<DeviceReading, "uuid" | "gpuInstance">): string {
  return `${gpuInstance ?? ""}\n${uuid}`;
}

/** Whether two readings of a device have the same numbers, apart from those of single pods. */
export function isSameMeasurement(one: DeviceReading, other: DeviceReading): boolean {
  return readingNumbers.every((number) => one[number] === other[number]);
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
  return withProcessValues(shape.claimants, processRows, values, deviceUtil, deviceMemory);
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
