import type { ClusterState } from "../model/cluster.ts";
import type { NodeBinding } from "./binding/binding.ts";
import { telemetryLagSeconds } from "./devices.ts";
import type { Memory, NodeMemory } from "./memory.ts";
import type { Snapshot } from "./snapshot.ts";

const nodesPerStep = 1_000;

/** What the next cycle must know. Bounded: only of nodes, devices, pods and gangs that are there now. */
export function* remember(
  snapshot: Snapshot,
  state: ClusterState,
  before: Memory,
  gangSince: ReadonlyMap<string, number>,
  bindings: readonly NodeBinding[],
): Generator<void, Memory> {
  const idleSince = new Map<string, number>();
  const activeUnheldAt = new Map<string, number>();
  const heldAt = new Map<string, number>();
  let index = 0;
  for (const [i, binding] of bindings.entries()) {
    if (i % nodesPerStep === nodesPerStep - 1) yield;
    rememberDevices(binding, index, snapshot, before, { idleSince, activeUnheldAt, heldAt });
    index += binding.devices.length;
  }
  yield;
  const pendingSince = new Map<string, number>();
  for (const pod of snapshot.pods) {
    if (pod.pendingSince !== null && pod.uid !== null) pendingSince.set(pod.uid, pod.pendingSince);
  }
  const notReadySince = new Map<string, number>();
  for (const node of snapshot.nodes) if (node.notReadySince !== null) notReadySince.set(node.name, node.notReadySince);
  const nodes = state.known.has("nodes") ? rememberNodes(bindings, before) : before.nodes;
  return { nodes, idleSince, activeUnheldAt, heldAt, gangSince, pendingSince, notReadySince };
}

interface DeviceTimes {
  readonly idleSince: Map<string, number>;
  readonly activeUnheldAt: Map<string, number>;
  readonly heldAt: Map<string, number>;
}

/** `first`: index of the node's first device. */
function rememberDevices(
  binding: NodeBinding,
  first: number,
  snapshot: Snapshot,
  before: Memory,
  times: DeviceTimes,
): void {
  for (const [i, { key }] of binding.devices.entries()) {
    const device = snapshot.devices[first + i];
    if (key === null || device === undefined) continue;
    if (device.idleSince !== null) times.idleSince.set(key, device.idleSince);
    if (device.activeUnheldAt !== null) times.activeUnheldAt.set(key, device.activeUnheldAt);
    const held = device.holders.length > 0 ? snapshot.at : before.heldAt.get(key);
    if (held !== undefined && snapshot.at - held <= telemetryLagSeconds) times.heldAt.set(key, held);
  }
}

/** The same map as before when nothing of it changed. */
function rememberNodes(bindings: readonly NodeBinding[], before: Memory): ReadonlyMap<string, NodeMemory> {
  const nodes = new Map<string, NodeMemory>();
  let isSame = true;
  for (const binding of bindings) {
    const { name, physicalGpus } = binding.facts;
    if (physicalGpus === null) continue;
    const old = before.nodes.get(name);
    if (binding.remembered === null || binding.remembered !== old)
      binding.remembered = rememberNode(binding, physicalGpus, old);
    if (binding.remembered !== old) isSame = false;
    nodes.set(name, binding.remembered);
  }
  return isSame && nodes.size === before.nodes.size ? before.nodes : nodes;
}

function rememberNode(
  { input, devices, facts }: NodeBinding,
  physicalGpus: number,
  old: NodeMemory | undefined,
): NodeMemory {
  const { bootId } = input.object;
  const seen = devices.map((device) => device.uuid).filter((uuid) => uuid !== null);
  const kept = old?.bootId === bootId ? old.uuids : [];
  // Twice the cards is enough to know a card that fell off, and bounds what a lying page can make us keep.
  const uuids = [...new Set([...seen, ...kept])].slice(0, 2 * physicalGpus);
  const { countedBy } = input.inventory;
  const models = facts.gpuModels;
  const isSame =
    old !== undefined &&
    old.bootId === bootId &&
    old.physicalGpus === physicalGpus &&
    old.countedBy === countedBy &&
    sameTexts(old.models, models) &&
    sameTexts(old.uuids, uuids);
  return isSame ? old : { bootId, physicalGpus, countedBy, models, uuids };
}

function sameTexts(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((text, i) => text === other[i]);
}
