import type { Review } from "../document/review.ts";
import type { Job } from "../document/waste.ts";
import { nameText, teamText } from "../words/names.ts";
import { money } from "./money.ts";
import { numberColumn, type Sentence, type Table, textColumn } from "./section.ts";
import { withClusters } from "./withClusters.ts";

/** How many workloads there were, and what all of them cost. */
export function jobsSentence({ jobs }: Review): Sentence | null {
  if (jobs === null) return null;
  return {
    section: "jobs",
    cluster: "",
    item: "all",
    pieces: [
      { measure: "jobs", unit: "count", value: jobs.count },
      " workloads allocated GPUs; together they cost ",
      ...money("cost", jobs.costs),
      ".",
    ],
  };
}

/** The workloads that cost most. */
export const jobsByCost = (review: Review): Table | null =>
  review.jobs === null ? null : jobTable(review, review.jobs.byCost, "jobs_by_cost", "By cost");

/** The workloads that wasted most. */
export const jobsByWaste = (review: Review): Table | null =>
  review.jobs === null
    ? null
    : jobTable(review, review.jobs.byWaste, "jobs_by_waste", "By waste (idle and underutilized)");

function jobTable(review: Review, jobs: readonly Job[], section: string, caption: string): Table {
  // Only work that says how far it is has a cost of a unit.
  const hasUnits = jobs.some(({ costPerUnit }) => Object.keys(costPerUnit).length > 0);
  return withClusters(review, {
    section,
    caption,
    rowHeading: "workload",
    columns: [
      textColumn("team"),
      numberColumn("allocated", "GPU-h"),
      numberColumn("use"),
      numberColumn("wasted", "GPU-h"),
      numberColumn("cost"),
      numberColumn("of it wasted"),
      ...(hasUnits ? [numberColumn("per unit of progress")] : []),
    ],
    rows: jobs.map((job) => ({
      item: [job.kind, job.namespace, job.name].map(nameText).join("/"),
      cluster: job.cluster,
      head: nameText(`${job.namespace}/${job.name}`),
      cells: [
        [teamText(job.team)],
        [{ measure: "gpu_hours", unit: "GPU-h", value: job.gpuHours }],
        [{ measure: "utilization", unit: "ratio", value: job.utilization }],
        [{ measure: "wasted", unit: "GPU-h", value: job.wastedGpuHours }],
        money("cost", job.costs),
        money("waste_cost", job.wasteCosts),
        ...(hasUnits ? [money("cost_per_unit", job.costPerUnit)] : []),
      ],
    })),
  });
}
