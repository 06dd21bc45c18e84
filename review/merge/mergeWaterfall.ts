import { sumCosts } from "../build/sumCosts.ts";
import type { WaterfallDropRow, WaterfallStageRow } from "../document/use.ts";
import { sumOrUnknown } from "./sumOrUnknown.ts";

/** The waterfalls of several clusters, level by level and drop by drop. */
export function mergeWaterfall(all: readonly (readonly WaterfallStageRow[])[]): WaterfallStageRow[] {
  const [first = []] = all;
  return first.map(({ level }) => {
    const stages = all.flatMap((stages) => stages.filter((stage) => stage.level === level));
    const drops = Map.groupBy(
      stages.flatMap((stage) => stage.drops),
      ({ state, isAllocated }) => `${state} ${isAllocated}`,
    );
    return {
      level,
      gpuHours: stages.reduce((sum, { gpuHours }) => sum + gpuHours, 0),
      costs: sumCosts(stages.map(({ costs }) => costs)),
      drops: [...drops.values()].flatMap(mergeDrops),
    };
  });
}

function mergeDrops(drops: readonly WaterfallDropRow[]): readonly WaterfallDropRow[] {
  const [first] = drops;
  if (first === undefined) return [];
  return [
    {
      ...first,
      gpuHours: drops.reduce((sum, { gpuHours }) => sum + gpuHours, 0),
      costs: sumCosts(drops.map(({ costs }) => costs)),
      strandedGpuHours: sumOrUnknown(drops.map(({ strandedGpuHours }) => strandedGpuHours)),
    },
  ];
}
