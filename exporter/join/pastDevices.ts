import type { NodeBinding } from "./binding/binding.ts";
import type { Memory } from "./memory.ts";
import type { Device } from "./snapshot.ts";
import type { Stall } from "./stall/looksStalled.ts";

/**
 * What was known about the devices of bindings a cycle ago. A device without an identity has no past. It is data and not an
 * object with functions: code that calls functions which were made for one cycle is dropped when they are collected.
 */
export interface PastDevices {
  readonly memory: Memory;
  /** `null`: the memory must be used, because the last join did not end with it. */
  readonly last: LastDevices | null;
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
  return { memory, last: last?.memory === memory ? last : null };
}

/** Whether the devices in a binding are its past; else the memory is. */
function isInBinding({ last }: PastDevices, binding: NodeBinding): boolean {
  return last !== null && binding.last !== null;
}

/** Since when a device has been idle. */
export function pastIdleSince(past: PastDevices, binding: NodeBinding, place: number): number | undefined {
  if (!isInBinding(past, binding)) return timeIn(past.memory.idleSince, keyOf(binding, place));
  return lastOf(binding, place)?.idleSince ?? undefined;
}

/** Since when a device has looked busy and computed nothing. */
export function pastStall(past: PastDevices, binding: NodeBinding, place: number): Stall | null {
  if (isInBinding(past, binding)) return lastOf(binding, place)?.stall ?? null;
  const key = keyOf(binding, place);
  const since = timeIn(past.memory.stalledSince, key);
  return since === undefined ? null : { since, unseenSince: timeIn(past.memory.stalledUnseenSince, key) ?? null };
}

/** When a device that nobody held was last active. */
export function pastActiveUnallocatedAt(past: PastDevices, binding: NodeBinding, place: number): number | undefined {
  if (!isInBinding(past, binding)) return timeIn(past.memory.activeUnallocatedAt, keyOf(binding, place));
  return lastOf(binding, place)?.activeUnallocatedAt ?? undefined;
}

/** The time at which a part of the device was last held. */
export function pastAllocatedAt(past: PastDevices, binding: NodeBinding, place: number): number | undefined {
  const { memory, last } = past;
  if (last === null || binding.last === null) return timeIn(memory.allocatedAt, keyOf(binding, place));
  const device = lastOf(binding, place);
  if (device === null) return undefined;
  return device.holders.length > 0 ? last.at : last.ended.get(keyOf(binding, place) ?? "");
}

function timeIn(times: ReadonlyMap<string, number>, key: string | null): number | undefined {
  return key === null ? undefined : times.get(key);
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
