import type { DeviceDraft } from "../drafts.ts";
import { allocationText, parseAllocation } from "./allocationAnnotation.ts";
import type { HomelessShare } from "./claims.ts";
import { give, type PodOnNode } from "./podOnNode.ts";

/**
 * Holdings by allocation annotations: the larger of the core and the memory share of each card it names. The register says
 * of what memory the shares are (`registered`, MiB by UUID); telemetry lacks what the driver reserves.
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
    for (const allocation of parseAllocation(text)) {
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
