import type { TeamSeries } from "./heliosTrace.ts";
import type { InferredJob } from "./inferJobs.ts";

/** By which rule teams use each other's idle GPUs. */
export interface LendingRule {
  /** GPUs that a team (index) may have beyond its quota now. */
  readonly limitOf: (team: number) => number;
  /** Whether a lender that needs its GPUs takes them back (the newest borrowers first), or waits until they come free. */
  readonly isReclaimed: boolean;
  /** Whether a job may use idle GPUs of several teams at once. */
  readonly isSpread: boolean;
  /** Whether jobs are started only where nobody will take their GPUs back: an oracle's rule. */
  readonly knowsFuture: boolean;
  /** Called at the end of each minute. */
  readonly onMinute?: (minute: number, now: LendingMoment) => void;
}

/** What is borrowed and what waits at a moment. */
export interface LendingMoment {
  /** GPUs that each team has borrowed. */
  readonly borrowed: readonly number[];
  readonly waiting: readonly InferredJob[];
}

/** What lending came to. GPU-hours. */
export interface LendingOutcome {
  /** By how much less jobs waited in all. */
  readonly savedHours: number;
  /** Recorded pending GPU-hours of jobs that started earlier for good. */
  readonly earlierHours: number;
  /** What ran and was taken back: work done again. */
  readonly lostHours: number;
  readonly evictions: number;
  /** Lenders' own GPUs that they had to wait for, where nothing is taken back. */
  readonly lenderShortHours: number;
  /** Mean and p95 wait of the GPUs that waited, hours, by GPU. */
  readonly meanWaitHours: number;
  readonly p95WaitHours: number;
}

interface Run {
  readonly job: InferredJob;
  readonly from: number;
  /** GPUs by lender. */
  readonly parts: ReadonlyMap<number, number>;
}

/**
 * Plays the trace with lending: jobs that wait start on GPUs that are idle in other teams as recorded, first come first served,
 * and go on with their own team's GPUs from the minute in which they started as recorded. Everything else stays as recorded: what
 * ends earlier frees nothing more. Pure but for `onMinute`.
 */
