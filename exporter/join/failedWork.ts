import type { TeamRule } from "../config/schema.ts";
import type { Pod } from "../model/pod.ts";
import type { SubjectIndex } from "./ownerIndex.ts";
import type { PoolFacts } from "./queues/queueSystem.ts";
import { gpusOf } from "./queues/resourceGpus.ts";
import type { PodView } from "./snapshot.ts";
import { findSubject } from "./subject.ts";

/** A program in a batch pod that failed, and was or will be started again. */
export interface FailedWork {
  /** The key of this failure, which stays the same for as long as objects report the failure. */
  readonly key: string;
  /** Uid of the pod. */
  readonly uid: string;
  /** Kind, namespace and name of its workload. */
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly pod: string;
  readonly team: string;
  /** When the program ended, seconds since the epoch. */
  readonly at: number;
  /**
   * The start of the time whose work is undone: the last checkpoint before the end of the program, else its start; `null` where
   * neither is known.
   */
  readonly from: number | null;
  /** Whether no checkpoint is known: the program may have saved its work since its start. */
  readonly isUpperBound: boolean;
  /** Physical GPUs of the pod; `null` where they cannot be known. */
  readonly gpus: number | null;
}

/**
 * Failures that are older than this when they are first seen are not counted, so that Fairlead may forget which ones it has
 * seen.
 */
export const failureHorizonSeconds = 3600;

/** The evidence of failures, besides the pods. */
interface FailureSources {
  readonly index: SubjectIndex;
  readonly rules: readonly TeamRule[];
  /** Pods that hold GPUs now. */
  readonly views: readonly PodView[];
  readonly pools: readonly PoolFacts[];
  /** Seconds since the epoch. */
  readonly at: number;
}

/**
 * Programs of batch work that failed within the last hour: a container that was started again, or a failed pod in whose place its
 * owner has made another one since. Work that serves, or may do so, has nothing to do again; a pod that failed for good is not
 * done again, either.
 */
export function failedWork(
  pods: readonly Pod[],
  { index, rules, views, pools, at }: FailureSources,
): readonly FailedWork[] {
  const failed = pods.filter(
    ({ failedRun }) =>
      failedRun !== undefined && failedRun.endedAt <= at && failedRun.endedAt > at - failureHorizonSeconds,
  );
  if (failed.length === 0) return [];
  const newest = newestByOwner(pods);
  const gpusByUid = new Map(views.map((view) => [view.uid, view.gpus] as const));
  return failed.flatMap((pod) => {
    const { uid, namespace, name, phase, owner, failedRun, scheduledAt } = pod;
    if (failedRun === undefined) return [];
    const { endedAt, startedAt } = failedRun;
    if (phase === "Failed" && !((newest.get(owner?.uid ?? "") ?? 0) >= endedAt)) return [];
    const { facts, chain, checkpoints } = findSubject(pod, index, rules, null);
    if (facts.workloadClass !== "batch" || facts.classGuess !== undefined) return [];
    const start = startedAt ?? scheduledAt;
    const saved = checkpoints.find((moment) => moment <= endedAt && (start === null || moment >= start)) ?? null;
    return [
      {
        key: JSON.stringify([uid, endedAt]),
        uid,
        kind: chain.workload.kind,
        namespace,
        name: chain.workload.name,
        pod: name,
        team: facts.team,
        at: endedAt,
        from: saved ?? start,
        isUpperBound: saved === null,
        gpus: gpusByUid.get(uid) ?? askedGpus(pod, pools),
      },
    ];
  });
}

/** When each owner made its last pod. */
function newestByOwner(pods: readonly Pod[]): ReadonlyMap<string, number> {
  const newest = new Map<string, number>();
  for (const { owner, createdAt } of pods)
    if (owner !== null && createdAt !== null && createdAt > (newest.get(owner.uid) ?? 0))
      newest.set(owner.uid, createdAt);
  return newest;
}

/** What a pod that holds nothing any more asked for, if that was resources of nodes alone. */
function askedGpus({ gpu }: Pod, pools: readonly PoolFacts[]): number | null {
  const isPlain = gpu.claims.length === 0 && gpu.extendedResourceClaim === null && gpu.shares === undefined;
  return isPlain && Object.keys(gpu.resources).length > 0 ? gpusOf(gpu.resources, pools) : null;
}

/** Uids of pods that have ended by themselves. */
export function endedPods(pods: readonly Pod[]): ReadonlySet<string> {
  const ended = new Set<string>();
  for (const { uid, phase } of pods) if (phase === "Succeeded" || phase === "Failed") ended.add(uid);
  return ended;
}
