import type { ClusterState } from "../model/cluster.ts";
import { telemetryLagSeconds } from "./devices.ts";
import { deviceKey } from "./drafts.ts";
import type { Memory, NodeMemory } from "./memory.ts";
import type { NodeInput } from "./nodeInputs.ts";
import type { Snapshot } from "./snapshot.ts";

/** What the next cycle must know. Bounded: only of nodes, devices, pods and gangs that are there now. */
export function remember(
  snapshot: Snapshot,
  state: ClusterState,
  before: Memory,
  gangSince: ReadonlyMap<string, number>,
  inputs: readonly NodeInput[],
): Memory {
  const idleSince = new Map<string, number>();
  const activeUnheldAt = new Map<string, number>();
  const heldAt = new Map<string, number>();
  for (const device of snapshot.devices) {
    const key = deviceKey(device);
    if (key === null) continue;
    if (device.idleSince !== null) idleSince.set(key, device.idleSince);
    if (device.activeUnheldAt !== null) activeUnheldAt.set(key, device.activeUnheldAt);
    const held = device.holders.length > 0 ? snapshot.at : before.heldAt.get(key);
    if (held !== undefined && snapshot.at - held <= telemetryLagSeconds) heldAt.set(key, held);
  }
  const pendingSince = new Map<string, number>();
  for (const pod of snapshot.pods) {
    if (pod.pendingSince !== null && pod.uid !== null) pendingSince.set(pod.uid, pod.pendingSince);
  }
  const notReadySince = new Map<string, number>();
  for (const node of snapshot.nodes) if (node.notReadySince !== null) notReadySince.set(node.name, node.notReadySince);
  const nodes = state.known.has("nodes") ? rememberNodes(snapshot, inputs, before) : before.nodes;
  return { nodes, idleSince, activeUnheldAt, heldAt, gangSince, pendingSince, notReadySince };
}

function rememberNodes(
  snapshot: Snapshot,
  inputs: readonly NodeInput[],
  before: Memory,
): ReadonlyMap<string, NodeMemory> {
  const byName = new Map(inputs.map((input) => [input.object.name, input] as const));
  const nodes = new Map<string, NodeMemory>();
  for (const node of snapshot.nodes) {
    const input = byName.get(node.name);
    if (node.physicalGpus === null || input === undefined) continue;
    const { bootId } = input.object;
    const old = before.nodes.get(node.name);
    const seen = node.devices
      .map((i) => snapshot.devices[i]?.uuid)
      .filter((uuid) => uuid !== null && uuid !== undefined);
    const kept = old?.bootId === bootId ? old.uuids : [];
    // Twice the cards is enough to know a card that fell off, and bounds what a lying page can make us keep.
    const uuids = [...new Set([...seen, ...kept])].slice(0, 2 * node.physicalGpus);
    nodes.set(node.name, {
      bootId,
      physicalGpus: node.physicalGpus,
      countedBy: input.inventory.countedBy,
      models: node.gpuModels,
      uuids,
    });
  }
  return nodes;
}
