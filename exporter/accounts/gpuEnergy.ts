import type { Device, NodeView, Snapshot } from "../join/snapshot.ts";
import { inRanges, keepShape } from "../kernel/inRanges.ts";
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
  const energy = new NodeEnergy(earlier, later, matches, seconds);
  inRanges(earlier.nodes.length, energy);
  return energy;
}

type Drawing = Pick<Snapshot, "nodes" | "devices" | "unpartitioned">;

/** The energy of the GPUs of each node. */
class NodeEnergy implements StepEnergy {
  readonly ofDevice: Float64Array;
  readonly #perPool = new Map<string, Map<string, number>>();
  readonly #unpartitioned: ReadonlyMap<string, Snapshot["unpartitioned"]>;
  readonly #earlier: Drawing;
  readonly #later: Pick<Snapshot, "devices">;
  readonly #matches: Int32Array;
  readonly #seconds: number;

  constructor(earlier: Drawing, later: Pick<Snapshot, "devices">, matches: Int32Array, seconds: number) {
    this.ofDevice = new Float64Array(earlier.devices.length).fill(Number.NaN);
    this.#unpartitioned = Map.groupBy(earlier.unpartitioned, (part) => part.node);
    this.#earlier = earlier;
    this.#later = later;
    this.#matches = matches;
    this.#seconds = seconds;
  }

  ofUnpartitioned(node: string, pool: string): number {
    return this.#perPool.get(node)?.get(pool) ?? Number.NaN;
  }

  addRange(from: number, to: number): void {
    for (let at = from; at < to; at++) {
      const node = this.#earlier.nodes[at];
      if (node !== undefined) this.#addNode(node);
    }
  }

  #addNode(node: NodeView): void {
    const parts = this.#unpartitioned.get(node.name) ?? noParts;
    const isCut = parts.length > 0 || node.devices.some((index) => this.#before(index)?.gpuInstance !== null);
    if (isCut) this.#perPool.set(node.name, this.#sharePartitionedGpus(node, parts));
    else for (const index of node.devices) this.ofDevice[index] = this.#wholeGpu(index);
  }

  #before(index: number): Device | undefined {
    return this.#earlier.devices[index];
  }

  #after(index: number): DeviceReading | null {
    return this.#later.devices[this.#matches[index] ?? -1]?.reading ?? null;
  }

  #wholeGpu(index: number): number {
    const device = this.#before(index);
    if (device === undefined || !(device.weight > 0)) return Number.NaN;
    return joulesOf(device.reading, this.#after(index), this.#seconds) / device.weight;
  }

  /** Fills `ofDevice` for a node with MIG GPUs; returns what its unpartitioned parts drew, by pool. */
  #sharePartitionedGpus(node: NodeView, parts: Snapshot["unpartitioned"]): Map<string, number> {
    const physicalGpus = new Map<string, PartitionedGpu>();
    const gpuOf = (uuid: string): PartitionedGpu => {
      const physicalGpu = physicalGpus.get(uuid) ?? { weight: 0, before: unread, after: unread };
      physicalGpus.set(uuid, physicalGpu);
      return physicalGpu;
    };
    for (const index of node.devices) {
      const device = this.#before(index);
      if (device?.uuid == null) continue;
      const physicalGpu = gpuOf(device.uuid);
      physicalGpu.weight += device.weight;
      physicalGpu.before = largest(physicalGpu.before, device.reading);
      physicalGpu.after = largest(physicalGpu.after, this.#after(index));
    }
    for (const { uuid, weight } of parts) if (uuid !== null) gpuOf(uuid).weight += weight;
    const perGpu = (uuid: string | null): number => {
      const physicalGpu = uuid === null ? undefined : physicalGpus.get(uuid);
      if (physicalGpu === undefined || !(physicalGpu.weight > 0)) return Number.NaN;
      return joulesOf(physicalGpu.before, physicalGpu.after, this.#seconds) / physicalGpu.weight;
    };
    for (const index of node.devices) this.ofDevice[index] = perGpu(this.#before(index)?.uuid ?? null);
    return meanByPool(parts, perGpu);
  }
}

keepShape(new NodeEnergy({ nodes: [], devices: [], unpartitioned: [] }, { devices: [] }, new Int32Array(), Number.NaN));

const noParts: Snapshot["unpartitioned"] = [];

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
