import { once } from "../../kernel/once.ts";
import type { Problem } from "../../model/problem.ts";
import type { WorkloadView } from "../snapshot.ts";
import { countPriorities } from "./allocatedPriorities.ts";
import { countAllocated, leafFinder } from "./allocatedWork.ts";
import { byNamespace } from "./byNamespace.ts";
import { declaredDrafts } from "./declaredWaiting.ts";
import { deepTrees } from "./deepTrees.ts";
import { dispatchedWork } from "./dispatchedWork.ts";
import { quotaDomains } from "./domains.ts";
import { evictedWork } from "./evictedWork.ts";
import { matchGangs } from "./gangMembers.ts";
import { placeGangs } from "./placeGangs.ts";
import { plantQueues, type QueueForest, sumUpAllocated } from "./queueDrafts.ts";
import type { Queueing } from "./queueing.ts";
import type { QueueingInput, WorkloadsByOwner } from "./queueingInput.ts";
import type { DeclaredGang } from "./queueSystem.ts";
import { startedWork } from "./startedWork.ts";
import { nameTeams, TeamCounts } from "./teamCounts.ts";
import { queuesUnknown } from "./unreadQueues.ts";
import { gangsOfPods } from "./waitingPods.ts";

/** The queues of a moment, and what is wrong with them. */
export interface FoundQueueing {
  readonly queueing: Queueing;
  readonly problems: readonly Problem[];
  /** For each workload: the object by which its queue system knows it, if that is a gang with GPUs. */
  readonly gangOfWorkload: readonly (DeclaredGang | undefined)[];
}

/**
 * Brings all queue systems of a cluster into one picture: domains, a tree of queues in each, and what is held and waits in
 * them. In every domain the allocated GPUs of its leaves add up to what is allocated of its pools, and are never above its
 * capacity; every waiting pod is in exactly one gang. Pure; the order of what comes in changes nothing.
 */
export function findQueueing(asked: QueueingInput): FoundQueueing {
  const { unknownBecause = null } = asked;
  // If queues are unknown, everything waits and holds as before, but in no queue: not in a team's either, because that
  // is not where it is.
  const known: QueueingInput = unknownBecause === null ? asked : { ...asked, systems: [] };
  const input: QueueingInput = { ...known, teamOf: askedOnce(asked.teamOf) };
  const found = quotaDomains(input.pools, input.nodes, input.devices, input.systems, input.cache.domains);
  const planted = plantQueues(found.domains, input.systems);
  const forest = unknownBecause === null ? planted : withoutQueues(planted, unknownBecause);
  const { domains, queues } = forest;
  const queueOfPod = new Int32Array(input.pods.length).fill(-1);
  const counted = { teams: new TeamCounts(queues), leafOfPod: queueOfPod };
  const lost =
    unknownBecause === null
      ? countAllocated(input, forest, found.placeOf, leafFinder(input, forest), counted)
      : [queuesUnknown(unknownBecause)];
  sumUpAllocated(queues);
  const matched = matchGangs(input);
  const { begun, rest, ofWorkload } = matched;
  if (unknownBecause === null) countPriorities(begun, input, queueOfPod, queues);
  const workloadsIn = workloadsByOwner(input.workloads);
  const drafts = [...gangsOfPods(rest, input)];
  for (const own of matched.gangs)
    for (const draft of declaredDrafts(own, matched.members, input, workloadsIn)) drafts.push(draft);
  const waiting = placeGangs(drafts, { input, forest }, counted);
  nameTeams(queues);
  const started = startedWork(begun, input, queueOfPod);
  const evicted = evictedWork(matched, input, workloadsIn);
  const dispatched = dispatchedWork(input, workloadsIn);
  const queueing: Queueing = { domains, queues, gangs: waiting, queueOfPod, started, evicted, dispatched };
  const problems = [
    ...input.systems.flatMap(({ problems }) => problems),
    ...forest.problems,
    ...deepTrees(queues),
    ...lost,
  ];
  return { queueing, problems, gangOfWorkload: ofWorkload };
}

/** Many workloads share namespaces and queues. */
function askedOnce(teamOf: QueueingInput["teamOf"]): QueueingInput["teamOf"] {
  const known = new Map<string, Map<string | null, string>>();
  return (namespace, queue) => {
    const ofNamespace = known.get(namespace) ?? new Map<string | null, string>();
    if (ofNamespace.size === 0) known.set(namespace, ofNamespace);
    const asked = ofNamespace.get(queue);
    if (asked !== undefined) return asked;
    const team = teamOf(namespace, queue);
    ofNamespace.set(queue, team);
    return team;
  };
}

function withoutQueues(forest: QueueForest, unknownBecause: string): QueueForest {
  return { ...forest, domains: forest.domains.map((domain) => ({ ...domain, unknownBecause })) };
}

/**
 * Indexes workloads by the uids of their owners when it is first asked. Pods of any namespace may name any uid: if the
 * namespace of the object is given, only work of that namespace is found.
 */
function workloadsByOwner(workloads: readonly WorkloadView[]): WorkloadsByOwner {
  const inNamespace = once(() => byNamespace(workloads, ({ namespace }) => namespace, firstByOwner));
  const anywhere = once(() => firstByOwner(workloads));
  return (namespace) => (namespace === null ? anywhere() : inNamespace()(namespace));
}

/** The first workload that names each owner. */
function firstByOwner(workloads: readonly WorkloadView[]): ReadonlyMap<string, WorkloadView> {
  const firsts = new Map<string, WorkloadView>();
  for (const workload of workloads)
    for (const owner of workload.ownerUids) if (!firsts.has(owner)) firsts.set(owner, workload);
  return firsts;
}
