import type { Device, Holding, NodeView, PodView, Snapshot } from "../join/snapshot.ts";
import type { GpuState } from "../model/gpuStates.ts";
import type { Booking } from "./booking.ts";
import { isQuiet } from "./quietHolding.ts";
import { stalledSince } from "./stalledSince.ts";
import { mayBeQuietLong, stateLimits } from "./stateLimits.ts";
import { isWarmPool, type WarmPools } from "./warmPools.ts";

/** What of the configuration decides on states. */
export interface StateSettings {
  /** The times after which held GPUs are idle, seconds; the other times are in `stateLimits`. */
  readonly idleBatchSeconds: number;
  readonly idleServingSeconds: number;
  /** Nodes that are never in the state `idle_node`. */
  readonly warmPools: WarmPools;
}

const {
  notReadyGraceSeconds,
  gangGraceSeconds,
  startingLimitSeconds,
  stalledSeconds,
  youngPodSeconds,
  youngNodeSeconds,
} = stateLimits;

/**
 * What goes on at a node. `idle`: all that is held there is held idle; `other`: anything else is held there, or active without
 * a holder; `null`: neither.
 */
export type NodeUse = "idle" | "other" | null;

/** The bookings of a moment, and what they say of each node. */
export interface BookedStates {
  readonly bookings: readonly Booking[];
  /** Parallel to `Snapshot.nodes`. */
  readonly uses: readonly NodeUse[];
}

/**
 * Books every physical GPU of the moment in exactly one state (design, section 4): held is decided first, by the state
 * of its holder; the rest of each device by the state of its node. The bookings of a node add up to its physical GPUs.
 */
export function bookStates(snapshot: Snapshot, settings: StateSettings): BookedStates {
  const bookings: Booking[] = [];
  const uses: NodeUse[] = [];
  const states = new Map<string, GpuState>();
  const unhealthy = unhealthyCards(snapshot);
  for (const node of snapshot.nodes) {
    if (node.physicalGpus === null) {
      uses.push(null);
      continue;
    }
    const first = bookings.length;
    const unheldState = stateOfUnheld(snapshot, node, settings.warmPools);
    states.set(node.name, unheldState);
    for (const index of node.devices) {
      const device = snapshot.devices[index];
      if (device !== undefined) bookDevice(bookings, snapshot, node, device, index, unheldState, settings);
    }
    uses.push(useFrom(bookings, first));
  }
  for (const part of snapshot.unpartitioned) {
    const state = unhealthy.has(`${part.node}/${part.uuid}`) ? "unavailable" : (states.get(part.node) ?? "free");
    bookings.push({
      gpus: part.weight,
      state,
      node: part.node,
      pool: part.pool,
      device: null,
      pod: null,
      estimated: false,
    });
  }
  return { bookings, uses };
}

/** What bookings say of their node, from the first of it on. */
function useFrom(bookings: readonly Booking[], first: number): NodeUse {
  let use: NodeUse = null;
  for (let i = first; i < bookings.length; i++) {
    const booking = bookings[i];
    if (booking === undefined || (booking.pod === null && booking.state !== "unattributed")) continue;
    if (booking.state !== "held_idle") return "other";
    use = "idle";
  }
  return use;
}

/** Cards of which every instance is unhealthy: the rest of the card is no better. */
function unhealthyCards(snapshot: Snapshot): ReadonlySet<string> {
  const unhealthy = new Set<string>();
  if (snapshot.unpartitioned.length === 0) return unhealthy;
  const nodes = new Set<string>();
  for (const { unhealthy: isUnhealthy, node, uuid } of snapshot.devices) {
    if (!isUnhealthy) continue;
    unhealthy.add(`${node}/${uuid}`);
    nodes.add(node);
  }
  if (nodes.size === 0) return unhealthy;
  for (const { unhealthy: isUnhealthy, node, uuid } of snapshot.devices) {
    if (!isUnhealthy && nodes.has(node)) unhealthy.delete(`${node}/${uuid}`);
  }
  return unhealthy;
}

/** One device on its node, as it is booked. */
interface Place {
  readonly node: NodeView;
  readonly device: Device;
  /** Index of the device. */
  readonly index: number;
}

function bookDevice(
  bookings: Booking[],
  snapshot: Snapshot,
  node: NodeView,
  device: Device,
  index: number,
  unheldState: GpuState,
  settings: StateSettings,
): void {
  const place = { node, device, index };
  // Neither pods nor a telemetry row: nobody knows whether it is held.
  const ownUnheldState =
    !snapshot.coverage.objects && device.reading === null ? unknownHolder(unheldState) : unheldState;
  let held = 0;
  for (const holding of device.holders) {
    const pod = snapshot.pods[holding.pod];
    if (pod === undefined) continue;
    held += holding.share;
    bookHolding(bookings, place, holding, pod, snapshot.at, settings);
  }
  const rest = Math.max(0, device.weight - held);
  if (rest > 1e-12) bookUnheld(bookings, place, rest, ownUnheldState);
}

