import type { ClusterState, ResourceClaim } from "../../model/cluster.ts";
import type { ClusterNode } from "../../model/node.ts";
import type { Pod } from "../../model/pod.ts";
import type { DeviceReading } from "../../model/telemetry.ts";
import { type DraDevice, type DraDevices, draDeviceKey } from "../draDevices.ts";
import type { JoinSettings } from "../join.ts";
import type { Memory } from "../memory.ts";
import { inputFromPage, type NodeInput, nodeInput } from "../nodeInputs.ts";
import { bindNodes, type NodeBinding } from "./binding.ts";
import { claimsOfNodes } from "./claimsOfNodes.ts";
import { createInputList, endInputs, type InputList, startInputs, takeInput } from "./inputList.ts";
import { byUid, type SortedPods } from "./sortPods.ts";

/** What nodes are bound from. */
export interface BindingInput {
  readonly state: ClusterState;
  readonly readings: ReadonlyMap<string, readonly DeviceReading[]>;
  readonly draDevices: DraDevices;
  readonly pods: SortedPods;
  readonly memory: Memory;
  readonly settings: JoinSettings["gpu"];
}

/** Nodes that were bound together, and from what. */
interface KeptBindings {
  readonly inputs: InputList;
  /** `null` while they are made. */
  bindings: readonly NodeBinding[] | null;
  cycle: number;
}

/** The bindings of the last cycle, by the names of the nodes that were bound together. */
export interface BindingCache {
  readonly kept: Map<string, KeptBindings>;
  cycle: number;
}

const nodesPerStep = 50;

/** Every node with GPUs and who holds them, by name. A node of which no input has changed keeps its binding. */
export function* bindAll(input: BindingInput, cache: BindingCache): Generator<void, readonly NodeBinding[]> {
  cache.cycle += 1;
  const binder = yield* createBinder(input);
  const units = unitsOf(binder.names, binder.tied);
  const bindings: NodeBinding[] = [];
  let isSorted = true;
  for (const [i, names] of units.entries()) {
    if (i % nodesPerStep === nodesPerStep - 1) yield;
    for (const binding of bindUnit(binder, names, cache)) {
      const last = bindings.at(-1);
      if (last !== undefined && last.input.object.name > binding.input.object.name) isSorted = false;
      bindings.push(binding);
    }
  }
  for (const [key, { cycle }] of cache.kept) if (cycle !== cache.cycle) cache.kept.delete(key);
  return isSorted ? bindings : bindings.sort((a, b) => (a.input.object.name < b.input.object.name ? -1 : 1));
}

interface Binder {
  readonly input: BindingInput;
  readonly names: readonly string[];
  readonly tied: readonly (readonly string[])[];
  readonly claims: (node: string) => readonly ResourceClaim[];
  readonly draDevices: (node: string) => readonly DraDevice[];
  /** `undefined`: the node is known from pages alone. */
  readonly object: (node: string) => ClusterNode | undefined;
  readonly takeCommon: (inputs: InputList) => void;
}

function* createBinder(input: BindingInput): Generator<void, Binder> {
  const { state, draDevices, pods, settings } = input;
  const { known } = state;
  const claims = yield* claimsOfNodes(state.resourceClaims, draDevices, pods.holding);
  const draByNode = Map.groupBy(draDevices.values(), (device: DraDevice) => device.node);
  const objects = new Map(known.has("nodes") ? state.nodes.map((node) => [node.name, node] as const) : []);
  const kinds = (["nodes", "pods", "resourceClaims", "resourceSlices"] as const).map((kind) => known.has(kind));
  return {
    input,
    names: known.has("nodes") ? [...objects.keys()] : [...input.readings.keys()],
    tied: claims.tied,
    claims: (node) => claims.byNode.get(node) ?? [],
    draDevices: (node) => draByNode.get(node) ?? [],
    object: (node) => objects.get(node),
    takeCommon: (inputs) => {
      takeInput(inputs, settings);
      for (const isKnown of kinds) takeInput(inputs, isKnown);
    },
  };
}

