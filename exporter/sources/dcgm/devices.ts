import { compareText } from "../../kernel/compareText.ts";
import { type AttributedRow, claimantsOf, smallest, virtualSlots } from "./claimants.ts";
import type { DeviceShape } from "./deviceReading.ts";
import type { DeviceLabels } from "./pageReading.ts";

/** The limits on the devices of one page. */
export interface DeviceLimits {
  readonly maxGpus: number;
  readonly maxInstancesPerGpu: number;
  readonly maxClaimantsPerDevice: number;
}

/** The devices that rows speak for, and the rows that were beyond the limits. */
export interface ShapedDevices {
  /** The devices, ordered by UUID and instance. */
  readonly devices: readonly DeviceShape[];
  readonly cutRows: readonly number[];
  /** Whether some device named more workloads than the limit. */
  readonly hasCutClaimants: boolean;
}

/**
 * Finds the devices in the rows of one node, which depends on labels only. Rows of a GPU that also has MIG instances are not a
 * device of their own: they only add to what is measured for the whole GPU.
 */
export function shapeDevices(rows: readonly AttributedRow[], limits: DeviceLimits): ShapedDevices {
  const devices: DeviceShape[] = [];
  const cutRows: number[] = [];
  let hasCutClaimants = false;
  const physicalGpus = sorted(Map.groupBy(rows, ({ row }) => row.labels.uuid ?? ""));
  for (const [index, [uuid, gpuRows]] of physicalGpus.entries()) {
    if (index >= limits.maxGpus) {
      addIndexes(cutRows, gpuRows);
      continue;
    }
    const instanceRows = gpuRows.filter(({ row }) => row.labels.gpuInstance !== null);
    const instances = sorted(Map.groupBy(instanceRows, ({ row }) => row.labels.gpuInstance ?? ""));
    for (const [, beyond] of instances.slice(limits.maxInstancesPerGpu)) addIndexes(cutRows, beyond);
    const kept: readonly (readonly [string | null, readonly AttributedRow[]])[] =
      instances.length > 0 ? instances.slice(0, limits.maxInstancesPerGpu) : [[null, gpuRows]];
    const gpuIndexes = indexesOf(gpuRows);
    for (const [gpuInstance, deviceRows] of kept) {
      const shape = shapeDevice({ uuid, gpuInstance, deviceRows, gpuRows, gpuIndexes }, limits);
      hasCutClaimants ||= shape.hasCutClaimants;
      devices.push(shape.device);
    }
  }
  return { devices, cutRows, hasCutClaimants };
}

function shapeDevice(
  found: {
    readonly uuid: string;
    readonly gpuInstance: string | null;
    readonly deviceRows: readonly AttributedRow[];
    readonly gpuRows: readonly AttributedRow[];
    readonly gpuIndexes: readonly number[];
  },
  limits: DeviceLimits,
): { readonly device: DeviceShape; readonly hasCutClaimants: boolean } {
  const { uuid, gpuInstance, deviceRows, gpuRows, gpuIndexes } = found;
  const { claimants, processRows } = claimantsOf(deviceRows, limits.maxClaimantsPerDevice + 1);
  const hasCutClaimants = claimants.length > limits.maxClaimantsPerDevice;
  const isInstance = gpuInstance !== null;
  const labels: DeviceLabels = {
    uuid,
    gpuInstance,
    profile: isInstance ? smallest(deviceRows, ({ row }) => row.labels.profile) : null,
    migUuid: isInstance ? smallest(deviceRows, ({ row }) => row.labels.migUuid) : null,
    modelName: smallest(gpuRows, ({ row }) => row.labels.modelName),
    gpuIndex: smallest(gpuRows, ({ row }) => row.labels.gpuIndex),
    virtualSlots: virtualSlots(deviceRows),
  };
  const kept = hasCutClaimants ? claimants.slice(0, limits.maxClaimantsPerDevice) : claimants;
  const rows = deviceRows.length === gpuRows.length ? gpuIndexes : indexesOf(deviceRows);
  const own = deviceRows.filter(({ workload }) => workload === null);
  // The list of rows is shared where all of them or none of them are without a pod: there are 80,000 of these.
  const ownRows = own.length === deviceRows.length ? rows : own.length === 0 ? rows : indexesOf(own);
  const device = { rows, ownRows, gpuRows: gpuIndexes, processRows, labels, claimants: kept };
  return { device, hasCutClaimants };
}

/** Most devices have one row, so all devices with the same row share one list. */
const lonely: readonly (readonly number[])[] = Array.from({ length: 64 }, (_unused, index) => [index]);

function indexesOf(rows: readonly AttributedRow[]): readonly number[] {
  const [first] = rows;
  const known = rows.length === 1 && first !== undefined ? lonely[first.row.index] : undefined;
  return known ?? rows.map(({ row }) => row.index);
}

/** The indexes are pushed one by one because a hostile page has more rows than a call may have arguments. */
function addIndexes(indexes: number[], rows: readonly AttributedRow[]): void {
  for (const { row } of rows) indexes.push(row.index);
}

/** The groups sorted by name, with numbers in numeric order, so that instance 9 comes before 13. */
function sorted<Row>(groups: ReadonlyMap<string, Row>): readonly (readonly [string, Row])[] {
  const keyed = [...groups].map(([name, rows]) => ({ key: sortKey(name), name, rows }));
  keyed.sort((one, other) => compareText(one.key, other.key) || compareText(one.name, other.name));
  return keyed.map(({ name, rows }) => [name, rows]);
}

function sortKey(name: string): string {
  return /^\d{1,9}$/.test(name) ? `${name.padStart(9, "0")} ${name}` : name;
}
