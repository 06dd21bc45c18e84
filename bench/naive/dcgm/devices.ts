import type { DeviceReading } from "../../../exporter/model/telemetry.ts";
import { type AttributedRow, claimantsOf, deviceValue, largestOf, smallest, virtualSlots } from "./claimants.ts";

/** The most GPUs, instances and workloads that are taken from one page. */
export interface DeviceLimits {
  readonly maxGpus: number;
  readonly maxInstancesPerGpu: number;
  readonly maxClaimantsPerDevice: number;
}

/** The devices of a page, and the rows beyond the limits. */
export interface ReducedDevices {
  /** The devices, sorted by UUID and instance. */
  readonly devices: readonly DeviceReading[];
  readonly cutRows: readonly AttributedRow[];
  /** Whether some device named more workloads than the limit. */
  readonly hasCutClaimants: boolean;
}

/**
 * Reduces the rows of one node to its devices. Rows of a GPU that also has MIG instances make no device of their own: they only
 * add what is measured for the whole GPU.
 */
export function reduceDevices(rows: readonly AttributedRow[], limits: DeviceLimits): ReducedDevices {
  const devices: DeviceReading[] = [];
  const cutRows: AttributedRow[] = [];
  let hasCutClaimants = false;
  const physicalGpus = sorted(groupBy(rows, ({ row }) => row.labels.uuid ?? ""));
  for (const [index, [uuid, gpuRows]] of physicalGpus.entries()) {
    if (index >= limits.maxGpus) {
      cutRows.push(...gpuRows);
      continue;
    }
    const instanceRows = gpuRows.filter(({ row }) => row.labels.gpuInstance !== null);
    const instances = sorted(groupBy(instanceRows, ({ row }) => row.labels.gpuInstance ?? ""));
    for (const [, beyond] of instances.slice(limits.maxInstancesPerGpu)) cutRows.push(...beyond);
    const kept: readonly (readonly [string | null, readonly AttributedRow[]])[] =
      instances.length > 0 ? instances.slice(0, limits.maxInstancesPerGpu) : [[null, gpuRows]];
    for (const [gpuInstance, deviceRows] of kept) {
      const device = readDevice(uuid, gpuInstance, deviceRows, gpuRows, limits.maxClaimantsPerDevice + 1);
      const isOver = device.claimants.length > limits.maxClaimantsPerDevice;
      hasCutClaimants ||= isOver;
      devices.push(isOver ? { ...device, claimants: device.claimants.slice(0, limits.maxClaimantsPerDevice) } : device);
    }
  }
  return { devices, cutRows, hasCutClaimants };
}

function readDevice(
  uuid: string,
  gpuInstance: string | null,
  rows: readonly AttributedRow[],
  gpuRows: readonly AttributedRow[],
  maxClaimants: number,
): DeviceReading {
  const isInstance = gpuInstance !== null;
  const used = deviceValue(rows, "memoryUsedBytes");
  const total = deviceValue(rows, "memoryTotalBytes");
  const reserved = deviceValue(rows, "memoryReservedBytes");
  const sum = used + deviceValue(rows, "memoryFreeBytes") + (Number.isNaN(reserved) ? 0 : reserved);
  return {
    uuid,
    gpuInstance,
    profile: isInstance ? smallest(rows, ({ row }) => row.labels.profile) : null,
    migUuid: isInstance ? smallest(rows, ({ row }) => row.labels.migUuid) : null,
    modelName: smallest(gpuRows, ({ row }) => row.labels.modelName),
    gpuIndex: smallest(gpuRows, ({ row }) => row.labels.gpuIndex),
    // NVML does not measure these four on an instance; if a page has them for one, they are a constant 0.
    gpuUtil: isInstance ? null : orNull(deviceValue(rows, "gpuUtil")),
    encoderUtil: isInstance ? null : orNull(deviceValue(rows, "encoderUtil")),
    decoderUtil: isInstance ? null : orNull(deviceValue(rows, "decoderUtil")),
    grEngineActive: orNull(deviceValue(rows, "grEngineActive")),
    smActive: orNull(deviceValue(rows, "smActive")),
    dramActive: orNull(deviceValue(rows, "dramActive")),
    tensorActive: orNull(deviceValue(rows, "tensorActive")),
    pipeActive: largest(pipes.map((signal) => deviceValue(rows, signal))),
    memoryCopyUtil: isInstance ? null : orNull(deviceValue(rows, "memoryCopyUtil")),
    movedBytesPerSecond: sumOf(traffic.map((signal) => deviceValue(rows, signal))),
    memoryUsedBytes: orNull(used),
    memoryTotalBytes: orNull(Number.isNaN(total) ? sum : total),
    powerWatts: orNull(largestOf(gpuRows, "powerWatts")),
    powerLimitWatts: orNull(largestOf(gpuRows, "powerLimitWatts")),
    clockEventReasons: orNull(largestOf(gpuRows, "clockEventReasons")),
    energyJoules: orNull(largestOf(gpuRows, "energyJoules")),
    temperatureCelsius: orNull(largestOf(gpuRows, "temperatureCelsius")),
    lastXid: orNull(largestOf(gpuRows, "lastXid")),
    rowRemapPending: orNull(largestOf(gpuRows, "rowRemapPending")),
    rowRemapFailure: orNull(largestOf(gpuRows, "rowRemapFailure")),
    dcgmHealth: orNull(largestOf(gpuRows, "dcgmHealth")),
    virtualSlots: virtualSlots(rows),
    claimants: claimantsOf(rows, isInstance, maxClaimants),
  };
}

const pipes = ["fp64Active", "fp32Active", "fp16Active", "integerActive"] as const;
const traffic = ["pcieSentBytes", "pcieReceivedBytes", "nvlinkSentBytes", "nvlinkReceivedBytes"] as const;

const isKnown = (value: number): boolean => !Number.isNaN(value);

function largest(values: readonly number[]): number | null {
  const known = values.filter(isKnown);
  return known.length === 0 ? null : Math.max(...known);
}

function sumOf(values: readonly number[]): number | null {
  const known = values.filter(isKnown);
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0);
}

function orNull(value: number): number | null {
  return Number.isNaN(value) ? null : value;
}

function groupBy(
  rows: readonly AttributedRow[],
  key: (row: AttributedRow) => string,
): ReadonlyMap<string, readonly AttributedRow[]> {
  const groups = new Map<string, AttributedRow[]>();
  for (const row of rows) {
    const name = key(row);
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [row]);
    else group.push(row);
  }
  return groups;
}

/** Groups sorted by name, with numbers in numeric order, so that instance 9 comes before 13. */
function sorted<Row>(groups: ReadonlyMap<string, Row>): readonly (readonly [string, Row])[] {
  const keyed = [...groups.entries()].map((group) => ({ key: sortKey(group[0]), group }));
  keyed.sort((one, other) =>
    one.key === other.key ? (one.group[0] < other.group[0] ? -1 : 1) : one.key < other.key ? -1 : 1,
  );
  return keyed.map(({ group }) => group);
}

function sortKey(name: string): string {
  return /^\d{1,9}$/.test(name) ? `${name.padStart(9, "0")} ${name}` : name;
}
