import type { TeamSeries } from "./heliosTrace.ts";

/** A job, or a part of one, that waited: inferred from counts. Times are minutes of the trace. */
export interface InferredJob {
  readonly id: number;
  /** Index of its team. */
  readonly team: number;
  readonly gpus: number;
  readonly arrives: number;
  /** When it starts, as recorded. */
  readonly starts: number;
  /** How long it runs, minutes. */
  readonly runs: number;
}

/** How jobs are inferred. */
export interface Inference {
  /** Who of those that wait starts when fewer wait: the one that came first, or last. */
  readonly order: "first" | "last";
  /** The mean run of a team's jobs is multiplied by this. */
  readonly runFactor: number;
}

/**
 * Infers the jobs that waited from the counts of each minute: where more GPUs are pending than the minute before, jobs have come
 * (as many as pending jobs are more, of one size); where fewer are, the first or the last of those that wait have started. What
 * comes and starts in the same minute is not seen. All jobs of a team run equally long: its running GPU-minutes over the GPUs
 * that began to run. Pure.
 */
export function inferJobs(teams: readonly TeamSeries[], { order, runFactor }: Inference): readonly InferredJob[] {
  const jobs: InferredJob[] = [];
  for (const [team, series] of teams.entries()) {
    const runs = Math.max(1, Math.round(meanRun(series) * runFactor));
    const waiting: { gpus: number; readonly arrives: number }[] = [];
    const start = (most: number, starts: number): void => {
      let left = most;
      while (left > 0 && waiting.length > 0) {
        const at = order === "first" ? 0 : waiting.length - 1;
        const one = waiting[at];
        if (one === undefined) break;
        const gpus = Math.min(one.gpus, left);
        jobs.push({ id: jobs.length, team, gpus, arrives: one.arrives, starts, runs });
        left -= gpus;
        one.gpus -= gpus;
        if (one.gpus === 0) waiting.splice(at, 1);
      }
    };
    let before = { pending: 0, jobs: 0 };
    for (const [minute, pending] of series.pending.entries()) {
      const now = { pending, jobs: series.pendingJobs[minute] ?? 0 };
      const more = pending - before.pending;
      const count = Math.max(1, Math.min(more, now.jobs - before.jobs));
      for (let job = 0; job < count && more > 0; job++)
        waiting.push({ gpus: Math.floor(more / count) + (job < more % count ? 1 : 0), arrives: minute });
      if (more < 0) start(-more, minute);
      before = now;
    }
    start(Infinity, series.pending.length);
  }
  return jobs;
}

/** Mean minutes for which a GPU of a team runs a job: by Little's law, running GPUs over those that begin per minute. */
function meanRun({ running }: TeamSeries): number {
  let [all, begun] = [0, 0];
  for (const [minute, gpus] of running.entries()) {
    all += gpus;
    begun += Math.max(0, gpus - (running[minute - 1] ?? 0));
  }
  return begun === 0 ? running.length : all / begun;
}
