import { gpuResources } from "../../exporter/model/wellKnown.ts";
import { capacityDelaySeconds } from "../cluster/step.ts";
import type { PhysicalGpu, SimNode, World } from "../cluster/world.ts";
import { isInService } from "../cluster/xid.ts";
import type { GpuRequest } from "../scenario.ts";

/** The extended resources that a container asks for. */
export function requestedResources(request: GpuRequest): Readonly<Record<string, string>> {
  switch (request.kind) {
    case "none":
    case "claim":
    case "fraction":
      return {};
    case "physicalGpus":
    case "extended-resource":
      return { [gpuResources.nvidia]: String(request.count) };
    case "replicas":
      return { [request.renamed ? gpuResources.nvidiaShared : gpuResources.nvidia]: String(request.count) };
    case "mig":
      return { [migResource(request.profile, request.strategy === "mig-single")]: String(request.count) };
    case "hami":
      return {
        [gpuResources.nvidia]: "1",
        [`${gpuResources.nvidiaPrefix}gpumem`]: String(request.memoryMiB),
        [`${gpuResources.nvidiaPrefix}gpucores`]: String(request.corePercent),
      };
  }
}

function migResource(profile: string, single: boolean): string {
  return single ? gpuResources.nvidia : `${gpuResources.nvidiaMigPrefix}${profile.replaceAll("+", ".")}`;
}

/** What the device plugin reports for a node: `capacity` still counts a lost GPU for a while. */
export function nodeResources(world: World, node: SimNode, of: "capacity" | "allocatable"): Record<string, string> {
  const counted = node.physicalGpus.filter(
    (physicalGpu) =>
      isInService(physicalGpu) || (of === "capacity" && (physicalGpu.healthy || recentlyLost(world, physicalGpu))),
  );
  const amounts = new Map<string, number>();
  for (const name of resourceNames(node)) amounts.set(name, 0);
  for (const physicalGpu of counted) {
    for (const [name, amount] of resourcesOfGpu(physicalGpu)) amounts.set(name, (amounts.get(name) ?? 0) + amount);
  }
  return Object.fromEntries([...amounts].map(([name, amount]) => [name, String(amount)]));
}

function recentlyLost(world: World, physicalGpu: PhysicalGpu): boolean {
  return physicalGpu.lostTime !== null && world.time < physicalGpu.lostTime + capacityDelaySeconds;
}

/** The resources that stay in the node's status, with 0, when no GPU provides any. */
function resourceNames(node: SimNode): readonly string[] {
  if (node.spec.mode.kind === "dra" || node.physicalGpus.length === 0) return [];
  return node.physicalGpus.flatMap((physicalGpu) => resourcesOfGpu(physicalGpu).map(([name]) => name));
}

function resourcesOfGpu(physicalGpu: PhysicalGpu): readonly (readonly [string, number])[] {
  const { mode } = physicalGpu.node.spec;
  switch (mode.kind) {
    case "whole":
    case "kai":
    case "vgpu-guest":
      return [[gpuResources.nvidia, 1]];
    case "time-slicing":
    case "mps":
      return [[mode.renamed ? gpuResources.nvidiaShared : gpuResources.nvidia, mode.replicas]];
    case "mig-single":
      return [[gpuResources.nvidia, physicalGpu.units.length]];
    case "mig-mixed":
      // Under the mixed strategy the whole-GPU resource is registered too, and is 0 unless a GPU has MIG off.
      return [
        [gpuResources.nvidia, physicalGpu.units.length === 0 ? 1 : 0],
        ...physicalGpu.units.map((unit) => [migResource(unit.profile ?? "", false), 1] as const),
      ];
    case "hami":
      return [[gpuResources.nvidia, mode.splits]];
    case "dra":
      return [];
  }
}
