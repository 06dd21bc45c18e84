import type { Snapshot, WorkloadView } from "../join/snapshot.ts";
import type { MomentClock } from "./accounting.ts";
import type { Remembered, RememberedChange } from "./ledger/ledger.ts";
import type { AccruedTime, WorkloadKey } from "./posting.ts";
import { longestKey, type ServedSums, servedIn, servedKey, servedKind, servedRow } from "./rememberedServed.ts";

/** What the servers of one workload did since they were first seen, and what it took. Time and counters grow together. */
export interface ServedWork extends WorkloadKey {
  readonly team: string;
  /** Since when this is counted, seconds since the epoch. */
  readonly since: number;
  readonly requests: number;
  /** `null`: it does not count them. */
  readonly promptTokens: number | null;
  readonly generatedTokens: number | null;
  readonly gpuSeconds: number;
  /** By currency; `null` if any of its GPU time had no price. */
  readonly costs: ReadonlyMap<string, number> | null;
}

/**
 * Sums of workloads that serve, bounded in number. They survive a restart with a ledger, and are forgotten a day after a workload
 * had its last page.
 */
export interface ServedWorkSums {
  /** Adds a step that ends with this moment. Time that is not covered counts for nothing. */
  add(snapshot: Snapshot, step: Pick<AccruedTime, "interval" | "postings">): void;
  /** What must be remembered now; nothing more than once a minute. */
  changes(now: MomentClock): readonly RememberedChange[];
  /** Those that generated the most tokens first. */
  all(): readonly ServedWork[];
}

/** A crash costs at most this many seconds of what was served. */
const writeSeconds = 60;
const keptSeconds = 86_400;

/** Creates sums of at most `most` workloads. `remembered` is what a ledger holds; `null`: there is no ledger to write to. */
export function createServedWork(remembered: readonly Remembered[] | null = null, most = 1000): ServedWorkSums {
  const { known, unreadable } = servedIn(remembered ?? []);
  const kept = new Map(known.slice(0, most).map((sums) => [servedKey(sums), sums] as const));
  const dropped = new Set<string>([...unreadable, ...known.slice(most).map(servedKey)]);
  const changed = new Set<string>();
  /** Those that had a page in the moment before. */
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
    add(snapshot, { interval, postings }) {
      forget(snapshot.at);
      const now = new Set<string>();
      for (const workload of servingWorkloads(snapshot)) {
        const key = see(workload, snapshot.at);
        if (key !== null) now.add(key);
      }
      // A workload whose counting has begun with this moment has not counted the time before it.
      const isCounted = (key: string): boolean => present.has(key) && now.has(key);
      // Mostly nothing serves, and there may be a hundred thousand postings.
      if (interval.gap === null && now.size > 0)
        addStep(snapshot, postings, (key) => (isCounted(key) ? kept.get(key) : undefined));
      for (const key of now) changed.add(key);
      present = now;
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

/** Those whose pages count requests. */
function servingWorkloads({ serving, pods, workloads }: Snapshot): ReadonlySet<WorkloadView> {
  const found = new Set<WorkloadView>();
  for (const [index, { page, finished }] of serving ?? []) {
    const workload = page === index && finished !== null ? workloads[pods[index]?.workload ?? -1] : undefined;
    if (workload !== undefined) found.add(workload);
  }
  return found;
}

type FindSums = (key: string) => ServedSums | undefined;

function addStep(snapshot: Snapshot, postings: AccruedTime["postings"], find: FindSums): void {
  addServed(snapshot, find);
  for (const { workload, gpuSeconds, account, cost } of postings) {
    const sums = workload === null ? undefined : find(servedKey(workload));
    if (sums === undefined) continue;
    sums.gpuSeconds += gpuSeconds;
    if (cost === null || account.currency === null) sums.costs = null;
    else sums.costs?.set(account.currency, (sums.costs.get(account.currency) ?? 0) + cost);
  }
}

function addServed({ serving, pods, workloads }: Snapshot, find: FindSums): void {
  for (const [index, { page, served }] of serving ?? []) {
    const workload = page === index && served !== null ? workloads[pods[index]?.workload ?? -1] : undefined;
    const sums = workload === undefined ? undefined : find(servedKey(workload));
    if (sums === undefined || served === null) continue;
    sums.requests += served.requests;
    sums.promptTokens = sumOf(sums.promptTokens, served.promptTokens);
    sums.generatedTokens = sumOf(sums.generatedTokens, served.generatedTokens);
  }
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

/** A part that is not counted makes the sum unknown. */
const sumOf = (sum: number | null, part: number | null): number | null =>
  sum === null || part === null ? null : sum + part;

/** Generated tokens per GPU-hour; `null` where they are not counted or no GPU time is. */
export function tokensPerGpuHour({ generatedTokens, gpuSeconds }: ServedWork): number | null {
  return generatedTokens === null || !(gpuSeconds > 0) ? null : generatedTokens / (gpuSeconds / 3600);
}

/** Cost of a million generated tokens, by currency; empty where it is not known, or none was generated. */
export function costPerMillionTokens({ generatedTokens, costs }: ServedWork): ReadonlyMap<string, number> {
  if (generatedTokens === null || !(generatedTokens > 0) || costs === null) return new Map();
  return new Map([...costs].map(([currency, cost]) => [currency, cost / (generatedTokens / 1e6)] as const));
}