/** What is true of the node stays true whoever holds its GPUs. */
const unknownHolder = (state: GpuState): GpuState => (state === "free" ? "unobserved" : state);

function book(
  bookings: Booking[],
  { node, device, index }: Place,
  holding: Holding | null,
  state: GpuState,
  gpus: number,
) {
  bookings.push({
    gpus,
    state,
    node: node.name,
    pool: device.pool,
    device: index,
    pod: holding === null ? null : holding.pod,
    estimated: holding === null ? false : holding.estimated,
  });
}

function bookHolding(
  bookings: Booking[],
  place: Place,
  holding: Holding,
  pod: PodView,
  at: number,
  settings: StateSettings,
): void {
  const { share } = holding;
  const state = stateOfHolding(holding, pod, place.device, place.node, at, settings);
  if (state !== null) {
    book(bookings, place, holding, state, share);
    return;
  }
  const active = share * (holding.activity ?? 0);
  if (active > 0) book(bookings, place, holding, "active", active);
  if (share - active > 0) book(bookings, place, holding, "underused", share - active);
}

/** The state of a whole share; `null` where it is partly active and partly underused. */
function stateOfHolding(
  holding: Holding,
  pod: PodView,
  device: Device,
  node: NodeView,
  at: number,
  settings: StateSettings,
): GpuState | null {
  const notReady = node.notReadySince !== null && at - node.notReadySince >= notReadyGraceSeconds;
  if (notReady || device.unhealthy) return "unavailable";
  const partialSince = pod.gang?.partialSince ?? null;
  if (partialSince !== null && at - partialSince > gangGraceSeconds && isQuiet(holding, device)) return "gang_wait";
  const boundAt = pod.boundAt ?? pod.createdAt ?? at;
  if (pod.starting && at - boundAt <= startingLimitSeconds) return "starting";
  if (holding.activity === null) return "unobserved";
  if (isHeldIdle(holding, pod, boundAt, at, settings)) return "held_idle";
  const since = stalledSince(holding, pod, device);
  return since !== null && at - since >= stalledSeconds ? "stalled" : null;
}

function isHeldIdle(holding: Holding, pod: PodView, boundAt: number, at: number, settings: StateSettings): boolean {
  if (pod.idleOptOut || holding.idleSince === null) return false;
  if (at - (pod.createdAt ?? boundAt) <= youngPodSeconds) return false;
  const window = mayBeQuietLong(pod) ? settings.idleServingSeconds : settings.idleBatchSeconds;
  // What a device did before this pod had it says nothing about this pod.
  return at - Math.max(holding.idleSince, Math.min(boundAt, at)) >= window;
}

function bookUnheld(bookings: Booking[], place: Place, rest: number, unheldState: GpuState): void {
  const { device } = place;
  if (unheldState === "unavailable" || device.unhealthy) {
    book(bookings, place, null, "unavailable", rest);
    return;
  }
  if (device.holders.length === 0) {
    const isUnattributed = device.activeUnheldAt !== null || device.orphanReservation;
    book(bookings, place, null, isUnattributed ? "unattributed" : unheldState, rest);
    return;
  }
  const unattributed = Math.min(rest, device.unattributedGpus);
  if (unattributed > 0) book(bookings, place, null, "unattributed", unattributed);
  if (rest - unattributed > 0) book(bookings, place, null, unheldState, rest - unattributed);
}

/** The state of what nobody holds on a node, before the devices themselves are looked at. */
function stateOfUnheld(snapshot: Snapshot, node: NodeView, warmPools: WarmPools): GpuState {
  if (node.ready === false) return "unavailable";
  if (node.schedulable === false) return "cordoned";
  return isIdleNode(snapshot, node) && !isWarmPool(node.labels, warmPools) ? "idle_node" : "free";
}

/** Whether a node can be idle at all: allocatable GPUs, ready, schedulable, and older than 15 minutes. */
export function canBeIdle({ at }: Pick<Snapshot, "at">, node: NodeView): boolean {
  if (node.ready !== true || node.schedulable !== true || (node.allocatableGpus ?? 0) <= 0) return false;
  return node.createdAt !== null && at - node.createdAt > youngNodeSeconds;
}

/**
 * An idle node, kind `unallocated`: it can be idle, nothing holds a GPU and nothing is active without a holder. Whether it
 * is kept ready on purpose is not asked here. Never where objects were not read: who holds what is not known then.
 */
export function isIdleNode(snapshot: Snapshot, node: NodeView): boolean {
  if (!snapshot.coverage.objects || !canBeIdle(snapshot, node)) return false;
  return node.devices.every((index) => {
    const device = snapshot.devices[index];
    return (
      device === undefined ||
      (device.holders.length === 0 && device.activeUnheldAt === null && !device.orphanReservation)
    );
  });
}
