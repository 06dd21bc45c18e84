import type { Device, Holding, NodeView, PodView, Snapshot } from "../join/snapshot.ts";
import type { Booking, GpuState } from "./booking.ts";

/** The times after which a state begins, seconds. Defaults are the design's; the idle ones are configuration. */
export interface StateSettings {
  readonly idleBatchSeconds: number;
  readonly idleServingSeconds: number;
}

/** A held device is `unavailable` only when its node has been not ready for this long. */
const notReadyGraceSeconds = 5 * 60;
const gangGraceSeconds = 5 * 60;
const startingLimitSeconds = 15 * 60;
const youngPodSeconds = 5 * 60;
/** A node younger than this is still being set up, not idle. */
const youngNodeSeconds = 15 * 60;

/**
 * Books every physical GPU of the moment in exactly one state (design, section 4): held is decided first, by the state
 * of its holder; the rest of each device by the state of its node. The bookings of a node add up to its physical GPUs.
 */
export function bookStates(snapshot: Snapshot, settings: StateSettings): readonly Booking[] {
  const bookings: Booking[] = [];
  const states = new Map<string, GpuState>();
  const unhealthy = unhealthyCards(snapshot);
  for (const node of snapshot.nodes) {
    if (node.physicalGpus === null) continue;
    const unheldState = stateOfUnheld(snapshot, node);
    states.set(node.name, unheldState);
    for (const index of node.devices) {
      const device = snapshot.devices[index];
      if (device !== undefined) bookDevice(bookings, snapshot, node, device, index, unheldState, settings);
    }
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
  return bookings;
}

/** Cards of which every instance is unhealthy: the rest of the card is no better. */
function unhealthyCards(snapshot: Snapshot): ReadonlySet<string> {
  const healthy = new Set<string>();
  const unhealthy = new Set<string>();
  for (const device of snapshot.devices) {
    (device.unhealthy ? unhealthy : healthy).add(`${device.node}/${device.uuid}`);
  }
  return new Set([...unhealthy].filter((card) => !healthy.has(card)));
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
  const base = { node: node.name, pool: device.pool, device: index };
  let held = 0;
  for (const holding of device.holders) {
    const pod = snapshot.pods[holding.pod];
    if (pod === undefined) continue;
    held += holding.share;
    for (const [state, gpus] of statesOfHolding(holding, pod, device, node, snapshot.at, settings)) {
      bookings.push({ ...base, gpus, state, pod: holding.pod, estimated: holding.estimated });
    }
  }
  for (const [state, gpus] of statesOfRest(device, Math.max(0, device.weight - held), unheldState)) {
    bookings.push({ ...base, gpus, state, pod: null, estimated: false });
  }
}

type Part = readonly [state: GpuState, gpus: number];

function statesOfHolding(
  holding: Holding,
  pod: PodView,
  device: Device,
  node: NodeView,
  at: number,
  settings: StateSettings,
): readonly Part[] {
  const { share } = holding;
  const notReady = node.notReadySince !== null && at - node.notReadySince >= notReadyGraceSeconds;
  if (notReady || device.unhealthy) return [["unavailable", share]];
  const partialSince = pod.gang?.partialSince ?? null;
  if (partialSince !== null && at - partialSince > gangGraceSeconds) return [["gang_wait", share]];
  const boundAt = pod.boundAt ?? pod.createdAt ?? at;
  if (pod.starting && at - boundAt <= startingLimitSeconds) return [["starting", share]];
  if (holding.activity === null) return [["unobserved", share]];
  if (isHeldIdle(holding, pod, boundAt, at, settings)) return [["held_idle", share]];
  const active = share * holding.activity;
  const parts: readonly Part[] = [
    ["active", active],
    ["underused", share - active],
  ];
  return parts.filter(([, gpus]) => gpus > 0);
}

function isHeldIdle(holding: Holding, pod: PodView, boundAt: number, at: number, settings: StateSettings): boolean {
  if (pod.idleOptOut || holding.idleSince === null) return false;
  if (at - (pod.createdAt ?? boundAt) <= youngPodSeconds) return false;
  const window = pod.workloadClass === "serving" ? settings.idleServingSeconds : settings.idleBatchSeconds;
  // What a device did before this pod had it says nothing about this pod.
  return at - Math.max(holding.idleSince, Math.min(boundAt, at)) >= window;
}

function statesOfRest(device: Device, rest: number, unheldState: GpuState): readonly Part[] {
  if (rest <= 1e-12) return [];
  if (unheldState === "unavailable" || device.unhealthy) return [["unavailable", rest]];
  if (device.holders.length === 0) {
    const unattributed = device.activeUnheldAt !== null || device.orphanReservation;
    return [[unattributed ? "unattributed" : unheldState, rest]];
  }
  const unattributed = Math.min(rest, device.unattributedGpus);
  const parts: readonly Part[] = [
    ["unattributed", unattributed],
    [unheldState, rest - unattributed],
  ];
  return parts.filter(([, gpus]) => gpus > 0);
}

/** The state of what nobody holds on a node, before the devices themselves are looked at. */
function stateOfUnheld(snapshot: Snapshot, node: NodeView): GpuState {
  if (node.ready === false) return "unavailable";
  if (node.schedulable === false) return "cordoned";
  return isIdleNode(snapshot, node) ? "idle_node" : "free";
}

/**
 * An idle node, kind `unallocated`: allocatable GPUs, ready, schedulable, older than 15 minutes, nothing holds a GPU and
 * nothing is active without a holder.
 */
export function isIdleNode(snapshot: Snapshot, node: NodeView): boolean {
  if (node.ready !== true || node.schedulable !== true || (node.allocatableGpus ?? 0) <= 0) return false;
  if (node.createdAt === null || snapshot.at - node.createdAt <= youngNodeSeconds) return false;
  return node.devices.every((index) => {
    const device = snapshot.devices[index];
    return (
      device === undefined ||
      (device.holders.length === 0 && device.activeUnheldAt === null && !device.orphanReservation)
    );
  });
}
