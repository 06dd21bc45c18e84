import type { Config } from "../config/schema.ts";
import type { Device, Holding, NodeView, PodView, Snapshot } from "../join/snapshot.ts";
import type { HealthCause, UnavailableCause } from "../model/gpuFaults.ts";
import type { GpuState } from "../model/gpuStates.ts";
import type { TextMap } from "../model/node.ts";
import type { AccountingEntry } from "./accountingEntry.ts";
import { degradedCause, unhealthyCause } from "./health/causes.ts";
import {
  holdsInVain,
  idleByRequests,
  isQuiet,
  mayBeQuietLong,
  quietSince,
  stalledSince,
  stateLimits,
} from "./stateLimits.ts";

/** The settings that decide on states. */
export interface StateSettings {
  /** The times after which allocated GPUs are idle, seconds; the other times are in `stateLimits`. */
  readonly idleBatchSeconds: number;
  readonly idleServingSeconds: number;
  /** Nodes that are never in the state `idle_node`. */
  readonly warmPools: WarmPools;
}

const { notReadyGraceSeconds, startingLimitSeconds, stalledSeconds, youngPodSeconds, youngNodeSeconds } = stateLimits;

/**
 * How a node is used. `idle`: everything allocated there is idle; `other`: anything else is allocated there, or active without
 * a holder; `null`: neither.
 */
export type NodeUse = "idle" | "other" | null;

/** The accounting entries of a moment, and what they show about each node. */
export interface AccountedStates {
  readonly accountingEntries: readonly AccountingEntry[];
  /** How each node is used; parallel to `Snapshot.nodes`. */
  readonly uses: readonly NodeUse[];
}

/**
 * Accounts every physical GPU of the moment in exactly one state (design, section 4): the allocated part is decided first, by
 * the state of its holder, and the rest of each device by the state of its node. The accounting entries of a node add up to
 * its physical GPUs.
 */
export function accountStates(snapshot: Snapshot, settings: StateSettings): AccountedStates {
  const accountingEntries: AccountingEntry[] = [];
  const uses: NodeUse[] = [];
  const states = new Map<string, GpuState>();
  const unhealthy = unhealthyGpus(snapshot);
  for (const node of snapshot.nodes) {
    if (node.physicalGpus === null) {
      uses.push(null);
      continue;
    }
    const first = accountingEntries.length;
    const unallocatedState = stateOfUnallocated(snapshot, node, settings.warmPools);
    states.set(node.name, unallocatedState);
    for (const index of node.devices) {
      const device = snapshot.devices[index];
      if (device !== undefined) {
        accountDevice(accountingEntries, snapshot, { node, device, index, snapshot }, unallocatedState, settings);
      }
    }
    uses.push(useFrom(accountingEntries, first));
  }
  for (const part of snapshot.unpartitioned) {
    const ofNode = states.get(part.node) ?? "free";
    const fault = unhealthy.get(`${part.node}/${part.uuid}`);
    accountingEntries.push({
      gpus: part.weight,
      state: fault === undefined ? ofNode : "unavailable",
      node: part.node,
      pool: part.pool,
      device: null,
      pod: null,
      estimated: false,
      ...(ofNode === "unavailable" ? { cause: "node" } : fault === undefined ? {} : { cause: fault }),
    });
  }
  return { accountingEntries, uses };
}

/** What accounting entries show about their node, from its first entry on. */
function useFrom(accountingEntries: readonly AccountingEntry[], first: number): NodeUse {
  let use: NodeUse = null;
  for (let i = first; i < accountingEntries.length; i++) {
    const accountingEntry = accountingEntries[i];
    if (accountingEntry === undefined || (accountingEntry.pod === null && accountingEntry.state !== "unattributed"))
      continue;
    if (accountingEntry.state !== "idle") return "other";
    use = "idle";
  }
  return use;
}

