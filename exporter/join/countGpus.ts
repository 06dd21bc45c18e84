import { gpuLikeResource } from "../model/gpuResource.ts";
import type { ClusterNode } from "../model/node.ts";
import type { Problem } from "../model/problem.ts";
import { gpuResources, nodeLabels } from "../model/wellKnown.ts";
import { labelledModel, memoryOfModel, unknownModel } from "./gpuModel.ts";
import { type GpuUnit, gfdGpuCount, labelNumber, singleMigProfile } from "./gpuUnits.ts";
import type { InventoryInput } from "./inventory.ts";
import { disagree, takenAsShared, unknownUnit } from "./inventoryProblems.ts";
import { type CountSource, countSources, type NodeMemory } from "./memory.ts";
import { gpusOfInstances, layOutMig, type MigGpu, type MigInstances, migSizeOf } from "./mig.ts";
import { likelyGeometryOf } from "./migGeometry.ts";
import { type CountedBy, soldGpus } from "./witnesses.ts";

const roundUp = (gpus: number): number => Math.ceil(gpus - 1e-6);

/** A number of GPUs, and the source that counted them. */
export interface Count {
  readonly physicalGpus: number;
  readonly by: CountSource;
}

/**
 * The number of GPUs that counts. It never falls while the boot id stays, unless a better source than the remembered one
 * counts now (a time-sliced node looks larger until GFD has labelled it); a worse one corrects nothing.
 */
export function settle(
  counted: Count | null,
  kept: NodeMemory | null,
): { readonly physicalGpus: number; readonly by: CountSource; readonly lost: number } | null {
  if (kept === null) return counted === null ? null : { physicalGpus: counted.physicalGpus, by: counted.by, lost: 0 };
  if (counted === null) return { physicalGpus: kept.physicalGpus, by: kept.countedBy, lost: kept.physicalGpus };
  const [now, before] = [countSources.indexOf(counted.by), countSources.indexOf(kept.countedBy)];
  if (now > before) return { physicalGpus: counted.physicalGpus, by: counted.by, lost: 0 };
  if (now < before) return { physicalGpus: kept.physicalGpus, by: kept.countedBy, lost: 0 };
  const physicalGpus = Math.max(counted.physicalGpus, kept.physicalGpus);
  return { physicalGpus, by: counted.by, lost: physicalGpus - counted.physicalGpus };
}

/** The meaning of a node's GPU resources, and the GPUs behind them. */
export interface ResourceCount {
  readonly units: ReadonlyMap<string, GpuUnit>;
  /** `null` where no resource can be converted to GPUs. */
  readonly physicalGpus: number | null;
  /** Whether some of the resources are MIG instances: GPUs without an instance are in no resource. */
  readonly hasInstances: boolean;
}

/**
 * GPUs behind the offered resources: for MIG the fewest that can carry all instances together; whole and shared ones over their
 * replicas. Two plugins that share the same GPUs, and the names and cores of one Neuron device, count once.
 */
export function countByResources(
  node: ClusterNode,
  offered: Readonly<Record<string, number>>,
  reported: ReadonlyMap<string, GpuUnit>,
  physicalGpu: MigGpu,
  problems: Problem[],
): ResourceCount {
  const instances: (MigInstances & { readonly resource: string })[] = [];
  const uncut = new Map<string, number>();
  let any = false;
  for (const [resource, amount] of Object.entries(offered)) {
    const unit = reported.get(resource);
    const size = unit === undefined || unit.profile === null ? null : migSizeOf(unit.profile, physicalGpu);
    if (unit === undefined || unit.gpus === null || (unit.profile !== null && size === null)) {
      problems.push(unknownUnit(node.name, resource, amount));
      continue;
    }
    any = true;
    if (size !== null) instances.push({ resource, size, count: amount / unit.replicas });
    else uncut.set(resource, amount * unit.gpus);
  }
  const whole = roundUp(gpusOfPlugins(uncut));
  const geometry = likelyGeometryOf(physicalGpu.model);
  const cut = gpusOfInstances(instances, geometry);
  const gfd = gfdGpuCount(node);
  // Instances are on as many GPUs as GFD counts besides the whole ones, however few could carry them.
  const physicalGpus = gfd === null ? cut : Math.max(cut, gfd - whole);
  const { scale } = layOutMig(instances, physicalGpus, geometry);
  const scaled = new Set(instances.map(({ resource }) => resource));
  const units = new Map(
    [...reported].map(([resource, unit]) => {
      const gpus = unit.gpus === null || !scaled.has(resource) ? unit.gpus : unit.gpus * scale;
      return [resource, { ...unit, gpus }] as const;
    }),
  );
  return { units, physicalGpus: any ? cut + whole : null, hasInstances: instances.length > 0 };
}

