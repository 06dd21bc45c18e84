import type { Pod } from "../../model/pod.ts";
import { podAnnotations } from "../../model/wellKnown.ts";

/** One GPU in the allocation annotation of HAMi, or of Volcano's vGPU plugin. */
export interface GpuAllocation {
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
