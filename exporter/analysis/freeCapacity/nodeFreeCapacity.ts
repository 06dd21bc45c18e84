import type { Device, Holding, NodeView, PodView, Snapshot } from "../../join/snapshot.ts";
import { isOnUnknownDevice } from "../../join/unknownDevice.ts";
import type { NodeRequests } from "../../model/cluster.ts";
import { gpuTolerance } from "../../model/gpuTolerance.ts";
import { instanceKey, type PodDemand, unitKey } from "./podDemand.ts";

/** What a node has to give. */
export interface FreeCapacity {
  /** Physical GPUs in total. */
  gpus: number;
  /** The free part of each GPU that is neither shared by replicas nor partitioned; GPUs that are fully held are left out. */
  physicalGpus: number[];
  /** Free replicas and MIG instances by the keys of PodDemand; a MIG instance is listed by its profile and by its size. */
  slots: ReadonlyMap<string, FreeSlots>;
  /** Free CPU and memory; `Infinity` where it is not known. */
  cpuMilli: number;
  memoryBytes: number;
}

/** Free replicas or MIG instances of one kind. */
export interface FreeSlots {
  readonly count: number;
  /** Physical GPUs of all of them. */
  readonly gpus: number;
}

/** One node in one pool, or in several pools of one quota domain. It is shared by all callers and never changed. */
export interface NodeFreeCapacity {
  readonly node: NodeView;
  /** What is free now; `null` when the node takes nobody, or no GPU is free. */
  readonly now: FreeCapacity | null;
  /** What the node has in total. */
  readonly whole: FreeCapacity;
  /** Whether it is unknown which GPUs it has. */
  readonly isUncounted: boolean;
  /**
   * Physical GPUs that nobody holds and nobody can take: unhealthy GPUs, GPUs that a left-over reservation keeps, and
   * everything unallocated if the node is not ready or not schedulable.
   */
  readonly unavailableGpus: number;
  /** Its whole GPUs that can be used, allocated or not; neither shared by replicas nor partitioned. */
  readonly wholeGpus: number;
  /** Whether all its GPUs are of this kind, and there is at least one. */
  readonly hasOnlyWholeGpus: boolean;
  /** Whether nobody holds any part of it, and all of it can be used. */
  readonly isWhollyFree: boolean;
  /** Whole GPUs without any holder now. */
  readonly fullyFreeGpus: number;
  /** Whether the position on the GPU is known for some of its MIG instances. */
  readonly isLaidOut: boolean;
}

/** Whether the scheduler may place pods on a node. */
export const isUsable = (node: NodeView): boolean => node.ready !== false && node.schedulable !== false;

/**
 * What a node has of the devices in those pools for which `isIn` is true; `requests` is what its pods ask for, `null` unknown.
 */
export function nodeFreeCapacity(
  snapshot: Snapshot,
  node: NodeView,
  requests: NodeRequests | null,
  isIn: (pool: string) => boolean,
): NodeFreeCapacity {
  const now = freeCapacityWithoutGpus(node, requests);
  const found = addFree(now, snapshot, node, isIn);
  return {
    node,
    now: now.gpus > gpuTolerance ? now : null,
    whole: wholeFreeCapacity(snapshot, node, isIn),
    isUncounted: node.physicalGpus === null,
    unavailableGpus: found.unavailableGpus,
    wholeGpus: found.wholeGpus,
    hasOnlyWholeGpus: found.devices > 0 && found.wholeGpus === found.devices,
    isWhollyFree: found.devices > 0 && found.wholeDevices === found.devices,
    fullyFreeGpus: now.physicalGpus.filter((free) => free > 1 - gpuTolerance).length,
    isLaidOut: found.isLaidOut,
  };
}

/** The CPU and memory that a node has free. */
export function freeCapacityWithoutGpus(node: NodeView, requests: NodeRequests | null): FreeCapacity {
  const { cpuMilli, memoryBytes } = allocatableOf(node);
  return {
    gpus: 0,
    physicalGpus: [],
    slots: noSlots,
    cpuMilli: requests === null ? Infinity : Math.max(0, cpuMilli - requests.cpuMilli),
    memoryBytes: requests === null ? Infinity : Math.max(0, memoryBytes - requests.memoryBytes),
  };
}

const allocatableOf = ({ allocatableCpuMilli, allocatableMemoryBytes }: NodeView) => ({
  cpuMilli: allocatableCpuMilli > 0 ? allocatableCpuMilli : Infinity,
  memoryBytes: allocatableMemoryBytes > 0 ? allocatableMemoryBytes : Infinity,
});

