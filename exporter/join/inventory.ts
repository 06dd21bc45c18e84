import { gpuLikeResource } from "../model/gpuResource.ts";
import type { ClusterNode } from "../model/node.ts";
import type { Problem } from "../model/problem.ts";
import { nodeLabels } from "../model/wellKnown.ts";
import { labelledMemory } from "./cardMemory.ts";
import { countByResources, countCards, settle } from "./countCards.ts";
import type { DraDevice } from "./draDevices.ts";
import { labelledModel, unknownModel } from "./gpuModel.ts";
import {
  type GpuResourceSettings,
  type GpuUnit,
  gfdCardCount,
  gpuUnitOf,
  hamiCards,
  labelNumber,
  offeredGpuResources,
} from "./gpuUnits.ts";
import { lostCards, notCounted, tooMany } from "./inventoryProblems.ts";
import type { CountSource, NodeMemory } from "./memory.ts";

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
  readonly cards: ReadonlyMap<string, CardFacts>;
  /** The GPU resources it offers now. */
  readonly units: ReadonlyMap<string, GpuUnit>;
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
  /** UUIDs on the node's fresh telemetry page; `null` without one. */
  readonly telemetryUuids: readonly string[] | null;
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
  const model =
    labelledModel(node) ??
    input.draDevices.find((d) => d.model !== null)?.model ??
    remembered?.models[0] ??
    unknownModel;
  const offered = offeredGpuResources(node, settings);
  const units = new Map(Object.keys(offered).map((name) => [name, gpuUnitOf(node, name, model, settings)] as const));
  const problems: Problem[] = [];
  const byResources = countByResources(node, offered, units, problems);
  const cards = cardsByUuid(input);
  const counted = countCards(input, cards.size, byResources, problems);
  const kept = remembered !== undefined && remembered.bootId === node.bootId ? remembered : null;
  const count = settle(counted, kept);
  if (count === null) return signsOfGpu(node, offered) ? uncounted(node.name, model, units, problems) : null;
  const { physicalGpus, lost } = count;
  if (!(physicalGpus <= mostCards))
    return uncounted(node.name, model, units, [...problems, tooMany(node.name, physicalGpus)]);
  if (lost > 0 && (counted !== null || input.knowsSlices))
    problems.push(lostCards(node.name, physicalGpus, counted?.cards ?? 0));
  const unhealthy =
    unhealthyGpus(input, physicalGpus, byResources, units, cards.size) +
    (byResources === null && cards.size === 0 ? 0 : lost);
  return {
    physicalGpus,
    countedBy: count.by,
    allocatableGpus: allocatableGpus(input, physicalGpus, units, byResources),
    unhealthyGpus: Math.min(physicalGpus, unhealthy),
    model,
    virtual: node.labels[nodeLabels.vgpuPresent] === "true",
    memoryBytes: labelledMemory(node),
    cards,
    units,
    slots: Math.max(1, ...[...units.values()].filter((u) => u.profile === null).map((u) => u.replicas)),
    problems,
  };
}

const noInstances: readonly DraDevice[] = [];

/** Without a UUID of its own it is an instance that the card may be cut into. */
const isLaidOut = ({ migUuid, migSlots }: DraDevice): boolean => migUuid !== null && migSlots !== null;

function cardsByUuid(input: InventoryInput): Inventory["cards"] {
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
  for (const { uuid } of hamiCards(input.node)) {
    if (!cards.has(uuid)) cards.set(uuid, { model: null, tainted: false, memoryBytes: null, instances: noInstances });
  }
  return cards;
}

function unhealthyGpus(
  input: InventoryInput,
  physicalGpus: number,
  byResources: number | null,
  units: Inventory["units"],
  named: number,
): number {
  const { node } = input;
  const viaDra = input.draDevices.length > 0;
  if (byResources === null) {
    // Without slices nobody knows whether a DRA driver serves the node; a device plugin leaves its resource behind, with 0.
    const hasDriver = viaDra || named > 0 || !(input.knowsSlices || hasPlugin(node));
    return hasDriver ? 0 : physicalGpus;
  }
  let missing = 0;
  for (const [resource, unit] of units) {
    if (node.allocatable === null || unit.gpus === null) continue;
    missing += Math.max(0, (node.capacity[resource] ?? 0) - (node.allocatable[resource] ?? 0)) * unit.gpus;
  }
  const shortOfLabel = viaDra ? 0 : Math.max(0, (gfdCardCount(node) ?? 0) - byResources);
  return missing + shortOfLabel;
}

const hasPlugin = (node: ClusterNode): boolean => Object.keys(node.capacity).some((name) => gpuLikeResource(name));

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
  let byPlugin = 0;
  for (const [resource, unit] of units) {
    if (unit.gpus === null) return null;
    byPlugin += (node.allocatable[resource] ?? 0) * unit.gpus;
  }
  return tainted.size + (byResources ?? 0) > physicalGpus ? Math.max(byDra, byPlugin) : byDra + byPlugin;
}

function signsOfGpu(node: ClusterNode, offered: Readonly<Record<string, number>>): boolean {
  const { labels } = node;
  return (
    Object.keys(offered).length > 0 ||
    labels[nodeLabels.gpuPresent] === "true" ||
    labelledModel(node) !== null ||
    labelNumber(labels[nodeLabels.gkeAcceleratorCount]) !== null
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
    cards: new Map(),
    units,
    slots: 1,
    problems: [...problems, notCounted(node, model)],
  };
}