function unitsOf(names: readonly string[], tied: readonly (readonly string[])[]): readonly (readonly string[])[] {
  const all = new Set(names);
  const inGroups = new Set(tied.flat());
  const groups = tied.map((group) => group.filter((name) => all.has(name))).filter((group) => group.length > 0);
  return [...names.filter((name) => !inGroups.has(name)).map((name) => [name]), ...groups];
}

function bindUnit(binder: Binder, names: readonly string[], cache: BindingCache): readonly NodeBinding[] {
  const key = names.length === 1 ? (names[0] ?? "") : JSON.stringify(names);
  const kept = cache.kept.get(key) ?? { inputs: createInputList(), bindings: null, cycle: 0 };
  cache.kept.set(key, kept);
  kept.cycle = cache.cycle;
  startInputs(kept.inputs);
  binder.takeCommon(kept.inputs);
  for (const name of names) takeNode(kept.inputs, binder, name);
  if (endInputs(kept.inputs) && kept.bindings !== null) return kept.bindings;
  kept.bindings = null;
  kept.bindings = bind(binder, names);
  return kept.bindings;
}

/** Everything that the binding of a node depends on. */
function takeNode(inputs: InputList, { input, object, claims, draDevices }: Binder, name: string): void {
  takeInput(inputs, object(name));
  takeInput(inputs, input.memory.nodes.get(name));
  takeList(inputs, input.pods.holding.get(name) ?? []);
  takeList(inputs, input.pods.reservations.get(name) ?? []);
  takeList(inputs, draDevices(name));
  const ofNode = claims(name);
  takeList(inputs, ofNode);
  for (const claim of ofNode)
    for (const { driver, pool, device } of claim.allocated)
      takeInput(inputs, input.draDevices.get(draDeviceKey(driver, pool, device)));
  takeShape(inputs, input.readings.get(name) ?? null);
}

function takeList(inputs: InputList, list: readonly unknown[]): void {
  takeInput(inputs, list.length);
  for (const item of list) takeInput(inputs, item);
}

/** What readings say of the devices themselves; their other values change nothing of a binding. */
function takeShape(inputs: InputList, readings: readonly DeviceReading[] | null): void {
  takeInput(inputs, readings === null ? -1 : readings.length);
  if (readings === null) return;
  for (const reading of readings) {
    takeInput(inputs, reading.uuid);
    takeInput(inputs, reading.gpuInstance);
    takeInput(inputs, reading.profile);
    takeInput(inputs, reading.migUuid);
    takeInput(inputs, reading.modelName);
    takeInput(inputs, reading.memoryTotalBytes);
    takeInput(inputs, reading.virtualSlots);
    takeInput(inputs, reading.claimants);
  }
}

function bind({ input, object, claims, draDevices }: Binder, names: readonly string[]): readonly NodeBinding[] {
  const { state, memory, settings } = input;
  const context = { knowsSlices: state.known.has("resourceSlices"), settings };
  const holding: Pod[] = [];
  const reservations: Pod[] = [];
  const nodes = names.flatMap((name): readonly NodeInput[] => {
    const pods = input.pods.holding.get(name) ?? [];
    holding.push(...byUid(pods));
    reservations.push(...(input.pods.reservations.get(name) ?? []));
    const node = object(name);
    const readings = input.readings.get(name) ?? null;
    if (node === undefined) return readings === null ? [] : [inputFromPage(name, readings)];
    const found = nodeInput(node, readings, draDevices(name), memory.nodes.get(name), pods.length > 0, context);
    return found === null ? [] : [found];
  });
  return bindNodes({
    nodes,
    draDevices: input.draDevices,
    claims: names.length === 1 ? claims(names[0] ?? "") : [...new Set(names.flatMap(claims))],
    holding,
    reservations,
    memory,
    settings,
    knowsPods: state.known.has("pods"),
    knowsClaims: state.known.has("resourceClaims"),
  });
}
