import { sameData } from "../kernel/sameData.ts";
import type { ClusterState } from "../model/cluster.ts";
import type { NodeBinding } from "./binding/binding.ts";
import { deviceTimes } from "./deviceTimes.ts";
import type { Memory, NodeMemory } from "./memory.ts";
import type { LastDevices } from "./pastDevices.ts";
import type { Snapshot } from "./snapshot.ts";

/** A memory, and what the next join needs besides the devices that are in the bindings. */
export interface Remembered {
  readonly memory: Memory;
  readonly last: LastDevices;
}

/** What the next cycle must know. Bounded: only existing nodes, devices, pods and gangs. */
export function remember(
  snapshot: Snapshot,
  state: ClusterState,
  before: Memory,
  gangSince: ReadonlyMap<string, number>,
  bindings: readonly NodeBinding[],
  ended: ReadonlyMap<string, number>,
): Remembered {
  const pendingSince = new Map<string, number>();
  for (const pod of snapshot.pods) {
    if (pod.pendingSince !== null && pod.uid !== null) pendingSince.set(pod.uid, pod.pendingSince);
  }
  const notReadySince = new Map<string, number>();
  for (const node of snapshot.nodes) if (node.notReadySince !== null) notReadySince.set(node.name, node.notReadySince);
  const nodes = state.known.has("nodes") ? rememberNodes(bindings, before) : before.nodes;
  const times = deviceTimes(snapshot, bindings, ended);
  const memory: Memory = {
    nodes,
    // Not spread: that would build the maps.
    get idleSince() {
      return times.idleSince;
    },
    get stalledSince() {
      return times.stalledSince;
    },
    get stalledUnseenSince() {
      return times.stalledUnseenSince;
    },
    get activeUnallocatedAt() {
      return times.activeUnallocatedAt;
    },
    get allocatedAt() {
      return times.allocatedAt;
    },
    gangSince,
    pendingSince,
    notReadySince,
    shortSince: before.shortSince,
    blockedSince: before.blockedSince,
    idleNodeSince: before.idleNodeSince,
  };
  return { memory, last: { memory, at: snapshot.at, ended } };
}

/** The same map as before when nothing of it changed. */
function rememberNodes(bindings: readonly NodeBinding[], before: Memory): ReadonlyMap<string, NodeMemory> {
  let counted = 0;
  let isSame = true;
  for (const binding of bindings) {
    const { name, physicalGpus } = binding.facts;
    if (physicalGpus === null) continue;
    counted += 1;
    const old = before.nodes.get(name);
    if (binding.remembered === null || binding.remembered !== old)
      binding.remembered = rememberNode(binding, physicalGpus, old);
    if (binding.remembered !== old) isSame = false;
  }
  if (isSame && counted === before.nodes.size) return before.nodes;
  const nodes = new Map<string, NodeMemory>();
  for (const { facts, remembered } of bindings)
    if (facts.physicalGpus !== null && remembered !== null) nodes.set(facts.name, remembered);
  return nodes;
}

function rememberNode(
  { input, devices, facts }: NodeBinding,
  physicalGpus: number,
  old: NodeMemory | undefined,
): NodeMemory {
  const { bootId } = input.object;
  const seen = devices.map((device) => device.uuid).filter((uuid) => uuid !== null);
  const kept = old?.bootId === bootId ? old.uuids : [];
  // Twice the GPUs is enough to remember a GPU that fell off, and bounds what a false page can make us keep.
  const uuids = [...new Set([...seen, ...kept])].slice(0, 2 * physicalGpus);
  const { countedBy } = input.inventory;
  const models = facts.gpuModels;
  const node: NodeMemory = { bootId, physicalGpus, countedBy, models, uuids };
  return old !== undefined && sameData(old, node) ? old : node;
}
