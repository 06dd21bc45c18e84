import { gpuInstanceOf, type MigGeometry, type MigKind, migGeometryOf, profileOf } from "../../join/migGeometry.ts";
import type { Device, NodeView, Snapshot } from "../../join/snapshot.ts";
import type { FreeCapacities, PoolFreeCapacity } from "../freeCapacity/freeCapacities.ts";
import { isUsable } from "../freeCapacity/nodeFreeCapacity.ts";
import type { PoolPlacement } from "./poolPlacement.ts";

/** MIG fragmentation of each pool in which the layout of a GPU is known. */
export type MigFragmentation = ReadonlyMap<string, PoolPlacement["migFragmentation"]>;

/**
 * For every legal profile of a pool's GPUs: of the GPUs that have enough free slices for an instance (memory and compute), the
 * part on which no legal start has all its memory slices free. Slices are free if they are in no instance, or in an instance
 * that nobody holds, since an operator can destroy it without moving a pod. GPUs count if the position of each of their
 * instances is known, on nodes that are ready and schedulable; whole GPUs do not count. A profile is left out if no GPU has
 * enough slices.
 */
export function migFragmentation({ nodes, devices }: Snapshot, { byNode }: FreeCapacities): MigFragmentation {
  const physicalGpus: LaidOutGpu[] = [];
  let place = -1;
  for (const node of nodes) {
    place += 1;
    if (byNode[place]?.some(isLaidOut) !== true || !isUsable(node)) continue;
    for (const instances of laidOutGpus(devices, node)) {
      const physicalGpu = readGpu(instances);
      if (physicalGpu !== null) physicalGpus.push(physicalGpu);
    }
  }
  const names = new Map<string, ProfileNames>();
  const pools = new Map<string, Map<string, Tally>>();
  for (const physicalGpu of physicalGpus) {
    const known = names.get(physicalGpu.model) ?? profileNames(physicalGpu, physicalGpus);
    names.set(physicalGpu.model, known);
    addGpu(physicalGpu, known, tallies(pools, physicalGpu.pool));
  }
  return new Map([...pools].map(([pool, byProfile]) => [pool, published(byProfile)]));
}

const isLaidOut = (freeCapacity: PoolFreeCapacity): boolean => freeCapacity.isLaidOut;

interface Tally {
  physicalGpus: number;
  fragmented: number;
}

function tallies(pools: Map<string, Map<string, Tally>>, pool: string): Map<string, Tally> {
  const known = pools.get(pool);
  if (known !== undefined) return known;
  const made = new Map<string, Tally>();
  pools.set(pool, made);
  return made;
}

function published(byProfile: ReadonlyMap<string, Tally>): PoolPlacement["migFragmentation"] {
  return [...byProfile]
    .map(([profile, { physicalGpus, fragmented }]) => ({ profile, physicalGpus, ratio: fragmented / physicalGpus }))
    .sort((a, b) => (a.profile < b.profile ? -1 : 1));
}

/** The instances of each GPU of a node, if all their positions are known. */
function laidOutGpus(devices: readonly Device[], node: NodeView): Iterable<readonly Device[]> {
  const physicalGpus = new Map<string, Device[]>();
  const unknown = new Set<string>();
  for (const index of node.devices) {
    const device = devices[index];
    if (device === undefined || device.uuid === null) continue;
    const others = physicalGpus.get(device.uuid);
    if (others === undefined) physicalGpus.set(device.uuid, [device]);
    else others.push(device);
    if (device.migSlots === null || device.unhealthy || device.orphanReservation) unknown.add(device.uuid);
  }
  for (const uuid of unknown) physicalGpus.delete(uuid);
  return physicalGpus.values();
}

interface LaidOutGpu {
  readonly pool: string;
  readonly model: string;
  readonly geometry: MigGeometry;
  /** Bit mask of the memory slices in instances that are held. */
  readonly taken: number;
  readonly freeCompute: number;
  readonly instances: readonly Device[];
}

/** Reads the layout of a GPU; `null` if it is impossible: instances overlap, or are where they must not be. */
function readGpu(instances: readonly Device[]): LaidOutGpu | null {
  const [first] = instances;
  const geometry = first === undefined ? null : migGeometryOf(first.model);
  if (first === undefined || geometry === null) return null;
  const allocated = new Set<number>();
  let [taken, compute] = [0, 0];
  for (const { migSlots, profile, holders } of instances) {
    if (holders.length === 0) continue;
    const slices = bitsOf(migSlots ?? []);
    // Compute instances share the slices of their GPU instance.
    if (allocated.has(slices)) continue;
    const kind = kindOf(geometry, profile, migSlots ?? []);
    if (kind === null || (taken & slices) !== 0) return null;
    allocated.add(slices);
    taken |= slices;
    compute += kind.compute;
  }
  const freeCompute = geometry.computeSlices - compute;
  return { pool: first.pool, model: first.model, geometry, taken, freeCompute, instances };
}

const bitsOf = (slots: readonly number[]): number => slots.reduce((bits, slot) => bits | (1 << slot), 0);

const bitsFrom = (start: number, size: number): number => ((1 << size) - 1) << start;

/** The kind of an instance at this position; `null` if none is allowed there with its compute slices. */
function kindOf({ kinds }: MigGeometry, profile: string | null, slots: readonly number[]): MigKind | null {
  const compute = gpuInstanceOf(profile ?? "")?.compute;
  const [start] = slots;
  if (start === undefined || bitsOf(slots) !== bitsFrom(start, slots.length)) return null;
  const kind = kinds.find((one) => one.compute === compute && one.size === slots.length && one.starts.includes(start));
  return kind ?? null;
}

function addGpu({ geometry, taken, freeCompute }: LaidOutGpu, names: ProfileNames, byProfile: Map<string, Tally>) {
  const free = geometry.memorySlices - bitCount(taken);
  for (const kind of geometry.kinds) {
    const profile = names.get(kind);
    if (profile === undefined || free < kind.size || freeCompute < kind.compute) continue;
    const tally = byProfile.get(profile) ?? { physicalGpus: 0, fragmented: 0 };
    tally.physicalGpus += 1;
    if (!kind.starts.some((start) => (taken & bitsFrom(start, kind.size)) === 0)) tally.fragmented += 1;
    byProfile.set(profile, tally);
  }
}

function bitCount(bits: number): number {
  let count = 0;
  for (let rest = bits; rest !== 0; rest &= rest - 1) count += 1;
  return count;
}

/** The names of the kinds on GPUs of a model. */
type ProfileNames = ReadonlyMap<MigKind, string>;

/** The names of profiles by the model's memory; if that is not known, by the names of the instances on these GPUs. */
function profileNames({ model, geometry }: LaidOutGpu, physicalGpus: readonly LaidOutGpu[]): ProfileNames {
  const names = new Map<MigKind, string>();
  for (const kind of geometry.kinds) {
    const name = profileOf(kind, geometry, model) ?? shownName(kind, model, physicalGpus);
    if (name !== null) names.set(kind, name);
  }
  return names;
}

function shownName({ compute, size }: MigKind, model: string, physicalGpus: readonly LaidOutGpu[]): string | null {
  for (const physicalGpu of physicalGpus) {
    if (physicalGpu.model !== model) continue;
    for (const { profile, migSlots } of physicalGpu.instances) {
      const own = migSlots?.length === size ? gpuInstanceOf(profile ?? "") : null;
      if (own?.compute === compute) return own.name;
    }
  }
  return null;
}
