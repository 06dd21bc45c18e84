import type { UnavailableCause } from "../model/gpuFaults.ts";
import { isForMachines } from "../model/gpuResource.ts";
import type { ClusterNode } from "../model/node.ts";
import type { Problem } from "../model/problem.ts";
import { gpuResources, nodeLabels } from "../model/wellKnown.ts";
import { countByResources, countGpus, gpusOfPlugins, isGivenOut, type ResourceCount, settle } from "./countGpus.ts";
import type { DraDevice } from "./draDevices.ts";
import { labelledMemory, memoryOfModel } from "./gpuModel.ts";
import {
  type GpuResourceSettings,
  type GpuUnit,
  gfdGpuCount,
  gpuUnitOf,
  offeredGpuResources,
  registeredGpus,
  reportedReplicas,
  singleMigProfile,
} from "./gpuUnits.ts";
import { disagree, lostGpus, notCounted, tooMany } from "./inventoryProblems.ts";
import type { CountSource, NodeMemory } from "./memory.ts";
import { modelOfNode } from "./modelOfNode.ts";
import { signsOfGpu } from "./signsOfGpu.ts";
import { type CountedBy, type PageWitness, sharedGpus, soldGpus } from "./witnesses.ts";

/** How many GPUs a node has and what its GPU resources mean, from the API and what was remembered; never from telemetry alone. */
export interface Inventory {
  /** `null`: the node has GPUs, but their number is unknown. */
  readonly physicalGpus: number | null;
  /** The source that counted them, now or since the boot. */
  readonly countedBy: CountSource;
  /** Physical GPUs that the scheduler may give out; `null` when unknown. */
  readonly allocatableGpus: number | null;
  /** GPUs that exist but cannot be given out: unhealthy, lost since boot, or without a ready driver. */
  readonly unhealthyGpus: number;
  /** Whether nothing on the node offers its GPUs: neither a device plugin nor a DRA driver. */
  readonly lacksDriver: boolean;
  /** Model by label; `unknown` without a label. */
  readonly model: string;
  readonly virtual: boolean;
  /** Memory of one GPU by label; `null` without a label. */
  readonly memoryBytes: number | null;
  /** GPUs that the API names, by UUID. */
  readonly gpusByUuid: ReadonlyMap<string, GpuFacts>;
  /** The GPU resources it offers now. */
  readonly units: ReadonlyMap<string, GpuUnit>;
  /** Extended resources that its DRA driver serves although the node has no capacity of them (KEP-5004). */
  readonly servedByDra: ReadonlyMap<string, GpuUnit>;
  /** Replicas of its whole GPUs; 1 without sharing. */
  readonly slots: number;
  readonly problems: readonly Problem[];
}

/** What the API reports about one GPU. */
export interface GpuFacts {
  readonly model: string | null;
  readonly tainted: boolean;
  /** What its taints say; `null` where it is not tainted. */
  readonly taintCause: UnavailableCause | null;
  readonly memoryBytes: number | null;
  /** Existing MIG instances with a known position. */
  readonly instances: readonly DraDevice[];
}

/** What else is known of the node's GPUs: telemetry may name more UUIDs when a device plugin works beside DRA. */
export interface InventoryInput {
  readonly node: ClusterNode;
  readonly draDevices: readonly DraDevice[];
  /** What the node's fresh telemetry page shows about its GPUs; `null` without one. */
  readonly page: PageWitness | null;
  /** Pods on the node hold GPUs, or ask for them. */
  readonly hasPods: boolean;
  readonly remembered: NodeMemory | undefined;
  /** ResourceSlices were read: a node without one has none. */
  readonly knowsSlices: boolean;
  readonly settings: GpuResourceSettings;
}

/** More GPUs than any machine has; a larger label or amount would only make us allocate memory. */
const mostGpus = 1024;

