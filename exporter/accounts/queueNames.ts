import type { Analysis } from "../analysis/analysis.ts";
import type { PodView } from "../join/snapshot.ts";

/** The name of a pod's queue under which its GPU time is kept; `null` where it is in none. */
export type QueueNameOf = (pod: PodView) => { readonly name: string | null; readonly isConfirmed: boolean };

/** Names of queues that pods write down and no object knows, bounded for each team. */
export interface QueueNames {
  /** What holds at a moment; moments in the order of time. */
  of(analysis: Analysis): QueueNameOf;
}

/** So many names of one team are kept at once. */
const mostOfTeam = 50;
/** A name under which nobody has allocated GPUs for so long makes room for others, seconds. */
const keptSeconds = 3600;
const other = "other";

/**
 * Keeps accounts by queue bounded. Names of queues that exist always count. Anybody can write any other name on a pod, so each
 * team keeps 50 of those that its pods with GPUs bear: what was there first, then what holds most. The others are `other`
 * until a name has had no GPUs for an hour.
 */
export function createQueueNames(): QueueNames {
  /** By team and name: when pods with GPUs bore it last. */
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

/** Leaves that stand for an object of a queue system. */
const isObject = (kind: string): boolean => kind === "ClusterQueue" || kind === "Queue";
