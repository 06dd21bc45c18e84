import type { Device, Holding, NodeView, PodView, Snapshot } from "../../join/snapshot.ts";
import { isOnUnknownDevice } from "../../join/unknownDevice.ts";
import type { NodeRequests } from "../../model/cluster.ts";
import { gpuTolerance } from "../../model/gpuTolerance.ts";
import { instanceKey, type PodDemand, unitKey } from "./podDemand.ts";

/** What a node has to give. */
export interface Room {
  /** Physical GPUs in all. */
  gpus: number;
  /** Free part of each card that is not shared by replicas and not partitioned; fully held ones are left out. */
  cards: number[];
  /** Free replicas and MIG instances by the keys of PodDemand; a MIG instance is there by its profile and by its size. */
  slots: ReadonlyMap<string, FreeSlots>;
  /** `Infinity` where it is not known. */
  cpuMilli: number;
  memoryBytes: number;
}

/** Free replicas or MIG instances of one kind. */
export interface FreeSlots {
  readonly count: number;
  /** Physical GPUs of all of them. */
  readonly gpus: number;
}

/** One node in one pool, or in several of one quota domain. Shared by all who ask: nobody changes it. */
export interface NodeRoom {
  readonly node: NodeView;
  /** What is free now; `null` when the node takes nobody, or no GPU is free. */
  readonly now: Room | null;
  /** What it has in all. */
  readonly whole: Room;
  /** Nothing says which cards it has. */
  readonly isUncounted: boolean;
  /**
   * Physical GPUs that nobody holds and nobody can take: of unhealthy cards, of cards that a left-over reservation keeps,
   * and everything that is not held where the node is not ready or not schedulable.
   */
  readonly unavailableGpus: number;
  /** Its whole cards that can be used, held or not; neither shared by replicas nor partitioned. */
  readonly wholeCards: number;
  /** All its cards are of this kind, and there is one. */
  readonly hasOnlyWholeCards: boolean;
  /** Nobody holds any part of it, and all of it can be used. */
  readonly isWhollyFree: boolean;
  /** Whole cards that are free now, of which nobody holds any part. */
  readonly fullyFreeCards: number;
  /** Of some MIG instance of it is known where on its card it lies. */
  readonly isLaidOut: boolean;
}

/** Whether the scheduler may place pods on a node. */
export const isUsable = (node: NodeView): boolean => node.ready !== false && node.schedulable !== false;

/** What a node has of the devices in a pool or several, as `isIn` tells; `requests` is what its pods ask for, `null` unknown. */
export function nodeRoom(
  snapshot: Snapshot,
  node: NodeView,
  requests: NodeRequests | null,
  isIn: (pool: string) => boolean,
): NodeRoom {
  const now = roomWithoutGpus(node, requests);
  const found = addFree(now, snapshot, node, isIn);
  return {
    node,
    now: now.gpus > gpuTolerance ? now : null,
    whole: wholeRoom(snapshot, node, isIn),
    isUncounted: node.physicalGpus === null,
    unavailableGpus: found.unavailableGpus,
    wholeCards: found.wholeCards,
    hasOnlyWholeCards: found.devices > 0 && found.wholeCards === found.devices,
    isWhollyFree: found.devices > 0 && found.wholeDevices === found.devices,
    fullyFreeCards: now.cards.filter((free) => free > 1 - gpuTolerance).length,
    isLaidOut: found.isLaidOut,
  };
}

/** The CPU and memory that a node has free. */
export function roomWithoutGpus(node: NodeView, requests: NodeRequests | null): Room {
  const { cpuMilli, memoryBytes } = allocatableOf(node);
  return {
    gpus: 0,
    cards: [],
    slots: noSlots,
    cpuMilli: requests === null ? Infinity : Math.max(0, cpuMilli - requests.cpuMilli),
    memoryBytes: requests === null ? Infinity : Math.max(0, memoryBytes - requests.memoryBytes),
  };
}

const allocatableOf = ({ allocatableCpuMilli, allocatableMemoryBytes }: NodeView) => ({
  cpuMilli: allocatableCpuMilli > 0 ? allocatableCpuMilli : Infinity,
  memoryBytes: allocatableMemoryBytes > 0 ? allocatableMemoryBytes : Infinity,
});

function wholeRoom(snapshot: Snapshot, node: NodeView, isIn: (pool: string) => boolean): Room {
  const room: Room = { gpus: 0, cards: [], slots: noSlots, ...allocatableOf(node) };
  for (const index of node.devices) {
    const device = snapshot.devices[index];
    if (device !== undefined && isIn(device.pool)) addDevice(room, device, device.weight);
  }
  return room;
}

/** What the devices of a node are, beside what is free of them. */
interface FoundDevices {
  devices: number;
  /** Usable and not held. */
  wholeDevices: number;
  wholeCards: number;
  unavailableGpus: number;
  isLaidOut: boolean;
}

function addFree(room: Room, snapshot: Snapshot, node: NodeView, isIn: (pool: string) => boolean): FoundDevices {
  const found: FoundDevices = { devices: 0, wholeDevices: 0, wholeCards: 0, unavailableGpus: 0, isLaidOut: false };
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
    if (isCard(device)) found.wholeCards += 1;
    if (free > device.weight - gpuTolerance) found.wholeDevices += 1;
    if (free > gpuTolerance && device.holders.length > 0 && isSpread(device, snapshot.pods)) {
      spread ??= new Map();
      spread.set(index, free);
    } else {
      addDevice(room, device, free);
    }
  }
  if (spread !== null) addSpread(room, snapshot, spread);
  return found;
}

