import type { AccountingEntries } from "../../analysis/accountingEntries.ts";
import type { AccountingEntry } from "../../analysis/accountingEntry.ts";
import type { Analysis } from "../../analysis/analysis.ts";
import { idleEntrySince } from "../../analysis/stateLimits.ts";
import type { PodView, Snapshot, WorkloadView } from "../../join/snapshot.ts";
import { stateIds } from "../../model/gpuStates.ts";
import { gpuTolerance } from "../../model/gpuTolerance.ts";
import type { IdleReason } from "../../model/idleReasons.ts";

/** A workload whose whole holding has been idle for longer than the configured windows. */
export interface IdleWorkload {
  /** Index into `Snapshot.workloads`. */
  readonly workload: number;
  /** Physical GPUs. */
  readonly gpus: number;
  /** Since when nothing has run for it on any of these GPUs, seconds since the epoch. */
  readonly since: number;
  /** The reason that its servers give, if any of them gives one: `asleep` only if all of them sleep. */
  readonly reason: IdleReason;
}

/** The idle workloads of a moment. */
export interface IdleWorkloads {
  readonly workloads: readonly IdleWorkload[];
  /** Physical GPUs of idle workloads whose devices are not known: these workloads are not listed. */
  readonly estimatedGpus: number;
}

/** What the accounting entries show for each workload; the arrays are in the order of `Snapshot.workloads`. */
interface Tally {
  readonly idle: Float64Array;
  readonly since: Float64Array;
  readonly isOther: Uint8Array;
  readonly isEstimated: Uint8Array;
  /** Whether a server of the workload has had no requests, and whether some part of it does not sleep. */
  readonly hasNoRequests: Uint8Array;
  readonly isAwake: Uint8Array;
}

/**
 * Finds idle workloads in the accounting entries: all entries of such a workload are `idle` and certain, and they cover
 * everything that its pods ask for.
 */
export function findIdleWorkloads({ snapshot, accountingEntries }: Analysis): IdleWorkloads {
  const { workloads, pods } = snapshot;
  const tally: Tally = {
    idle: new Float64Array(workloads.length),
    since: new Float64Array(workloads.length),
    isOther: new Uint8Array(workloads.length),
    isEstimated: new Uint8Array(workloads.length),
    hasNoRequests: new Uint8Array(workloads.length),
    isAwake: new Uint8Array(workloads.length),
  };
  const withIdle = new Set<number>();
  for (const accountingEntry of accountingEntries.inState("idle")) {
    const pod = pods[accountingEntry.pod ?? -1];
    if (pod === undefined) continue;
    withIdle.add(pod.workload);
    addIdleEntry(tally, accountingEntry, pod, snapshot);
  }
  markOthers(tally, accountingEntries, [...withIdle], snapshot);
  const found: IdleWorkload[] = [];
  let estimatedGpus = 0;
  for (const index of [...withIdle].sort((a, b) => a - b)) {
    const workload = workloads[index];
    const gpus = tally.idle[index] ?? 0;
    if (workload === undefined || gpus <= gpuTolerance || tally.isOther[index] === 1) continue;
    if (tally.isEstimated[index] === 1) estimatedGpus += gpus;
    // A pod on a node that is not counted is in no accounting entry: its activity is unknown.
    else if (askedGpus(workload, snapshot) <= gpus + gpuTolerance)
      found.push({ workload: index, gpus, since: tally.since[index] ?? snapshot.at, reason: reasonOf(tally, index) });
  }
  return { workloads: found, estimatedGpus };
}

/** Marks those of some workloads that hold something that is not idle. */
function markOthers(
  { isOther }: Tally,
  { pod, state }: AccountingEntries,
  own: readonly number[],
  { workloads, pods }: Snapshot,
): void {
  if (own.length === 0) return;
  const isOwn = new Uint8Array(pods.length);
  for (const workload of own) for (const index of workloads[workload]?.pods ?? []) isOwn[index] = 1;
  const idle = stateIds.get("idle");
  for (let at = 0; at < pod.length; at += 1) {
    const index = pod[at] ?? -1;
    if (state[at] !== idle && isOwn[index] === 1) isOther[pods[index]?.workload ?? -1] = 1;
  }
}

function reasonOf({ hasNoRequests, isAwake }: Tally, workload: number): IdleReason {
  if (hasNoRequests[workload] !== 1) return "no-activity";
  return isAwake[workload] === 1 ? "no-requests" : "asleep";
}

function addIdleEntry(tally: Tally, accountingEntry: AccountingEntry, pod: PodView, snapshot: Snapshot): void {
  const { workload } = pod;
  const { gpus, estimated, idleReason } = accountingEntry;
  if (pod.idleOptOut) {
    tally.isOther[workload] = 1;
    return;
  }
  tally.idle[workload] = (tally.idle[workload] ?? 0) + gpus;
  if (estimated) tally.isEstimated[workload] = 1;
  if (idleReason !== undefined) tally.hasNoRequests[workload] = 1;
  if (idleReason !== "asleep") tally.isAwake[workload] = 1;
  const begin = idleEntrySince(accountingEntry, snapshot) ?? snapshot.at;
  if (begin > (tally.since[workload] ?? 0)) tally.since[workload] = begin;
}

/** Physical GPUs that the bound pods of a workload ask for; `Infinity` if that is not known. */
function askedGpus(workload: WorkloadView, { pods }: Snapshot): number {
  let asked = 0;
  for (const index of workload.pods) {
    const pod = pods[index];
    if (pod?.status === "allocated") asked += pod.gpus ?? Infinity;
  }
  return asked;
}
