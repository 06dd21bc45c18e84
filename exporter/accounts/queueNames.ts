import type { Analysis } from "../analysis/analysis.ts";
import type { PodView } from "../join/snapshot.ts";

/** The name that the GPU time of a pod's queue is counted under; `null` if the pod is in no queue. */
export type QueueNameOf = (pod: PodView) => { readonly name: string | null; readonly isConfirmed: boolean };

/** Names of queues that pods carry and no object confirms, bounded for each team. */
export interface QueueNames {
  /** Returns the names that are used at a moment; it must be called in the order of time. */
  of(analysis: Analysis): QueueNameOf;
}

/** The most names of one team that are kept at once. */
const mostOfTeam = 50;
/** Seconds after which a name that no allocated GPUs have can give its place to others. */
const keptSeconds = 3600;
const other = "other";

/**
 * Keeps the number of accounts by queue bounded. Names of queues that exist always count. Anybody can write any other name on a
 * pod, so each team keeps 50 of the names that its pods with GPUs have: those that were there first, then those that hold most.
 * All others are `other` until one of the 50 has had no GPUs for an hour.
 */
export function createQueueNames(): QueueNames {
  /** By team and name: when pods with GPUs last had the name, seconds since the epoch. */
  const kept = new Map<string, Map<string, number>>();

  function keep(team: string, allocated: ReadonlyMap<string, number>, at: number): void {
    const names = kept.get(team) ?? new Map<string, number>();
    kept.set(team, names);
    for (const name of allocated.keys()) if (names.has(name)) names.set(name, at);
    const added = [...allocated]
      .filter(([name]) => !names.has(name))
      .sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));
    if (names.size + added.length > mostOfTeam)
      for (const [name, last] of names) if (last < at - keptSeconds) names.delete(name);
    for (const [name] of added.slice(0, Math.max(0, mostOfTeam - names.size))) names.set(name, at);
  }

  return {
    of({ snapshot: { pods, queueing, at } }) {
      const known = new Set(
        queueing.queues.filter(({ isLeaf, kind }) => isLeaf && isObject(kind)).map(({ name }) => name),
      );
      const allocated = new Map<string, Map<string, number>>();
      for (const { status, queue, team, gpus } of pods) {
        if (status !== "allocated" || queue === null || known.has(queue)) continue;
        const ofTeam = allocated.get(team) ?? new Map<string, number>();
        if (ofTeam.size === 0) allocated.set(team, ofTeam);
        ofTeam.set(queue, (ofTeam.get(queue) ?? 0) + (gpus ?? 0));
      }
      for (const [team, names] of allocated) keep(team, names, at);
      for (const [team, names] of kept)
        if (!allocated.has(team) && [...names.values()].every((last) => last < at - keptSeconds)) kept.delete(team);
      return ({ queue, team }) => {
        if (queue === null || known.has(queue)) return { name: queue, isConfirmed: true };
        return { name: kept.get(team)?.has(queue) === true ? queue : other, isConfirmed: false };
      };
    },
  };
}

/** Whether leaf queues of this kind represent an object of a queue system. */
const isObject = (kind: string): boolean => kind === "ClusterQueue" || kind === "Queue";
