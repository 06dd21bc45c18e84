import type { Device, Holding, PodView, Snapshot } from "../join/snapshot.ts";

/**
 * Where each device of the earlier moment is in the later one: index into `later.devices`, or -1. A device is the same by
 * node, UUID and GPU instance; one without a UUID is never found again. Costs little while nodes keep their devices in
 * order, and finds them in any order.
 */
export function matchDevices(earlier: Snapshot, later: Snapshot): Int32Array {
  const matches = new Int32Array(earlier.devices.length).fill(-1);
  const laterNodes = new Map(later.nodes.map((node) => [node.name, node.devices] as const));
  for (const node of earlier.nodes) {
    const candidates = laterNodes.get(node.name);
    if (candidates === undefined) continue;
    let cursor = 0;
    for (const index of node.devices) {
      const device = earlier.devices[index];
      if (device === undefined || device.uuid === null) continue;
      const position = findDevice(device, candidates, later.devices, cursor);
      if (position < 0) continue;
      matches[index] = candidates[position] ?? -1;
      cursor = position + 1;
    }
  }
  return matches;
}

/** Looks from `start` on, and around to it again. */
function findDevice(wanted: Device, candidates: readonly number[], devices: readonly Device[], start: number): number {
  const count = candidates.length;
  for (let step = 0; step < count; step++) {
    const position = (start + step) % count;
    const candidate = devices[candidates[position] ?? -1];
    if (candidate?.uuid === wanted.uuid && candidate?.gpuInstance === wanted.gpuInstance) return position;
  }
  return -1;
}

/**
 * Activity, 0..1, of what a pod of the earlier moment still holds of this device of the later one; `null` when it holds
 * nothing of it or is not observed. Several holdings count by their shares.
 */
export function laterActivity(pod: PodView, device: Device, later: Snapshot): number | null {
  let active = 0;
  let share = 0;
  for (const holding of device.holders) {
    if (!isObserved(holding)) continue;
    const holder = later.pods[holding.pod];
    if (holder === undefined || !isSamePod(pod, holder)) continue;
    active += holding.share * holding.activity;
    share += holding.share;
  }
  return share > 0 ? Math.min(1, Math.max(0, active / share)) : null;
}

function isObserved(holding: Holding): holding is Holding & { readonly activity: number } {
  return holding.activity !== null;
}

/** By uid; by namespace and name where telemetry alone names one of them. */
function isSamePod(a: PodView, b: PodView): boolean {
  if (a === b) return true;
  if (a.uid !== null && b.uid !== null) return a.uid === b.uid;
  return a.name === b.name && a.namespace === b.namespace;
}
