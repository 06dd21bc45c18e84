import type { Review } from "../document/review.ts";
import { causeText, longText, nameText } from "../words/names.ts";
import { minuteText } from "../words/times.ts";
import { money } from "./money.ts";
import { longColumn, numberColumn, shortColumn, type Table, textColumn } from "./section.ts";
import { withClusters } from "./withClusters.ts";

/** What faults of hardware and nodes took away, by cause. */
export function faultTable(review: Review): Table | null {
  if (review.faults === null) return null;
  return {
    section: "faults",
    caption: "Lost to faults, or slowed down, by cause",
    rowHeading: "cause",
    columns: [
      numberColumn("GPU-h", "GPU-h"),
      numberColumn("cost"),
      numberColumn("outages"),
      numberColumn("repaired"),
      numberColumn("after, mean", "h"),
    ],
    rows: review.faults.causes.map(({ cause, gpuHours, costs, outages, repaired, meanRepairHours }) => ({
      item: nameText(cause),
      cluster: "",
      head: causeText(cause),
      cells: [
        [{ measure: "gpu_hours", unit: "GPU-h", value: gpuHours }],
        money("cost", costs),
        [{ measure: "outages", unit: "count", value: outages }],
        [{ measure: "repaired", unit: "count", value: repaired }],
        meanRepairHours === null ? ["–"] : [{ measure: "mean_repair", unit: "h", value: meanRepairHours }],
      ],
    })),
  };
}

/** The GPUs that were lost for longest, and who was hit. */
export function outageTable(review: Review): Table | null {
  if (review.faults === null) return null;
  return withClusters(review, {
    section: "outages",
    caption: "GPUs that could not be used",
    rowHeading: "GPU",
    columns: [
      textColumn("cause"),
      longColumn("who was hit"),
      shortColumn("since (UTC)"),
      shortColumn("until (UTC)"),
      numberColumn("GPU-h", "GPU-h"),
    ],
    rows: review.faults.outages.map(({ cluster, node, gpu, cause, teams, begins, ends, gpuHours }) => ({
      item: `${nameText(node)} ${nameText(gpu)} ${nameText(cause)} ${begins}`,
      cluster,
      head: gpu === "" ? nameText(node) : `${nameText(gpu)} of ${nameText(node)}`,
      cells: [
        [causeText(cause)],
        [teams === "" ? "nobody" : longText(teams.replaceAll(",", ", "))],
        [minuteText(begins)],
        [ends === null ? "it lasts" : minuteText(ends)],
        [{ measure: "gpu_hours", unit: "GPU-h", value: gpuHours }],
      ],
    })),
  });
}
