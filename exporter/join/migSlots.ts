import type { DeviceReading } from "../model/telemetry.ts";
import type { DraDevice } from "./draDevices.ts";
import type { DeviceDraft } from "./drafts.ts";
import { sameProfile } from "./mig.ts";

/** Where an instance is on its GPU, and whether that may be the place of another one of its profile. */
export type MigSlots = Pick<DeviceDraft, "migSlots" | "areSlotsAssumed">;

/**
 * The positions of the instances that rows of telemetry show, row by row, by what the driver reports about the GPU's
 * instances; `null` if it reports nothing. An instance is known by its UUID, which rows carry where a claim has been given it;
 * the others of a profile are taken in any order.
 */
export function slotsOfRows(
  rows: readonly DeviceReading[],
  instances: readonly DraDevice[],
): readonly MigSlots[] | null {
  if (instances.length === 0) return null;
  const left = new Set(instances);
  const exact = rows.map(({ migUuid }) => {
    const own = migUuid === null ? undefined : instances.find((instance) => instance.migUuid === migUuid);
    if (own !== undefined) left.delete(own);
    return own;
  });
  const isAlone = (profile: string): boolean =>
    rows.filter((row, i) => exact[i] === undefined && sameProfile(row.profile ?? "", profile)).length === 1;
  return rows.map(({ profile }, row) => {
    const own = exact[row];
    if (own !== undefined) return { migSlots: own.migSlots, areSlotsAssumed: false };
    const alike = [...left].filter((instance) => profile !== null && sameProfile(instance.profile ?? "", profile));
    const [first] = alike;
    if (first === undefined || profile === null) return { migSlots: null, areSlotsAssumed: true };
    left.delete(first);
    return { migSlots: first.migSlots, areSlotsAssumed: alike.length > 1 || !isAlone(profile) };
  });
}

/**
 * Settles the position of a device on which a claim is put: the position of the instance that the claim was given. An
 * unclaimed instance that was assumed to be there gets the device's former position; two claims for different instances on one
 * device leave it unknown.
 */
export function settleSlots(device: DeviceDraft, slots: readonly number[], ofGpu: readonly DeviceDraft[]): void {
  if (!isSame(device.migSlots, slots)) {
    if (device.shares.length > 0 && !device.areSlotsAssumed) {
      device.migSlots = null;
      return;
    }
    const other = ofGpu.find((one) => one !== device && one.shares.length === 0 && isSame(one.migSlots, slots));
    if (other !== undefined) {
      other.migSlots = device.migSlots;
      other.areSlotsAssumed = true;
    }
    device.migSlots = slots;
  }
  device.areSlotsAssumed = false;
}

function isSame(some: readonly number[] | null, others: readonly number[]): boolean {
  return some?.length === others.length && some.every((slot, i) => slot === others[i]);
}
