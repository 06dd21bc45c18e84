import type { Device, NodeView, PodView, Snapshot } from "../../join/snapshot.ts";
import type { NodeRequests } from "../../model/cluster.ts";
import { gpuTolerance, instanceKey, type PodDemand, unitKey } from "./podDemand.ts";

/** What a node has to give. */
export interface Room {
  /** Physical GPUs in all. */
  gpus: number;
  /** Free part of each card that is not shared by replicas and not partitioned; fully held ones are left out. */
  cards: number[];
  /** Free replicas and MIG instances by the keys of PodDemand. */
  slots: ReadonlyMap<string, number>;
  /** `Infinity` where it is not known. */
  cpuMilli: number;
  memoryBytes: number;
}

/** One node in one quota domain. */
export interface NodeRoom {
  readonly node: NodeView;
  /** What is free now; `null` when the node takes nobody, or no GPU of the domain is free. */
  readonly now: Room | null;
  /** What it has in all. */
  readonly whole: () => Room;
  /** Nothing says which cards it has. */
  readonly isUncounted: boolean;
}

/** Whether the scheduler may place pods on a node. */
export const isUsable = (node: NodeView): boolean => node.ready !== false && node.schedulable !== false;

/** What a node has of the devices in a domain, as `isIn` tells; `requests` is what its pods ask for, `null` unknown. */
export function nodeRoom(
  snapshot: Snapshot,
  node: NodeView,
  requests: NodeRequests | null,
  isIn: (pool: string) => boolean,
): NodeRoom {
  const { cpuMilli, memoryBytes } = allocatableOf(node);
  const now: Room = {
    gpus: 0,
    cards: [],
    slots: noSlots,
    cpuMilli: requests === null ? Infinity : Math.max(0, cpuMilli - requests.cpuMilli),
    memoryBytes: requests === null ? Infinity : Math.max(0, memoryBytes - requests.memoryBytes),
  };
  if (isUsable(node)) addFree(now, snapshot, node, isIn);
  let whole: Room | null = null;
  return {
    node,
    now: now.gpus > gpuTolerance ? now : null,
    whole: () => {
      whole ??= wholeRoom(snapshot, node, isIn);
      return whole;
    },
    isUncounted: node.physicalGpus === null,
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

function addFree(room: Room, snapshot: Snapshot, { devices }: NodeView, isIn: (pool: string) => boolean): void {
  let spread: Map<number, number> | null = null;
  for (const index of devices) {
    const device = snapshot.devices[index];
    if (device === undefined || device.unhealthy || device.orphanReservation || !isIn(device.pool)) continue;
    const free = device.weight - heldOf(device);
    if (free > gpuTolerance && device.holders.length > 0 && isSpread(device, snapshot.pods)) {
      spread ??= new Map();
      spread.set(index, free);
    } else {
      addDevice(room, device, free);
    }
  }
  if (spread !== null) addSpread(room, snapshot, spread);
}

function heldOf({ holders }: Device): number {
  let held = 0;
  for (const { share } of holders) held += share;
  return held;
}

/** Whether a pod that is somewhere on the node stands on this device and others with a part of what it holds. */
function isSpread({ holders }: Device, pods: readonly PodView[]): boolean {
  return holders.some(({ estimated, share, pod }) => estimated && share < (pods[pod]?.gpus ?? 0) - gpuTolerance);
}

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

function addDevice(room: Room, { weight, slots, gpuInstance, profile }: Device, free: number): void {
  if (free <= gpuTolerance) return;
  room.gpus += free;
  if (gpuInstance === null && slots === 1) {
    room.cards.push(free);
    return;
  }
  const unit = weight / slots;
  const units = Math.floor(free / unit + gpuTolerance);
  if (profile !== null) addSlots(room, instanceKey(profile), units);
  addSlots(room, unitKey(unit), units);
}

/** Most nodes have none. */
const noSlots: ReadonlyMap<string, number> = new Map();

function addSlots(room: Room, key: string, units: number): void {
  room.slots = new Map(room.slots).set(key, (room.slots.get(key) ?? 0) + units);
}

/** How many such pods fit into a room together. */
export function podsIn(room: Room, demand: PodDemand): number {
  let pods = demand.cards > 0 ? podsOnCards(room.cards, demand) : Infinity;
  for (const [key, count] of demand.slots) pods = Math.min(pods, Math.floor((room.slots.get(key) ?? 0) / count));
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
  for (const [key, count] of demand.slots) addSlots(room, key, -count);
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
