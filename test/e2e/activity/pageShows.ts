import type { TruthGpu, TruthHolder } from "../../../simulator/truth.ts";
import type { MixedCluster } from "../../simulator/scenarios/activity/mixedCluster.ts";
import type { PlannedFault } from "../../simulator/scenarios/activity/nodeFaults.ts";
import type { Finding } from "./windows.ts";

/** Models of the mixed clusters whose power is neither in the table nor configured. */
const unlistedModels: ReadonlySet<string> = new Set(["NVIDIA L4"]);

/** Whether a page shows, at some seconds of a play, what its GPU does; `index` is that of the GPU on its node. */
export type PageShows = (
  finding: Finding,
  gpu: TruthGpu,
  index: number,
  holder: TruthHolder,
  seconds: number,
) => boolean;

/** What the pages of a cluster can show of what is so, by what was drawn; not by what anybody reads on them. */
export function createPageShows({ scenario, pages, faults }: MixedCluster): PageShows {
  const modes = new Map(scenario.nodes.map(({ name, mode }) => [name, mode.kind]));
  return (finding, gpu, index, holder, seconds) => {
    const page = pages.get(gpu.node);
    const mode = modes.get(gpu.node);
    const now = faults.filter((fault) => fault.node === gpu.node && isOn(fault, seconds));
    if (page === undefined || page.exporter === null || now.some(({ is }) => is.hides === "page")) return false;
    switch (finding) {
      case "no-requests":
        return true;
      case "no-activity":
        if (mode === "mig-mixed") return page.showsInstances && !now.some(({ is }) => is.hides === "stalls");
        return gpu.holders.every(({ activity }) => activity <= 0.05);
      case "stalled": {
        if (!page.showsStalls || mode !== "whole" || holder.share < 1 || unlistedModels.has(gpu.gpuModel)) return false;
        return !now.some(({ is, physicalGpu }) => is.hides === "stalls" || (physicalGpu === index && holdsBack(is)));
      }
    }
  };
}

const isOn = ({ begins, ends }: PlannedFault, seconds: number): boolean => begins <= seconds && seconds < ends;

/** Little power shows nothing where it is held down. */
const holdsBack = ({ isSlow, cause }: PlannedFault["is"]): boolean => isSlow && cause !== null;