function wholeFreeCapacity(snapshot: Snapshot, node: NodeView, isIn: (pool: string) => boolean): FreeCapacity {
  const freeCapacity: FreeCapacity = { gpus: 0, physicalGpus: [], slots: noSlots, ...allocatableOf(node) };
  for (const index of node.devices) {
    const device = snapshot.devices[index];
    if (device !== undefined && isIn(device.pool)) addDevice(freeCapacity, device, device.weight);
  }
  return freeCapacity;
}

/** What the devices of a node are, besides what is free on them. */
interface FoundDevices {
  devices: number;
  /** Number of devices that are usable and not allocated. */
  wholeDevices: number;
  wholeGpus: number;
  unavailableGpus: number;
  isLaidOut: boolean;
}

function addFree(
  freeCapacity: FreeCapacity,
  snapshot: Snapshot,
  node: NodeView,
  isIn: (pool: string) => boolean,
): FoundDevices {
  const found: FoundDevices = { devices: 0, wholeDevices: 0, wholeGpus: 0, unavailableGpus: 0, isLaidOut: false };
  const isUsed = isUsable(node);
  let spread: Map<number, number> | null = null;
  for (const index of node.devices) {
    const device = snapshot.devices[index];
    if (device === undefined || !isIn(device.pool)) continue;
    found.devices += 1;
    if (device.migSlots !== null) found.isLaidOut = true;
    const free = freeOf(device);
    if (!isUsed || device.unhealthy || device.orphanReservation) {
      found.unavailableGpus += Math.max(0, free);
      continue;
    }
    if (isPhysicalGpu(device)) found.wholeGpus += 1;
    if (free > device.weight - gpuTolerance) found.wholeDevices += 1;
    if (free > gpuTolerance && device.holders.length > 0 && isSpread(device, snapshot.pods)) {
      spread ??= new Map();
      spread.set(index, free);
    } else {
      addDevice(freeCapacity, device, free);
    }
  }
  if (spread !== null) addSpread(freeCapacity, snapshot, spread);
  return found;
}

/** Physical GPUs of a device that nobody holds. */
export function freeOf({ weight, holders }: Device): number {
  let allocated = 0;
  for (const { share } of holders) allocated += share;
  return weight - allocated;
}

/** Whether a device is a GPU that is neither shared by replicas nor partitioned. */
const isPhysicalGpu = ({ gpuInstance, slots }: Device): boolean => gpuInstance === null && slots === 1;

/**
 * Whether a pod whose devices on the node are unknown is counted on this device with a part of what it holds, and with the rest
 * on others.
 */
export function isSpread({ holders }: Device, pods: readonly PodView[]): boolean {
  return holders.some((holder) => isOnUnknownDevice(holder) && isPart(holder, pods));
}

/** Whether a holder of this device asks for more than it holds there. */
export function standsOnSeveral({ holders }: Device, pods: readonly PodView[]): boolean {
  return holders.some((holder) => isPart(holder, pods));
}

const isPart = ({ share, pod }: Holding, pods: readonly PodView[]): boolean =>
  share < (pods[pod]?.gpus ?? 0) - gpuTolerance;

/**
 * Adds what is free on devices for which `isSpread` is true. Which of them the pods use is unknown, so they count as if the
 * pods occupied as few devices of a kind as possible.
 */
function addSpread(freeCapacity: FreeCapacity, { devices }: Snapshot, freeOf: ReadonlyMap<number, number>): void {
  const kinds = new Map<string, { readonly device: Device; free: number }>();
  for (const [index, free] of freeOf) {
    const device = devices[index];
    if (device === undefined) continue;
    const key = `${device.profile}|${device.weight}|${device.slots}|${device.gpuInstance === null}`;
    const kind = kinds.get(key);
    if (kind === undefined) kinds.set(key, { device, free });
    else kind.free += free;
  }
  for (const { device, free } of kinds.values()) {
    let left = free;
    for (; left > device.weight + gpuTolerance; left -= device.weight) addDevice(freeCapacity, device, device.weight);
    addDevice(freeCapacity, device, left);
  }
}

function addDevice(freeCapacity: FreeCapacity, device: Device, free: number): void {
  if (free <= gpuTolerance) return;
  freeCapacity.gpus += free;
  if (isPhysicalGpu(device)) {
    freeCapacity.physicalGpus.push(free);
    return;
  }
  const { weight, slots, profile } = device;
  const unit = weight / slots;
  const units = Math.floor(free / unit + gpuTolerance);
  if (profile !== null) addSlots(freeCapacity, instanceKey(profile), units, unit);
  addSlots(freeCapacity, unitKey(unit), units, unit);
}

