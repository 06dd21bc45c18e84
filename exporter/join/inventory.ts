import type { ClusterNode } from "../model/node.ts";
import type { Problem } from "../model/problem.ts";
import { nodeLabels } from "../model/wellKnown.ts";
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
import { gpusOfInstanceType } from "./instanceTypes.ts";
import type { NodeMemory } from "./memory.ts";

/** How many cards a node has and what its GPU resources mean, from the API and what was remembered; never from telemetry alone. */
export interface Inventory {
  /** `null`: the node has GPUs, but nothing says how many. */
  readonly physicalGpus: number | null;
  /** Physical GPUs that the scheduler may give out; `null` when unknown. */
  readonly allocatableGpus: number | null;
  /** Cards that are there but cannot be given out: unhealthy, lost since boot, or without a ready driver. */
  readonly unhealthyGpus: number;
  /** Model by label; `unknown` where no label says. */
  readonly model: string;
  readonly virtual: boolean;
  /** Cards that the API names, by UUID. */
  readonly cards: ReadonlyMap<
    string,
    { readonly model: string | null; readonly tainted: boolean; readonly memoryBytes: number | null }
  >;
  /** The GPU resources it offers now. */
  readonly units: ReadonlyMap<string, GpuUnit>;
  /** Replicas of its whole cards; 1 without sharing. */
  readonly slots: number;
  readonly problems: readonly Problem[];
}

/** What else is known of the node's cards: telemetry may name more UUIDs when a device plugin works beside DRA. */
export interface InventoryInput {
  readonly node: ClusterNode;
  readonly draDevices: readonly DraDevice[];
  /** UUIDs on the node's fresh telemetry page; `null` without one. */
  readonly telemetryUuids: readonly string[] | null;
  readonly remembered: NodeMemory | undefined;
  readonly settings: GpuResourceSettings;
}

const roundUp = (gpus: number): number => Math.ceil(gpus - 1e-6);

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
  const kept = remembered !== undefined && remembered.bootId === node.bootId ? remembered.physicalGpus : 0;
  if (counted === null && kept === 0)
    return signsOfGpu(node, offered) ? uncounted(node.name, model, units, problems) : null;
  const physicalGpus = Math.max(counted ?? 0, kept);
  const lost = physicalGpus - (counted ?? 0);
  if (lost > 0) problems.push(lostCards(node.name, physicalGpus, counted ?? 0));
  const unhealthy =
    unhealthyGpus(input, physicalGpus, byResources, units, cards.size) +
    (byResources === null && cards.size === 0 ? 0 : lost);
  return {
    physicalGpus,
    allocatableGpus: allocatableGpus(node, units, cards),
    unhealthyGpus: Math.min(physicalGpus, unhealthy),
    model,
    virtual: node.labels[nodeLabels.vgpuPresent] === "true",
    cards,
    units,
    slots: Math.max(1, ...[...units.values()].filter((u) => u.profile === null).map((u) => u.replicas)),
    problems,
  };
}

function cardsByUuid(input: InventoryInput): Inventory["cards"] {
  const cards = new Map<string, { model: string | null; tainted: boolean; memoryBytes: number | null }>();
  for (const device of input.draDevices) {
    if (device.cardUuid === null) continue;
    const known = cards.get(device.cardUuid);
    const whole = device.profile === null;
    cards.set(device.cardUuid, {
      model: device.model ?? known?.model ?? null,
      tainted: (known?.tainted ?? false) || (whole && device.tainted),
      memoryBytes: (whole ? device.memoryBytes : null) ?? known?.memoryBytes ?? null,
    });
  }
  for (const { uuid } of hamiCards(input.node)) {
    if (!cards.has(uuid)) cards.set(uuid, { model: null, tainted: false, memoryBytes: null });
  }
  return cards;
}

/** Cards behind the offered resources: MIG as slices rounded up to cards, whole and shared ones over their replicas. */
function countByResources(
  node: ClusterNode,
  offered: Readonly<Record<string, number>>,
  units: ReadonlyMap<string, GpuUnit>,
  problems: Problem[],
): number | null {
  let mig = 0;
  let whole = 0;
  let any = false;
  for (const [resource, amount] of Object.entries(offered)) {
    const unit = units.get(resource);
    if (unit === undefined || unit.gpus === null) {
      problems.push(unknownUnit(node.name, resource, amount));
      continue;
    }
    any = true;
    if (unit.profile === null) whole += amount * unit.gpus;
    else mig += amount * unit.gpus;
  }
  return any ? roundUp(mig) + roundUp(whole) : null;
}

