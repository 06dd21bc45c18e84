import type { NodeBinding } from "./binding/binding.ts";
import type { Memory } from "./memory.ts";
import type { Device } from "./snapshot.ts";
import type { Stall } from "./stall/looksStalled.ts";

/** What was known about the devices of bindings a cycle ago. A device without an identity has no past. */
export interface PastDevices {
  idleSince(binding: NodeBinding, place: number): number | undefined;
  stall(binding: NodeBinding, place: number): Stall | null;
  activeUnallocatedAt(binding: NodeBinding, place: number): number | undefined;
  /** The time at which a part of the device was last held. */
  allocatedAt(binding: NodeBinding, place: number): number | undefined;
}

/** The devices of the bindings at the end of a join, and the memory that belongs to them. */
export interface LastDevices {
  readonly memory: Memory;
  readonly at: number;
  /** When the devices that nobody held then were last held. */
  readonly ended: ReadonlyMap<string, number>;
}

/**
 * The past according to a memory. If the last join ended with this very memory, the devices in the bindings contain the same,
 * and no device is looked up by its key.
 */
export function pastDevices(memory: Memory, last: LastDevices | null): PastDevices {
  const fromMemory = pastFromMemory(memory);
  if (last === null || last.memory !== memory) return fromMemory;
  return {
    idleSince: (binding, place) =>
      binding.last === null ? fromMemory.idleSince(binding, place) : (lastOf(binding, place)?.idleSince ?? undefined),
    stall: (binding, place) =>
      binding.last === null ? fromMemory.stall(binding, place) : (lastOf(binding, place)?.stall ?? null),
    activeUnallocatedAt: (binding, place) =>
      binding.last === null
        ? fromMemory.activeUnallocatedAt(binding, place)
        : (lastOf(binding, place)?.activeUnallocatedAt ?? undefined),
    allocatedAt: (binding, place) => {
      if (binding.last === null) return fromMemory.allocatedAt(binding, place);
      const device = lastOf(binding, place);
      if (device === null) return undefined;
      return device.holders.length > 0 ? last.at : last.ended.get(keyOf(binding, place) ?? "");
    },
  };
}

function pastFromMemory(memory: Memory): PastDevices {
  const timeIn = (times: ReadonlyMap<string, number>, key: string | null) =>
    key === null ? undefined : times.get(key);
  return {
    idleSince: (binding, place) => timeIn(memory.idleSince, keyOf(binding, place)),
    stall: (binding, place) => {
      const key = keyOf(binding, place);
      const since = timeIn(memory.stalledSince, key);
      return since === undefined ? null : { since, unseenSince: timeIn(memory.stalledUnseenSince, key) ?? null };
    },
    activeUnallocatedAt: (binding, place) => timeIn(memory.activeUnallocatedAt, keyOf(binding, place)),
    allocatedAt: (binding, place) => timeIn(memory.allocatedAt, keyOf(binding, place)),
  };
}

function keyOf({ devices }: NodeBinding, place: number): string | null {
  return devices[place]?.key ?? null;
}

function lastOf(binding: NodeBinding, place: number): Device | null {
  return keyOf(binding, place) === null ? null : (binding.last?.[place] ?? null);
}

/**
 * Gives a new binding what was last known about its devices, by key, and about its pods, which comes from the binding that its
 * node had before.
 */
export function takeOver(binding: NodeBinding, before: NodeBinding | undefined): void {
  for (const bound of binding.pods) bound.subject = before?.pods.find(({ pod }) => pod === bound.pod)?.subject ?? null;
  if (binding.hasTwins || before?.last === null) return;
  const last = before?.last ?? [];
  const keys = before?.devices ?? [];
  binding.last = binding.devices.map(({ key }, place) => {
    if (key === null) return null;
    // Mostly the devices are the same as before.
    if (keys[place]?.key === key) return last[place] ?? null;
    const at = keys.findIndex((device) => device.key === key);
    return last[at] ?? null;
  });
}
