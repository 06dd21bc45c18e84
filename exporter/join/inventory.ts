import { isForMachines } from "../model/gpuResource.ts";
import type { ClusterNode } from "../model/node.ts";
import type { Problem } from "../model/problem.ts";
import { gpuResources, nodeLabels } from "../model/wellKnown.ts";
import { labelledMemory, memoryOfModel } from "./cardMemory.ts";
import { cardsOfPlugins, countByResources, countCards, isGivenOut, type ResourceCount, settle } from "./countCards.ts";
import type { DraDevice } from "./draDevices.ts";
import { labelledModel } from "./gpuModel.ts";
import {
  type GpuResourceSettings,
  type GpuUnit,
  gfdCardCount,
  gpuUnitOf,
  offeredGpuResources,
  registeredCards,
  singleMigProfile,
  toldReplicas,
} from "./gpuUnits.ts";
import { disagree, lostCards, notCounted, tooMany } from "./inventoryProblems.ts";
import type { CountSource, NodeMemory } from "./memory.ts";
import { modelOfNode } from "./modelOfNode.ts";
import { type CountedBy, isGpuInstanceType, type PageWitness, sharedCards, soldCards } from "./witnesses.ts";

/** How many cards a node has and what its GPU resources mean, from the API and what was remembered; never from telemetry alone. */
export interface Inventory {
  /** `null`: the node has GPUs, but nothing says how many. */
  readonly physicalGpus: number | null;
  /** What counted them, now or since the boot. */
  readonly countedBy: CountSource;
  /** Physical GPUs that the scheduler may give out; `null` when unknown. */
  readonly allocatableGpus: number | null;
  /** Cards that are there but cannot be given out: unhealthy, lost since boot, or without a ready driver. */
  readonly unhealthyGpus: number;
  /** Model by label; `unknown` where no label says. */
  readonly model: string;
  readonly virtual: boolean;
  /** Memory of one card by label; `null` where no label says. */
  readonly memoryBytes: number | null;
  /** Cards that the API names, by UUID. */
  readonly gpusByUuid: ReadonlyMap<string, CardFacts>;
  /** The GPU resources it offers now. */
  readonly units: ReadonlyMap<string, GpuUnit>;
  /** Extended resources that its DRA driver serves although the node has no capacity of them (KEP-5004). */
  readonly servedByDra: ReadonlyMap<string, GpuUnit>;
  /** Replicas of its whole cards; 1 without sharing. */
  readonly slots: number;
  readonly problems: readonly Problem[];
}

/** What the API tells of one card. */
export interface CardFacts {
  readonly model: string | null;
  readonly tainted: boolean;
  readonly memoryBytes: number | null;
  /** MIG instances that exist and of which it is known where they lie. */
  readonly instances: readonly DraDevice[];
}

/** What else is known of the node's cards: telemetry may name more UUIDs when a device plugin works beside DRA. */
export interface InventoryInput {
  readonly node: ClusterNode;
  readonly draDevices: readonly DraDevice[];
  /** What the node's fresh telemetry page says of its cards; `null` without one. */
  readonly page: PageWitness | null;
  /** Pods on the node hold GPUs, or ask for them. */
  readonly hasPods: boolean;
  readonly remembered: NodeMemory | undefined;
  /** ResourceSlices were read: a node without one has none. */
  readonly knowsSlices: boolean;
  readonly settings: GpuResourceSettings;
}

/** More cards than any machine has; a label or amount that says more would only make us allocate memory. */
const mostCards = 1024;

