import type { ClusterState, ResourceClaim } from "../../model/cluster.ts";
import type { ClusterNode } from "../../model/node.ts";
import type { Pod } from "../../model/pod.ts";
import type { DeviceReading } from "../../model/telemetry.ts";
import { type DraDevice, type DraDevices, draDeviceKey } from "../draDevices.ts";
import { allocationText } from "../holdings/allocations.ts";
import { holdsByMemory } from "../holdings/fractions.ts";
import type { JoinSettings } from "../join.ts";
import type { Memory } from "../memory.ts";
import { inputFromPage, type NodeInput, nodeInput } from "../nodeInputs.ts";
import { takeOver } from "../pastDevices.ts";
import { bindNodes, type NodeBinding } from "./binding.ts";
import { claimsOfNodes } from "./claimsOfNodes.ts";
import { byUid, type SortedPods } from "./sortPods.ts";

/** The input for binding nodes. */
export interface BindingInput {
  readonly state: ClusterState;
  readonly readings: ReadonlyMap<string, readonly DeviceReading[]>;
  /** Nodes whose readings may lack GPUs that are there. */
  readonly incomplete: ReadonlySet<string>;
  readonly draDevices: DraDevices;
  readonly pods: SortedPods;
  readonly memory: Memory;
  readonly settings: JoinSettings["gpu"];
}

/** Nodes that were bound together, and the inputs of that binding. */
interface KeptBindings {
  readonly inputs: InputList;
  /** The readings of each node, in the order of the nodes. */
  readings: readonly NodeReadings[];
  /** Whether some of their pods hold GPUs by amounts of memory. */
  byMemory: boolean;
  /** `null` while the nodes are being bound. */
  bindings: readonly NodeBinding[] | null;
  cycle: number;
}

type NodeReadings = readonly DeviceReading[] | null;

/** The bindings of the last cycle: those of all nodes, and those by the names of the nodes that were bound together. */
export interface BindingCache {
  readonly kept: Map<string, KeptBindings>;
  last: readonly NodeBinding[];
  cycle: number;
}

/** Every node with GPUs and who holds them, by name. A node whose inputs have not changed keeps its binding. */
export function bindAll(input: BindingInput, cache: BindingCache): readonly NodeBinding[] {
  cache.cycle += 1;
  const binder = createBinder(input, cache.last);
  const bindings: NodeBinding[] = [];
  let isSorted = true;
  for (const names of unitsOf(binder.names, binder.tied)) {
    for (const binding of bindUnit(binder, names, cache)) {
      const last = bindings.at(-1);
      if (last !== undefined && last.input.object.name > binding.input.object.name) isSorted = false;
      bindings.push(binding);
    }
  }
  for (const [key, { cycle }] of cache.kept) if (cycle !== cache.cycle) cache.kept.delete(key);
  if (!isSorted) bindings.sort((a, b) => (a.input.object.name < b.input.object.name ? -1 : 1));
  cache.last = bindings;
  return bindings;
}

interface Binder {
  readonly input: BindingInput;
  readonly names: readonly string[];
  readonly tied: readonly (readonly string[])[];
  readonly claims: ReadonlyMap<string, readonly ResourceClaim[]>;
  readonly draDevices: ReadonlyMap<string, readonly DraDevice[]>;
  /** Nodes that are not in it are known from pages alone. */
  readonly objects: ReadonlyMap<string, ClusterNode>;
  readonly hasKai: boolean;
  /** What the binding of every node depends on. */
  readonly common: readonly unknown[];
  /** The binding that a node had before. */
  readonly before: (node: string) => NodeBinding | undefined;
}

