import type { ClusterNode } from "../model/node.ts";
import type { DeviceReading } from "../model/telemetry.ts";
import type { DraDevice } from "./draDevices.ts";
import { canonicalModel, unknownModel } from "./gpuModel.ts";
import type { GpuResourceSettings } from "./gpuUnits.ts";
import { type Inventory, inventoryOfPage, takeInventory, uncounted } from "./inventory.ts";
import type { NodeMemory } from "./memory.ts";
import { pageWitness } from "./witnesses.ts";

/** One node with the data of each source, before its devices are laid out. */
export interface NodeInput {
  /** The API's object, or a stand-in for a page whose node the API does not have. */
  readonly object: ClusterNode;
  /** The node is known from telemetry alone. */
  readonly fromPages: boolean;
  readonly inventory: Inventory;
  readonly readings: readonly DeviceReading[] | null;
}

/** The context in which all nodes are examined. */
export interface NodeContext {
  /** Whether the readings of a node may lack GPUs that are there. */
  readonly isIncomplete: (node: string) => boolean;
  readonly knowsSlices: boolean;
  readonly settings: GpuResourceSettings;
}

/** A node that has GPUs, shows a sign of them, or has pods that hold some (`used`); `null` for any other. */
export function nodeInput(
  object: ClusterNode,
  readings: readonly DeviceReading[] | null,
  draDevices: readonly DraDevice[],
  remembered: NodeMemory | undefined,
  hasPods: boolean,
  context: NodeContext,
): NodeInput | null {
  const evidence = {
    node: object,
    draDevices,
    page: pageWitness(readings, context.isIncomplete(object.name)),
    remembered,
    hasPods,
    ...context,
  };
  const used = hasPods || (readings !== null && readings.length > 0);
  const inventory = takeInventory(evidence) ?? (used ? uncounted(object.name, unknownModel, new Map(), []) : null);
  return inventory === null ? null : { object, fromPages: false, inventory, readings };
}

/** The input of a node that only its page shows: the page's devices are taken as its GPUs. */
export function inputFromPage(node: string, rows: readonly DeviceReading[]): NodeInput {
  const uuids = new Set(rows.map((r) => r.uuid));
  const models = new Set(rows.map((r) => canonicalModel(r.modelName)));
  const model = models.size === 1 ? ([...models][0] ?? unknownModel) : unknownModel;
  const inventory = inventoryOfPage(uuids.size, model);
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
    providerId: "",
  };
  return { object, fromPages: true, inventory, readings: rows };
}
