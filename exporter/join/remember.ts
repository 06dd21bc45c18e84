import type { ClusterState } from "../model/cluster.ts";
import { deviceKey } from "./drafts.ts";
import type { Memory, NodeMemory } from "./memory.ts";
import type { Snapshot } from "./snapshot.ts";

/** What the next cycle must know. Bounded: only of nodes, devices, pods and gangs that are there now. */
export function remember(
  snapshot: Snapshot,
  state: ClusterState,
  before: Memory,
  gangSince: ReadonlyMap<string, number>,
): Memory {
  const idleSince = new Map<string, number>();
  const activeUnheldAt = new Map<string, number>();
  for (const device of snapshot.devices) {
    const key = deviceKey(device);
    if (key === null) continue;
    if (device.idleSince !== null) idleSince.set(key, device.idleSince);
    if (device.activeUnheldAt !== null) activeUnheldAt.set(key, device.activeUnheldAt);
  }
  const pendingSince = new Map<string, number>();
  for (const pod of snapshot.pods) {
    if (pod.pendingSince !== null && pod.uid !== null) pendingSince.set(pod.uid, pod.pendingSince);
  }
  const notReadySince = new Map<string, number>();
  for (const node of snapshot.nodes) if (node.notReadySince !== null) notReadySince.set(node.name, node.notReadySince);
  const nodes = state.known.has("nodes") ? rememberNodes(snapshot, state, before) : before.nodes;
  return { nodes, idleSince, activeUnheldAt, gangSince, pendingSince, notReadySince };
}

function rememberNodes(snapshot: Snapshot, state: ClusterState, before: Memory): ReadonlyMap<string, NodeMemory> {
  const bootIds = new Map(state.nodes.map((node) => [node.name, node.bootId] as const));
  const nodes = new Map<string, NodeMemory>();
  for (const node of snapshot.nodes) {
    if (node.physicalGpus === null) continue;
    const bootId = bootIds.get(node.name) ?? "";
    const old = before.nodes.get(node.name);
    const seen = node.devices
      .map((i) => snapshot.devices[i]?.uuid)
      .filter((uuid) => uuid !== null && uuid !== undefined);
    const kept = old?.bootId === bootId ? old.uuids : [];
    // Twice the cards is enough to know a card that fell off, and bounds what a lying page can make us keep.
    const uuids = [...new Set([...seen, ...kept])].slice(0, 2 * node.physicalGpus);
    nodes.set(node.name, { bootId, physicalGpus: node.physicalGpus, models: node.gpuModels, uuids });
  }
  return nodes;
}
