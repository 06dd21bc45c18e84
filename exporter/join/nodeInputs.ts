import type { ClusterState } from "../model/cluster.ts";
import type { ClusterNode } from "../model/node.ts";
import type { Pod } from "../model/pod.ts";
import type { DeviceReading } from "../model/telemetry.ts";
import type { DraDevice, DraDevices } from "./draDevices.ts";
import { canonicalModel, unknownModel } from "./gpuModel.ts";
import type { GpuResourceSettings } from "./gpuUnits.ts";
import { type Inventory, takeInventory, uncounted } from "./inventory.ts";
import type { Memory } from "./memory.ts";

/** One node with what each side says of it, before its devices are laid out. */
export interface NodeInput {
  /** The API's object, or a stand-in for a page whose node the API does not have. */
  readonly object: ClusterNode;
  /** The node is known from telemetry alone. */
  readonly fromPages: boolean;
  readonly inventory: Inventory;
  readonly readings: readonly DeviceReading[] | null;
}

/** Every node that has GPUs, shows a sign of them, or has pods that hold some. */
export function gatherNodes(
  state: ClusterState,
  readings: ReadonlyMap<string, readonly DeviceReading[]>,
  draDevices: DraDevices,
  boundPods: ReadonlyMap<string, readonly Pod[]>,
  memory: Memory,
  settings: GpuResourceSettings,
): readonly NodeInput[] {
  if (!state.known.has("nodes")) return [...readings].map(([node, rows]) => fromPage(node, rows));
  const draByNode = Map.groupBy(draDevices.values(), (device: DraDevice) => device.node);
  const inputs: NodeInput[] = [];
  for (const object of state.nodes) {
    const rows = readings.get(object.name) ?? null;
    const evidence = {
      node: object,
      draDevices: draByNode.get(object.name) ?? [],
      telemetryUuids: rows === null ? null : [...new Set(rows.map((r) => r.uuid))],
      remembered: memory.nodes.get(object.name),
      knowsSlices: state.known.has("resourceSlices"),
      settings,
    };
    const used = boundPods.has(object.name) || (rows !== null && rows.length > 0);
    const inventory = takeInventory(evidence) ?? (used ? uncounted(object.name, unknownModel, new Map(), []) : null);
    if (inventory !== null) inputs.push({ object, fromPages: false, inventory, readings: rows });
  }
  return inputs;
}

/** Pages alone: the page's devices stand for the cards. */
function fromPage(node: string, rows: readonly DeviceReading[]): NodeInput {
  const uuids = new Set(rows.map((r) => r.uuid));
  const models = new Set(rows.map((r) => canonicalModel(r.modelName)));
  const model = models.size === 1 ? ([...models][0] ?? unknownModel) : unknownModel;
  const inventory: Inventory = {
    physicalGpus: uuids.size,
    countedBy: "resources",
    memoryBytes: null,
    allocatableGpus: null,
    unhealthyGpus: 0,
    model,
    virtual: false,
    cards: new Map(),
    units: new Map(),
    slots: 1,
    problems: [],
  };
  const object: ClusterNode = {
    name: node,
    uid: "",
    bootId: "",
    createdAt: null,
    labels: {},
    annotations: {},
    taints: [],
    unschedulable: false,
    ready: null,
    readyChangedAt: null,
    capacity: {},
    allocatable: null,
    allocatableCpuMilli: 0,
    allocatableMemoryBytes: 0,
  };
  return { object, fromPages: true, inventory, readings: rows };
}
