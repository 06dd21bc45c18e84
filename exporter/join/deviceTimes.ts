import type { NodeBinding } from "./binding/binding.ts";
import { telemetryLagSeconds } from "./devices.ts";
import type { Memory } from "./memory.ts";
import type { PastDevices } from "./pastDevices.ts";
import type { Device, Snapshot } from "./snapshot.ts";

/** The times of a memory that are those of devices. */
export type DeviceTimes = Pick<
  Memory,
  "idleSince" | "stalledSince" | "stalledUnseenSince" | "activeUnallocatedAt" | "allocatedAt"
>;

/**
 * What to remember of devices, each map made when it is first asked for: a join that follows another reads the devices
 * themselves, and only a ledger or a restart needs the maps. They hold on to this Snapshot alone, never to earlier ones.
 */
export function deviceTimes(
  { devices, at }: Pick<Snapshot, "devices" | "at">,
  bindings: readonly NodeBinding[],
  ended: ReadonlyMap<string, number>,
): DeviceTimes {
  const keys = bindings.map((binding) => binding.devices);
  const mapOf = (timeOf: (device: Device, key: string) => number | null | undefined) => {
    const times = new Map<string, number>();
    let index = 0;
    for (const ofNode of keys) {
      for (const { key } of ofNode) {
        const device = devices[index++];
        const time = device === undefined || key === null ? null : timeOf(device, key);
        if (key !== null && time !== null && time !== undefined) times.set(key, time);
      }
    }
    return times;
  };
  const made: { -readonly [Kind in keyof DeviceTimes]?: DeviceTimes[Kind] } = {};
  return {
    get idleSince() {
      made.idleSince ??= mapOf((device) => device.idleSince);
      return made.idleSince;
    },
    get stalledSince() {
      made.stalledSince ??= mapOf(({ stall }) => stall?.since);
      return made.stalledSince;
    },
    get stalledUnseenSince() {
      made.stalledUnseenSince ??= mapOf(({ stall }) => stall?.unseenSince);
      return made.stalledUnseenSince;
    },
    get activeUnallocatedAt() {
      made.activeUnallocatedAt ??= mapOf((device) => device.activeUnallocatedAt);
      return made.activeUnallocatedAt;
    },
    get allocatedAt() {
      made.allocatedAt ??= mapOf((device, key) => (device.holders.length > 0 ? at : ended.get(key)));
      return made.allocatedAt;
    },
  };
}

/** Adds the devices of one node that are free now, but were held while telemetry may still show their last holder. */
export function addEnded(binding: NodeBinding, past: PastDevices, at: number, ended: Map<string, number>): void {
  for (let place = 0; place < binding.devices.length; place++) {
    const device = binding.devices[place];
    if (device === undefined || device.key === null || device.shares.length > 0) continue;
    const allocatedAt = past.allocatedAt(binding, place);
    if (allocatedAt !== undefined && at - allocatedAt <= telemetryLagSeconds) ended.set(device.key, allocatedAt);
  }
}
