import type { Analysis } from "../../exporter/analysis/analysis.ts";
import { measured, momentOf, rackNode } from "../analysis/topology/racks.ts";
import { placementMoment } from "./placementMoment.ts";

/** `placementMoment` with two racks of two nodes: one is wholly free, in the other 8 and 6 GPUs are. One node has no label. */
export const topologyMoment: Analysis = {
  ...placementMoment,
  topology: measured(
    momentOf([
      rackNode(["b", "r1"], 8, 8),
      rackNode(["b", "r1"], 8, 8),
      rackNode(["b", "r2"], 8, 8),
      rackNode(["b", "r2"], 8, 6),
      rackNode(["b", undefined], 8, 5),
    ]),
  ),
};
