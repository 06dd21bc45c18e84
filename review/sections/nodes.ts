import type { Review } from "../document/review.ts";
import type { Figure } from "../words/figure.ts";
import { nameText, nodeStateText } from "../words/names.ts";
import { minuteText } from "../words/times.ts";
import { money } from "./money.ts";
import { numberColumn, type Piece, shortColumn, type Table, textColumn } from "./section.ts";
import { withClusters } from "./withClusters.ts";

/** Node time that nobody used, by node pool and state. */
export function idlePoolTable(review: Review): Table | null {
  if (review.idleNodes === null) return null;
  return withClusters(review, {
    section: "idle_nodes",
    caption: "By node pool and state",
    rowHeading: "node pool",
    columns: [textColumn("GPUs"), textColumn("state"), numberColumn("node-hours", "node-h"), numberColumn("cost")],
    rows: review.idleNodes.pools.map(({ cluster, nodePool, pool, state, nodeHours, costs }) => ({
      item: [nodePool, pool, state].map(nameText).join(" / "),
      cluster,
      head: nodePoolText(nodePool),
      cells: [
        [nameText(pool)],
        [nodeStateText(state)],
        [{ measure: "node_hours", unit: "node-h", value: nodeHours }],
        money("cost", costs),
      ],
    })),
  });
}

/** Nodes that were so for longest. */
export function streakTable(review: Review): Table | null {
  if (review.idleNodes === null) return null;
  return withClusters(review, {
    section: "idle_streaks",
    caption: "Longest without a break",
    rowHeading: "node",
    columns: [textColumn("node pool"), textColumn("state"), shortColumn("since (UTC)"), numberColumn("for")],
    rows: review.idleNodes.streaks.map(({ cluster, node, nodePool, state, begins, ends, hours }) => ({
      item: `${nameText(node)} ${begins}`,
      cluster,
      head: nameText(node),
      cells: [
        [nodePoolText(nodePool)],
        [nodeStateText(state)],
        [minuteText(begins)],
        [{ measure: "hours", unit: "h", value: hours }, ...(ends === null ? [" and on"] : [])],
      ],
    })),
  });
}

const nodePoolText = (name: string): string => (name === "" ? "no node pool" : nameText(name));

/** What fitted on free GPUs. */
export function fragmentationTable(review: Review): Table | null {
  if (review.fragmentation === null) return null;
  const gpuHours = (measure: string, value: number): readonly Figure[] => [{ measure, unit: "GPU-h", value }];
  const gpus = (measure: string, value: number): Figure => ({ measure, unit: "GPUs", value });
  return withClusters(review, {
    section: "fragmentation",
    caption: "Free GPUs, and what would have fitted",
    rowHeading: "GPUs",
    columns: [
      numberColumn("free", "GPU-h"),
      numberColumn("of it stranded", "GPU-h"),
      numberColumn("blocked work", "GPU-h"),
      numberColumn("largest pod that fitted, GPUs: mean (least to most)", "GPUs"),
    ],
    rows: review.fragmentation.map((one) => {
      const largest: readonly Piece[] =
        one.largestPlaceableGpus === null
          ? ["–"]
          : [
              gpus("largest_placeable_mean", one.largestPlaceableGpus.mean),
              " (",
              gpus("largest_placeable_min", one.largestPlaceableGpus.min),
              " to ",
              gpus("largest_placeable_max", one.largestPlaceableGpus.max),
              ")",
            ];
      return {
        item: nameText(one.pool),
        cluster: one.cluster,
        head: nameText(one.pool),
        cells: [
          gpuHours("free", one.freeGpuHours),
          gpuHours("stranded", one.strandedGpuHours),
          gpuHours("blocked", one.blockedGpuHours),
          largest,
        ],
      };
    }),
  });
}