/** Counts the cards of one node in the order that `docs/decisions` fixes; `null` when the node shows no sign of a GPU. */
export function takeInventory(input: InventoryInput): Inventory | null {
  const { node, settings, remembered } = input;
  const offered = offeredGpuResources(node, settings);
  const model = modelOfNode(input, offered);
  const memoryBytes = labelledMemory(node);
  const card = { model, memoryBytes: memoryBytes ?? memoryOfModel(model) };
  const kept = remembered !== undefined && remembered.bootId === node.bootId ? remembered : null;
  const problems: Problem[] = [];
  const shared = sharedBehind(input, offered, kept);
  const told = new Map(
    Object.keys(offered).map((name) => {
      const cards = name === gpuResources.nvidia ? (shared?.cards ?? null) : null;
      return [name, gpuUnitOf(node, name, card, settings, cards)] as const;
    }),
  );
  const resources = countByResources(node, offered, told, card, problems);
  const { units, cards: byResources } = resources;
  const gpusByUuid = readGpusByUuid(input);
  const counted = countCards(input, gpusByUuid.size, resources, shared, problems);
  const count = settle(counted, kept);
  if (count === null) return signsOfGpu(node, offered) ? uncounted(node.name, model, units, problems) : null;
  const { physicalGpus, lost } = count;
  if (!(physicalGpus <= mostCards))
    return uncounted(node.name, model, units, [...problems, tooMany(node.name, physicalGpus)]);
  if (lost > 0 && (counted !== null || input.knowsSlices))
    problems.push(lostCards(node.name, physicalGpus, counted?.cards ?? 0));
  const notShown = cardsNotShown(input, physicalGpus, count.by, units);
  const unhealthy =
    unhealthyGpus(input, physicalGpus, resources, kept) + (byResources === null && gpusByUuid.size === 0 ? 0 : lost);
  // Cards that the API itself holds back are missing on the page, too.
  if (notShown > 0 && Math.abs(notShown - unhealthy) > 1e-6)
    problems.push(disagree(node.name, "the API", physicalGpus, "the telemetry page", physicalGpus - notShown));
  return {
    physicalGpus,
    countedBy: count.by,
    allocatableGpus: allocatableGpus(input, physicalGpus, units, byResources),
    unhealthyGpus: Math.min(physicalGpus, Math.max(unhealthy, notShown)),
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

/** Cards behind units of `nvidia.com/gpu` that nothing on the node calls shared; `null` where a unit is a card, or something does. */
function sharedBehind(
  input: InventoryInput,
  offered: Readonly<Record<string, number>>,
  kept: NodeMemory | null,
): CountedBy | null {
  const { node, page, settings } = input;
  const units = offered[gpuResources.nvidia] ?? 0;
  const isTold = (toldReplicas(node, gpuResources.nvidia, settings) ?? 1) !== 1 || singleMigProfile(node) !== null;
  if (units <= 1 || isTold || gpuResources.nvidia in settings.resources) return null;
  return sharedCards({ units, gfd: gfdCardCount(node), sold: soldCards(node), page, kept });
}

/**
 * Cards that a fresh page lacks, though it should show them: those of a DRA driver may be missing on it, and those that virtual
 * machines have are not the host's to see.
 */
function cardsNotShown(
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
export function unitOn({ units, servedByDra }: Inventory, resource: string): GpuUnit | undefined {
  return units.get(resource) ?? servedByDra.get(resource);
}

const wholeCard: GpuUnit = { gpus: 1, replicas: 1, profile: null };
const noUnits: ReadonlyMap<string, GpuUnit> = new Map();

/**
 * NVIDIA's driver installs a class that serves `nvidia.com/gpu`, and each class serves the resource of its own name. Classes are not
 * read: where somebody has taken that mapping away, a request for it looks as if the node could serve it.
 */
function servedByDra({ draDevices }: InventoryInput, units: Inventory["units"]): Inventory["servedByDra"] {
  if (!draDevices.some(({ profile }) => profile === null)) return noUnits;
  const names = [gpuResources.nvidia, `${gpuResources.deviceClassPrefix}gpu.nvidia.com`];
  return new Map(names.filter((name) => !units.has(name)).map((name) => [name, wholeCard] as const));
}

const noInstances: readonly DraDevice[] = [];

/** Without a UUID of its own it is an instance that the card may be cut into. */
const isLaidOut = ({ migUuid, migSlots }: DraDevice): boolean => migUuid !== null && migSlots !== null;

function readGpusByUuid(input: InventoryInput): Inventory["gpusByUuid"] {
  const cards = new Map<string, CardFacts>();
  for (const device of input.draDevices) {
    if (device.cardUuid === null) continue;
    const known = cards.get(device.cardUuid);
    const whole = device.profile === null;
    cards.set(device.cardUuid, {
      model: device.model ?? known?.model ?? null,
      tainted: (known?.tainted ?? false) || (whole && device.tainted),
      memoryBytes: (whole ? device.memoryBytes : null) ?? known?.memoryBytes ?? null,
      instances: isLaidOut(device) ? [...(known?.instances ?? []), device] : (known?.instances ?? noInstances),
    });
  }
  for (const { uuid } of registeredCards(input.node)) {
    if (!cards.has(uuid)) cards.set(uuid, { model: null, tainted: false, memoryBytes: null, instances: noInstances });
  }
  return cards;
}

function unhealthyGpus(
  input: InventoryInput,
  physicalGpus: number,
  { units, cards: byResources, hasInstances }: ResourceCount,
  kept: NodeMemory | null,
): number {
  const { node } = input;
  const viaDra = input.draDevices.length > 0;
  if (byResources === null) {
    // Where slices cannot be read, a DRA driver may give out what no resource shows.
    const mayBeDra = !input.knowsSlices && (input.hasPods || kept?.countedBy === "slices");
    return viaDra || mayBeDra ? 0 : physicalGpus;
  }
  // The capacity of a device plugin that is gone says nothing of cards that a DRA driver gives out now.
  if (viaDra && !isGivenOut(node)) return 0;
  let missing = 0;
  for (const [resource, unit] of units) {
    if (node.allocatable === null || unit.gpus === null) continue;
    missing += Math.max(0, (node.capacity[resource] ?? 0) - (node.allocatable[resource] ?? 0)) * unit.gpus;
  }
  // Cards that MIG has cut into nothing yet are in no resource, and are free.
  const shortOfLabel = viaDra || hasInstances ? 0 : Math.max(0, (gfdCardCount(node) ?? 0) - byResources);
  return missing + shortOfLabel;
}

/** Device plugin and DRA side by side add up, unless they offer the same cards. */
function allocatableGpus(
  input: InventoryInput,
  physicalGpus: number,
  units: ReadonlyMap<string, GpuUnit>,
  byResources: number | null,
): number | null {
  const { node } = input;
  const tainted = new Map<string, boolean>();
  for (const { cardUuid, profile, tainted: bad } of input.draDevices) {
    if (cardUuid !== null) tainted.set(cardUuid, (tainted.get(cardUuid) ?? false) || (bad && profile === null));
  }
  const byDra = [...tainted.values()].filter((bad) => !bad).length;
  if (node.allocatable === null) return byDra > 0 ? byDra : null;
  const offered = new Map<string, number>();
  for (const [resource, unit] of units) {
    if (unit.gpus === null) return null;
    offered.set(resource, (node.allocatable[resource] ?? 0) * unit.gpus);
  }
  const byPlugin = cardsOfPlugins(offered);
  return tainted.size + (byResources ?? 0) > physicalGpus ? Math.max(byDra, byPlugin) : byDra + byPlugin;
}

const presenceLabels: readonly (readonly [label: string, value: string])[] = [
  [nodeLabels.gpuPresent, "true"],
  [nodeLabels.aksAccelerator, "nvidia"],
  [nodeLabels.nfdNvidia, "true"],
  [nodeLabels.nfdNvidiaDisplay, "true"],
  [nodeLabels.nfdNvidia3d, "true"],
];

function signsOfGpu(node: ClusterNode, offered: Readonly<Record<string, number>>): boolean {
  const { labels } = node;
  return (
    Object.keys(offered).length > 0 ||
    presenceLabels.some(([label, value]) => labels[label] === value) ||
    labelledModel(node) !== null ||
    isGpuInstanceType(labels[nodeLabels.instanceType])
  );
}

/** A node that has GPUs, as far as anyone can see, but not how many: it is left out of the books and counted. */
export function uncounted(
  node: string,
  model: string,
  units: Inventory["units"],
  problems: readonly Problem[],
): Inventory {
  return {
    physicalGpus: null,
    countedBy: "instance-type",
    allocatableGpus: null,
    unhealthyGpus: 0,
    model,
    virtual: false,
    memoryBytes: null,
    gpusByUuid: new Map(),
    units,
    servedByDra: noUnits,
    slots: 1,
    problems: [...problems, notCounted(node, model)],
  };
}