/** GPUs behind amounts by resource: those of one plugin add up; other plugins', and other names of one device, are the same GPUs. */
export function gpusOfPlugins(amounts: ReadonlyMap<string, number>): number {
  const byPlugin = new Map<string, number>();
  for (const [resource, physicalGpus] of amounts) {
    const isAlternative = /^(?:aws\.amazon\.com|volcano\.sh|aliyun\.com)\//.test(resource);
    const plugin = isAlternative ? resource : "";
    byPlugin.set(plugin, (byPlugin.get(plugin) ?? 0) + physicalGpus);
  }
  return Math.max(0, ...byPlugin.values());
}

/** Counts the GPUs of a node now; the best source that counts GPUs decides, every disagreement is a problem. */
export function countGpus(
  input: InventoryInput,
  named: number,
  resources: ResourceCount,
  shared: CountedBy | null,
  problems: Problem[],
): Count | null {
  const { node } = input;
  const gfd = gfdGpuCount(node);
  const sold = soldGpus(node);
  const count = bestCount(input, named, resources, shared, sold);
  if (count === null) return null;
  const byResources = resources.physicalGpus;
  const witnesses: readonly (CountedBy | null)[] = [
    gfd === null ? null : { physicalGpus: gfd, source: "label nvidia.com/gpu.count" },
    // GPUs without an instance, or of another driver, are in no resource.
    byResources === null || (resources.hasInstances && byResources < count.physicalGpus) || count.by === "slices"
      ? null
      : { physicalGpus: byResources, source: "GPU resources" },
    sold,
  ];
  if (shared !== null) problems.push(takenAsShared(node.name, shared, node.capacity[gpuResources.nvidia] ?? 0));
  for (const witness of witnesses)
    if (witness !== null && witness.physicalGpus !== count.physicalGpus)
      problems.push(disagree(node.name, count.source, count.physicalGpus, witness.source, witness.physicalGpus));
  return count;
}

function bestCount(
  input: InventoryInput,
  named: number,
  { physicalGpus: byResources }: ResourceCount,
  shared: CountedBy | null,
  sold: CountedBy | null,
): (Count & { readonly source: string }) | null {
  const { node } = input;
  const gfd = gfdGpuCount(node);
  const bySlices = countBySlices(input, gfd, byResources);
  if (bySlices !== null) return { physicalGpus: bySlices, by: "slices", source: "ResourceSlices and devices" };
  if (shared !== null && byResources !== null && byResources >= named)
    return { physicalGpus: byResources, by: "labels", source: shared.source };
  if (gfd !== null && byResources !== null) {
    // GFD describes one model of a node that has several, so a larger number of resources is more accurate.
    const physicalGpus = Math.max(gfd, byResources, named);
    return {
      physicalGpus,
      by: "labels",
      source: physicalGpus === gfd ? "label nvidia.com/gpu.count" : "GPU resources",
    };
  }
  const counted = gfd ?? byResources ?? countBySingleMig(node);
  if (counted !== null || named > 0) {
    const by = gfd !== null || named > 0 ? "labels" : "resources";
    return {
      physicalGpus: Math.max(counted ?? 0, named),
      by,
      source: by === "labels" ? "its labels" : "GPU resources",
    };
  }
  return sold === null ? null : { physicalGpus: sold.physicalGpus, by: "instance-type", source: sold.source };
}

/** Under MIG single GFD counts instances, all of one profile: as many GPUs as they fill. */
function countBySingleMig(node: ClusterNode): number | null {
  const instances = labelNumber(node.labels[nodeLabels.gpuCount]);
  const profile = singleMigProfile(node);
  const model = labelledModel(node) ?? unknownModel;
  const size = profile === null ? null : migSizeOf(profile, { model, memoryBytes: memoryOfModel(model) });
  if (instances === null || size === null) return null;
  return gpusOfInstances([{ size, count: instances }], likelyGeometryOf(model));
}

/** GPUs of ResourceSlices by UUID, with the GPUs that a device plugin offers beside them. */
function countBySlices(input: InventoryInput, gfd: number | null, byResources: number | null): number | null {
  const { node, remembered } = input;
  const slices = new Set(input.draDevices.map((d) => d.gpuUuid).filter((uuid) => uuid !== null));
  if (slices.size === 0) return null;
  // What telemetry has shown since the boot: a late page removes no GPU.
  const seen = new Set([...(input.page?.uuids ?? []), ...(remembered?.bootId === node.bootId ? remembered.uuids : [])]);
  // When a device plugin is gone, the kubelet keeps its capacity for minutes, but gives nothing of it out.
  const byPlugin = isGivenOut(node) ? byResources : null;
  if (byPlugin === null) return slices.size;
  const beside = [...seen].filter((uuid) => !slices.has(uuid)).length;
  if (seen.size === 0) return Math.max(slices.size, gfd ?? byPlugin);
  return slices.size + Math.min(beside, byPlugin);
}

/** Whether the scheduler may give out any GPU resource of the node. */
export function isGivenOut({ allocatable, capacity }: ClusterNode): boolean {
  return Object.keys(capacity).some((name) => gpuLikeResource(name) && ((allocatable ?? capacity)[name] ?? 0) > 0);
}