function createBinder(input: BindingInput, last: readonly NodeBinding[]): Binder {
  const { state, draDevices, pods, settings } = input;
  const { known } = state;
  const claims = claimsOfNodes(state.resourceClaims, draDevices, pods.holding);
  const draByNode = Map.groupBy(draDevices.values(), (device: DraDevice) => device.node);
  const objects = new Map(known.has("nodes") ? state.nodes.map((node) => [node.name, node] as const) : []);
  let lastByName: ReadonlyMap<string, NodeBinding> | null = null;
  const { kaiQueues, kaiPodGroups, kaiSchedulingShards } = state.queues;
  const hasKai = kaiQueues.length + kaiPodGroups.length + kaiSchedulingShards.length > 0;
  const kinds = (["nodes", "pods", "resourceClaims", "resourceSlices"] as const).map((kind) => known.has(kind));
  return {
    input,
    names: known.has("nodes") ? [...objects.keys()] : [...input.readings.keys()],
    tied: claims.tied,
    claims: claims.byNode,
    draDevices: draByNode,
    objects,
    hasKai,
    common: [settings, hasKai, ...kinds, state.podNamespaces],
    before: (node) => {
      lastByName ??= new Map(last.map((binding) => [binding.facts.name, binding] as const));
      return lastByName.get(node);
    },
  };
}

/** Groups of the names of nodes that must be bound together; most groups are a single node. */
function* unitsOf(names: readonly string[], tied: Binder["tied"]): Generator<string | readonly string[]> {
  if (tied.length === 0) {
    yield* names;
    return;
  }
  const all = new Set(names);
  const inGroups = new Set(tied.flat());
  for (const name of names) if (!inGroups.has(name)) yield name;
  for (const group of tied) {
    const present = group.filter((name) => all.has(name));
    if (present.length > 0) yield present;
  }
}

function bindUnit(binder: Binder, unit: string | readonly string[], cache: BindingCache): readonly NodeBinding[] {
  const key = typeof unit === "string" ? unit : JSON.stringify(unit);
  let kept = cache.kept.get(key);
  if (kept === undefined) {
    kept = { inputs: createInputList(), readings: [], byMemory: true, bindings: null, cycle: 0 };
    cache.kept.set(key, kept);
  }
  kept.cycle = cache.cycle;
  startInputs(kept.inputs);
  for (const value of binder.common) takeInput(kept.inputs, value);
  const names = typeof unit === "string" ? [unit] : unit;
  for (const name of names) takeNode(kept.inputs, binder, name);
  const readings = names.map((name) => binder.input.readings.get(name) ?? null);
  const isSame = endInputs(kept.inputs) && haveSameShapes(kept.readings, readings, kept.byMemory);
  kept.readings = readings;
  if (isSame && kept.bindings !== null) return kept.bindings;
  const known = kept.bindings ?? [];
  kept.bindings = null;
  const bindings = bind(binder, names);
  for (const binding of bindings)
    takeOver(
      binding,
      known.find(({ facts }) => facts.name === binding.facts.name) ?? binder.before(binding.facts.name),
    );
  kept.byMemory = names.some((name) => holdByMemory(binder.input.pods.holding.get(name) ?? []));
  kept.bindings = bindings;
  return bindings;
}

const nothing: readonly never[] = [];

/** Everything that the binding of a node depends on. */
function takeNode(inputs: InputList, { input, objects, claims, draDevices }: Binder, name: string): void {
  takeInput(inputs, objects.get(name));
  takeInput(inputs, input.incomplete.has(name));
  takeInput(inputs, input.memory.nodes.get(name));
  takeList(inputs, input.pods.holding.get(name) ?? nothing);
  takeList(inputs, input.pods.reservations.get(name) ?? nothing);
  takeList(inputs, draDevices.get(name) ?? nothing);
  const ofNode = claims.get(name) ?? nothing;
  takeList(inputs, ofNode);
  for (const claim of ofNode)
    for (const { driver, pool, device } of claim.allocated)
      takeInput(inputs, input.draDevices.get(draDeviceKey(driver, pool, device)));
}

function takeList(inputs: InputList, list: readonly unknown[]): void {
  takeInput(inputs, list.length);
  for (const item of list) takeInput(inputs, item);
}

/**
 * Whether two readings describe the same devices; their other values do not affect a binding. If a page has no total, memory
 * is the sum of used and free memory, which varies with each scrape: it counts only `byMemory`.
 */
