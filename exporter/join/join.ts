import type { Config } from "../config/schema.ts";
import type { ClusterState, ResourceClaim } from "../model/cluster.ts";
import type { QueueObjectRef } from "../model/disruption.ts";
import type { Pod } from "../model/pod.ts";
import type { Problem } from "../model/problem.ts";
import { noQueueObjects } from "../model/queues/queueObjects.ts";
import { brokenProfiling, chooseSignal } from "./activity.ts";
import { bindAll } from "./binding/bindAll.ts";
import { type NodeBinding, problemsOf } from "./binding/binding.ts";
import { sortPods } from "./binding/sortPods.ts";
import { declaredGangs } from "./declaredGangs.ts";
import { finishDevices, observedReadings } from "./devices.ts";
import { indexDraDevices } from "./draDevices.ts";
import { endedPods, failedWork } from "./failedWork.ts";
import { coverageProblems, fleetProblems } from "./fleetProblems.ts";
import { findGangs } from "./gangs.ts";
import { createJoinCache, type JoinCache } from "./joinCache.ts";
import type { Memory } from "./memory.ts";
import { nodePoolViews } from "./nodePools.ts";
import { indexSubjects, type SubjectIndex } from "./ownerIndex.ts";
import { pastDevices } from "./pastDevices.ts";
import { pendingGpus, unknownDemand } from "./pendingGpus.ts";
import type { GatheredView } from "./podViews.ts";
import { type SubjectPod, viewSubjects } from "./podViews.ts";
import { findQueueing } from "./queues/findQueueing.ts";
import { impossibleDemand } from "./queues/impossibleDemand.ts";
import { impossibleProblems } from "./queues/impossibleProblems.ts";
import { PodTally } from "./queues/podTally.ts";
import { poolFacts } from "./queues/poolFacts.ts";
import { queueFinders } from "./queues/queueFinders.ts";
import type { QueuedPod } from "./queues/queueingInput.ts";
import { type QueueObjectFinder, queueObjectFinder, refOfGang } from "./queues/queueObjectFinder.ts";
import type { DeclaredGang } from "./queues/queueSystem.ts";
import { queueSystems } from "./queues/queueSystems.ts";
import { schedulersAtWork } from "./queues/schedulersAtWork.ts";
import { recentSeconds } from "./queues/startedWork.ts";
import { queuesUnknownBecause } from "./queues/unreadQueues.ts";
import { volcanoPlugin } from "./queues/volcanoPlugin.ts";
import { addEnded, remember } from "./remember.ts";
import { servingViews } from "./serving/servingViews.ts";
import type { Device, NodeView, Snapshot } from "./snapshot.ts";
import { surroundingsOf } from "./surroundings.ts";
import { teamOf } from "./teamOf.ts";
import { readingsOfNode, telemetryByNode } from "./telemetryOf.ts";
import { unconfirmedQueues } from "./trust/unconfirmedQueues.ts";

/** The settings that affect a Snapshot. */
export type JoinSettings = Pick<Config, "cluster" | "teams" | "queues" | "gpu" | "idle" | "digest">;

/** The result of one cycle, and what it must hand to the next. */
export interface Joined {
  readonly snapshot: Snapshot;
  readonly memory: Memory;
}

/** How long activity without a holder is remembered, seconds (state `unattributed`). */
const unattributedSeconds = 30 * 60;

/**
 * Joins nodes, devices, holdings, workloads, teams and queues to one Snapshot. Pure: everything comes in as arguments,
 * and neither the order of the objects nor that of the pages changes the result. Every physical GPU of a counted node is
 * in exactly one device or unpartitioned part, and no part of it is allocated twice. `cache` only saves work: with a new one
 * the result is equal.
 */
