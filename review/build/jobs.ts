import type { JobRow, JobsAnswer } from "../../exporter/accounts/ledger/jobsQuery.ts";
import type { Review } from "../document/review.ts";
import type { Job } from "../document/waste.ts";
import { hoursOf } from "./hours.ts";
import { sumCosts } from "./sumCosts.ts";
import { utilizationOf } from "./teams.ts";

/** The most jobs of each list. */
export const shownJobs = 10;

/** The jobs of a window as the review has them. */
export function jobsOf(cluster: string, { count, costs, byCost, byWaste }: JobsAnswer): NonNullable<Review["jobs"]> {
  const shown = (rows: readonly JobRow[]): Job[] => rows.map((row) => jobOf(cluster, row));
  return { count, costs: sumCosts([costs]), byCost: shown(byCost), byWaste: shown(byWaste) };
}

function jobOf(cluster: string, row: JobRow): Job {
  const { workload, team, queue, gpuSeconds, activeGpuSeconds, judgedGpuSeconds, wastedGpuSeconds } = row;
  return {
    cluster,
    ...workload,
    team: team ?? "",
    queue: queue ?? "",
    gpuHours: hoursOf(gpuSeconds),
    activeGpuHours: hoursOf(activeGpuSeconds),
    wastedGpuHours: hoursOf(wastedGpuSeconds),
    utilization: utilizationOf(activeGpuSeconds, judgedGpuSeconds),
    costs: sumCosts([row.costs]),
    wasteCosts: sumCosts([row.wasteCosts]),
    costPerUnit: sumCosts([row.costPerUnit]),
  };
}
