import type { DeviceReading } from "../model/telemetry.ts";
import { activityOf, isIdle } from "./activity.ts";
import type { BoundDevice, BoundShare, NodeBinding } from "./binding/binding.ts";
import type { Memory } from "./memory.ts";
import type { ActivitySignal, Device, Holding } from "./snapshot.ts";

/** How devices are judged. */
export interface ActivitySettings {
  readonly at: number;
  readonly signal: ActivitySignal | null;
  /** Activity up to which a device is idle. */
  readonly idleThreshold: number;
  /** How long activity of a device that nobody holds is remembered, seconds. */
  readonly unattributedSeconds: number;
}

/** How old a sample may be when it is read: dcgm-exporter collects every 30 s, and a scrape waits up to 30 s more. */
export const telemetryLagSeconds = 60;

/** Finishes the devices of one node with the values of the moment, and adds them to `into`. */
export function finishDevices(
  { devices, hasSpread }: Pick<NodeBinding, "devices" | "hasSpread">,
  readings: readonly DeviceReading[],
  memory: Memory,
  settings: ActivitySettings,
  into: Device[],
): void {
  const group = hasSpread ? spreadGroup(devices.map((device) => sampleOf(device, readings, memory, settings))) : alone;
  for (const device of devices)
    into.push(finish(sampleOf(device, readings, memory, settings), group, memory, settings));
}

interface Sample {
  readonly device: BoundDevice;
  readonly reading: DeviceReading | null;
  readonly activity: number | null;
  readonly signal: ActivitySignal | null;
  readonly idleNow: boolean | null;
  readonly idleSince: number | null;
}

function sampleOf(
  device: BoundDevice,
  readings: readonly DeviceReading[],
  memory: Memory,
  settings: ActivitySettings,
): Sample {
  const reading = readings[device.row] ?? null;
  const seen = reading === null ? null : activityOf(reading, settings.signal);
  const idleNow = reading === null || seen === null ? null : isIdle(reading, settings.idleThreshold);
  const remembered = idleNow !== true || device.key === null ? undefined : memory.idleSince.get(device.key);
  return {
    device,
    reading,
    activity: seen?.activity ?? null,
    signal: seen?.signal ?? null,
    idleNow,
    idleSince: idleNow === true ? (remembered ?? settings.at) : null,
  };
}

/** The node's devices that estimated shares stand on: any of them may be the pod's. */
interface SpreadGroup {
  readonly idleSince: number | null;
  /** Part of the room left on these devices that must be active without a holder. */
  readonly unattributedRatio: number;
}

const alone: SpreadGroup = { idleSince: null, unattributedRatio: 0 };

function spreadGroup(samples: readonly Sample[]): SpreadGroup {
  const group = samples.filter((s) => s.device.shares.some((share) => share.spread));
  const idle = group.length > 0 && group.every((s) => s.idleSince !== null);
  const idleSince = idle ? Math.max(...group.map((s) => s.idleSince ?? 0)) : null;
  const exclusive = group.filter((s) => s.device.standsOnSpread);
  const active = exclusive.reduce((sum, s) => sum + (s.activity ?? 0) * s.device.weight, 0);
  const held = exclusive.reduce((sum, s) => sum + s.device.held, 0);
  const room = exclusive.reduce((sum, s) => sum + s.device.weight - s.device.held, 0);
  return { idleSince, unattributedRatio: room <= 1e-9 ? 0 : Math.min(1, Math.max(0, active - held) / room) };
}

function finish(sample: Sample, group: SpreadGroup, memory: Memory, settings: ActivitySettings): Device {
  const { device, reading, activity, signal, idleNow, idleSince } = sample;
  const { held, standsOnSpread: onSpread } = device;
  const activeGpus = (activity ?? 0) * device.weight;
  const room = Math.max(0, device.weight - held);
  const unattributedGpus =
    held === 0 ? 0 : onSpread ? room * group.unattributedRatio : Math.min(room, Math.max(0, activeGpus - held));
  return {
    node: device.node,
    uuid: device.uuid,
    gpuInstance: device.gpuInstance,
    profile: device.profile,
    model: device.model,
    pool: device.pool,
    weight: device.weight,
    slots: device.slots,
    virtual: device.virtual,
    unhealthy: device.unhealthy,
    reading,
    activity,
    signal,
    idleNow,
    idleSince,
    activeUnheldAt: held > 0 ? null : lastActiveUnheld(sample, memory, settings),
    unattributedGpus,
    orphanReservation: device.orphanReservation,
    memoryTotalBytes: device.memoryBytes,
    holders: device.shares.map((share) => holding(share, sample, group)),
  };
}

function lastActiveUnheld(sample: Sample, memory: Memory, settings: ActivitySettings): number | null {
  const { key } = sample.device;
  const heldAt = key === null ? undefined : memory.heldAt.get(key);
  // Telemetry lags: right after a pod has ended, its last samples are still its own.
  const settled = heldAt === undefined || settings.at - heldAt > telemetryLagSeconds;
  if (settled && sample.activity !== null && sample.activity > settings.idleThreshold) return settings.at;
  const remembered = key === null ? undefined : memory.activeUnheldAt.get(key);
  return remembered !== undefined && settings.at - remembered <= settings.unattributedSeconds ? remembered : null;
}

/**
 * Activity of one share. Alone on its device, or standing on all unassigned devices of a node: the device's activity.
 * On a shared card of which H is held: min(1, u/H), or the pod's own per-process value where rows carry it.
 */
function holding(share: BoundShare, sample: Sample, group: SpreadGroup): Holding {
  const { device, activity } = sample;
  const { held } = device;
  const base = {
    pod: share.pod.index,
    share: share.share,
    source: share.source,
    idleSince: share.spread ? group.idleSince : sample.idleSince,
  };
  if (activity === null) return { ...base, estimated: share.estimated, activity: null };
  if (device.standsOnSpread) return { ...base, estimated: share.estimated, activity };
  const own = trustedProcessUtil(share, sample);
  if (own !== null)
    return { ...base, estimated: share.estimated, activity: share.share > 0 ? Math.min(1, own / share.share) : 0 };
  const split = device.shares.length > 1;
  return {
    ...base,
    estimated: share.estimated || split,
    activity: held > 0 ? Math.min(1, (activity * device.weight) / held) : 0,
  };
}

/** Per-process values are believed unless all are 0 on a busy card (the exporter cannot see processes then). */
function trustedProcessUtil(share: BoundShare, sample: Sample): number | null {
  if (share.processUtil === null || sample.device.shares.length < 2) return null;
  const seen = sample.device.shares.some((s) => (s.processUtil ?? 0) > 0);
  return seen || (sample.activity ?? 0) <= 0.05 ? share.processUtil : null;
}
