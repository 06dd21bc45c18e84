import type { Eviction } from "../../model/queues/eviction.ts";
import { noPriorityClass } from "../podViews.ts";
import type { MatchedGangs } from "./gangMembers.ts";
import type { EvictedWork } from "./queueing.ts";
import type { QueueingInput, WorkloadsByOwner } from "./queueingInput.ts";
import type { DeclaredGang } from "./queueSystem.ts";
import { gpusOf } from "./resourceGpus.ts";

/** What each eviction cost, and which work was evicted: found by the objects and pods that still exist. */
export function evictedWork(
  gangs: Pick<MatchedGangs, "gangs" | "members">,
  input: QueueingInput,
  workloadsIn: WorkloadsByOwner,
): readonly EvictedWork[] {
  if (input.evictions.length === 0) return [];
  const people = peopleOf(gangs, input, workloadsIn);
  return [...input.evictions]
    .sort((a, b) => a.at - b.at || (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
    .map((eviction): EvictedWork => {
      const { key, scheduler, kind, namespace, name, at, reason, isPreemption } = eviction;
      const known = people(eviction.uid);
      const queue = eviction.queue ?? known?.queue ?? null;
      // If no holding is named, that does not mean that nothing was allocated: it was seen too late.
      const gpus = Object.keys(eviction.allocated).length === 0 ? null : gpusOf(eviction.allocated, input.pools);
      return {
        key,
        scheduler,
        kind,
        namespace,
        name,
        team: known?.team ?? input.teamOf(namespace, queue),
        queue,
        priorityClass: eviction.priorityClass ?? noPriorityClass,
        at,
        reason,
        isPreemption,
        preemptor: eviction.preemptor === null ? null : preemptorOf(eviction.preemptor, people),
        gpus,
        ...lostBy(eviction, gpus),
      };
    });
}

interface Person {
  readonly name: string;
  readonly team: string;
  readonly queue: string | null;
}

/** Finds work by the uid of its object or owner, or by `namespace/name` of its object. */
function peopleOf(
  { gangs, members }: Pick<MatchedGangs, "gangs" | "members">,
  input: QueueingInput,
  workloadsIn: WorkloadsByOwner,
): (key: string) => Person | undefined {
  const byKey = new Map<string, DeclaredGang>();
  for (const { namespace, gangs: own } of gangs)
    for (const gang of own)
      for (const key of [gang.uid, `${namespace}/${gang.name}`, ...gang.ownerUids]) {
        const known = byKey.get(key);
        if (known === undefined || gang.uid < known.uid) byKey.set(key, gang);
      }
  return (key) => {
    const gang = byKey.get(key);
    if (gang === undefined) {
      const workload = workloadsIn(null)?.get(key);
      return workload === undefined
        ? undefined
        : { name: `${workload.namespace}/${workload.name}`, team: workload.team, queue: workload.queue };
    }
    const { namespace, name, ownerName, ownerUids, queue } = gang;
    const { bound = [], waiting = [] } = members.get(gang) ?? {};
    const pod = bound[0] ?? waiting[0];
    const view = pod === undefined ? undefined : input.pods[pod];
    const workload =
      view === undefined
        ? ownerUids.map((uid) => workloadsIn(namespace)?.get(uid)).find((found) => found !== undefined)
        : input.workloads[view.workload];
    const queueName = queue.name === "" ? null : queue.name;
    return {
      name: `${namespace}/${workload?.name ?? ownerName ?? name}`,
      team: view?.team ?? workload?.team ?? input.teamOf(namespace, queueName),
      queue: queueName,
    };
  };
}

/** The work that took the place; if it no longer exists, only its key is known. */
function preemptorOf(key: string, people: (key: string) => Person | undefined): EvictedWork["preemptor"] {
  return people(key) ?? { name: key, team: null, queue: null };
}

/** Work since the last checkpoint is lost; without a plausible one, all work since the start: an upper bound. */
function lostBy({ at, allocatedSince, checkpointedAt }: Eviction, gpus: number | null) {
  const isUsable =
    checkpointedAt !== null && checkpointedAt <= at && (allocatedSince === null || checkpointedAt >= allocatedSince);
  const from = isUsable ? checkpointedAt : allocatedSince;
  return {
    lostGpuSeconds: from === null || gpus === null ? null : gpus * Math.max(0, at - from),
    isUpperBound: !isUsable,
  };
}
