import type { Pod } from "../../model/pod.ts";
import { podAnnotations, sharedAmounts } from "../../model/wellKnown.ts";
import type { DeviceDraft } from "../drafts.ts";
import type { HomelessShare } from "./claims.ts";
import { give, type PodOnNode } from "./podOnNode.ts";

/**
 * Holdings by allocation annotations: the larger of the core and the memory share of each GPU it names. The register gives the
 * total memory of each GPU (`registered`, MiB by UUID); in telemetry the memory that the driver reserves is missing. Their
 * authors can write them: each named GPU counts as one unit that the pod requests, and is never less than the pod asked the
 * scheduler for with that unit; units beyond those that are named stay a request.
 */
export function holdByAllocations(
  devices: readonly DeviceDraft[],
  pods: readonly PodOnNode[],
  registered: ReadonlyMap<string, number | null>,
): readonly HomelessShare[] {
  const homeless: HomelessShare[] = [];
  for (const pod of pods) {
    const text = allocationText(pod.pod);
    if (text === undefined || pod.kind !== "allocation") continue;
    const shares = parseAllocation(text).map((allocation) => shareOf(allocation, devices, registered));
    for (const { physicalGpu, memoryMiB, gpus: named } of shares.sort((a, b) => b.gpus - a.gpus)) {
      const request = pod.open.find(({ profile, units }) => profile === null && units > 0);
      if (request === undefined) break;
      const unit = Math.min(1, request.units) * request.gpusPerUnit;
      const gpus = Math.min(1, Math.max(named, leastOf(pod.pod, unit, memoryMiB)));
      request.units = Math.max(0, request.units - 1);
      request.placed += gpus;
      if (physicalGpu === undefined) homeless.push({ pod, gpus });
      else give(physicalGpu, { pod: pod.index, share: gpus, source: "annotation" });
    }
  }
  return homeless;
}

/**
 * The smallest amount that one unit of a pod can be: the memory and cores that it asked for, or, without these, the unit
 * itself (a slot of a GPU). If several units ask for different amounts, only their sum is known: each is at most one slot.
 */
function leastOf({ gpu }: Pod, unit: number, memoryMiB: number): number {
  const { shares } = gpu;
  if (shares === undefined) return unit;
  const asked = (names: readonly string[]): number => names.reduce((sum, name) => sum + (shares[name] ?? 0), 0);
  const { memoryMiB: inMiB, memoryPercent, corePercent } = sharedAmounts;
  const byMemory = memoryMiB > 0 ? asked(inMiB) / memoryMiB : 0;
  const all = Math.max(byMemory, asked(memoryPercent) / 100, asked(corePercent) / 100);
  const units = Object.values(gpu.resources).reduce((sum, amount) => sum + amount, 0);
  if (all <= 0) return unit;
  return units <= 1 ? all : Math.min(unit, all / units);
}

interface NamedShare {
  readonly physicalGpu: DeviceDraft | undefined;
  /** All memory of the GPU that is given out; 0 if unknown. */
  readonly memoryMiB: number;
  readonly gpus: number;
}

function shareOf(
  { uuid, memoryMiB: asked, corePercent }: GpuAllocation,
  devices: readonly DeviceDraft[],
  registered: ReadonlyMap<string, number | null>,
): NamedShare {
  const physicalGpu = devices.find((d) => d.uuid === uuid && d.gpuInstance === null);
  const memoryMiB = registered.get(uuid) ?? (physicalGpu?.memoryBytes ?? 0) / (1024 * 1024);
  const byMemory = memoryMiB > 0 ? asked / memoryMiB : 0;
  const known = Math.min(1, Math.max(corePercent / 100, byMemory));
  // An allocation without a limit on cores or memory may use the whole GPU.
  return { physicalGpu, memoryMiB, gpus: known > 0 ? known : 1 };
}

/** One GPU in the allocation annotation of HAMi, or of Volcano's vGPU plugin. */
interface GpuAllocation {
  readonly uuid: string;
  readonly memoryMiB: number;
  readonly corePercent: number;
}

/** What the sharing plugin reports as given to a pod, as it wrote it; `undefined` without such a plugin. */
export function allocationText({ annotations }: Pick<Pod, "annotations">): string | undefined {
  return annotations[podAnnotations.hamiAllocated] ?? annotations[podAnnotations.volcanoAllocated];
}

/** Reads `hami.io/vgpu-devices-allocated` and `volcano.sh/vgpu-ids-new`: entries `UUID,type,memory MiB,core percent` divided by `:` and `;`. */
export function parseAllocation(text: string): readonly GpuAllocation[] {
  const allocations: GpuAllocation[] = [];
  for (const entry of text.split(/[:;]/)) {
    const [uuid, , memory, cores] = entry.trim().split(",");
    if (uuid === undefined || !/^(GPU|MIG)-[0-9A-Za-z-]{4,80}$/.test(uuid)) continue;
    allocations.push({ uuid, memoryMiB: whole(memory), corePercent: whole(cores) });
  }
  return allocations;
}

function whole(text: string | undefined): number {
  return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : 0;
}
