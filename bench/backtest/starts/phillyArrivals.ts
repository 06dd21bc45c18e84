import { join } from "node:path";
import { createRandomStream } from "../../../simulator/random.ts";
import { readTable } from "../../../simulator/traceTable.ts";

/** A job that comes to a queue. Times are seconds. */
export interface ArrivingJob {
  readonly queue: string;
  readonly arrives: number;
  readonly gpus: number;
  readonly runs: number;
  /** Higher ones are served first where the policy knows priorities. */
  readonly priority: number;
}

/** An arrival as the trace has it. */
export type Arrival = Pick<ArrivingJob, "queue" | "arrives" | "gpus">;

/** Teams with fewer jobs have no history that says anything, and what comes later is of few teams only. */
const leastJobs = 500;
const lastDay = 50;

/** Reads the arrivals of the teams with 500 jobs and more in the first 50 days, in their order. Throws if the file cannot be read. */
export function readArrivals(folder: string): readonly Arrival[] {
  const all = readTable(join(folder, "vc_job_arrivals.csv.gz")).map((row) => ({
    queue: row("vc"),
    arrives: Number(row("arrival_s")),
    gpus: Number(row("gpus")),
  }));
  const large = new Set(
    [...Map.groupBy(all, ({ queue }) => queue)].filter(([, { length }]) => length >= leastJobs).map(([queue]) => queue),
  );
  return all
    .filter(({ queue, arrives }) => large.has(queue) && arrives < lastDay * 86_400)
    .sort((a, b) => a.arrives - b.arrives);
}

/** How long jobs run: log-normal with this median and spread, at least a minute and at most a week. Seconds. */
const medianSeconds = 2400;
const sigma = 1.8;
const highPart = 0.2;

/** Draws how long each job runs, which the trace does not say, and which fifth of the jobs has a high priority. */
export function drawJobs(arrivals: readonly Arrival[], seed: number): readonly ArrivingJob[] {
  const random = createRandomStream(seed);
  return arrivals.map((arrival) => {
    const normal = Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());
    const runs = Math.min(7 * 86_400, Math.max(60, medianSeconds * Math.exp(sigma * normal)));
    return { ...arrival, runs, priority: random.next() < highPart ? 1 : 0 };
  });
}
