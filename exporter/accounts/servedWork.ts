import type { Snapshot, WorkloadView } from "../join/snapshot.ts";
import type { MomentClock } from "./accounting.ts";
import type { Remembered, RememberedChange } from "./ledger/ledger.ts";
import type { AccruedTime, WorkloadKey } from "./posting.ts";
import { longestKey, type ServedSums, servedIn, servedKey, servedKind, servedRow } from "./rememberedServed.ts";
import { nothingServed, type ServedStep, type ServedTime, servedSteps, servedTimesOf } from "./servedTime.ts";

/**
 * What the servers of one workload did since they were first seen, and the GPU time and cost that it took. Time and counters
 * grow together.
 */
export interface ServedWork extends WorkloadKey {
  readonly team: string;
  /** Since when this is counted, seconds since the epoch. */
  readonly since: number;
  readonly requests: number;
  /** Tokens that the servers have read and written; `null` if they do not count them. */
  readonly promptTokens: number | null;
  readonly generatedTokens: number | null;
  readonly gpuSeconds: number;
  /** Costs by currency; `null` if any of its GPU time had no price. */
  readonly costs: ReadonlyMap<string, number> | null;
}

/**
 * Sums of workloads that serve, bounded in number. They survive a restart with a ledger, and are forgotten a day after a
 * workload had its last page.
 */
export interface ServedWorkSums {
  /** Adds a step that ends with this moment, and returns its records. Time that is not covered counts for nothing. */
  add(snapshot: Snapshot, step: Pick<AccruedTime, "interval" | "postings">): readonly ServedTime[];
  /** The changes that must be remembered now; the list is empty unless a minute has passed since the last changes. */
  changes(now: MomentClock): readonly RememberedChange[];
  /** The sums of all workloads; the workload with the most generated tokens comes first. */
  all(): readonly ServedWork[];
}

/** Seconds between two writes. A crash loses at most this time of what was served. */
const writeSeconds = 60;
const keptSeconds = 86_400;

/**
 * Creates sums of at most `most` workloads. `remembered` holds the rows of the ledger; `null` if there is no ledger to write
 * to.
 */
export function createServedWork(remembered: readonly Remembered[] | null = null, most = 1000): ServedWorkSums {
  const { known, unreadable } = servedIn(remembered ?? []);
  const kept = new Map(known.slice(0, most).map((sums) => [servedKey(sums), sums] as const));
  const dropped = new Set<string>([...unreadable, ...known.slice(most).map(servedKey)]);
  const changed = new Set<string>();
  /** The keys of the workloads that had a page in the moment before. */
  let present: ReadonlySet<string> = new Set();
  let writtenAt = Number.NEGATIVE_INFINITY;

  function forget(at: number): void {
    for (const [key, { seenAt }] of kept) {
      if (at - seenAt <= keptSeconds) continue;
      kept.delete(key);
      dropped.add(key);
    }
  }

  function see(workload: WorkloadView, at: number): string | null {
    const key = servedKey(workload);
    const sums = kept.get(key) ?? (kept.size < most && key.length <= longestKey ? newSums(workload, at) : null);
    if (sums === null) return null;
    sums.seenAt = at;
    kept.set(key, sums);
    dropped.delete(key);
    return key;
  }

  return {
    add(snapshot, step) {
      forget(snapshot.at);
      const now = new Set<string>();
      for (const workload of servingWorkloads(snapshot)) {
        const key = see(workload, snapshot.at);
        if (key !== null) now.add(key);
      }
      // A workload whose counting has begun with this moment has not counted the time before it.
      const counted = new Map<string, ServedSums>();
      for (const key of now) {
        const sums = present.has(key) ? kept.get(key) : undefined;
        if (sums !== undefined) counted.set(key, sums);
        changed.add(key);
      }
      present = now;
      // This saves work: mostly nothing serves, and there may be a hundred thousand postings.
      return step.interval.gap === null && counted.size > 0 ? addStep(snapshot, step, counted) : [];
    },
    changes({ monotonic }) {
      if (remembered === null || monotonic - writtenAt < writeSeconds) return [];
      writtenAt = monotonic;
      const changes: RememberedChange[] = [];
      for (const key of changed) {
        const sums = kept.get(key);
        if (sums !== undefined) changes.push(servedRow(key, sums));
      }
      for (const key of dropped) changes.push({ kind: servedKind, key, value: null });
      changed.clear();
      dropped.clear();
      return changes;
    },
    all: () => [...kept.values()].sort((a, b) => (b.generatedTokens ?? 0) - (a.generatedTokens ?? 0)),
  };
}

function addStep(
  snapshot: Snapshot,
  step: Pick<AccruedTime, "interval" | "postings">,
  counted: ReadonlyMap<string, ServedSums>,
): readonly ServedTime[] {
  const done = servedSteps(snapshot);
  const times = servedTimesOf(counted, done, step);
  for (const [key, sums] of counted) addTokens(sums, done.get(key) ?? nothingServed);
  for (const time of times) {
    const sums = counted.get(servedKey(time));
    if (sums !== undefined) addTime(sums, time);
  }
  return times;
}

/** The workloads whose pages count requests. */
function servingWorkloads({ serving, pods, workloads }: Snapshot): ReadonlySet<WorkloadView> {
  const found = new Set<WorkloadView>();
  for (const [index, { page, finished }] of serving ?? []) {
    const workload = page === index && finished !== null ? workloads[pods[index]?.workload ?? -1] : undefined;
    if (workload !== undefined) found.add(workload);
  }
  return found;
}

/** Adds the record of a step to the sums of a workload. */
function addTime(sums: ServedSums, { currency, requests, gpuSeconds, cost }: ServedTime): void {
  sums.requests += requests;
  sums.gpuSeconds += gpuSeconds;
  if (currency !== null) sums.costs?.set(currency, (sums.costs.get(currency) ?? 0) + (cost ?? 0));
  else if (gpuSeconds > 0) sums.costs = null;
}

/** Adds the tokens of a step to the sums of a workload. A part that is not counted makes the sum unknown. */
function addTokens(sums: ServedSums, { promptTokens, generatedTokens, isCounted }: ServedStep): void {
  sums.promptTokens = isCounted ? sumOf(sums.promptTokens, promptTokens ?? 0) : null;
  sums.generatedTokens = isCounted ? sumOf(sums.generatedTokens, generatedTokens ?? 0) : null;
}

const newSums = ({ kind, namespace, name, team }: WorkloadView, since: number): ServedSums => ({
  kind,
  namespace,
  name,
  team,
  since,
  seenAt: since,
  requests: 0,
  promptTokens: 0,
  generatedTokens: 0,
  gpuSeconds: 0,
  costs: new Map(),
});

const sumOf = (sum: number | null, part: number): number | null => (sum === null ? null : sum + part);

/** Generated tokens per GPU-hour; `null` where they are not counted or no GPU time is. */
export function tokensPerGpuHour({ generatedTokens, gpuSeconds }: ServedWork): number | null {
  return generatedTokens === null || !(gpuSeconds > 0) ? null : generatedTokens / (gpuSeconds / 3600);
}

/** Cost of a million generated tokens, by currency; empty where it is not known, or none was generated. */
export function costPerMillionTokens({ generatedTokens, costs }: ServedWork): ReadonlyMap<string, number> {
  if (generatedTokens === null || !(generatedTokens > 0) || costs === null) return new Map();
  return new Map([...costs].map(([currency, cost]) => [currency, cost / (generatedTokens / 1e6)] as const));
}
