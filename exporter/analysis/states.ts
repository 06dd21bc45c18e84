import type { Device, Holding, NodeView, PodView, Snapshot } from "../join/snapshot.ts";
import type { HealthCause, UnavailableCause } from "../model/gpuFaults.ts";
import { type GpuState, stateIds } from "../model/gpuStates.ts";
import { AccountingEntries, EntryWriter } from "./accountingEntries.ts";
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
import { stateOfUnallocated, type WarmPools } from "./unallocatedState.ts";

/** The settings that decide on states. */
export interface StateSettings {
  /** The times after which allocated GPUs are idle, seconds; the other times are in `stateLimits`. */
  readonly idleBatchSeconds: number;
  readonly idleServingSeconds: number;
  /** Nodes that are never in the state `idle_node`. */
  readonly warmPools: WarmPools;
}

const { notReadyGraceSeconds, startingLimitSeconds, stalledSeconds, youngPodSeconds } = stateLimits;

/**
 * How a node is used. `idle`: everything allocated there is idle; `other`: anything else is allocated there, or active without
 * a holder; `null`: neither.
 */
export type NodeUse = "idle" | "other" | null;

/** The accounting entries of a moment, and what they show about each node. */
export interface AccountedStates {
  readonly accountingEntries: AccountingEntries;
  /** How each node is used; parallel to `Snapshot.nodes`. */
  readonly uses: readonly NodeUse[];
}

/**
 * Accounts every physical GPU of the moment in exactly one state (design, section 4): the allocated part is decided first, by
 * the state of its holder, and the rest of each device by the state of its node. The accounting entries of a node add up to
 * its physical GPUs.
 */
export function accountStates(snapshot: Snapshot, settings: StateSettings): AccountedStates {
  const { nodes, unpartitioned } = snapshot;
  const names = nodes.map(({ name }) => name);
  // A plan is measured with the states of its own few nodes alone.
  const devices = nodes.reduce((sum, node) => sum + node.devices.length, 0);
  const entries = new EntryWriter(names, devices);
  const found: NodeStates = { snapshot, settings, entries, uses: [], states: [] };
  for (let at = 0; at < nodes.length; at++) accountNode(found, at);
  if (unpartitioned.length > 0) accountUnpartitioned(found);
  return { accountingEntries: new AccountingEntries(entries), uses: found.uses };
}

/** What was found about the nodes so far. */
interface NodeStates {
  readonly snapshot: Snapshot;
  readonly settings: StateSettings;
  readonly entries: EntryWriter;
  readonly uses: NodeUse[];
  /** The state of what is unallocated, by index of the node; `undefined` for nodes that are not counted. */
  readonly states: (GpuState | undefined)[];
}

function accountNode({ snapshot, settings, entries, uses, states }: NodeStates, at: number): void {
  const view = snapshot.nodes[at];
  if (view === undefined || view.physicalGpus === null) {
    uses.push(null);
    states.push(undefined);
    return;
  }
  const first = entries.length;
  const unallocatedState = stateOfUnallocated(snapshot, view, settings.warmPools);
  for (const index of view.devices) {
    const device = snapshot.devices[index];
    if (device === undefined) continue;
    const place = { view, of: device, snapshot, node: at, pool: device.pool, device: index };
    accountDevice(entries, place, unallocatedState, settings);
  }
  states.push(unallocatedState);
  uses.push(useFrom(entries, first));
}

/** Accounts the parts of GPUs that are no device. */
function accountUnpartitioned({ snapshot, entries, states }: NodeStates): void {
  const unhealthy = unhealthyGpus(snapshot);
  const places = new Map(snapshot.nodes.map(({ name }, at) => [name, at] as const));
  for (const part of snapshot.unpartitioned) {
    const node = places.get(part.node) ?? entries.nodes.push(part.node) - 1;
    places.set(part.node, node);
    const ofNode = states[node] ?? "free";
    const fault = unhealthy.get(`${part.node}/${part.uuid}`);
    const reason = ofNode === "unavailable" ? nodeIsLost : fault === undefined ? null : { cause: fault };
    const state = fault === undefined ? ofNode : "unavailable";
    entries.add({ node, pool: part.pool, device: -1 }, null, state, part.weight, reason);
  }
}

const nodeIsLost = { cause: "node" } as const;

const idleId = stateIds.get("idle") ?? -1;
const unattributedId = stateIds.get("unattributed") ?? -1;