function haveSameShapes(before: readonly NodeReadings[], now: readonly NodeReadings[], byMemory: boolean): boolean {
  if (before.length !== now.length) return false;
  for (let node = 0; node < now.length; node++) {
    const [one, other] = [before[node] ?? null, now[node] ?? null];
    if (one === other) continue;
    if (one === null || other === null || one.length !== other.length) return false;
    for (let row = 0; row < one.length; row++) if (!isSameShape(one[row], other[row], byMemory)) return false;
  }
  return true;
}

function holdByMemory(pods: readonly Pod[]): boolean {
  return pods.some((pod) => holdsByMemory(pod) || allocationText(pod) !== undefined);
}

function isSameShape(one: DeviceReading | undefined, other: DeviceReading | undefined, byMemory: boolean): boolean {
  if (one === other) return true;
  if (one === undefined || other === undefined) return false;
  return (
    one.claimants === other.claimants &&
    one.uuid === other.uuid &&
    one.gpuInstance === other.gpuInstance &&
    one.profile === other.profile &&
    one.migUuid === other.migUuid &&
    one.modelName === other.modelName &&
    (byMemory
      ? one.memoryTotalBytes === other.memoryTotalBytes
      : (one.memoryTotalBytes === null) === (other.memoryTotalBytes === null)) &&
    one.virtualSlots === other.virtualSlots
  );
}

function bind(
  { input, objects, claims, draDevices, hasKai }: Binder,
  names: readonly string[],
): readonly NodeBinding[] {
  const { state, memory, settings } = input;
  const isIncomplete = (name: string): boolean => input.incomplete.has(name);
  const claimsOf = (name: string): readonly ResourceClaim[] => claims.get(name) ?? nothing;
  const context = { knowsSlices: state.known.has("resourceSlices"), settings, isIncomplete };
  const holding: Pod[] = [];
  const reservations: Pod[] = [];
  const nodes = names.flatMap((name): readonly NodeInput[] => {
    const pods = input.pods.holding.get(name) ?? [];
    holding.push(...byUid(pods));
    reservations.push(...(input.pods.reservations.get(name) ?? []));
    const node = objects.get(name);
    const readings = input.readings.get(name) ?? null;
    if (node === undefined) return readings === null ? [] : [inputFromPage(name, readings)];
    const found = nodeInput(
      node,
      readings,
      draDevices.get(name) ?? nothing,
      memory.nodes.get(name),
      pods.length > 0,
      context,
    );
    return found === null ? [] : [found];
  });
  return bindNodes({
    nodes,
    draDevices: input.draDevices,
    claims: names.length === 1 ? claimsOf(names[0] ?? "") : [...new Set(names.flatMap(claimsOf))],
    holding,
    reservations,
    memory,
    settings,
    hasKai,
    knowsPods: state.known.has("pods"),
    podNamespaces: state.podNamespaces,
    knowsClaims: state.known.has("resourceClaims"),
  });
}

/**
 * The values that something was made from, in a fixed order. They are compared by identity: it is made anew when one of them
 * changes.
 */
interface InputList {
  values: unknown[];
  /** Index of the next input in `values`. */
  next: number;
  isSame: boolean;
}

/** A list that nothing was made from yet: it equals no other. */
function createInputList(): InputList {
  return { values: [], next: 0, isSame: false };
}

/** Begins to go through the inputs once more. */
function startInputs(list: InputList): void {
  list.next = 0;
  list.isSame = true;
}

/** Takes the next input, and remembers it in place of the one before. */
function takeInput(list: InputList, value: unknown): void {
  if (list.next >= list.values.length || list.values[list.next] !== value) {
    list.values[list.next] = value;
    list.isSame = false;
  }
  list.next += 1;
}

/** Whether all inputs are those of the last time. */
function endInputs(list: InputList): boolean {
  if (list.next !== list.values.length) {
    list.values.length = list.next;
    list.isSame = false;
  }
  // A list that was filled one by one has room to spare; there is one for each node.
  if (!list.isSame) list.values = list.values.slice();
  return list.isSame;
}