/** GPUs all of whose instances are unhealthy, and the cause: the rest of such a GPU is no better. */
function unhealthyGpus(snapshot: Snapshot): ReadonlyMap<string, UnavailableCause> {
  const unhealthy = new Map<string, UnavailableCause>();
  if (snapshot.unpartitioned.length === 0) return unhealthy;
  for (const node of snapshot.nodes) {
    // Most nodes have only healthy GPUs, whose names are not needed.
    if (!node.devices.some((index) => snapshot.devices[index]?.unhealthy === true)) continue;
    const healthy = new Set<string>();
    for (const index of node.devices) {
      const device = snapshot.devices[index];
      if (device === undefined) continue;
      if (!device.unhealthy) healthy.add(`${node.name}/${device.uuid}`);
      else unhealthy.set(`${node.name}/${device.uuid}`, unhealthyCause(device, node, snapshot.devices));
    }
    for (const uuid of healthy) unhealthy.delete(uuid);
  }
  return unhealthy;
}

/** One device on its node, as it is counted. */
interface Place {
  readonly node: NodeView;
  readonly device: Device;
  /** Index of the device in `Snapshot.devices`. */
  readonly index: number;
  readonly snapshot: Snapshot;
}

function accountDevice(
  accountingEntries: AccountingEntry[],
  snapshot: Snapshot,
  place: Place,
  unallocatedState: GpuState,
  settings: StateSettings,
): void {
  const { device } = place;
  // There are neither pods nor a telemetry row: it is unknown whether it is allocated.
  const ownUnallocatedState =
    !snapshot.coverage.objects && device.reading === null ? unknownHolder(unallocatedState) : unallocatedState;
  let allocated = 0;
  for (const holding of device.holders) {
    const pod = snapshot.pods[holding.pod];
    if (pod === undefined) continue;
    allocated += holding.share;
    accountHolding(accountingEntries, place, holding, pod, snapshot.at, settings);
  }
  const rest = Math.max(0, device.weight - allocated);
  if (rest > 1e-12) accountUnallocated(accountingEntries, place, rest, ownUnallocatedState);
}

/**
 * The state if it is unknown whether GPUs are held: `free` becomes `unobserved`; what is true of the node is true in any case.
 */
const unknownHolder = (state: GpuState): GpuState => (state === "free" ? "unobserved" : state);

function account(
  accountingEntries: AccountingEntry[],
  place: Place,
  holding: Holding | null,
  state: GpuState,
  gpus: number,
): void {
  const { node, device, index, snapshot } = place;
  const cause = causeOf(place, holding, state);
  const entry: AccountingEntry = {
    gpus,
    state,
    node: node.name,
    pool: device.pool,
    device: index,
    pod: holding === null ? null : holding.pod,
    estimated: holding === null ? false : holding.estimated,
  };
  const idleReason = state === "idle" && holding !== null ? idleReasonOf(snapshot, holding) : null;
  if (idleReason !== null) accountingEntries.push({ ...entry, idleReason });
  else accountingEntries.push(cause === null ? entry : { ...entry, cause });
}

/** Why the GPUs of an idle share are idle by their server; if nothing runs on them either, this is the better reason. */
function idleReasonOf({ serving, pods, at }: Snapshot, { pod: index }: Holding): ReturnType<typeof idleByRequests> {
  const pod = pods[index];
  return pod === undefined ? null : idleByRequests(serving?.get(index), pod, at);
}

/** Why a device cannot be used or is slow. That its node is not ready explains its absence, whatever else is wrong with it. */
function causeOf({ node, device, snapshot }: Place, holding: Holding | null, state: GpuState): HealthCause | null {
  if (state === "unavailable") {
    const isLost = holding === null ? node.ready === false : isLongNotReady(node, snapshot.at);
    return isLost ? "node" : unhealthyCause(device, node, snapshot.devices);
  }
  // A slowdown has no effect on an idle GPU.
  const works = state === "active" || state === "underutilized";
  return works && holding !== null ? degradedCause(device.reading) : null;
}

function isLongNotReady({ notReadySince }: NodeView, at: number): boolean {
  return notReadySince !== null && at - notReadySince >= notReadyGraceSeconds;
}

