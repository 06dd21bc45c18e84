import type { Review } from "../document/review.ts";
import type { Job } from "../document/waste.ts";
import { nameText, teamText } from "../words/names.ts";
import { money } from "./money.ts";
import { figure, numberColumn, type Sentence, type Table, tableOf, textColumn } from "./section.ts";

/** Says how many workloads there were, and what all of them cost. */
export function jobsSentence({ jobs }: Review): Sentence | null {
  if (jobs === null) return null;
  return {
    section: "jobs",
    cluster: "",
    item: "all",
    pieces: [
      ...figure("jobs", "count", jobs.count),
      " workloads allocated GPUs; together they cost ",
      ...money("cost", jobs.costs),
      ".",
    ],
  };
}

/** The table of the workloads that cost the most. */
export const jobsByCost = ({ jobs, clusters }: Review): Table | null =>
  jobTable(jobs?.byCost ?? null, clusters, "jobs_by_cost", "By cost");

/** The table of the workloads that wasted the most. */
export const jobsByWaste = ({ jobs, clusters }: Review): Table | null =>
  jobTable(jobs?.byWaste ?? null, clusters, "jobs_by_waste", "By waste (idle and underutilized)");

function jobTable(
  jobs: readonly Job[] | null,
  clusters: readonly string[],
  section: string,
  caption: string,
): Table | null {
  // Only work that reports its progress has a cost per unit.
  const hasUnits = jobs?.some(({ costPerUnit }) => Object.keys(costPerUnit).length > 0) === true;
  const perUnit = [
    numberColumn("per unit of progress"),
    (job: Job) => money("cost_per_unit", job.costPerUnit),
  ] as const;
  return tableOf(jobs, clusters, {
    section,
    caption,
    rowHeading: "workload",
    row: ({ kind, namespace, name, cluster }) => ({
      item: [kind, namespace, name].map(nameText).join("/"),
      cluster,
      head: nameText(`${namespace}/${name}`),
    }),
    columns: [
      [textColumn("team"), ({ team }) => [teamText(team)]],
      [numberColumn("allocated", "GPU-h"), ({ gpuHours }) => figure("gpu_hours", "GPU-h", gpuHours)],
      [numberColumn("use"), ({ utilization }) => figure("utilization", "ratio", utilization)],
      [numberColumn("wasted", "GPU-h"), ({ wastedGpuHours }) => figure("wasted", "GPU-h", wastedGpuHours)],
      [numberColumn("cost"), ({ costs }) => money("cost", costs)],
      [numberColumn("of it wasted"), ({ wasteCosts }) => money("waste_cost", wasteCosts)],
      ...(hasUnits ? [perUnit] : []),
    ],
  });
}
