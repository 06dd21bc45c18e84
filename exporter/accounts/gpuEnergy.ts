import type { NodeView, Snapshot } from "../join/snapshot.ts";
import type { DeviceReading } from "../model/telemetry.ts";

/**
 * Energy that the GPUs drew over a step, divided by the physical GPUs that are counted on them. It is NaN where it is unknown,
 * and then nothing is added.
 */
export interface StepEnergy {
  /** Joules per GPU, by index into the earlier `Snapshot.devices`. */
  readonly ofDevice: Float64Array;
  /** Joules per GPU for parts of GPUs that are no device. */
  ofUnpartitioned(node: string, pool: string): number;
}

/** No GPU draws more power than this: a counter that rises faster is not believed. */
const impossibleWatts = 10_000;
/** A page may be up to this old, so that the rise of a counter may cover more than the seconds of the step. */
const oldestPageSeconds = 120;

/**
 * Energy of each GPU over a step: the difference of its energy counter; where that fell or is missing, the mean of the power
 * at both ends times the seconds; unknown if the step begins with neither. A GPU counts once, even if each of its MIG
 * instances repeats its reading, and its energy is divided among everything that is counted on it by parts of the GPU.
 * `matches` is the result of `matchDevices`.
 */
export function stepEnergy(earlier: Snapshot, later: Snapshot, matches: Int32Array, seconds: number): StepEnergy {
  const ofDevice = new Float64Array(earlier.devices.length).fill(Number.NaN);
  const unpartitioned = Map.groupBy(earlier.unpartitioned, (part) => part.node);
  const perPool = new Map<string, Map<string, number>>();
  for (const node of earlier.nodes) {
    const parts = unpartitioned.get(node.name) ?? [];
    const isCut = parts.length > 0 || node.devices.some((index) => earlier.devices[index]?.gpuInstance !== null);
    if (isCut) perPool.set(node.name, sharePartitionedGpus(node, parts));
    else for (const index of node.devices) ofDevice[index] = wholeGpu(index);
  }
  return { ofDevice, ofUnpartitioned: (node, pool) => perPool.get(node)?.get(pool) ?? Number.NaN };

  function wholeGpu(index: number): number {
    const device = earlier.devices[index];
    if (device === undefined || !(device.weight > 0)) return Number.NaN;
    return joulesOf(device.reading, later.devices[matches[index] ?? -1]?.reading ?? null, seconds) / device.weight;
  }

  /** Fills `ofDevice` for a node with MIG GPUs; returns what its unpartitioned parts drew, by pool. */
  function sharePartitionedGpus(node: NodeView, parts: Snapshot["unpartitioned"]): Map<string, number> {
    const physicalGpus = new Map<string, PartitionedGpu>();
    const gpuOf = (uuid: string): PartitionedGpu => {
      const physicalGpu = physicalGpus.get(uuid) ?? { weight: 0, before: unread, after: unread };
      physicalGpus.set(uuid, physicalGpu);
      return physicalGpu;
    };
    for (const index of node.devices) {
      const device = earlier.devices[index];
      if (device?.uuid == null) continue;
      const physicalGpu = gpuOf(device.uuid);
      physicalGpu.weight += device.weight;
      physicalGpu.before = largest(physicalGpu.before, device.reading);
      physicalGpu.after = largest(physicalGpu.after, later.devices[matches[index] ?? -1]?.reading);
    }
    for (const { uuid, weight } of parts) if (uuid !== null) gpuOf(uuid).weight += weight;
    const perGpu = (uuid: string | null): number => {
      const physicalGpu = uuid === null ? undefined : physicalGpus.get(uuid);
      if (physicalGpu === undefined || !(physicalGpu.weight > 0)) return Number.NaN;
      return joulesOf(physicalGpu.before, physicalGpu.after, seconds) / physicalGpu.weight;
    };
    for (const index of node.devices) ofDevice[index] = perGpu(earlier.devices[index]?.uuid ?? null);
    return meanByPool(parts, perGpu);
  }
}

/** What telemetry reports for a whole GPU; each of its instances repeats it. */
type GpuReading = Pick<DeviceReading, "energyJoules" | "powerWatts">;

interface PartitionedGpu {
  /** Sum of the parts of the GPU that are counted. */
  weight: number;
  before: GpuReading;
  after: GpuReading;
}

const unread: GpuReading = { energyJoules: null, powerWatts: null };

/** Instances of one GPU may have been read at different times: the latest reading has the highest counter. */
function largest(physicalGpu: GpuReading, reading: GpuReading | null | undefined): GpuReading {
  if (reading == null) return physicalGpu;
  return {
    energyJoules: larger(physicalGpu.energyJoules, reading.energyJoules),
    powerWatts: larger(physicalGpu.powerWatts, reading.powerWatts),
  };
}

function larger(a: number | null, b: number | null): number | null {
  return a === null ? b : b === null ? a : Math.max(a, b);
}

function joulesOf(before: GpuReading | null, after: GpuReading | null, seconds: number): number {
  if (before === null) return Number.NaN;
  // A driver that has run for a moment has counted something: a counter of 0 means that the GPU has no such counter.
  if (before.energyJoules !== null && before.energyJoules > 0 && after !== null && after.energyJoules !== null) {
    const joules = after.energyJoules - before.energyJoules;
    if (joules >= 0 && joules <= impossibleWatts * (seconds + oldestPageSeconds)) return joules;
  }
  if (before.powerWatts === null || before.powerWatts < 0) return Number.NaN;
  const wattsLater = after?.powerWatts ?? before.powerWatts;
  return ((before.powerWatts + Math.max(0, wattsLater)) / 2) * seconds;
}

/**
 * The mean of the GPUs of each pool. Accounting entries of unpartitioned parts name no GPU, only node and pool, so they get
 * this mean.
 */
function meanByPool(parts: Snapshot["unpartitioned"], perGpu: (uuid: string | null) => number): Map<string, number> {
  const sums = new Map<string, { joules: number; weight: number }>();
  for (const { uuid, pool, weight } of parts) {
    const joules = perGpu(uuid) * weight;
    const sum = sums.get(pool) ?? { joules: Number.NaN, weight: 0 };
    sums.set(pool, sum);
    sum.weight += weight;
    if (!Number.isNaN(joules)) sum.joules = (Number.isNaN(sum.joules) ? 0 : sum.joules) + joules;
  }
  return new Map([...sums].map(([pool, { joules, weight }]) => [pool, joules / weight] as const));
}
