import { sameData } from "../kernel/sameData.ts";
import type { ClusterState } from "../model/cluster.ts";
import type { NodeBinding } from "./binding/binding.ts";
import { telemetryLagSeconds } from "./devices.ts";
import type { JoinCache } from "./joinCache.ts";
import type { Memory, NodeMemory } from "./memory.ts";
import { type LastDevices, type PastDevices, pastAllocatedAt } from "./pastDevices.ts";
import type { Device, Snapshot } from "./snapshot.ts";

/** A memory, and what the next join needs besides the devices that are in the bindings. */
export interface Remembered {
  readonly memory: Memory;
  readonly last: LastDevices;
}

/** What the join found that is remembered as it is: what was seen of gangs, and what servers count. */
export interface FoundToRemember {
  readonly gangs: Pick<Memory, "gangSince" | "gangMost" | "gangNewest">;
  readonly servers: Memory["servers"];
}

/** Makes the memory for the next cycle. It is bounded: it has only existing nodes, devices, pods and gangs. */
export function remember(
  snapshot: Snapshot,
  state: ClusterState,
  before: Memory,
  { gangs: { gangSince, gangMost, gangNewest }, servers }: FoundToRemember,
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
  const memory = memoryOf(times, {
    nodes,
    servers,
    gangSince,
    gangMost,
    gangNewest,
    pendingSince,
    notReadySince,
    shortSince: before.shortSince,
    blockedSince: before.blockedSince,
    idleNodeSince: before.idleNodeSince,
  });
  return { memory, last: { memory, at: snapshot.at, ended } };
}

/** Remembers nodes; the map is the same as before when nothing in it changed. */
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
  // Twice the GPUs is enough to remember a GPU that fell off, and bounds what a false page can make us keep. Sorted, because a
  // pod that begins or ends changes the order of the devices, and another memory means that the node is bound once more.
  const uuids = [...new Set([...seen, ...kept])].slice(0, 2 * physicalGpus).sort();
  const { countedBy } = input.inventory;
  const models = facts.gpuModels;
  const node: NodeMemory = { bootId, physicalGpus, countedBy, models, uuids };
  return old !== undefined && sameData(old, node) ? old : node;
}

/** The times of devices in a memory. */
type DeviceTimes = Pick<
  Memory,
  "idleSince" | "stalledSince" | "stalledUnseenSince" | "activeUnallocatedAt" | "allocatedAt"
>;

/**
 * What is remembered about devices. Each map is made when it is first asked for: a join that follows another reads the devices
 * themselves, and only a ledger or a restart needs the maps. They hold on to this Snapshot alone, never to earlier ones.
 */
function deviceTimes(
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
    const allocatedAt = pastAllocatedAt(past, binding, place);
    if (allocatedAt !== undefined && at - allocatedAt <= telemetryLagSeconds) ended.set(device.key, allocatedAt);
  }
}

/** Lasting states that the analysis of a moment found: since when queues are short, gangs blocked, nodes idle. */
type LastingFindings = Pick<Memory, "shortSince" | "blockedSince" | "idleNodeSince">;

/** The same memory with what the analysis of its moment found; the cache of the join takes it for its own. */
export function withFindings(memory: Memory, found: LastingFindings, cache: JoinCache): Memory {
  const { nodes, servers, gangSince, gangMost, gangNewest, pendingSince, notReadySince } = memory;
  const { shortSince, blockedSince, idleNodeSince } = found;
  const kept = { nodes, servers, gangSince, gangMost, gangNewest, pendingSince, notReadySince };
  const next = memoryOf(memory, { ...kept, shortSince, blockedSince, idleNodeSince });
  if (cache.last?.memory === memory) cache.last = { ...cache.last, memory: next };
  return next;
}

/** A memory whose maps of devices are made when they are first asked for: they are not spread, which would ask for them. */
function memoryOf(times: DeviceTimes, others: Omit<Memory, keyof DeviceTimes>): Memory {
  return {
    ...others,
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
  };
}
