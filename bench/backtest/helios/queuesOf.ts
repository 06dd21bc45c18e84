import type { ClusterState, ObjectKind } from "../../../exporter/model/cluster.ts";
import type { ClusterNode } from "../../../exporter/model/node.ts";
import type { Pod } from "../../../exporter/model/pod.ts";
import type { KueueClusterQueue, KueueLocalQueue, KueueWorkload } from "../../../exporter/model/queues/kueue.ts";
import { noQueueObjects } from "../../../exporter/model/queues/queueObjects.ts";
import type { TelemetryPage } from "../../../exporter/model/telemetry.ts";
import { gpuResources, podLabels } from "../../../exporter/model/wellKnown.ts";
import { emptyState } from "../../emptyState.ts";
import { barePod, readyNode } from "../objects.ts";
import { blankReading, claimantOf, pageOfNode } from "../readings.ts";
import type { TeamSeries } from "./heliosTrace.ts";
import type { InferredJob } from "./inferJobs.ts";
import type { LendingMoment } from "./lendGpus.ts";

const gpusPerNode = 8;
const flavor = "v100";
const product = "Tesla-V100-SXM2-32GB";
const kindsOfKueue: readonly ObjectKind[] = [
  "kueueClusterQueues",
  "kueueLocalQueues",
  "kueueResourceFlavors",
  "kueueWorkloads",
  "kueueCohorts",
];

/** A moment of the replay as the engine reads it. */
export interface QueueMoment {
  readonly teams: readonly TeamSeries[];
  readonly minute: number;
  readonly now: LendingMoment;
  /** GPUs that each team may borrow. */
  readonly limits: readonly number[];
  /** Seconds since the epoch of the moment, and of the first minute. */
  readonly at: number;
  readonly startAt: number;
}

/**
 * The cluster with Kueue: a ClusterQueue for each team with its quota, all in one cohort, with the given limits of borrowing, and
 * with Kueue's rule that whoever lent takes back. A pod for each GPU; where they are is not in the trace. Pure.
 */
export function queuesOf({ teams, minute, now, limits, at, startAt }: QueueMoment): ClusterState {
  const pods: Pod[] = [];
  for (const [team, { team: name, running }] of teams.entries()) {
    const all = (running[minute] ?? 0) + (now.borrowed[team] ?? 0);
    for (let i = 0; i < all; i++) pods.push(podOf(name, i, pods.length, startAt));
  }
  const gpus = Math.max(
    pods.length,
    teams.reduce((sum, { quota }) => sum + (quota[minute] ?? 0), 0),
  );
  const nodes = Array.from({ length: Math.ceil(gpus / gpusPerNode) }, (_, i) => nodeOf(i, startAt));
  return {
    ...emptyState,
    nodes,
    pods,
    namespaces: teams.map(({ team }) => ({ name: team, labels: { team }, annotations: {} })),
    requestsByNode: new Map(nodes.map(({ name }) => [name, { pods: 0, cpuMilli: 0, memoryBytes: 0 }] as const)),
    telemetry: pagesOf(nodes, pods, at),
    known: new Set([...emptyState.known, ...kindsOfKueue]),
    queues: {
      ...noQueueObjects,
      kueueClusterQueues: teams.map(({ team, quota }, i) =>
        clusterQueue(team, quota[minute] ?? 0, limits[i] ?? 0, startAt),
      ),
      kueueLocalQueues: teams.map(({ team }) => localQueue(team)),
      kueueResourceFlavors: [{ name: flavor, nodeLabels: {}, nodeTaints: [], tolerations: [], topologyName: null }],
      kueueWorkloads: now.waiting.map((job) => workloadOf(job, teams[job.team]?.team ?? "", startAt)),
    },
  };
}

const nodeOf = (index: number, startAt: number): ClusterNode =>
  readyNode(`node-${index}`, gpusPerNode, product, startAt);

function podOf(team: string, index: number, place: number, startAt: number): Pod {
  return {
    ...barePod(`${team}-${index}`, team, `node-${Math.floor(place / gpusPerNode)}`, startAt - 86_400),
    labels: { [podLabels.kueueClusterQueue]: team },
    gpu: { resources: { [gpuResources.nvidia]: 1 }, claims: [], extendedResourceClaim: null },
  };
}

function pagesOf(nodes: readonly ClusterNode[], pods: readonly Pod[], at: number): readonly TelemetryPage[] {
  return nodes.map(({ name }, node) => {
    const devices = Array.from({ length: gpusPerNode }, (_, gpu) => {
      const pod = pods[node * gpusPerNode + gpu];
      const claimants = pod === undefined ? [] : [claimantOf(pod.namespace, pod.name)];
      return { ...blankReading(`GPU-${name}-${gpu}`, pod === undefined ? 0 : 0.9), claimants };
    });
    return pageOfNode(name, devices, at);
  });
}

function clusterQueue(name: string, nominal: number, borrowingLimit: number, startAt: number): KueueClusterQueue {
  const place = { group: 0, flavor: 0, resource: 0 };
  return {
    name,
    cohort: "earth",
    quotas: [{ flavor, resource: gpuResources.nvidia, nominal, borrowingLimit, lendingLimit: null, place }],
    queueingStrategy: "BestEffortFIFO",
    weight: 1,
    namespaceSelector: { matchLabels: {}, matchExpressions: [] },
    preemption: { reclaimWithinCohort: "Any", withinClusterQueue: "Never", borrowWithinCohort: "Never" },
    stopPolicy: "None",
    admissionMode: null,
    createdAt: startAt - 86_400,
    reservation: [],
    usage: [],
    pendingWorkloads: null,
    reservingWorkloads: null,
    admittedWorkloads: null,
    weightedShare: null,
    active: null,
  };
}

const localQueue = (team: string): KueueLocalQueue => ({
  namespace: team,
  name: "main",
  clusterQueue: team,
  weight: 1,
  stopPolicy: "None",
  consumed: null,
  consumedAt: null,
  reservation: [],
  usage: [],
});

function workloadOf({ id, gpus, arrives }: InferredJob, team: string, startAt: number): KueueWorkload {
  const pod = { requests: { [gpuResources.nvidia]: 1 }, nodeSelector: {}, nodeAffinity: [], tolerations: [] };
  return {
    namespace: team,
    name: `job-${id}`,
    uid: `uid-job-${id}`,
    createdAt: startAt + arrives * 60,
    localQueue: "main",
    priority: 0,
    priorityClass: null,
    active: true,
    owner: null,
    jobUid: null,
    podSets: [{ name: "main", count: gpus, minCount: null, pod }],
    admission: null,
    conditions: [],
    reclaimable: [],
    requeueAt: null,
    evictions: [],
    checkpointedAt: null,
  };
}