/** What accounting entries show about their node, from its first entry on. */
function useFrom({ pod, state, length }: EntryWriter, first: number): NodeUse {
  let use: NodeUse = null;
  for (let at = first; at < length; at++) {
    if ((pod[at] ?? -1) < 0 && state[at] !== unattributedId) continue;
    if (state[at] !== idleId) return "other";
    use = "idle";
  }
  return use;
}

/** GPUs all of whose instances are unhealthy, and the cause: the rest of such a GPU is no better. */
function unhealthyGpus(snapshot: Snapshot): ReadonlyMap<string, UnavailableCause> {
  const unhealthy = new Map<string, UnavailableCause>();
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
  readonly view: NodeView;
  readonly of: Device;
  readonly snapshot: Snapshot;
  /** Index of its node, the name of its pool, and its own index. */
  readonly node: number;
  readonly pool: string;
  readonly device: number;
}

function accountDevice(entries: EntryWriter, place: Place, unallocatedState: GpuState, settings: StateSettings): void {
  const { of: device, snapshot } = place;
  // There are neither pods nor a telemetry row: it is unknown whether it is allocated.
  const ownUnallocatedState =
    !snapshot.coverage.objects && device.reading === null ? unknownHolder(unallocatedState) : unallocatedState;
  let allocated = 0;
  for (const holding of device.holders) {
    const pod = snapshot.pods[holding.pod];
    if (pod === undefined) continue;
    allocated += holding.share;
    accountHolding(entries, place, holding, pod, settings);
  }
  const rest = Math.max(0, device.weight - allocated);
  if (rest > 1e-12) accountUnallocated(entries, place, rest, ownUnallocatedState);
}

/**
 * The state if it is unknown whether GPUs are held: `free` becomes `unobserved`; what is true of the node is true in any case.
 */
const unknownHolder = (state: GpuState): GpuState => (state === "free" ? "unobserved" : state);

function account(entries: EntryWriter, place: Place, holding: Holding | null, state: GpuState, gpus: number): void {
  entries.add(place, holding, state, gpus, reasonOf(place, holding, state));
}

function reasonOf(
  place: Place,
  holding: Holding | null,
  state: GpuState,
): Pick<AccountingEntry, "cause" | "idleReason"> | null {
  if (state === "idle" && holding !== null) {
    const idleReason = idleReasonOf(place.snapshot, holding);
    return idleReason === null ? null : { idleReason };
  }
  const cause = causeOf(place, holding, state);
  return cause === null ? null : { cause };
}

/** Why the GPUs of an idle share are idle by their server; if nothing runs on them either, this is the better reason. */
function idleReasonOf({ serving, pods, at }: Snapshot, { pod: index }: Holding): ReturnType<typeof idleByRequests> {
  const pod = pods[index];
  return pod === undefined ? null : idleByRequests(serving?.get(index), pod, at);
}

/** Why a device cannot be used or is slow. That its node is not ready explains its absence, whatever else is wrong with it. */
function causeOf(
  { view: node, of: device, snapshot }: Place,
  holding: Holding | null,
  state: GpuState,
): HealthCause | null {
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
  entries: EntryWriter,
  place: Place,
  holding: Holding,
  pod: PodView,
  settings: StateSettings,
): void {
  const { share } = holding;
  const state = stateOfHolding(holding, pod, place, settings);
  if (state !== null) {
    account(entries, place, holding, state, share);
    return;
  }
  const active = share * (holding.activity ?? 0);
  if (active > 0) account(entries, place, holding, "active", active);
  if (share - active > 0) account(entries, place, holding, "underutilized", share - active);
}

/** The state of a whole share; `null` where it is partly active and partly underutilized. */
function stateOfHolding(
  holding: Holding,
  pod: PodView,
  { of: device, view: node, snapshot }: Place,
  settings: StateSettings,
): GpuState | null {
  const { at } = snapshot;
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

function accountUnallocated(entries: EntryWriter, place: Place, rest: number, unallocatedState: GpuState): void {
  const { of: device } = place;
  if (unallocatedState === "unavailable" || device.unhealthy) {
    account(entries, place, null, "unavailable", rest);
    return;
  }
  if (device.holders.length === 0) {
    const isUnattributed = device.activeUnallocatedAt !== null || device.orphanReservation;
    account(entries, place, null, isUnattributed ? "unattributed" : unallocatedState, rest);
    return;
  }
  const unattributed = Math.min(rest, device.unattributedGpus);
  if (unattributed > 0) account(entries, place, null, "unattributed", unattributed);
  if (rest - unattributed > 0) account(entries, place, null, unallocatedState, rest - unattributed);
}