function countCards(
  input: InventoryInput,
  named: number,
  byResources: number | null,
  problems: Problem[],
): number | null {
  const { node, telemetryUuids } = input;
  const gfd = gfdCardCount(node);
  const slices = new Set(input.draDevices.map((d) => d.cardUuid).filter((uuid) => uuid !== null));
  if (slices.size > 0) {
    const beside = telemetryUuids?.filter((uuid) => !slices.has(uuid)).length ?? 0;
    const union = byResources === null ? slices.size : slices.size + Math.min(beside, byResources);
    const counted = telemetryUuids === null && byResources !== null ? Math.max(slices.size, gfd ?? byResources) : union;
    if (gfd !== null && gfd !== counted)
      problems.push(disagree(node.name, "ResourceSlices and devices", counted, "label nvidia.com/gpu.count", gfd));
    return counted;
  }
  if (gfd !== null && byResources !== null) {
    // GFD describes one model of a node that has several, so a larger number of resources is the truer one.
    if (gfd !== byResources)
      problems.push(disagree(node.name, "label nvidia.com/gpu.count", gfd, "GPU resources", byResources));
    return Math.max(gfd, byResources, named);
  }
  const counted = gfd ?? byResources;
  if (counted !== null) return Math.max(counted, named);
  return named > 0 ? named : gpusOfInstanceType(node.labels[nodeLabels.instanceType]);
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
  if (byResources === null) return viaDra || named > 0 ? 0 : physicalGpus;
  let missing = 0;
  for (const [resource, unit] of units) {
    if (node.allocatable === null || unit.gpus === null) continue;
    missing += Math.max(0, (node.capacity[resource] ?? 0) - (node.allocatable[resource] ?? 0)) * unit.gpus;
  }
  const shortOfLabel = viaDra ? 0 : Math.max(0, (gfdCardCount(node) ?? 0) - byResources);
  return missing + shortOfLabel;
}

function allocatableGpus(
  node: ClusterNode,
  units: ReadonlyMap<string, GpuUnit>,
  cards: Inventory["cards"],
): number | null {
  const healthyCards = [...cards.values()].filter((card) => !card.tainted).length;
  if (node.allocatable === null) return healthyCards > 0 ? healthyCards : null;
  let gpus = 0;
  for (const [resource, unit] of units) {
    if (unit.gpus === null) return null;
    gpus += (node.allocatable[resource] ?? 0) * unit.gpus;
  }
  return units.size === 0 ? healthyCards : gpus;
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
  const message = `node ${node} shows signs of GPUs (${model}), but neither ResourceSlices, labels, resources nor its instance type say how many`;
  const nextStep =
    "Check the device plugin or DRA driver on it, or label it with nvidia.com/gpu.count; until then it is left out of every sum.";
  return {
    physicalGpus: null,
    allocatableGpus: null,
    unhealthyGpus: 0,
    model,
    virtual: false,
    cards: new Map(),
    units,
    slots: 1,
    problems: [
      ...problems,
      { source: "join", code: "node-uncounted", severity: "warning", subject: node, message, nextStep },
    ],
  };
}

function lostCards(node: string, physical: number, counted: number): Problem {
  return {
    source: "join",
    code: "gpu-lost",
    severity: "warning",
    subject: node,
    message: `node ${node} had ${physical} GPUs since its boot and now shows ${counted}; the difference is unavailable, not gone`,
    nextStep:
      "Look for XID errors in the node's kernel log (`dmesg | grep -i xid`); a reboot of the node starts a new count.",
  };
}

function disagree(node: string, taken: string, takenValue: number, other: string, otherValue: number): Problem {
  return {
    source: "join",
    code: "gpu-count-conflict",
    severity: "warning",
    subject: node,
    message: `node ${node}: ${taken} says ${takenValue} GPUs, ${other} says ${otherValue}`,
    nextStep:
      "Compare with `nvidia-smi -L` on the node; GPU Feature Discovery and the device plugin may need a restart.",
  };
}

function unknownUnit(node: string, resource: string, amount: number): Problem {
  return {
    source: "join",
    code: "gpu-resource-unknown",
    severity: "warning",
    subject: node,
    message: `node ${node} offers ${amount} of ${resource}, and nothing says how much of a card one of it is`,
    nextStep: `Set gpu.replicas or gpu.resources for ${resource} in the configuration, or the label nvidia.com/gpu.replicas on the node.`,
  };
}
