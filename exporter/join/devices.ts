import type { Config } from "../config/schema.ts";
import { latest } from "../kernel/once.ts";
import type { ActivitySignal } from "../model/activitySignals.ts";
import type { DeviceReading } from "../model/telemetry.ts";
import { activityOf, isIdle, profilingIsBroken } from "./activity.ts";
import type { BoundDevice, BoundShare, NodeBinding } from "./binding/binding.ts";
import { type DeviceMarks, JoinedDevice } from "./joinedDevice.ts";
import { withoutLockedZeros } from "./lockedInstances.ts";
import { type PastDevices, pastActiveUnallocatedAt, pastAllocatedAt, pastIdleSince, pastStall } from "./pastDevices.ts";
import type { Device, Holding } from "./snapshot.ts";
import { powerRangeOf } from "./stall/gpuPower.ts";
import { looksStalled, type Stall, stallAfter } from "./stall/looksStalled.ts";

/** How devices are judged. */
export interface ActivitySettings {
  readonly at: number;
  readonly signal: ActivitySignal | null;
  /** Activity up to which a device is idle. */
  readonly idleThreshold: number;
  /** How long activity of a device that nobody holds is remembered, seconds. */
  readonly unattributedSeconds: number;
  readonly past: PastDevices;
  /** Idle and full power by model, where they are configured. */
  readonly power: Config["gpu"]["power"];
}

/** What telemetry reports about a node. */
export interface NodeReadings {
  readonly readings: readonly DeviceReading[];
  /** Whether no page of the node came, or its numbers have not changed for so long that they are not a new sample. */
  readonly isLost: boolean;
}

/** How old a sample may be when it is read: dcgm-exporter collects every 30 s, and a scrape waits up to 30 s more. */
export const telemetryLagSeconds = 60;

/**
 * Finishes the devices of one node with the values of the moment, and adds them to `into`; those with implausible profiling
 * counters also to `broken`.
 */
export function finishDevices(
  binding: NodeBinding,
  shown: NodeReadings,
  settings: ActivitySettings,
  into: Device[],
  broken: Device[],
): void {
  const { devices, hasSpread } = binding;
  const readings = devices.some(({ gpuInstance }) => gpuInstance !== null)
    ? {
        ...shown,
        readings: withoutLockedZeros(shown.readings, devices, (model) => powerRangeOf(model, settings.power)),
      }
    : shown;
  const group = hasSpread
    ? spreadGroup(devices.map((device, place) => sampleOf(device, place, binding, readings, settings)))
    : alone;
  const finished: Device[] = [];
  for (let place = 0; place < devices.length; place++) {
    const bound = devices[place];
    if (bound === undefined) continue;
    const device = finish(sampleOf(bound, place, binding, readings, settings), group);
    finished.push(device);
    into.push(device);
    const isUnmeasured = readings.readings[bound.row] !== shown.readings[bound.row];
    if (device.reading !== null && (isUnmeasured || profilingIsBroken(device.reading))) broken.push(device);
  }
  binding.last = binding.hasTwins ? null : finished;
}

interface Sample {
  readonly device: BoundDevice;
  readonly reading: DeviceReading | null;
  readonly activity: number | null;
  readonly signal: ActivitySignal | null;
  readonly idleNow: boolean | null;
  readonly idleSince: number | null;
  readonly stall: Stall | null;
  readonly activeUnallocatedAt: number | null;
}

function sampleOf(
  device: BoundDevice,
  place: number,
  binding: NodeBinding,
  { readings, isLost }: NodeReadings,
  settings: ActivitySettings,
): Sample {
  const reading = readings[device.row] ?? null;
  const seen = reading === null ? null : activityOf(reading, settings.signal);
  const activity = seen === null ? null : seen.activity;
  const idleNow = reading === null || seen === null ? null : isIdle(reading, settings.idleThreshold);
  return {
    device,
    reading,
    activity,
    signal: seen === null ? null : seen.signal,
    idleNow,
    // That nothing runs on a GPU while it cannot be used says nothing about its holder: the windows begin when it can.
    idleSince:
      idleNow === true && !device.unhealthy ? (pastIdleSince(settings.past, binding, place) ?? settings.at) : null,
    stall: stallAfter(
      pastStall(settings.past, binding, place),
      isLost ? null : !device.unhealthy && stalls(device, reading, settings),
      settings.at,
    ),
    activeUnallocatedAt: device.allocated > 0 ? null : lastActiveUnallocated(binding, place, activity, settings),
  };
}

/** A row that has disappeared from the page says nothing about its GPU: it is not known whether its state lasts. */
function stalls({ model }: BoundDevice, reading: DeviceReading | null, { power }: ActivitySettings): boolean {
  return reading !== null && looksStalled(reading, () => powerRangeOf(model, power));
}

/** The node's devices that estimated shares are on: any of them may be the pod's. */
interface SpreadGroup {
  readonly idleSince: number | null;
  /** The part of the free capacity left on these devices that must be active without a holder. */
  readonly unattributedRatio: number;
}

const alone: SpreadGroup = { idleSince: null, unattributedRatio: 0 };

function spreadGroup(samples: readonly Sample[]): SpreadGroup {
  const group = samples.filter((s) => s.device.shares.some((share) => share.spread));
  const idle = group.length > 0 && group.every((s) => s.idleSince !== null);
  const idleSince = idle ? Math.max(...group.map((s) => s.idleSince ?? 0)) : null;
  const exclusive = group.filter((s) => s.device.standsOnSpread);
  const active = exclusive.reduce((sum, s) => sum + (s.activity ?? 0) * s.device.weight, 0);
  const allocated = exclusive.reduce((sum, s) => sum + s.device.allocated, 0);
  const unallocated = exclusive.reduce((sum, s) => sum + s.device.weight - s.device.allocated, 0);
  return {
    idleSince,
    unattributedRatio: unallocated <= 1e-9 ? 0 : Math.min(1, Math.max(0, active - allocated) / unallocated),
  };
}

