import type { ClusterNode } from "../model/node.ts";
import type { Problem } from "../model/problem.ts";
import { nodeLabels } from "../model/wellKnown.ts";
import { labelledModel, unknownModel } from "./gpuModel.ts";
import { type GpuUnit, gfdCardCount, labelNumber, singleMigProfile } from "./gpuUnits.ts";
import { gpusOfInstanceType } from "./instanceTypes.ts";
import type { InventoryInput } from "./inventory.ts";
import { disagree, unknownUnit } from "./inventoryProblems.ts";
import { type CountSource, countSources, type NodeMemory } from "./memory.ts";
import { instancesPerCard } from "./mig.ts";

const roundUp = (gpus: number): number => Math.ceil(gpus - 1e-6);

/** A number of cards, and what counted them. */
export interface Count {
  readonly cards: number;
  readonly by: CountSource;
}

/**
 * The number of cards that stands. It never falls while the boot id stays, unless a better source than the remembered
 * one counts now (a time-sliced node looks larger until GFD has labelled it); a worse one corrects nothing.
 */
export function settle(
  counted: Count | null,
  kept: NodeMemory | null,
): { readonly physicalGpus: number; readonly by: CountSource; readonly lost: number } | null {
  if (kept === null) return counted === null ? null : { physicalGpus: counted.cards, by: counted.by, lost: 0 };
  if (counted === null) return { physicalGpus: kept.physicalGpus, by: kept.countedBy, lost: kept.physicalGpus };
  const [now, before] = [countSources.indexOf(counted.by), countSources.indexOf(kept.countedBy)];
  if (now > before) return { physicalGpus: counted.cards, by: counted.by, lost: 0 };
  if (now < before) return { physicalGpus: kept.physicalGpus, by: kept.countedBy, lost: 0 };
  const physicalGpus = Math.max(counted.cards, kept.physicalGpus);
  return { physicalGpus, by: counted.by, lost: physicalGpus - counted.cards };
}

/**
 * Cards behind the offered resources: for MIG as many as its slices fill, and no fewer than any one profile needs (three
 * of 2g fill 6 of a card's 7 slices, and a fourth needs another card); whole and shared ones over their replicas.
 */
export function countByResources(
  node: ClusterNode,
  offered: Readonly<Record<string, number>>,
  units: ReadonlyMap<string, GpuUnit>,
  problems: Problem[],
): number | null {
  const model = labelledModel(node) ?? unknownModel;
  let mig = 0;
  let cardsOfOneProfile = 0;
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
    else {
      mig += amount * unit.gpus;
      const perCard = instancesPerCard(unit.profile, model) ?? 1;
      cardsOfOneProfile = Math.max(cardsOfOneProfile, roundUp(amount / unit.replicas / perCard));
    }
  }
  return any ? Math.max(roundUp(mig), cardsOfOneProfile) + roundUp(whole) : null;
}

/** Counts the cards of a node now; the best source that counts cards decides, every disagreement is a problem. */
export function countCards(
  input: InventoryInput,
  named: number,
  byResources: number | null,
  problems: Problem[],
): Count | null {
  const { node } = input;
  const gfd = gfdCardCount(node);
  const bySlices = countBySlices(input, gfd, byResources, problems);
  if (bySlices !== null) return { cards: bySlices, by: "slices" };
  if (gfd !== null && byResources !== null) {
    // GFD describes one model of a node that has several, so a larger number of resources is the truer one.
    if (gfd !== byResources)
      problems.push(disagree(node.name, "label nvidia.com/gpu.count", gfd, "GPU resources", byResources));
    return { cards: Math.max(gfd, byResources, named), by: "labels" };
  }
  const counted = gfd ?? byResources ?? countBySingleMig(node);
  if (counted !== null || named > 0)
    return { cards: Math.max(counted ?? 0, named), by: gfd !== null || named > 0 ? "labels" : "resources" };
  const listed =
    gpusOfInstanceType(node.labels[nodeLabels.instanceType]) ??
    labelNumber(node.labels[nodeLabels.karpenterGpuCount]) ??
    labelNumber(node.labels[nodeLabels.gkeAcceleratorCount]);
  return listed === null ? null : { cards: listed, by: "instance-type" };
}

/** Under MIG single GFD counts instances, all of one profile: as many cards as they fill. */
function countBySingleMig(node: ClusterNode): number | null {
  const instances = labelNumber(node.labels[nodeLabels.gpuCount]);
  const profile = singleMigProfile(node);
  const perCard = profile === null ? null : instancesPerCard(profile, labelledModel(node) ?? unknownModel);
  return instances === null || perCard === null ? null : roundUp(instances / perCard);
}

/** Cards of ResourceSlices by UUID, with the cards that a device plugin offers beside them. */
function countBySlices(
  input: InventoryInput,
  gfd: number | null,
  byResources: number | null,
  problems: Problem[],
): number | null {
  const { node, remembered } = input;
  const slices = new Set(input.draDevices.map((d) => d.cardUuid).filter((uuid) => uuid !== null));
  if (slices.size === 0) return null;
  // What telemetry has shown since the boot: a page that is late takes no card away.
  const seen = new Set([
    ...(input.telemetryUuids ?? []),
    ...(remembered?.bootId === node.bootId ? remembered.uuids : []),
  ]);
  const beside = [...seen].filter((uuid) => !slices.has(uuid)).length;
  const union = byResources === null ? slices.size : slices.size + Math.min(beside, byResources);
  const counted = seen.size === 0 && byResources !== null ? Math.max(slices.size, gfd ?? byResources) : union;
  if (gfd !== null && gfd !== counted)
    problems.push(disagree(node.name, "ResourceSlices and devices", counted, "label nvidia.com/gpu.count", gfd));
  return counted;
}
