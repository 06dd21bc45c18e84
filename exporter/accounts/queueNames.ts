import type { Analysis } from "../analysis/analysis.ts";
import type { PodView } from "../join/snapshot.ts";

/** The name under which the GPU time of a pod's queue is kept; `null` if it is in no queue. */
export type QueueNameOf = (pod: PodView) => { readonly name: string | null; readonly isConfirmed: boolean };

/** Names of queues that pods carry and no object confirms, bounded for each team. */
export interface QueueNames {
  /** The names that are used at a moment; call it in the order of time. */
  of(analysis: Analysis): QueueNameOf;
}

/** The most names of one team that are kept at once. */
const mostOfTeam = 50;
/** A name under which nobody has allocated GPUs for this many seconds makes place for others. */
const keptSeconds = 3600;
const other = "other";

/**
 * Keeps accounts by queue bounded. Names of queues that exist always count. Anybody can write any other name on a pod, so each
 * team keeps 50 of those that its pods with GPUs have: those that were there first, then those that hold most. The others are
 * `other` until a name has had no GPUs for an hour.
 */
export function createQueueNames(): QueueNames {
  /** By team and name: when pods with GPUs last had it. */
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

/** Leaf queues that represent an object of a queue system. */
const isObject = (kind: string): boolean => kind === "ClusterQueue" || kind === "Queue";
