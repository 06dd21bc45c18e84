import { podAnnotations } from "../../model/wellKnown.ts";
import type { DeviceDraft } from "../drafts.ts";
import type { HomelessShare } from "./claims.ts";
import { give, type PodOnNode } from "./podOnNode.ts";

/** One card in HAMi's allocation annotation. */
export interface HamiAllocation {
  readonly uuid: string;
  readonly memoryMiB: number;
  readonly corePercent: number;
}

/** Reads `hami.io/vgpu-devices-allocated`: entries `UUID,type,memory MiB,core percent` divided by `:` and `;`. */
export function parseHamiAllocation(text: string): readonly HamiAllocation[] {
  const allocations: HamiAllocation[] = [];
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

/**
 * Holdings by HAMi's annotation: the larger of the core and the memory share of each card it names. The register says
 * of what memory the shares are (`registered`, MiB by UUID); telemetry lacks what the driver reserves.
 */
export function holdByAllocations(
  devices: readonly DeviceDraft[],
  pods: readonly PodOnNode[],
  registered: ReadonlyMap<string, number | null>,
): readonly HomelessShare[] {
  const homeless: HomelessShare[] = [];
  for (const pod of pods) {
    const text = pod.pod.annotations[podAnnotations.hamiAllocated];
    if (text === undefined || pod.kind !== "allocation") continue;
    for (const allocation of parseHamiAllocation(text)) {
      const card = devices.find((d) => d.uuid === allocation.uuid && d.gpuInstance === null);
      const memoryMiB = registered.get(allocation.uuid) ?? (card?.memoryBytes ?? 0) / (1024 * 1024);
      const byMemory = memoryMiB > 0 ? allocation.memoryMiB / memoryMiB : 0;
      const known = Math.min(1, Math.max(allocation.corePercent / 100, byMemory));
      // An allocation without a limit on cores or memory may use the whole card.
      const gpus = known > 0 ? known : 1;
      if (card === undefined) homeless.push({ pod, gpus });
      else
        give(card, {
          pod: pod.index,
          share: gpus,
          source: "annotation",
          estimated: false,
          spread: false,
          processUtil: null,
        });
    }
  }
  return homeless;
}