const nobody: readonly Holding[] = [];

function finish(sample: Sample, group: SpreadGroup): Device {
  const { device, activity } = sample;
  const unattributedGpus = device.allocated === 0 ? 0 : unattributedOf(device, activity, group);
  return new JoinedDevice(device, sample, marksOf(sample, unattributedGpus), holdersOf(sample, group));
}

/** Most devices are busy and have nothing but a signal. */
const busyBy = latest(
  (signal: ActivitySignal | null): DeviceMarks => ({
    signal,
    idleNow: false,
    idleSince: null,
    stall: null,
    activeUnallocatedAt: null,
    unattributedGpus: 0,
  }),
);

function marksOf(
  { signal, idleNow, idleSince, stall, activeUnallocatedAt }: Sample,
  unattributedGpus: number,
): DeviceMarks {
  const isBusy = idleNow === false && stall === null && activeUnallocatedAt === null && unattributedGpus === 0;
  if (isBusy && idleSince === null) return busyBy(signal);
  return { signal, idleNow, idleSince, stall, activeUnallocatedAt, unattributedGpus };
}

/** `null` if one pod has the whole device, so that its holding shows what the device shows. */
function holdersOf(sample: Sample, group: SpreadGroup): readonly Holding[] | null {
  const { shares, allocated, weight } = sample.device;
  const [first] = shares;
  if (first === undefined) return nobody;
  if (shares.length === 1 && !first.spread && allocated === weight) return null;
  return shares.map((share) => holding(share, sample, group));
}

function unattributedOf(
  { weight, allocated, standsOnSpread }: BoundDevice,
  activity: number | null,
  group: SpreadGroup,
) {
  const unallocated = Math.max(0, weight - allocated);
  return standsOnSpread
    ? unallocated * group.unattributedRatio
    : Math.min(unallocated, Math.max(0, (activity ?? 0) * weight - allocated));
}

function lastActiveUnallocated(
  binding: NodeBinding,
  place: number,
  activity: number | null,
  { at, past, idleThreshold, unattributedSeconds }: ActivitySettings,
): number | null {
  // Telemetry lags: right after a pod has ended, its last samples still belong to it.
  if (activity !== null && activity > idleThreshold) {
    const allocatedAt = pastAllocatedAt(past, binding, place);
    if (allocatedAt === undefined || at - allocatedAt > telemetryLagSeconds) return at;
  }
  const remembered = pastActiveUnallocatedAt(past, binding, place);
  return remembered !== undefined && at - remembered <= unattributedSeconds ? remembered : null;
}

/**
 * Activity of one share. If it is alone on its device, or is on all unassigned devices of a node, this is the device's
 * activity. On a shared GPU where H is allocated, it is min(1, u/H), or the pod's own per-process value where rows carry it.
 */
function holding(share: BoundShare, sample: Sample, group: SpreadGroup): Holding {
  const { device, activity } = sample;
  const own = activity === null || device.standsOnSpread ? null : trustedProcessUtil(share, sample);
  const isSplit = activity !== null && !device.standsOnSpread && own === null && device.shares.length > 1;
  const held: Holding = {
    pod: share.pod.index,
    share: share.share,
    source: share.source,
    estimated: share.estimated || isSplit,
    activity: activity === null || device.standsOnSpread ? activity : shareActivity(share, device, activity, own),
    idleSince: share.spread ? group.idleSince : sample.idleSince,
  };
  return isSplit && !share.estimated ? { ...held, isSplitAlone: true } : held;
}

function shareActivity({ share }: BoundShare, device: BoundDevice, activity: number, own: number | null): number {
  if (own !== null) return share > 0 ? Math.min(1, own / share) : 0;
  return device.allocated > 0 ? Math.min(1, (activity * device.weight) / device.allocated) : 0;
}

/**
 * The part of a GPU that the processes of a share's pod use. Such values are believed unless all are 0 on a busy GPU: the
 * exporter cannot see processes then.
 */
function trustedProcessUtil(share: BoundShare, sample: Sample): number | null {
  const { device, reading, activity } = sample;
  if (device.shares.length < 2 || share.spread) return null;
  const own = processUtilOf(share, reading);
  if (own === null) return null;
  const seen = device.shares.some((one) => (processUtilOf(one, reading) ?? 0) > 0);
  return seen || (activity ?? 0) <= 0.05 ? own : null;
}

/** By the row that gave the pod its share; else by an exporter of processes, or by any row, that names this very pod. */
function processUtilOf({ processUtil, pod: { pod } }: BoundShare, reading: DeviceReading | null): number | null {
  if (processUtil !== null || reading === null) return processUtil;
  const isOf = (row: { readonly namespace: string; readonly pod: string; readonly podUid: string | null }): boolean =>
    row.namespace === pod.namespace && row.pod === pod.name && (row.podUid === null || row.podUid === pod.uid);
  return reading.podProcesses?.find(isOf)?.util ?? reading.claimants.find(isOf)?.processUtil ?? null;
}

/** The readings of all devices that telemetry shows. */
export function observedReadings(
  bindings: readonly NodeBinding[],
  readings: ReadonlyMap<string, readonly DeviceReading[]>,
): readonly DeviceReading[] {
  const observed: DeviceReading[] = [];
  for (const { devices, facts } of bindings) {
    const rows = readings.get(facts.name);
    if (rows === undefined) continue;
    for (const { row } of devices) {
      const reading = rows[row];
      if (reading !== undefined) observed.push(reading);
    }
  }
  return observed;
}