export function lendGpus(
  teams: readonly TeamSeries[],
  jobs: readonly InferredJob[],
  rule: LendingRule,
): LendingOutcome {
  const minutes = teams[0]?.idle.length ?? 0;
  const arrivals = Map.groupBy(jobs, ({ arrives }) => arrives);
  const lent = teams.map(() => 0);
  const borrowed = teams.map(() => 0);
  const startedAt = new Map<number, number>();
  let waiting: InferredJob[] = [];
  let runs: Run[] = [];
  let [lost, evictions, lenderShort] = [0, 0, 0];
  const idleOf = (team: number, minute: number): number => (teams[team]?.idle[minute] ?? 0) - (lent[team] ?? 0);
  const leastIdle = rule.knowsFuture ? createLeastIdle(teams) : null;

  function count({ job, parts }: Run, sign: 1 | -1): void {
    borrowed[job.team] = (borrowed[job.team] ?? 0) + sign * job.gpus;
    for (const [lender, gpus] of parts) lent[lender] = (lent[lender] ?? 0) + sign * gpus;
  }

  function endRuns(minute: number): void {
    runs = runs.filter((run) => {
      if (run.job.starts > minute && run.from + run.job.runs > minute) return true;
      count(run, -1);
      startedAt.set(run.job.id, run.from);
      return false;
    });
  }

  function takeBack(minute: number): void {
    for (let lender = 0; lender < teams.length; lender++) {
      if (idleOf(lender, minute) >= 0) continue;
      if (!rule.isReclaimed) {
        lenderShort -= idleOf(lender, minute);
        continue;
      }
      for (let at = runs.length - 1; at >= 0 && idleOf(lender, minute) < 0; at--) {
        const run = runs[at];
        if (run === undefined || !run.parts.has(lender)) continue;
        count(run, -1);
        runs.splice(at, 1);
        lost += run.job.gpus * (minute - run.from);
        evictions += 1;
        waiting.push(run.job);
      }
    }
    waiting.sort((a, b) => a.arrives - b.arrives || a.id - b.id);
  }

  /** GPUs that a team has idle for a job: now, or for as long as it needs them where the future is known. */
  function free(team: number, { runs: length, starts }: InferredJob, minute: number): number {
    const now = leastIdle?.(team, minute, Math.min(minute + length, starts)) ?? teams[team]?.idle[minute] ?? 0;
    return Math.max(0, now - (lent[team] ?? 0));
  }

  function partsFor(job: InferredJob, minute: number): ReadonlyMap<number, number> | null {
    const lenders = teams
      .map((_, team) => ({ team, gpus: team === job.team ? 0 : free(team, job, minute) }))
      .filter(({ gpus }) => gpus > 0)
      .sort((a, b) => b.gpus - a.gpus || a.team - b.team);
    if (!rule.isSpread) {
      const [first] = lenders;
      return first !== undefined && first.gpus >= job.gpus ? new Map([[first.team, job.gpus]]) : null;
    }
    const parts = new Map<number, number>();
    let left = job.gpus;
    for (const { team, gpus } of lenders) {
      if (left === 0) break;
      parts.set(team, Math.min(left, gpus));
      left -= Math.min(left, gpus);
    }
    return left === 0 ? parts : null;
  }

  function startWaiting(minute: number): void {
    waiting = waiting.filter((job) => {
      if (job.starts <= minute) {
        startedAt.set(job.id, job.starts);
        return false;
      }
      if ((borrowed[job.team] ?? 0) + job.gpus > rule.limitOf(job.team)) return true;
      const parts = partsFor(job, minute);
      if (parts === null) return true;
      const run: Run = { job, from: minute, parts };
      count(run, 1);
      runs.push(run);
      return false;
    });
  }

  for (let minute = 0; minute < minutes; minute++) {
    waiting.push(...(arrivals.get(minute) ?? []));
    endRuns(minute);
    takeBack(minute);
    startWaiting(minute);
    rule.onMinute?.(minute, { borrowed, waiting });
  }
  endRuns(Infinity);
  return { ...waitsOf(jobs, startedAt), lostHours: lost / 60, evictions, lenderShortHours: lenderShort / 60 };
}

function waitsOf(jobs: readonly InferredJob[], startedAt: ReadonlyMap<number, number>) {
  let [saved, earlier, all, waited] = [0, 0, 0, 0];
  const waits = jobs.map((job) => {
    const starts = Math.min(job.starts, startedAt.get(job.id) ?? job.starts);
    saved += job.gpus * (job.starts - starts);
    if (starts < job.starts) earlier += job.gpus * (job.starts - job.arrives);
    all += job.gpus;
    waited += job.gpus * (starts - job.arrives);
    return { wait: starts - job.arrives, gpus: job.gpus };
  });
  waits.sort((a, b) => a.wait - b.wait);
  let seen = 0;
  const p95 = waits.find(({ gpus }) => {
    seen += gpus;
    return seen >= 0.95 * all;
  });
  return {
    savedHours: saved / 60,
    earlierHours: earlier / 60,
    meanWaitHours: waited / Math.max(1, all) / 60,
    p95WaitHours: (p95?.wait ?? 0) / 60,
  };
}

/** The least that a team has idle from one minute to another, by tables of powers of two. */
function createLeastIdle(teams: readonly TeamSeries[]): (team: number, from: number, until: number) => number {
  const tables = teams.map(({ idle }) => {
    const levels: number[][] = [[...idle]];
    for (let width = 1; 2 * width <= idle.length; width *= 2) {
      const last = levels.at(-1) ?? [];
      levels.push(
        last.slice(0, idle.length - 2 * width + 1).map((least, i) => Math.min(least, last[i + width] ?? least)),
      );
    }
    return levels;
  });
  return (team, from, until) => {
    const end = Math.min(Math.max(until, from + 1), teams[team]?.idle.length ?? 0);
    const level = Math.floor(Math.log2(Math.max(1, end - from)));
    const table = tables[team]?.[level];
    return Math.min(table?.[from] ?? 0, table?.[end - 2 ** level] ?? 0);
  };
}