/** Counts the GPUs of one node in the order that `docs/decisions` fixes; `null` when the node shows no sign of a GPU. */
export function takeInventory(input: InventoryInput): Inventory | null {
  const { node, settings, remembered } = input;
  const offered = offeredGpuResources(node, settings);
  const model = modelOfNode(input, offered);
  const memoryBytes = labelledMemory(node);
  const physicalGpu = { model, memoryBytes: memoryBytes ?? memoryOfModel(model) };
  const kept = remembered !== undefined && remembered.bootId === node.bootId ? remembered : null;
  const problems: Problem[] = [];
  const shared = sharedBehind(input, offered, kept);
  const reported = new Map(
    Object.keys(offered).map((name) => {
      const physicalGpus = name === gpuResources.nvidia ? (shared?.physicalGpus ?? null) : null;
      return [name, gpuUnitOf(node, name, physicalGpu, settings, physicalGpus)] as const;
    }),
  );
  const resources = countByResources(node, offered, reported, physicalGpu, problems);
  const { units, physicalGpus: byResources } = resources;
  const gpusByUuid = readGpusByUuid(input);
  const counted = countGpus(input, gpusByUuid.size, resources, shared, problems);
  const count = settle(counted, kept);
  if (count === null) return signsOfGpu(node, offered) ? uncounted(node.name, model, units, problems) : null;
  const { physicalGpus, lost } = count;
  if (!(physicalGpus <= mostGpus))
    return uncounted(node.name, model, units, [...problems, tooMany(node.name, physicalGpus)]);
  if (lost > 0 && (counted !== null || input.knowsSlices))
    problems.push(lostGpus(node.name, physicalGpus, counted?.physicalGpus ?? 0));
  const notShown = gpusNotShown(input, physicalGpus, count.by, units);
  const unhealthy =
    unhealthyGpus(input, physicalGpus, resources, kept) + (byResources === null && gpusByUuid.size === 0 ? 0 : lost);
  // GPUs that the API itself does not give out are missing on the page, too.
  if (notShown > 0 && Math.abs(notShown - unhealthy) > 1e-6)
    problems.push(disagree(node.name, "the API", physicalGpus, "the telemetry page", physicalGpus - notShown));
  return {
    physicalGpus,
    countedBy: count.by,
    allocatableGpus: allocatableGpus(input, physicalGpus, units, byResources),
    unhealthyGpus: Math.min(physicalGpus, Math.max(unhealthy, notShown)),
    lacksDriver: byResources === null && input.draDevices.length === 0,
    model,
    virtual: node.labels[nodeLabels.vgpuPresent] === "true",
    memoryBytes,
    gpusByUuid,
    units,
    servedByDra: servedByDra(input, units),
    slots: Math.max(1, ...[...units.values()].filter((u) => u.profile === null).map((u) => u.replicas)),
    problems,
  };
}

/**
 * GPUs behind units of `nvidia.com/gpu` that nothing on the node marks as shared; `null` if a unit is a GPU, or something
 * marks it.
 */
function sharedBehind(
  input: InventoryInput,
  offered: Readonly<Record<string, number>>,
  kept: NodeMemory | null,
): CountedBy | null {
  const { node, page, settings } = input;
  const units = offered[gpuResources.nvidia] ?? 0;
  const isReported =
    (reportedReplicas(node, gpuResources.nvidia, settings) ?? 1) !== 1 || singleMigProfile(node) !== null;
  if (units <= 1 || isReported || gpuResources.nvidia in settings.resources) return null;
  return sharedGpus({ units, gfd: gfdGpuCount(node), sold: soldGpus(node), page, kept });
}

/**
 * GPUs that are missing on a fresh page although it should show them: GPUs of a DRA driver may be missing there, and the host
 * cannot see GPUs of virtual machines.
 */
function gpusNotShown(
  { node, page }: InventoryInput,
  physicalGpus: number,
  by: CountSource,
  units: Inventory["units"],
): number {
  if (page === null || page.mayBePartial || page.uuids.length === 0 || by === "slices") return 0;
  let ofMachines = 0;
  for (const [resource, { gpus }] of units)
    if (isForMachines(resource)) ofMachines += (node.capacity[resource] ?? 0) * (gpus ?? 0);
  return Math.max(0, physicalGpus - Math.ceil(ofMachines - 1e-6) - page.uuids.length);
}

/** What a unit of a resource is on a node that serves it; `undefined` on any other. */
export function unitOn(node: Pick<Inventory, "units" | "servedByDra">, resource: string): GpuUnit | undefined {
  const { units, servedByDra } = node;
  return units.get(resource) ?? servedByDra.get(resource);
}

const wholeGpu: GpuUnit = { gpus: 1, replicas: 1, profile: null };
const noUnits: ReadonlyMap<string, GpuUnit> = new Map();

/**
 * NVIDIA's driver installs a class that serves `nvidia.com/gpu`, and each class serves the resource of its own name. Classes are not
 * read: where someone has taken that mapping away, a request for it looks as if the node could serve it.
 */
function servedByDra({ draDevices }: InventoryInput, units: Inventory["units"]): Inventory["servedByDra"] {
  if (!draDevices.some(({ profile }) => profile === null)) return noUnits;
  const names = [gpuResources.nvidia, `${gpuResources.deviceClassPrefix}gpu.nvidia.com`];
  return new Map(names.filter((name) => !units.has(name)).map((name) => [name, wholeGpu] as const));
}

const noInstances: readonly DraDevice[] = [];

