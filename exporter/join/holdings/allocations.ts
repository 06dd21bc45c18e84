import type { DeviceDraft } from "../drafts.ts";
import { allocationText, type CardAllocation, parseAllocation } from "./allocationAnnotation.ts";
import type { HomelessShare } from "./claims.ts";
import { give, type PodOnNode } from "./podOnNode.ts";

/**
 * Holdings by allocation annotations: the larger of the core and the memory share of each card it names. The register says
 * of what memory the shares are (`registered`, MiB by UUID); telemetry lacks what the driver reserves. Their authors can
 * write them: each named card stands for one unit that the pod requests, and is never less than that unit is on its node;
 * units beyond those that are named stay a request.
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
    for (const { card, gpus: named } of shares.sort((a, b) => b.gpus - a.gpus)) {
      const request = pod.open.find(({ profile, units }) => profile === null && units > 0);
      if (request === undefined) break;
      const unit = Math.min(1, request.units) * request.gpusPerUnit;
      const gpus = Math.min(1, Math.max(named, unit));
      request.units = Math.max(0, request.units - 1);
      request.placed += gpus;
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

interface NamedShare {
  readonly card: DeviceDraft | undefined;
  readonly gpus: number;
}

function shareOf(
  { uuid, memoryMiB: asked, corePercent }: CardAllocation,
  devices: readonly DeviceDraft[],
  registered: ReadonlyMap<string, number | null>,
): NamedShare {
  const card = devices.find((d) => d.uuid === uuid && d.gpuInstance === null);
  const memoryMiB = registered.get(uuid) ?? (card?.memoryBytes ?? 0) / (1024 * 1024);
  const byMemory = memoryMiB > 0 ? asked / memoryMiB : 0;
  const known = Math.min(1, Math.max(corePercent / 100, byMemory));
  // An allocation without a limit on cores or memory may use the whole card.
  return { card, gpus: known > 0 ? known : 1 };
}
