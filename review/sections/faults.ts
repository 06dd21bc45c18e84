import type { Review } from "../document/review.ts";
import { causeText, longText, nameText } from "../words/names.ts";
import { minuteText } from "../words/times.ts";
import { money } from "./money.ts";
import { figure, longColumn, numberColumn, shortColumn, type Table, tableOf, textColumn } from "./section.ts";

/** The table of what faults of hardware and nodes took away, by cause. */
export function faultTable({ faults }: Review): Table | null {
  return tableOf(faults?.causes, [], {
    section: "faults",
    caption: "Lost to faults, or slowed down, by cause",
    rowHeading: "cause",
    row: ({ cause }) => ({ item: nameText(cause), cluster: "", head: causeText(cause) }),
    columns: [
      [numberColumn("GPU-h", "GPU-h"), ({ gpuHours }) => figure("gpu_hours", "GPU-h", gpuHours)],
      [numberColumn("cost"), ({ costs }) => money("cost", costs)],
      [numberColumn("outages"), ({ outages }) => figure("outages", "count", outages)],
      [numberColumn("repaired"), ({ repaired }) => figure("repaired", "count", repaired)],
      [
        numberColumn("after, mean", "h"),
        ({ meanRepairHours: mean }) => (mean === null ? ["–"] : figure("mean_repair", "h", mean)),
      ],
    ],
  });
}

/** The table of the GPUs that were lost for longest, and of the teams that were affected. */
export function outageTable({ faults, clusters }: Review): Table | null {
  return tableOf(faults?.outages, clusters, {
    section: "outages",
    caption: "GPUs that could not be used",
    rowHeading: "GPU",
    row: ({ cluster, node, gpu, cause, begins }) => ({
      item: `${nameText(node)} ${nameText(gpu)} ${nameText(cause)} ${begins}`,
      cluster,
      head: gpu === "" ? nameText(node) : `${nameText(gpu)} of ${nameText(node)}`,
    }),
    columns: [
      [textColumn("cause"), ({ cause }) => [causeText(cause)]],
      [longColumn("who was hit"), ({ teams }) => [teams === "" ? "nobody" : longText(teams.replaceAll(",", ", "))]],
      [shortColumn("since (UTC)"), ({ begins }) => [minuteText(begins)]],
      [shortColumn("until (UTC)"), ({ ends }) => [ends === null ? "it lasts" : minuteText(ends)]],
      [numberColumn("GPU-h", "GPU-h"), ({ gpuHours }) => figure("gpu_hours", "GPU-h", gpuHours)],
    ],
  });
}
