import type { ClusterNode } from "../model/node.ts";
import type { DeviceReading } from "../model/telemetry.ts";
import { nodeLabels } from "../model/wellKnown.ts";
import { canonicalModel } from "./gpuModel.ts";
import { labelNumber } from "./gpuUnits.ts";
import { gpusOfInstanceType } from "./instanceTypes.ts";
import type { NodeMemory } from "./memory.ts";

/** What a node's fresh telemetry page shows about its GPUs as a whole. */
export interface PageWitness {
  /** UUIDs of its GPUs. */
  readonly uuids: readonly string[];
  /** Whether some GPU is shown with several pods. */
  readonly showsSharing: boolean;
  /**
   * Whether GPUs may be missing on it: lines could not be read, or the exporter shows replicas or claims, where older versions
   * leave out idle GPUs.
   */
  readonly mayBePartial: boolean;
  /** The model of all of its GPUs; `null` where it names none, or several. */
  readonly model: string | null;
}

/** Makes a witness of the readings of one node, which may be incomplete; `null` without a fresh page. */
export function pageWitness(readings: readonly DeviceReading[] | null, isIncomplete: boolean): PageWitness | null {
  if (readings === null) return null;
  const pods = Map.groupBy(readings, ({ uuid, gpuInstance }) => `${uuid}/${gpuInstance ?? ""}`);
  const models = new Set(readings.map(({ modelName }) => canonicalModel(modelName)));
  const [model = null] = models;
  return {
    uuids: [...new Set(readings.map(({ uuid }) => uuid))],
    showsSharing: [...pods.values()].some((rows) => podsOf(rows) > 1),
    mayBePartial:
      isIncomplete ||
      readings.some(({ virtualSlots, claimants }) => virtualSlots > 0 || claimants.some(({ claim }) => claim !== null)),
    model: models.size === 1 ? model : null,
  };
}

function podsOf(rows: readonly DeviceReading[]): number {
  return new Set(rows.flatMap(({ claimants }) => claimants.map(({ namespace, pod }) => `${namespace}/${pod}`))).size;
}

/** A number of GPUs and its source. */
export interface CountedBy {
  readonly physicalGpus: number;
  /** The name of the source in messages. */
  readonly source: string;
}

const countLabels = [
  nodeLabels.karpenterGpuCount,
  nodeLabels.eksAutoGpuCount,
  nodeLabels.azureKarpenterGpuCount,
  nodeLabels.aliyunCount,
  nodeLabels.gkeAcceleratorCount,
] as const;

/**
 * How many GPUs the machine was sold with, by a label of the node's vendor, or else by its instance type; `null` if neither
 * shows it.
 */
export function soldGpus({ labels }: Pick<ClusterNode, "labels">): CountedBy | null {
  for (const label of countLabels) {
    const physicalGpus = labelNumber(labels[label]);
    if (physicalGpus !== null) return { physicalGpus, source: `label ${label}` };
  }
  const instanceType = labels[nodeLabels.instanceType];
  const physicalGpus = gpusOfInstanceType(instanceType);
  return physicalGpus === null ? null : { physicalGpus, source: `instance type ${instanceType}` };
}

/** Families of machines that are sold with GPUs, by AWS, Google Cloud, Azure and Oracle Cloud. */
const gpuFamilies =
  /^(?:(?:p\d+[a-z]*(?:-[a-z0-9]+)?|gr?\d+[a-z]*)\.|(?:a[234]x?|g[24])-|Standard_N[CDGPV]|(?:BM|VM)\.GPU)/;

/** Whether machines of this type have GPUs, however many. */
export function isGpuInstanceType(instanceType: string | undefined): boolean {
  return instanceType !== undefined && gpuFamilies.test(instanceType);
}

/** What is known about the GPUs behind a resource that nothing on the node marks as shared. */
export interface SharingEvidence {
  /** Units of `nvidia.com/gpu` that the node has. */
  readonly units: number;
  /** GPUs that GFD counts; `null` where it does not. */
  readonly gfd: number | null;
  readonly sold: CountedBy | null;
  readonly page: PageWitness | null;
  /** What was counted since the node's boot. */
  readonly kept: NodeMemory | null;
}

/**
 * The GPUs behind units that nothing on the node marks as shared, if a witness counts fewer GPUs than there are units; `null`
 * if each unit is a GPU. A page alone is no witness, because GPUs fall off the bus. It is one if the units are a whole
 * multiple of its GPUs, and it shows several pods on one GPU or another witness agrees.
 */
export function sharedGpus({ units, gfd, sold, page, kept }: SharingEvidence): CountedBy | null {
  if (gfd !== null && gfd >= units) return null;
  if (sold !== null && sold.physicalGpus < units && (gfd === null || gfd === sold.physicalGpus)) return sold;
  const shown = page === null ? 0 : page.uuids.length;
  const isMultiple = shown > 0 && shown < units && units % shown === 0;
  if (isMultiple && (page?.showsSharing === true || shown === gfd))
    return { physicalGpus: shown, source: "the telemetry page" };
  const before = kept !== null && kept.countedBy === "labels" ? kept.physicalGpus : 0;
  if (gfd === null && before > 0 && before < units && units % before === 0)
    return { physicalGpus: before, source: "what was counted since the boot" };
  return null;
}
