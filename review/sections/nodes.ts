import type { Review } from "../document/review.ts";
import { nameText, nodeStateText } from "../words/names.ts";
import { minuteText } from "../words/times.ts";
import { money } from "./money.ts";
import { figure, numberColumn, shortColumn, type Table, tableOf, textColumn } from "./section.ts";

/** The table of node time that nobody used, by node pool and state. */
export function idlePoolTable({ idleNodes, clusters }: Review): Table | null {
  return tableOf(idleNodes?.pools, clusters, {
    section: "idle_nodes",
    caption: "By node pool and state",
    rowHeading: "node pool",
    row: ({ nodePool, pool, state, cluster }) => ({
      item: [nodePool, pool, state].map(nameText).join(" / "),
      cluster,
      head: nodePoolText(nodePool),
    }),
    columns: [
      [textColumn("GPUs"), ({ pool }) => [nameText(pool)]],
      [textColumn("state"), ({ state }) => [nodeStateText(state)]],
      [numberColumn("node-hours", "node-h"), ({ nodeHours }) => figure("node_hours", "node-h", nodeHours)],
      [numberColumn("cost"), ({ costs }) => money("cost", costs)],
    ],
  });
}

/** The table of the nodes that were in such a state for longest. */
export function streakTable({ idleNodes, clusters }: Review): Table | null {
  return tableOf(idleNodes?.streaks, clusters, {
    section: "idle_streaks",
    caption: "Longest without a break",
    rowHeading: "node",
    row: ({ node, begins, cluster }) => ({ item: `${nameText(node)} ${begins}`, cluster, head: nameText(node) }),
    columns: [
      [textColumn("node pool"), ({ nodePool }) => [nodePoolText(nodePool)]],
      [textColumn("state"), ({ state }) => [nodeStateText(state)]],
      [shortColumn("since (UTC)"), ({ begins }) => [minuteText(begins)]],
      [
        numberColumn("for"),
        ({ hours, ends }) => [...figure("hours", "h", hours), ...(ends === null ? [" and on"] : [])],
      ],
    ],
  });
}

const nodePoolText = (name: string): string => (name === "" ? "no node pool" : nameText(name));

/** The table of what fitted on the free GPUs of each pool. */
export function fragmentationTable({ fragmentation, clusters }: Review): Table | null {
  return tableOf(fragmentation, clusters, {
    section: "fragmentation",
    caption: "Free GPUs, and what would have fitted",
    rowHeading: "GPUs",
    row: ({ pool, cluster }) => ({ item: nameText(pool), cluster, head: nameText(pool) }),
    columns: [
      [numberColumn("free", "GPU-h"), ({ freeGpuHours }) => figure("free", "GPU-h", freeGpuHours)],
      [numberColumn("of it stranded", "GPU-h"), (one) => figure("stranded", "GPU-h", one.strandedGpuHours)],
      [numberColumn("blocked work", "GPU-h"), ({ blockedGpuHours }) => figure("blocked", "GPU-h", blockedGpuHours)],
      [
        numberColumn("largest pod that fitted, GPUs: mean (least to most)", "GPUs"),
        ({ largestPlaceableGpus: largest }) =>
          largest === null
            ? ["–"]
            : [
                ...figure("largest_placeable_mean", "GPUs", largest.mean),
                " (",
                ...figure("largest_placeable_min", "GPUs", largest.min),
                " to ",
                ...figure("largest_placeable_max", "GPUs", largest.max),
                ")",
              ],
      ],
    ],
  });
}
