import type { Snapshot } from "../join/snapshot.ts";
import { addKnown } from "./addKnown.ts";
import type { AccruedTime, Posting, WorkloadKey } from "./posting.ts";
import { servedKey } from "./rememberedServed.ts";

/**
 * What the servers of a workload did on one day, and the GPU time that it took. What they did is in the record without a
 * currency; each currency in which its GPUs are paid has a further record.
 */
export interface ServedTime extends WorkloadKey {
  /** Days since the epoch (UTC). */
  readonly day: number;
  readonly team: string;
  /** The currency of the cost; `null` in the record of what the servers did and of GPU time without a price. */
  readonly currency: string | null;
  /** Requests that have ended. */
  readonly requests: number;
  /** The tokens that those of its servers that count tokens have read and written; `null` where none of them counts any. */
  readonly promptTokens: number | null;
  readonly generatedTokens: number | null;
  /** All GPU time of the workload in the steps in which its requests were counted. */
  readonly gpuSeconds: number;
  /** The part of `gpuSeconds` in steps in which a server of the workload did not count its tokens. */
  readonly uncountedGpuSeconds: number;
  /** Cost of the GPU time; `null` exactly where the currency is. */
  readonly cost: number | null;
}

/** What the servers of a workload did between two moments. */
export interface ServedStep {
  readonly requests: number;
  /** Tokens as in `ServedTime`. */
  readonly promptTokens: number | null;
  readonly generatedTokens: number | null;
  /** Whether every server of the workload counts both. */
  readonly isCounted: boolean;
}

/** The step of a workload whose servers are all seen for the first time: their past is not counted. */
export const nothingServed: ServedStep = { requests: 0, promptTokens: null, generatedTokens: null, isCounted: true };

/** What each workload did since the moment before, by `servedKey`. */
export function servedSteps({ serving, pods, workloads }: Snapshot): ReadonlyMap<string, ServedStep> {
  const found = new Map<string, ServedStep>();
  for (const [index, { page, finished, served }] of serving ?? []) {
    const workload = page === index ? workloads[pods[index]?.workload ?? -1] : undefined;
    if (workload === undefined || (served === null && finished !== null)) continue;
    const key = servedKey(workload);
    const before = found.get(key) ?? nothingServed;
    const { requests = 0, promptTokens = null, generatedTokens = null } = served ?? {};
    found.set(key, {
      requests: before.requests + requests,
      promptTokens: addKnown(before.promptTokens, promptTokens),
      generatedTokens: addKnown(before.generatedTokens, generatedTokens),
      isCounted: before.isCounted && promptTokens !== null && generatedTokens !== null,
    });
  }
  return found;
}

/** GPU time of a workload within a step, on one day and in one currency. */
interface PaidTime {
  readonly day: number;
  readonly currency: string | null;
  gpuSeconds: number;
  cost: number | null;
}

const secondsPerDay = 86_400;

/**
 * The records of a step for these workloads, which are given by key. What they did counts on the day on which it was seen,
 * which is the day on which the step ends.
 */
export function servedTimesOf(
  workloads: ReadonlyMap<string, WorkloadKey & Pick<ServedTime, "team">>,
  steps: ReadonlyMap<string, ServedStep>,
  { interval, postings }: Pick<AccruedTime, "interval" | "postings">,
): readonly ServedTime[] {
  const times = new Map<string, PaidTime[]>([...workloads.keys()].map((key) => [key, []] as const));
  addPostings(times, postings);
  const seenOn = Math.floor(interval.to / secondsPerDay);
  return [...workloads].flatMap(([key, { kind, namespace, name, team }]) => {
    const { isCounted, ...done } = steps.get(key) ?? nothingServed;
    const own = times.get(key) ?? [];
    const doneIn = paidTime(own, seenOn, null);
    return own.map((time): ServedTime => {
      const { day, currency, gpuSeconds, cost } = time;
      const uncountedGpuSeconds = isCounted ? 0 : gpuSeconds;
      const what = time === doneIn ? done : { requests: 0, promptTokens: null, generatedTokens: null };
      return { day, kind, namespace, name, team, currency, ...what, gpuSeconds, uncountedGpuSeconds, cost };
    });
  });
}

function addPostings(times: ReadonlyMap<string, PaidTime[]>, postings: readonly Posting[]): void {
  let lastWorkload: Posting["workload"] = null;
  let own: PaidTime[] | undefined;
  for (const { hour, workload, gpuSeconds, account, cost } of postings) {
    if (workload === null) continue;
    if (workload !== lastWorkload) {
      lastWorkload = workload;
      own = times.get(servedKey(workload));
    }
    if (own === undefined) continue;
    const time = paidTime(own, Math.floor(hour / secondsPerDay), account.currency);
    time.gpuSeconds += gpuSeconds;
    if (cost !== null) time.cost = (time.cost ?? 0) + cost;
  }
}

/** The time of that day and currency; it is added to `own` if it is missing. */
function paidTime(own: PaidTime[], day: number, currency: string | null): PaidTime {
  const known = own.find((time) => time.day === day && time.currency === currency);
  if (known !== undefined) return known;
  const time = { day, currency, gpuSeconds: 0, cost: null };
  own.push(time);
  return time;
}
