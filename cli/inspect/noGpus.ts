import type { SnapshotCoverage } from "../../exporter/join/snapshotCoverage.ts";
import type { Io } from "../io.ts";
import { howToTakeADump, type ReadMoment } from "./analyseDump.ts";

const shownNodes = 3;

/**
 * Whether no GPU was counted in a dump. If so, that is reported with the next step, because nothing else in the answer can mean
 * anything then.
 */
export function saysNoGpus({ analysis, known }: ReadMoment, io: Io, howToSeeMore = howToTakeADump): boolean {
  const { pools, snapshot } = analysis;
  if (pools.some(({ physicalGpus }) => physicalGpus > 0)) return false;
  const [found, nextStep] = why(snapshot.coverage, known.has("nodes"), howToSeeMore);
  io.err(`fairlead: no GPU was found: ${found}\nNext step: ${nextStep}\n`);
  return true;
}

function why(
  { uncountedNodes: uncounted, telemetry }: SnapshotCoverage,
  hasNodes: boolean,
  howToSeeMore: string,
): readonly [string, string] {
  if (uncounted.length > 0) {
    const names = uncounted.slice(0, shownNodes).join(", ");
    const all = uncounted.length > shownNodes ? `${names}, and ${uncounted.length - shownNodes} more` : names;
    return [
      `nothing says how many of them ${all} ${uncounted.length === 1 ? "has" : "have"}`,
      "say what one unit of their resources is in gpu.resources or gpu.replicas of the configuration (--config.file), or add the pages of their GPU exporters.",
    ];
  }
  if (!hasNodes) {
    const pages = telemetry ? "its pages show none" : "there is no page of a GPU exporter";
    return [`there are no nodes, and ${pages}`, howToSeeMore];
  }
  return [
    "no node has a GPU resource or label",
    "look for nvidia.com/gpu under Capacity in kubectl describe node: without it the device plugin does not run; a resource of another name belongs into gpu.resources of the configuration (--config.file).",
  ];
}