/** Whether a device exists: a MIG device without a UUID of its own is only a possible instance. */
const isLaidOut = ({ migUuid, migSlots }: DraDevice): boolean => migUuid !== null && migSlots !== null;

function readGpusByUuid(input: InventoryInput): Inventory["gpusByUuid"] {
  const physicalGpus = new Map<string, GpuFacts>();
  for (const device of input.draDevices) {
    if (device.gpuUuid === null) continue;
    const known = physicalGpus.get(device.gpuUuid);
    const whole = device.profile === null;
    physicalGpus.set(device.gpuUuid, {
      model: device.model ?? known?.model ?? null,
      tainted: (known?.tainted ?? false) || (whole && device.tainted),
      taintCause: known?.taintCause ?? (whole ? device.taintCause : null),
      memoryBytes: (whole ? device.memoryBytes : null) ?? known?.memoryBytes ?? null,
      instances: isLaidOut(device) ? [...(known?.instances ?? []), device] : (known?.instances ?? noInstances),
    });
  }
  for (const { uuid } of registeredGpus(input.node)) {
    if (!physicalGpus.has(uuid))
      physicalGpus.set(uuid, {
        model: null,
        tainted: false,
        taintCause: null,
        memoryBytes: null,
        instances: noInstances,
      });
  }
  return physicalGpus;
}

function unhealthyGpus(
  input: InventoryInput,
  physicalGpus: number,
  { units, physicalGpus: byResources, hasInstances }: ResourceCount,
  kept: NodeMemory | null,
): number {
  const { node } = input;
  const viaDra = input.draDevices.length > 0;
  if (byResources === null) {
    // If slices cannot be read, a DRA driver may give out GPUs that no resource shows.
    const mayBeDra = !input.knowsSlices && (input.hasPods || kept?.countedBy === "slices");
    return viaDra || mayBeDra ? 0 : physicalGpus;
  }
  // The capacity of a removed device plugin says nothing about GPUs that a DRA driver gives out now.
  if (viaDra && !isGivenOut(node)) return 0;
  let missing = 0;
  for (const [resource, unit] of units) {
    if (node.allocatable === null || unit.gpus === null) continue;
    missing += Math.max(0, (node.capacity[resource] ?? 0) - (node.allocatable[resource] ?? 0)) * unit.gpus;
  }
  // GPUs in MIG mode without instances are in no resource, and are free.
  const shortOfLabel = viaDra || hasInstances ? 0 : Math.max(0, (gfdGpuCount(node) ?? 0) - byResources);
  return missing + shortOfLabel;
}

/** Device plugin and DRA side by side add up, unless they offer the same GPUs. */
function allocatableGpus(
  input: InventoryInput,
  physicalGpus: number,
  units: ReadonlyMap<string, GpuUnit>,
  byResources: number | null,
): number | null {
  const { node } = input;
  const tainted = new Map<string, boolean>();
  for (const { gpuUuid, profile, tainted: bad } of input.draDevices) {
    if (gpuUuid !== null) tainted.set(gpuUuid, (tainted.get(gpuUuid) ?? false) || (bad && profile === null));
  }
  const byDra = [...tainted.values()].filter((bad) => !bad).length;
  if (node.allocatable === null) return byDra > 0 ? byDra : null;
  const offered = new Map<string, number>();
  for (const [resource, unit] of units) {
    if (unit.gpus === null) return null;
    offered.set(resource, (node.allocatable[resource] ?? 0) * unit.gpus);
  }
  const byPlugin = gpusOfPlugins(offered);
  return tainted.size + (byResources ?? 0) > physicalGpus ? Math.max(byDra, byPlugin) : byDra + byPlugin;
}

/** A node that evidently has GPUs, but an unknown number: it is not accounted, only counted as such. */
export function uncounted(
  node: string,
  model: string,
  units: Inventory["units"],
  problems: readonly Problem[],
): Inventory {
  return {
    ...nothingRead,
    physicalGpus: null,
    countedBy: "instance-type",
    model,
    units,
    problems: [...problems, notCounted(node, model)],
  };
}

/** The inventory of a node without anything that the API says about its GPUs. */
const nothingRead = {
  allocatableGpus: null,
  unhealthyGpus: 0,
  lacksDriver: false,
  virtual: false,
  memoryBytes: null,
  gpusByUuid: new Map<string, GpuFacts>(),
  units: noUnits,
  servedByDra: noUnits,
  slots: 1,
} as const;

/** The inventory of a node that is known from its telemetry page alone: the devices on it are taken as its GPUs. */
export function inventoryOfPage(physicalGpus: number, model: string): Inventory {
  return { ...nothingRead, physicalGpus, countedBy: "resources", model, problems: [] };
}
