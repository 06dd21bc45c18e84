import type { Snapshot, WorkloadView } from "../join/snapshot.ts";
import type { AccruedTime, WorkloadKey } from "./posting.ts";

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

/** Sums of workloads that serve, bounded in number. They are kept while the workload has a page, and begin anew when Fairlead does. */
export interface ServedWorkSums {
  /** Adds a step that ends with this moment. Time that is not covered counts for nothing. */
  add(snapshot: Snapshot, step: Pick<AccruedTime, "interval" | "postings">): void;
  all(): readonly ServedWork[];
}

interface Sums extends WorkloadKey {
  readonly team: string;
  readonly since: number;
  requests: number;
  promptTokens: number | null;
  generatedTokens: number | null;
  gpuSeconds: number;
  costs: Map<string, number> | null;
}

/** Creates sums of at most `most` workloads. */
export function createServedWork(most = 1000): ServedWorkSums {
  let kept = new Map<string, Sums>();

  return {
    add(snapshot, { interval, postings }) {
      const next = new Map<string, Sums>();
      for (const workload of servingWorkloads(snapshot)) {
        const key = keyOf(workload);
        const sums = kept.get(key) ?? (next.size < most ? newSums(workload, snapshot.at) : undefined);
        if (sums !== undefined && next.size < most) next.set(key, sums);
      }
      // A workload whose counting has begun with this moment has not counted the time before it.
      if (interval.gap === null) addStep(snapshot, postings, (key) => (kept.has(key) ? next.get(key) : undefined));
      kept = next;
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

type FindSums = (key: string) => Sums | undefined;

function addStep(snapshot: Snapshot, postings: AccruedTime["postings"], find: FindSums): void {
  addServed(snapshot, find);
  for (const { workload, gpuSeconds, account, cost } of postings) {
    const sums = workload === null ? undefined : find(keyOf(workload));
    if (sums === undefined) continue;
    sums.gpuSeconds += gpuSeconds;
    if (cost === null || account.currency === null) sums.costs = null;
    else sums.costs?.set(account.currency, (sums.costs.get(account.currency) ?? 0) + cost);
  }
}

function addServed({ serving, pods, workloads }: Snapshot, find: FindSums): void {
  for (const [index, { page, served }] of serving ?? []) {
    const workload = page === index && served !== null ? workloads[pods[index]?.workload ?? -1] : undefined;
    const sums = workload === undefined ? undefined : find(keyOf(workload));
    if (sums === undefined || served === null) continue;
    sums.requests += served.requests;
    sums.promptTokens = sumOf(sums.promptTokens, served.promptTokens);
    sums.generatedTokens = sumOf(sums.generatedTokens, served.generatedTokens);
  }
}

const newSums = ({ kind, namespace, name, team }: WorkloadView, since: number): Sums => ({
  kind,
  namespace,
  name,
  team,
  since,
  requests: 0,
  promptTokens: 0,
  generatedTokens: 0,
  gpuSeconds: 0,
  costs: new Map(),
});

/** A part that is not counted makes the sum unknown. */
const sumOf = (sum: number | null, part: number | null): number | null =>
  sum === null || part === null ? null : sum + part;

const keyOf = ({ kind, namespace, name }: WorkloadKey): string => JSON.stringify([kind, namespace, name]);

/** Generated tokens per GPU-hour; `null` where they are not counted or no GPU time is. */
export function tokensPerGpuHour({ generatedTokens, gpuSeconds }: ServedWork): number | null {
  return generatedTokens === null || !(gpuSeconds > 0) ? null : generatedTokens / (gpuSeconds / 3600);
}

/** Cost of a million generated tokens, by currency; empty where it is not known, or none was generated. */
export function costPerMillionTokens({ generatedTokens, costs }: ServedWork): ReadonlyMap<string, number> {
  if (generatedTokens === null || !(generatedTokens > 0) || costs === null) return new Map();
  return new Map([...costs].map(([currency, cost]) => [currency, cost / (generatedTokens / 1e6)] as const));
}
