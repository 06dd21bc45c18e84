import { readdirSync } from "node:fs";
import { join } from "node:path";
import { readTable } from "../../../simulator/traceTable.ts";

/** A team's GPUs and jobs, minute by minute. */
export interface TeamSeries {
  /** Its name in lower case, as names of Kubernetes objects are. */
  readonly team: string;
  /** GPUs of its quota. */
  readonly quota: readonly number[];
  readonly running: readonly number[];
  readonly pending: readonly number[];
  /** GPUs of its quota that no job has. */
  readonly idle: readonly number[];
  /** Jobs with GPUs that wait. */
  readonly pendingJobs: readonly number[];
}

/** Reads the series of all teams in the order of their names. Throws if a file cannot be read. */
export function readHelios(folder: string): readonly TeamSeries[] {
  const files = readdirSync(folder).filter((name) => /^vc\w+\.csv\.gz$/.test(name));
  return files.sort().map((file) => {
    const rows = readTable(join(folder, file));
    const column = (name: string): readonly number[] => rows.map((row) => Number(row(name)));
    return {
      team: file.slice(0, -".csv.gz".length).toLowerCase(),
      quota: column("total_gpu_num"),
      running: column("running_gpu_num"),
      pending: column("pending_gpu_num"),
      idle: column("idle_gpu_num"),
      pendingJobs: column("pending_gpujob_num"),
    };
  });
}

/** Sums of the whole trace. */
export interface HeliosCounts {
  readonly gpus: number;
  readonly allocated: number;
  readonly runningHours: number;
  readonly idleHours: number;
  readonly pendingHours: number;
  /** Part of the pending GPU-hours for which GPUs were idle at that minute, but only in other teams. */
  readonly onlyElsewhere: number;
}

/** Counts GPU-hours. Pure. */
export function countsOf(teams: readonly TeamSeries[]): HeliosCounts {
  const minutes = teams[0]?.running.length ?? 0;
  let [running, idle, pending, elsewhere, quota] = [0, 0, 0, 0, 0];
  for (let minute = 0; minute < minutes; minute++) {
    const allIdle = teams.reduce((sum, team) => sum + (team.idle[minute] ?? 0), 0);
    for (const team of teams) {
      const waiting = team.pending[minute] ?? 0;
      running += team.running[minute] ?? 0;
      idle += team.idle[minute] ?? 0;
      quota += team.quota[minute] ?? 0;
      pending += waiting;
      const own = Math.min(waiting, team.idle[minute] ?? 0);
      elsewhere += Math.min(waiting - own, allIdle - (team.idle[minute] ?? 0));
    }
  }
  return {
    gpus: quota / Math.max(1, minutes),
    allocated: running / Math.max(1, quota),
    runningHours: running / 60,
    idleHours: idle / 60,
    pendingHours: pending / 60,
    onlyElsewhere: elsewhere / Math.max(1, pending),
  };
}
