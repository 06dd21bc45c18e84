// Needed for the goal `join` (docs/performance.md).

import type { ActivitySignal } from "../model/activitySignals.ts";
import type { UnavailableCause } from "../model/gpuFaults.ts";
import type { DeviceReading } from "../model/telemetry.ts";
import type { BoundDevice, BoundShare } from "./binding/binding.ts";
import type { Device, Holding, HoldingSource } from "./snapshot.ts";
import type { Stall } from "./stall/looksStalled.ts";

/** What is known of a device at one moment besides its activity. Devices with the same marks may share one object. */
export type DeviceMarks = Pick<
  Device,
  "signal" | "idleNow" | "idleSince" | "stall" | "activeUnallocatedAt" | "unattributedGpus"
>;

/**
 * A device of a moment: its own fields are what telemetry moves, and the rest it shares with the binding of its node. A
 * cluster of 80,000 GPUs has as many new ones in each cycle, so the fields that stay are not copied.
 */
export class JoinedDevice implements Device {
  readonly reading: DeviceReading | null;
  readonly activity: number | null;
  readonly holders: readonly Holding[];
  readonly #bound: BoundDevice;
  readonly #marks: DeviceMarks;

  /** `holders`: `null` if one pod has the whole device. */
  constructor(
    bound: BoundDevice,
    moment: Pick<Device, "reading" | "activity">,
    marks: DeviceMarks,
    holders: readonly Holding[] | null,
  ) {
    this.reading = moment.reading;
    this.activity = moment.activity;
    this.#bound = bound;
    this.#marks = marks;
    const [share] = bound.shares;
    this.holders = holders ?? (share === undefined ? [] : [new SoleHolding(share, this)]);
  }

  get signal(): ActivitySignal | null {
    return this.#marks.signal;
  }
  get idleNow(): boolean | null {
    return this.#marks.idleNow;
  }
  get idleSince(): number | null {
    return this.#marks.idleSince;
  }
  get stall(): Stall | null {
    return this.#marks.stall;
  }
  get activeUnallocatedAt(): number | null {
    return this.#marks.activeUnallocatedAt;
  }
  get unattributedGpus(): number {
    return this.#marks.unattributedGpus;
  }
  get node(): string {
    return this.#bound.node;
  }
  get uuid(): string | null {
    return this.#bound.uuid;
  }
  get gpuInstance(): string | null {
    return this.#bound.gpuInstance;
  }
  get profile(): string | null {
    return this.#bound.profile;
  }
  get model(): string {
    return this.#bound.model;
  }
  get pool(): string {
    return this.#bound.pool;
  }
  get weight(): number {
    return this.#bound.weight;
  }
  get slots(): number {
    return this.#bound.slots;
  }
  get virtual(): boolean {
    return this.#bound.virtual;
  }
  get unhealthy(): boolean {
    return this.#bound.unhealthy;
  }
  get fault(): UnavailableCause | null {
    return this.#bound.fault;
  }
  get orphanReservation(): boolean {
    return this.#bound.orphanReservation;
  }
  get memoryTotalBytes(): number | null {
    return this.#bound.rowHasMemory ? (this.reading?.memoryTotalBytes ?? null) : this.#bound.memoryBytes;
  }
  get migSlots(): readonly number[] | null {
    return this.#bound.migSlots;
  }
}

/** The holding of a pod that has a device for itself: what it does is what the device does. */
class SoleHolding implements Holding {
  readonly pod: number;
  readonly #share: BoundShare;
  readonly #device: JoinedDevice;

  constructor(share: BoundShare, device: JoinedDevice) {
    this.pod = share.pod.index;
    this.#share = share;
    this.#device = device;
  }

  get share(): number {
    return this.#share.share;
  }
  get source(): HoldingSource {
    return this.#share.source;
  }
  get estimated(): boolean {
    return this.#share.estimated;
  }
  get activity(): number | null {
    return this.#device.activity;
  }
  get idleSince(): number | null {
    return this.#device.idleSince;
  }
}

/** A copy of a device with other values for some of its properties. */
export function changedDevice(device: Device, changes: Partial<Device>): Device {
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
    fault: device.fault,
    reading: device.reading,
    activity: device.activity,
    signal: device.signal,
    idleNow: device.idleNow,
    idleSince: device.idleSince,
    stall: device.stall,
    activeUnallocatedAt: device.activeUnallocatedAt,
    unattributedGpus: device.unattributedGpus,
    orphanReservation: device.orphanReservation,
    memoryTotalBytes: device.memoryTotalBytes,
    migSlots: device.migSlots,
    holders: device.holders,
    ...changes,
  };
}

/** The same for a holding. */
export function changedHolding(holding: Holding, changes: Partial<Holding>): Holding {
  const { pod, share, source, estimated, isSplitAlone, activity, idleSince } = holding;
  const copy: Holding = { pod, share, source, estimated, activity, idleSince, ...changes };
  return isSplitAlone === undefined ? copy : { ...copy, isSplitAlone };
}
