import type { Device, Holding, NodeView, PodView, Snapshot } from "../join/snapshot.ts";
import { inRanges, keepShape } from "../kernel/inRanges.ts";

/**
 * For each device of the earlier moment, its index in `later.devices`, or -1 if it is not there. A device is the same by node,
 * UUID and GPU instance; a device without a UUID is never found again. The search is fast while nodes and their devices keep
 * their order, and works in any order.
 */
export function matchDevices(earlier: Snapshot, later: Snapshot): Int32Array {
  const found = new DeviceMatches(earlier, later);
  inRanges(earlier.nodes.length, found);
  return found.matches;
}

type Matched = Pick<Snapshot, "nodes" | "devices">;

class DeviceMatches {
  readonly matches: Int32Array;
  readonly #earlier: Matched;
  readonly #later: Matched;
  readonly #nodeOf: (name: string, position: number) => NodeView | undefined;

  constructor(earlier: Matched, later: Matched) {
    this.matches = new Int32Array(earlier.devices.length).fill(-1);
    this.#earlier = earlier;
    this.#later = later;
    this.#nodeOf = nodesByName(later.nodes);
  }

  addRange(from: number, to: number): void {
    for (let at = from; at < to; at++) {
      const node = this.#earlier.nodes[at];
      const candidates = node === undefined ? undefined : this.#nodeOf(node.name, at)?.devices;
      if (node !== undefined && candidates !== undefined)
        matchNode(node.devices, candidates, this.#earlier, this.#later, this.matches);
    }
  }
}

keepShape(new DeviceMatches({ nodes: [], devices: [] }, { nodes: [], devices: [] }));

/** Finds a node by its name. The position is tried first, because most nodes are where they were. */
function nodesByName(nodes: readonly NodeView[]): (name: string, position: number) => NodeView | undefined {
  let byName: ReadonlyMap<string, NodeView> | null = null;
  return (name, position) => {
    const node = nodes[position];
    if (node?.name === name) return node;
    byName ??= new Map(nodes.map((view) => [view.name, view] as const));
    return byName.get(name);
  };
}

function matchNode(
  wanted: readonly number[],
  candidates: readonly number[],
  earlier: Matched,
  later: Matched,
  into: Int32Array,
): void {
  let cursor = 0;
  for (const index of wanted) {
    const device = earlier.devices[index];
    if (device === undefined || device.uuid === null) continue;
    const position = findDevice(device, candidates, later.devices, cursor);
    if (position < 0) continue;
    into[index] = candidates[position] ?? -1;
    cursor = position + 1;
  }
}

/** The position of a device among the candidates; -1 if it is not there. Searches from `start` on and wraps around. */
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
 * The activity, 0..1, of the part of this later device that a pod of the earlier moment still holds; `null` if it holds none of
 * the device or is not observed. Several holdings count by their shares.
 */
export function laterActivity(pod: PodView, device: Device, later: Pick<Snapshot, "pods">): number | null {
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

/**
 * Whether two views are of the same pod: they are compared by uid, or by namespace and name if one of them has no uid because
 * only telemetry knows it.
 */
function isSamePod(a: PodView, b: PodView): boolean {
  if (a === b) return true;
  if (a.uid !== null && b.uid !== null) return a.uid === b.uid;
  return a.name === b.name && a.namespace === b.namespace;
}
