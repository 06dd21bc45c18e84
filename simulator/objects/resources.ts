import { gpuResources } from "../../exporter/model/wellKnown.ts";
import { capacityDelaySeconds } from "../cluster/step.ts";
import type { Card, SimNode, World } from "../cluster/world.ts";
import type { GpuRequest } from "../scenario.ts";

/** Extended resources that a container asks for. */
export function requestedResources(request: GpuRequest): Readonly<Record<string, string>> {
  switch (request.kind) {
    case "none":
    case "claim":
    case "fraction":
      return {};
    case "cards":
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

/** What the device plugin reports for a node: `capacity` still counts a lost card for a while. */
export function nodeResources(world: World, node: SimNode, of: "capacity" | "allocatable"): Record<string, string> {
  const counted = node.cards.filter((card) => card.healthy || (of === "capacity" && recentlyLost(world, card)));
  const amounts = new Map<string, number>();
  for (const name of resourceNames(node)) amounts.set(name, 0);
  for (const card of counted) {
    for (const [name, amount] of cardResources(card)) amounts.set(name, (amounts.get(name) ?? 0) + amount);
  }
  return Object.fromEntries([...amounts].map(([name, amount]) => [name, String(amount)]));
}

function recentlyLost(world: World, card: Card): boolean {
  return card.lostTime !== null && world.time < card.lostTime + capacityDelaySeconds;
}

/** Resources that stay in the node's status, with 0, when no card gives any. */
function resourceNames(node: SimNode): readonly string[] {
  if (node.spec.mode.kind === "dra" || node.cards.length === 0) return [];
  return node.cards.flatMap((card) => cardResources(card).map(([name]) => name));
}

function cardResources(card: Card): readonly (readonly [string, number])[] {
  const { mode } = card.node.spec;
  switch (mode.kind) {
    case "whole":
    case "kai":
    case "vgpu-guest":
      return [[gpuResources.nvidia, 1]];
    case "time-slicing":
    case "mps":
      return [[mode.renamed ? gpuResources.nvidiaShared : gpuResources.nvidia, mode.replicas]];
    case "mig-single":
      return [[gpuResources.nvidia, card.units.length]];
    case "mig-mixed":
      // Under the mixed strategy the whole-card resource is registered too, and is 0 unless a card has MIG off.
      return [
        [gpuResources.nvidia, card.units.length === 0 ? 1 : 0],
        ...card.units.map((unit) => [migResource(unit.profile ?? "", false), 1] as const),
      ];
    case "hami":
      return [[gpuResources.nvidia, mode.splits]];
    case "dra":
      return [];
  }
}
