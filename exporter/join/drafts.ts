import type { UnavailableCause } from "../model/gpuFaults.ts";
import type { DeviceReading } from "../model/telemetry.ts";
import type { HoldingSource } from "./snapshot.ts";

/** A share that is being handed out while a Snapshot is joined. */
export interface ShareDraft {
  /** Index of the pod. */
  readonly pod: number;
  /** Physical GPUs; scaled down only when a GPU turns out to be over-held. */
  share: number;
  readonly source: HoldingSource;
  estimated: boolean;
  /** Whether the share is on every unassigned device of the node, because nothing shows on which one it is. */
  readonly spread: boolean;
  /** The pod's own part of the GPU's activity, where rows carry per-process values. */
  readonly processUtil: number | null;
}

/** A device that is being put together; becomes a `Device` of the Snapshot. */
export interface DeviceDraft {
  readonly node: string;
  readonly uuid: string | null;
  readonly gpuInstance: string | null;
  readonly migUuid: string | null;
  readonly profile: string | null;
  readonly model: string;
  readonly pool: string;
  readonly weight: number;
  readonly slots: number;
  readonly virtual: boolean;
  readonly memoryBytes: number | null;
  /** Memory slices of its GPU that a MIG instance takes; `null` where nothing says. */
  migSlots: readonly number[] | null;
  /** Whether the slots may be those of another instance of its profile: nothing distinguishes unclaimed instances. */
  areSlotsAssumed: boolean;
  unhealthy: boolean;
  /** Why it is unhealthy, as far as objects say; `null`: it is not, or they do not say. */
  fault: UnavailableCause | null;
  /** Whether a reservation pod keeps the GPU although no fraction pod of its group is there. */
  orphanReservation: boolean;
  readonly reading: DeviceReading | null;
  readonly shares: ShareDraft[];
}

/** Physical GPUs of a device that are allocated. */
export function allocatedOf(device: DeviceDraft): number {
  let allocated = 0;
  for (const share of device.shares) allocated += share.share;
  return allocated;
}

/** Physical GPUs of a device that nobody holds yet. */
export function freeCapacityOf(device: DeviceDraft): number {
  return Math.max(0, device.weight - allocatedOf(device));
}

/** The key of a device in what is remembered; `null` for a device that nothing identifies. */
export function deviceKey(device: {
  readonly node: string;
  readonly uuid: string | null;
  readonly gpuInstance: string | null;
}): string | null {
  if (device.uuid === null) return null;
  return `${device.node}/${device.uuid}${device.gpuInstance === null ? "" : `/${device.gpuInstance}`}`;
}