/** The value for most nodes, which have neither replicas nor instances. */
const noSlots: ReadonlyMap<string, FreeSlots> = new Map();

function addSlots(freeCapacity: FreeCapacity, key: string, units: number, unit: number): void {
  const { count, gpus } = freeCapacity.slots.get(key) ?? { count: 0, gpus: 0 };
  freeCapacity.slots = new Map(freeCapacity.slots).set(key, { count: count + units, gpus: gpus + units * unit });
}

/** What is free in a free capacity on GPUs that are neither shared by replicas nor partitioned. */
export function freeOnGpus({ physicalGpus }: FreeCapacity): number {
  let free = 0;
  for (const physicalGpu of physicalGpus) free += physicalGpu;
  return free;
}

/** The number of pods with this demand that fit into a free capacity together. */
export function podsIn(freeCapacity: FreeCapacity, demand: PodDemand): number {
  let pods = demand.physicalGpus > 0 ? podsOnGpus(freeCapacity.physicalGpus, demand) : Infinity;
  if (demand.slots.length > 0)
    for (const [key, count] of demand.slots)
      pods = Math.min(pods, Math.floor((freeCapacity.slots.get(key)?.count ?? 0) / count));
  if (pods === 0) return 0;
  if (demand.cpuMilli > 0) pods = Math.min(pods, Math.floor(freeCapacity.cpuMilli / demand.cpuMilli + gpuTolerance));
  if (demand.memoryBytes > 0)
    pods = Math.min(pods, Math.floor(freeCapacity.memoryBytes / demand.memoryBytes + gpuTolerance));
  return pods;
}

function podsOnGpus(physicalGpus: readonly number[], { physicalGpus: wanted, share }: PodDemand): number {
  // Each GPU can serve one pod `fits` times, but every pod needs `wanted` different GPUs.
  let total = 0;
  let most = 0;
  // This is asked for all nodes: an iterator for each of them would be garbage.
  for (let i = 0; i < physicalGpus.length; i++) {
    const fits = Math.floor((physicalGpus[i] ?? 0) / share + gpuTolerance);
    total += fits;
    most = Math.max(most, fits);
  }
  if (most <= 1 || wanted === 1) return Math.floor(total / wanted);
  let pods = Math.floor(total / wanted);
  while (pods > 0 && sumOfLeast(physicalGpus, share, pods) < pods * wanted) pods -= 1;
  return pods;
}

function sumOfLeast(physicalGpus: readonly number[], share: number, most: number): number {
  let sum = 0;
  for (const free of physicalGpus) sum += Math.min(most, Math.floor(free / share + gpuTolerance));
  return sum;
}

/** Takes what one pod needs out of a free capacity in which it fits: from the GPUs that have the least left. */
export function takePod(freeCapacity: FreeCapacity, demand: PodDemand): void {
  freeCapacity.gpus -= demand.gpus;
  freeCapacity.cpuMilli -= demand.cpuMilli;
  freeCapacity.memoryBytes -= demand.memoryBytes;
  for (const [key, count] of demand.slots) {
    const slots = freeCapacity.slots.get(key);
    if (slots !== undefined) addSlots(freeCapacity, key, -count, slots.gpus / slots.count);
  }
  if (demand.physicalGpus === 0) return;
  const { physicalGpus } = freeCapacity;
  sortFew(physicalGpus);
  let missing = demand.physicalGpus;
  for (let i = 0; i < physicalGpus.length && missing > 0; i++) {
    const free = physicalGpus[i] ?? 0;
    if (free < demand.share - gpuTolerance) continue;
    physicalGpus[i] = free - demand.share;
    missing -= 1;
  }
}

/** Sorts the few GPUs of a node, ascending: `sort` copies what it sorts, and this is done for each pod that is tried. */
function sortFew(gpus: number[]): void {
  for (let i = 1; i < gpus.length; i++) {
    const one = gpus[i] ?? 0;
    let at = i;
    for (; at > 0 && (gpus[at - 1] ?? 0) > one; at--) gpus[at] = gpus[at - 1] ?? 0;
    gpus[at] = one;
  }
}

/** A copy of a free capacity from which pods can be taken without a change to the original. */
export const copyFreeCapacity = (freeCapacity: FreeCapacity): FreeCapacity => ({
  ...freeCapacity,
  physicalGpus: [...freeCapacity.physicalGpus],
});