function accountHolding(
  accountingEntries: AccountingEntry[],
  place: Place,
  holding: Holding,
  pod: PodView,
  at: number,
  settings: StateSettings,
): void {
  const { share } = holding;
  const state = stateOfHolding(holding, pod, place, at, settings);
  if (state !== null) {
    account(accountingEntries, place, holding, state, share);
    return;
  }
  const active = share * (holding.activity ?? 0);
  if (active > 0) account(accountingEntries, place, holding, "active", active);
  if (share - active > 0) account(accountingEntries, place, holding, "underutilized", share - active);
}

/** The state of a whole share; `null` where it is partly active and partly underutilized. */
function stateOfHolding(
  holding: Holding,
  pod: PodView,
  { device, node, snapshot }: Place,
  at: number,
  settings: StateSettings,
): GpuState | null {
  if (isLongNotReady(node, at) || device.unhealthy) return "unavailable";
  if (pod.gang !== null && holdsInVain(pod.gang, at) && isQuiet(holding, device)) return "gang_wait";
  const boundAt = pod.boundAt ?? pod.createdAt ?? at;
  if (pod.starting && at - boundAt <= startingLimitSeconds) return "starting";
  if (holding.activity === null) return "unobserved";
  if (idleByRequests(snapshot.serving?.get(holding.pod), pod, at) !== null) return "idle";
  if (isIdle(holding, pod, boundAt, at, settings)) return "idle";
  const since = stalledSince(holding, pod, device);
  return since !== null && at - since >= stalledSeconds ? "stalled" : null;
}

function isIdle(holding: Holding, pod: PodView, boundAt: number, at: number, settings: StateSettings): boolean {
  if (pod.idleOptOut || holding.idleSince === null) return false;
  if (at - (pod.createdAt ?? boundAt) <= youngPodSeconds) return false;
  const window = mayBeQuietLong(pod) ? settings.idleServingSeconds : settings.idleBatchSeconds;
  return at - quietSince(holding.idleSince, boundAt, at) >= window;
}

function accountUnallocated(
  accountingEntries: AccountingEntry[],
  place: Place,
  rest: number,
  unallocatedState: GpuState,
): void {
  const { device } = place;
  if (unallocatedState === "unavailable" || device.unhealthy) {
    account(accountingEntries, place, null, "unavailable", rest);
    return;
  }
  if (device.holders.length === 0) {
    const isUnattributed = device.activeUnallocatedAt !== null || device.orphanReservation;
    account(accountingEntries, place, null, isUnattributed ? "unattributed" : unallocatedState, rest);
    return;
  }
  const unattributed = Math.min(rest, device.unattributedGpus);
  if (unattributed > 0) account(accountingEntries, place, null, "unattributed", unattributed);
  if (rest - unattributed > 0) account(accountingEntries, place, null, unallocatedState, rest - unattributed);
}

/** The state of the GPUs of a node that no pod holds, before the devices themselves are examined. */
function stateOfUnallocated(snapshot: Snapshot, node: NodeView, warmPools: WarmPools): GpuState {
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
 * An idle node, kind `unallocated`: it can be idle, nothing holds a GPU and nothing is active without a holder. Whether it is
 * kept ready on purpose does not matter here. Never `true` if objects were not read, because holders are unknown then.
 */
export function isIdleNode(snapshot: Snapshot, node: NodeView): boolean {
  if (!snapshot.coverage.objects || !canBeIdle(snapshot, node)) return false;
  return node.devices.every((index) => {
    const device = snapshot.devices[index];
    return (
      device === undefined ||
      (device.holders.length === 0 && device.activeUnallocatedAt === null && !device.orphanReservation)
    );
  });
}

/** Which nodes are kept ready on purpose: setting `idle.warmPools`. */
export type WarmPools = Config["idle"]["warmPools"];

/** Whether a node with these labels is kept ready on purpose: it has one of the labels, with its value where one is set. */
export function isWarmPool(labels: TextMap, warmPools: WarmPools): boolean {
  return warmPools.some(({ label, value }) => {
    const found = Object.hasOwn(labels, label) ? labels[label] : undefined;
    return found !== undefined && (value === undefined || found === value);
  });
}