/** Physical GPUs of a device that nobody holds. */
export function freeOf({ weight, holders }: Device): number {
  let held = 0;
  for (const { share } of holders) held += share;
  return weight - held;
}

/** Neither shared by replicas nor partitioned. */
const isCard = ({ gpuInstance, slots }: Device): boolean => gpuInstance === null && slots === 1;

/** Whether a pod that is somewhere on the node stands on this device and others with a part of what it holds. */
export function isSpread({ holders }: Device, pods: readonly PodView[]): boolean {
  return holders.some((holder) => isOnUnknownDevice(holder) && isPart(holder, pods));
}

/** Whether a holder of this device asks for more than it holds there. */
export function standsOnSeveral({ holders }: Device, pods: readonly PodView[]): boolean {
  return holders.some((holder) => isPart(holder, pods));
}

const isPart = ({ share, pod }: Holding, pods: readonly PodView[]): boolean =>
  share < (pods[pod]?.gpus ?? 0) - gpuTolerance;

/** Such pods leave devices of a kind free as if they sat on as few of them as can be: which ones, nobody knows. */
function addSpread(room: Room, { devices }: Snapshot, freeOf: ReadonlyMap<number, number>): void {
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
    for (; left > device.weight + gpuTolerance; left -= device.weight) addDevice(room, device, device.weight);
    addDevice(room, device, left);
  }
}

function addDevice(room: Room, device: Device, free: number): void {
  if (free <= gpuTolerance) return;
  room.gpus += free;
  if (isCard(device)) {
    room.cards.push(free);
    return;
  }
  const { weight, slots, profile } = device;
  const unit = weight / slots;
  const units = Math.floor(free / unit + gpuTolerance);
  if (profile !== null) addSlots(room, instanceKey(profile), units, unit);
  addSlots(room, unitKey(unit), units, unit);
}

/** Most nodes have none. */
const noSlots: ReadonlyMap<string, FreeSlots> = new Map();

function addSlots(room: Room, key: string, units: number, unit: number): void {
  const { count, gpus } = room.slots.get(key) ?? { count: 0, gpus: 0 };
  room.slots = new Map(room.slots).set(key, { count: count + units, gpus: gpus + units * unit });
}

/** What is free in a room on cards that are neither shared by replicas nor partitioned. */
export function freeOnCards({ cards }: Room): number {
  let free = 0;
  for (const card of cards) free += card;
  return free;
}

/** How many such pods fit into a room together. */
export function podsIn(room: Room, demand: PodDemand): number {
  let pods = demand.cards > 0 ? podsOnCards(room.cards, demand) : Infinity;
  for (const [key, count] of demand.slots) pods = Math.min(pods, Math.floor((room.slots.get(key)?.count ?? 0) / count));
  if (pods === 0) return 0;
  if (demand.cpuMilli > 0) pods = Math.min(pods, Math.floor(room.cpuMilli / demand.cpuMilli + gpuTolerance));
  if (demand.memoryBytes > 0) pods = Math.min(pods, Math.floor(room.memoryBytes / demand.memoryBytes + gpuTolerance));
  return pods;
}

function podsOnCards(cards: readonly number[], { cards: wanted, share }: PodDemand): number {
  // Each card can serve one pod `fits` times, but every pod needs `wanted` cards that differ.
  let total = 0;
  let most = 0;
  for (const free of cards) {
    const fits = Math.floor(free / share + gpuTolerance);
    total += fits;
    most = Math.max(most, fits);
  }
  if (most <= 1 || wanted === 1) return Math.floor(total / wanted);
  let pods = Math.floor(total / wanted);
  while (pods > 0 && sumOfLeast(cards, share, pods) < pods * wanted) pods -= 1;
  return pods;
}

function sumOfLeast(cards: readonly number[], share: number, most: number): number {
  let sum = 0;
  for (const free of cards) sum += Math.min(most, Math.floor(free / share + gpuTolerance));
  return sum;
}

/** Takes what one pod needs out of a room in which it fits: the cards that are left the least. */
export function takePod(room: Room, demand: PodDemand): void {
  room.gpus -= demand.gpus;
  room.cpuMilli -= demand.cpuMilli;
  room.memoryBytes -= demand.memoryBytes;
  for (const [key, count] of demand.slots) {
    const slots = room.slots.get(key);
    if (slots !== undefined) addSlots(room, key, -count, slots.gpus / slots.count);
  }
  if (demand.cards === 0) return;
  const { cards } = room;
  cards.sort((a, b) => a - b);
  let missing = demand.cards;
  for (let i = 0; i < cards.length && missing > 0; i++) {
    const free = cards[i] ?? 0;
    if (free < demand.share - gpuTolerance) continue;
    cards[i] = free - demand.share;
    missing -= 1;
  }
}

/** A room that can be taken from without the other. */
export const copyRoom = (room: Room): Room => ({ ...room, cards: [...room.cards] });