export function join(
  state: ClusterState,
  memory: Memory,
  settings: JoinSettings,
  at: number,
  cache: JoinCache = createJoinCache(),
): Joined {
  const knowsNodes = state.known.has("nodes");
  const knownNodes = knowsNodes ? new Set(state.nodes.map((n) => n.name)) : null;
  const telemetry = telemetryByNode(state.telemetry, knownNodes, cache.telemetry);
  const draDevices = indexDraDevices(state.resourceSlices, cache.slices, state.deviceTaintRules);
  const pods = sortPods(state.pods, cache.pods);
  const { byNode: readings, incomplete } = telemetry;
  const bound = { state, readings, incomplete, draDevices, pods, memory, settings: settings.gpu };
  const bindings = bindAll(bound, cache.bindings);
  const finders = queueFinders(state.queues, settings.queues, cache.queues);
  const objects = queueObjectFinder(state.queues, cache.queueObjects);
  const index = indexSubjects(state, finders, objects.checkpointOf, cache.index);
  const sources = {
    declared: declaredGangs(state.queues),
    owners: index.owners,
    plainMembers: state.plainGangMembers ?? [],
  };
  const gangs = findGangs(pods.inGangs, sources, memory, at, memory.nodes.size === 0);
  const entries = subjectPods(bindings, pods.waiting, state.resourceClaims);
  const surroundings = surroundingsOf(state);
  const impossible = impossibleDemand({
    nodes: bindings.map(({ input: { object } }) => object),
    pods: state.pods,
    surroundings,
    isServed: schedulersAtWork({ pods: state.pods, queues: state.queues, named: settings.queues.schedulers }),
  });
  const subjects = viewSubjects(
    {
      index,
      pods: entries,
      rules: settings.teams,
      ownerRule: settings.digest.owner ?? null,
      gangs: gangs.byPod,
      impossible,
      pendingSince: (pod) => memory.pendingSince.get(pod.uid) ?? pod.createdAt ?? at,
      at,
    },
    cache.subjects,
  );
  const serving = servingViews({
    pages: state.serving ?? [],
    pods: subjects.pods,
    knowsPods: state.known.has("pods"),
    memory: memory.servers,
  });
  const signal = chooseSignal(observedReadings(bindings, readings), settings.gpu.signal);
  const past = pastDevices(memory, cache.last);
  cache.last = null;
  const { threshold: idleThreshold } = settings.idle;
  const judged = { at, signal, idleThreshold, unattributedSeconds, past, power: settings.gpu.power };
  const devices: Device[] = [];
  const broken: Device[] = [];
  const ended = new Map<string, number>();
  const views: NodeView[] = [];
  const tally = new PodTally(subjects, at - recentSeconds);
  for (const binding of bindings) {
    const first = devices.length;
    addEnded(binding, past, at, ended);
    finishDevices(binding, readingsOfNode(telemetry, binding.facts.name, at), judged, devices, broken);
    const view = nodeView(binding, first, memory, at);
    views.push(view);
    tally.add(binding, view);
  }
  const queued = (pod: number) => queuedPod(entries[pod]);
  const pools = poolFacts(bindings, cache.queueing.pools);
  const { queueRefs } = subjects;
  const all = { pods: subjects.pods, nodes: views, tally, queueRefs, queued, pools, cache: cache.queueing };
  const nodePools = nodePoolViews({ state, nodes: views, pools });
  const unknownBecause = queuesUnknownBecause(state);
  const { volcanoQueues } = state.queues;
  const volcano = volcanoPlugin(volcanoQueues, settings.queues.volcano.plugin, state.schedulerSettings.volcano);
  const { namespaces } = index;
  const systems = queueSystems({
    ...all,
    state,
    namespaces,
    settings: settings.queues,
    kueue: state.schedulerSettings.kueue,
    volcano,
  });
  const found = findQueueing({
    ...all,
    at,
    systems,
    devices,
    workloads: subjects.workloads,
    evictions: state.evictions,
    teamOf: (namespace, queue) => teamOfNamespace(namespace, queue, index, settings),
    unknownBecause,
  });
  if (unknownBecause === null) reportQueueObjects(subjects.workloads, found.gangOfWorkload, entries, objects);
  const problems: Problem[] = [
    ...state.problems,
    ...coverageProblems(state),
    ...telemetry.problems,
    ...problemsOf(bindings),
    ...fleetProblems(
      knowsNodes ? state.nodes : [],
      bindings.map(({ input: { object, inventory } }) => ({
        object,
        resources: inventory.units,
        physicalGpus: inventory.physicalGpus,
      })),
    ),
    ...unknownDemand(subjects.pods),
    ...(unknownBecause === null ? unconfirmedQueues(entries) : []),
    ...brokenProfiling(broken),
    ...impossibleProblems(found.queueing.gangs),
    ...found.problems,
  ];
  const snapshot: Snapshot = {
    at,
    cluster: settings.cluster,
    signal,
    nodes: views,
    devices,
    unpartitioned: bindings.flatMap((binding) => binding.unpartitioned),
    pods: subjects.pods,
    workloads: subjects.workloads,
    ...(state.serving === undefined ? {} : { serving: serving.views }),
    requestsByNode: state.requestsByNode,
    nodePools,
    priceList: state.prices,
    podDisruptionBudgets: state.known.has("podDisruptionBudgets") ? state.podDisruptionBudgets : null,
    autoscalers: {
      horizontal: state.known.has("horizontalPodAutoscalers") ? state.horizontalPodAutoscalers : null,
      scaledObjects: state.known.has("scaledObjects") ? state.scaledObjects : null,
      vertical: state.known.has("verticalPodAutoscalers") ? state.verticalPodAutoscalers : null,
    },
    exporterPods: state.exporterPods,
    surroundings,
    endedPods: endedPods(state.pods),
    failures: failedWork(state.pods, { index, rules: settings.teams, views: subjects.pods, pools, at }),
    queueing: found.queueing,
    queueObjects: unknownBecause === null ? state.queues : noQueueObjects,
    schedulerSettings: { ...state.schedulerSettings, volcano },
    kueuePendingWorkloads: state.kueuePendingWorkloads,
    coverage: {
      objects: knowsNodes && state.known.has("pods"),
      telemetry: state.telemetry.length > 0,
      uncountedNodes: bindings.filter(({ facts }) => facts.physicalGpus === null).map(({ facts }) => facts.name),
    },
    dropped: telemetry.dropped,
    problems,
  };
  const remembered = remember(
    snapshot,
    state,
    memory,
    { gangs: gangs.memory, servers: serving.servers },
    bindings,
    ended,
  );
  cache.last = remembered.last;
  return { snapshot, memory: remembered.memory };
}

