import type { PastStart } from "../../../exporter/analysis/startTimes/startTimes.ts";
import type { ArrivingJob } from "./phillyArrivals.ts";

/**
 * How waiting jobs are served. `static quotas`: each queue in its order, with GPUs of its own; the others share all GPUs.
 * `first come, first served`: in one order over all queues, where the first that does not fit stops the rest; `backfill`: the
 * same, but others pass it; `priorities and backfill`: those of high priority first; `fair share`: the first of the queue that
 * holds least of its share, and of the next queue where it does not fit.
 */
export const policies = [
  "static quotas",
  "first come, first served",
  "backfill",
  "priorities and backfill",
  "fair share",
] as const;

export type Policy = (typeof policies)[number];

/** A job that waits or runs. */
interface Job extends ArrivingJob {
  readonly share: Share;
}

/** A queue with what it holds. */
interface Share {
  readonly waiting: Job[];
  readonly quota: number;
  used: number;
}

/** The smallest quota of a queue: its largest jobs must fit. */
const leastQuota = 32;

/** Plays the jobs through the queues; each has the quota that its work takes up to the part `load`. Returns every start. */
export function playQueues(jobs: readonly ArrivingJob[], policy: Policy, load: number): readonly PastStart[] {
  const shares = sharesOf(jobs, load);
  const whole = wholeOf(jobs, load);
  const cluster = { free: policy === "static quotas" ? Infinity : whole };
  const starts: PastStart[] = [];
  const running = createEnds();
  let next = 0;
  const begin = (job: Job, at: number): void => {
    job.share.used += job.gpus;
    cluster.free -= job.gpus;
    running.add({ at: at + job.runs, job });
    starts.push({
      queue: job.queue,
      domain: "cluster",
      since: job.arrives,
      startedAt: at,
      gpus: job.gpus,
      priority: policy === "priorities and backfill" ? job.priority : 0,
    });
  };
  while (next < jobs.length || [...shares.values()].some(({ waiting }) => waiting.length > 0)) {
    const at = Math.min(jobs[next]?.arrives ?? Infinity, running.first());
    if (at === Infinity) break;
    for (const job of running.endedBy(at)) {
      job.share.used -= job.gpus;
      cluster.free += job.gpus;
    }
    for (let job = jobs[next]; job !== undefined && job.arrives <= at; job = jobs[next]) {
      const share = shares.get(job.queue);
      share?.waiting.push({ ...job, share });
      next += 1;
    }
    serve(policy, [...shares.values()], cluster, (job) => begin(job, at));
  }
  return starts;
}

function serve(
  policy: Policy,
  shares: readonly Share[],
  cluster: { readonly free: number },
  begin: (job: Job) => void,
): void {
  if (policy === "static quotas") {
    for (const share of shares) startWhile(share, (job) => share.used + job.gpus <= share.quota, begin);
    return;
  }
  if (policy === "fair share") {
    serveFairly(shares, cluster, begin);
    return;
  }
  const line = shares.flatMap(({ waiting }) => waiting);
  const byPriority = policy === "priorities and backfill";
  line.sort((a, b) => (byPriority ? b.priority - a.priority : 0) || a.arrives - b.arrives);
  for (const job of line) {
    if (cluster.free <= 0) return;
    if (job.gpus <= cluster.free) {
      job.share.waiting.splice(job.share.waiting.indexOf(job), 1);
      begin(job);
    } else if (policy === "first come, first served") return;
  }
}

function startWhile({ waiting }: Share, fits: (job: Job) => boolean, begin: (job: Job) => void): void {
  for (let job = waiting[0]; job !== undefined && fits(job); job = waiting[0]) {
    waiting.shift();
    begin(job);
  }
}

function serveFairly(shares: readonly Share[], cluster: { readonly free: number }, begin: (job: Job) => void): void {
  const open = new Set(shares.filter(({ waiting }) => waiting.length > 0));
  while (open.size > 0) {
    const least = [...open].reduce((a, b) => (b.used / b.quota < a.used / a.quota ? b : a));
    const job = least.waiting[0];
    if (job === undefined || job.gpus > cluster.free) open.delete(least);
    else {
      least.waiting.shift();
      begin(job);
    }
  }
}

function sharesOf(jobs: readonly ArrivingJob[], load: number): ReadonlyMap<string, Share> {
  const groups = [...Map.groupBy(jobs, ({ queue }) => queue)].sort(([a], [b]) => (a < b ? -1 : 1));
  return new Map(
    groups.map(([queue, own]) => [queue, { waiting: [], quota: Math.max(leastQuota, neededGpus(own, load)), used: 0 }]),
  );
}

const wholeOf = (jobs: readonly ArrivingJob[], load: number): number =>
  Math.max(2 * leastQuota, neededGpus(jobs, load));

/** GPUs of which the jobs take up the part `load`, from the first arrival to the last. */
function neededGpus(jobs: readonly ArrivingJob[], load: number): number {
  const seconds = (jobs.at(-1)?.arrives ?? 0) - (jobs[0]?.arrives ?? 0) + 1;
  return Math.ceil(jobs.reduce((sum, { gpus, runs }) => sum + gpus * runs, 0) / seconds / load);
}

interface End {
  readonly at: number;
  readonly job: Job;
}

/** The ends of running jobs, of which the earliest is the last of the list. */
function createEnds() {
  const ends: End[] = [];
  return {
    first: (): number => ends.at(-1)?.at ?? Infinity,
    add(end: End): void {
      let [low, high] = [0, ends.length];
      while (low < high) {
        const middle = (low + high) >> 1;
        if ((ends[middle]?.at ?? 0) > end.at) low = middle + 1;
        else high = middle;
      }
      ends.splice(low, 0, end);
    },
    endedBy(at: number): readonly Job[] {
      const ended: Job[] = [];
      for (let end = ends.at(-1); end !== undefined && end.at <= at; end = ends.at(-1)) {
        ends.pop();
        ended.push(end.job);
      }
      return ended;
    },
  };
}
