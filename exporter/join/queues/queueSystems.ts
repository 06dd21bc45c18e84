import type { QueueSettings } from "../../config/queuesSchema.ts";
import { isSameList } from "../../kernel/isSameList.ts";
import type { ClusterState, Namespace } from "../../model/cluster.ts";
import type { QueueScheduler } from "../../model/queues/eviction.ts";
import type { SchedulerSettings } from "../../model/queues/queueObjects.ts";
import { kaiSystem } from "./kaiSystem.ts";
import { kueueSystem } from "./kueueSystem.ts";
import type { QueueingCache } from "./queueingCache.ts";
import type { QueueingInput } from "./queueingInput.ts";
import type { PoolFacts, QueueSystem } from "./queueSystem.ts";
import { type TeamPresence, teamSystem } from "./teamSystem.ts";
import { volcanoSystem } from "./volcanoSystem.ts";

/** The input for finding the systems of a cluster. */
export interface QueueSystemsInput extends Pick<QueueingInput, "pods" | "queueRefs" | "tally"> {
  readonly state: Pick<ClusterState, "queues" | "pods" | "namespaces" | "priorityClasses" | "known" | "unreadable">;
  readonly namespaces: ReadonlyMap<string, Namespace>;
  readonly pools: readonly PoolFacts[];
  readonly settings: QueueSettings;
  readonly kueue: SchedulerSettings["kueue"];
  /** The plugin, as `volcanoPlugin` finds it. */
  readonly volcano: SchedulerSettings["volcano"];
  readonly cache: QueueingCache;
}

/** The queue systems in use, schedulers before teams. */
export function queueSystems(input: QueueSystemsInput): readonly QueueSystem[] {
  const { state, pools, settings } = input;
  const { queues: objects, priorityClasses } = state;
  const schedulersOfPods = hasQueueObjects(input) ? schedulersIn(input) : new Set<QueueScheduler>();
  const namespaces = state.known.has("namespaces") ? input.namespaces : null;
  const kueue = kueueSystem(
    { objects, pools, namespaces, fairSharing: input.kueue?.fairSharing ?? null },
    input.cache.kueue,
  );
  const schedulers = [
    kueue,
    kaiSystem({
      objects,
      pools,
      priorityClasses,
      nodePoolLabel: settings.kai.nodePoolLabel,
      pods: state.pods,
      hasPods: schedulersOfPods.has("kai"),
    }),
    volcanoSystem(
      { objects, pools, priorityClasses, pods: state.pods, hasPods: schedulersOfPods.has("volcano") },
      input.volcano?.plugin ?? "proportion",
      settings.volcano.capacitySurplus,
    ),
  ].filter(({ isInUse }) => isInUse);
  const present = teamsPresent(input, schedulers);
  const teams = teamSystem({ pools, teams: settings.teams, resourceQuotas: objects.resourceQuotas, present });
  if (!teams.isInUse) return schedulers;
  const isUnknown = state.unreadable?.has("resourceQuotas") === true;
  return [...schedulers, isUnknown ? { ...teams, unknownBecause: "ResourceQuotas cannot be read" } : teams];
}

function hasQueueObjects({ state }: QueueSystemsInput): boolean {
  const { kaiQueues, kaiPodGroups, volcanoQueues, volcanoPodGroups } = state.queues;
  return [kaiQueues, kaiPodGroups, volcanoQueues, volcanoPodGroups].some((list) => list.length > 0);
}

function schedulersIn({ queueRefs }: QueueSystemsInput): ReadonlySet<QueueScheduler> {
  return new Set(queueRefs.flatMap((ref) => ref?.scheduler ?? []));
}

/**
 * Teams with pods that belong to no scheduler's queue: in the pools where they hold GPUs, and in any pool as soon as something
 * waits. In pools without a scheduler's quota, this also applies to pods that are in a queue.
 */
function teamsPresent(input: QueueSystemsInput, schedulers: readonly QueueSystem[]): readonly TeamPresence[] {
  const found: PresenceTable = new Map();
  if (schedulers.length === 0) addEverybody(found, input);
  else addUnscheduled(found, input, schedulers);
  return [...found.values()].flatMap((ofTeam) =>
    [...ofTeam.values()].flatMap((ofNamespace) => [...ofNamespace.values()]),
  );
}

/** Pods of a workload belong to one team and namespace: one of them represents all in each list of pools. */
function addEverybody(found: PresenceTable, { pods, tally }: QueueSystemsInput): void {
  for (const { pod, pools } of tally.presences) {
    const view = pods[pod];
    if (view !== undefined) addPresence(found, { team: view.team, namespace: view.namespace, pools });
  }
  addPending(found, pods, () => false);
}

function addUnscheduled(found: PresenceTable, input: QueueSystemsInput, schedulers: readonly QueueSystem[]): void {
  const inUse = new Set<QueueScheduler | null>(schedulers.map(({ scheduler }) => scheduler));
  const { pods, queueRefs, tally } = input;
  const uncovered = uncoveredNodes(input, schedulers);
  for (const { pod, node, pools, scheduler } of tally.presences) {
    const view = pods[pod];
    if (view === undefined || (inUse.has(scheduler) && !uncovered.has(node))) continue;
    addPresence(found, { team: view.team, namespace: view.namespace, pools });
  }
  addPending(found, pods, (pod) => inUse.has(queueRefs[pod]?.scheduler ?? null));
}

/** Bound pods come first. */
function addPending(
  found: PresenceTable,
  pods: QueueSystemsInput["pods"],
  isOfScheduler: (pod: number) => boolean,
): void {
  for (let i = pods.length - 1; i >= 0; i--) {
    const view = pods[i];
    if (view?.status !== "pending") break;
    if (!isOfScheduler(i)) addPresence(found, { team: view.team, namespace: view.namespace, pools: null });
  }
}

/** Names of nodes with GPUs that no scheduler's quota covers. */
function uncoveredNodes(
  { pools, cache: { uncovered } }: QueueSystemsInput,
  schedulers: readonly QueueSystem[],
): ReadonlySet<string> {
  const scopes = schedulers.flatMap((system) => system.scopes);
  if (uncovered.last !== null && isSameList(uncovered.last.pools, pools) && isSameList(uncovered.last.scopes, scopes))
    return uncovered.last.names;
  const names = new Set(
    pools.flatMap(({ pool, nodes }) =>
      nodes.filter((node) => !scopes.some(({ covers }) => covers(pool, node))).map(({ name }) => name),
    ),
  );
  uncovered.last = { pools, scopes, names };
  return names;
}

/** The work of teams by team, namespace, and list of pools. */
type PresenceTable = Map<string, Map<string, Map<TeamPresence["pools"], TeamPresence>>>;

function addPresence(found: PresenceTable, presence: TeamPresence): void {
  const { team, namespace, pools } = presence;
  const ofTeam = found.get(team) ?? new Map<string, Map<TeamPresence["pools"], TeamPresence>>();
  if (ofTeam.size === 0) found.set(team, ofTeam);
  const ofNamespace = ofTeam.get(namespace) ?? new Map<TeamPresence["pools"], TeamPresence>();
  if (ofNamespace.size === 0) ofTeam.set(namespace, ofNamespace);
  if (!ofNamespace.has(pools)) ofNamespace.set(pools, presence);
}