/** Bound pods in the order of their nodes, and the waiting ones after them; bound pods are given their index. */
function subjectPods(
  bindings: readonly NodeBinding[],
  waiting: readonly Pod[],
  claims: readonly ResourceClaim[],
): readonly SubjectPod[] {
  const subjects: SubjectPod[] = [];
  for (const binding of bindings) for (const pod of binding.pods) pod.index = subjects.push(pod) - 1;
  const waitingGpus = pendingGpus(
    bindings.map((binding) => binding.input),
    claims,
  );
  for (const pod of waiting) subjects.push({ pod, named: false, gpus: waitingGpus(pod), subject: null });
  return subjects;
}

function queuedPod(entry: SubjectPod | undefined): QueuedPod | null {
  if (entry === undefined || entry.subject === null) return null;
  return { pod: entry.pod, owners: entry.subject.chain.owners };
}

/** The team of work without pods. */
function teamOfNamespace(
  namespace: string,
  queue: string | null,
  { namespaces }: SubjectIndex,
  { teams }: JoinSettings,
): string {
  const namespaceObject = namespaces.get(namespace);
  return teamOf(teams, { namespace, namespaceObject, queue, namedQueue: queue, podLabels: {}, workloadLabels: {} });
}

/** A node's view; the one of the last cycle while it says the same. */
function nodeView(binding: NodeBinding, first: number, memory: Memory, at: number): NodeView {
  const { facts, devices, view: last } = binding;
  const { changedAt } = facts;
  const notReadySince = facts.ready === false ? (changedAt ?? memory.notReadySince.get(facts.name) ?? at) : null;
  const isSame = last !== null && last.notReadySince === notReadySince && (last.devices[0] ?? first) === first;
  if (isSame) return last;
  const { changedAt: _, ...rest } = facts;
  const view: NodeView = { ...rest, notReadySince, devices: devices.map((_device, i) => first + i) };
  binding.view = view;
  return view;
}

/**
 * Gives each workload the object by which its queue system knows it: its gang, or else the object of its first pod. The latter
 * is needed if its GPUs are claims, because claims are no resources that would make the object a gang with GPUs.
 */
function reportQueueObjects(
  workloads: readonly GatheredView[],
  gangOfWorkload: readonly (DeclaredGang | undefined)[],
  pods: readonly SubjectPod[],
  { isEmpty, find }: QueueObjectFinder,
): void {
  if (isEmpty) return;
  for (const [i, view] of workloads.entries()) {
    const gang = gangOfWorkload[i];
    view.queueObject = gang === undefined ? ofFirstPod(view, pods, find) : refOfGang(gang);
  }
}

function ofFirstPod(
  view: GatheredView,
  pods: readonly SubjectPod[],
  find: QueueObjectFinder["find"],
): QueueObjectRef | null {
  const first = pods[view.pods[0] ?? -1];
  const subject = first?.subject ?? null;
  if (first === undefined || subject === null || first.pod.gpu.claims.length === 0) return null;
  return find(first.pod, subject.chain.owners)?.ref ?? null;
}
