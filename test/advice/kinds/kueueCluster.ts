import type { Candidate, FindAdvice, FindInPieces, Found } from "../../../exporter/advice/candidate.ts";
import type { AdviceMoment } from "../../../exporter/advice/moment.ts";
import { allPieces } from "../../../exporter/advice/rounds/inPieces.ts";
import { nothingWatched, type UsageWatch } from "../../../exporter/advice/usage/usageWatch.ts";
import { type PlacementRule, placementRules } from "../../../exporter/advice/whatIf/plan.ts";
import { createTrial } from "../../../exporter/advice/whatIf/trial.ts";
import { defaultConfig } from "../../../exporter/config/defaults.ts";
import type { ClusterState, OwnerObject, PodDisruptionBudget } from "../../../exporter/model/cluster.ts";
import type { ClusterNode } from "../../../exporter/model/node.ts";
import type { Pod } from "../../../exporter/model/pod.ts";
import type { KueueClusterQueue, KueueQuota, KueueWorkload } from "../../../exporter/model/queues/kueue.ts";
import { noQueueObjects } from "../../../exporter/model/queues/queueObjects.ts";
import type { DeviceReading } from "../../../exporter/model/telemetry.ts";
import { clusterQueue, flavor, gpuQuota, kueuePodSet, kueueWorkload } from "../../analysis/queueObjectBuilder.ts";
import {
  bareReading,
  claimant,
  gfdLabels,
  gpuNode,
  gpuPod,
  now,
  owner,
  ownerRef,
  page,
} from "../../join/clusterBuilder.ts";
import { analysed, snapshotOf } from "../../join/outcomes.ts";
import { admission, localQueue } from "../../queues/kueueRows.ts";

const hour = 3600;

/** A Job that runs: pods on nodes, each with so many GPUs. */
export interface RunningJob {
  readonly name: string;
  readonly queue: string;
  /** Node of each pod. */
  readonly nodes: readonly string[];
  readonly gpusPerPod: number;
  readonly hours?: number;
  readonly priority?: number;
  /** Default `h100`. */
  readonly flavor?: string;
  readonly pod?: Partial<Pod>;
  readonly owner?: Partial<OwnerObject>;
}

/** A Job that waits: pods that do not exist yet. */
export interface WaitingJob {
  readonly name: string;
  readonly queue: string;
  readonly pods: number;
  readonly gpusPerPod: number;
  readonly priority?: number;
  readonly nodeSelector?: Readonly<Record<string, string>>;
}

export interface TestQueue {
  readonly name: string;
  /** Of the first flavor. */
  readonly nominal: number;
  readonly quota?: Partial<KueueQuota>;
  /** Instead: nominal quotas by flavor, in the order in which Kueue tries them. */
  readonly quotas?: Readonly<Record<string, number | Partial<KueueQuota>>>;
  readonly parts?: Partial<KueueClusterQueue>;
}

export interface KueueCase {
  /** GPUs by node. */
  readonly nodes: Readonly<Record<string, number>>;
  /** Labels of nodes beside those that GPU Feature Discovery writes. */
  readonly labels?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Node labels by flavor; default: `h100` of all nodes. */
  readonly flavors?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Of one cohort. */
  readonly queues: readonly TestQueue[];
  readonly running?: readonly RunningJob[];
  readonly waiting?: readonly WaitingJob[];
  readonly podDisruptionBudgets?: readonly PodDisruptionBudget[];
  /** Taints by node. */
  readonly taints?: Readonly<Record<string, ClusterNode["taints"]>>;
  /** Pods beside those of the Jobs. */
  readonly addedPods?: readonly Pod[];
  readonly more?: Partial<ClusterState>;
  readonly usage?: UsageWatch;
  readonly settings?: Partial<AdviceMoment["settings"]>;
}

/** A cluster of Kueue with Jobs in the namespace that is called like their queue, each GPU observed; joined and analysed. */
export function kueueMoment(given: KueueCase): AdviceMoment {
  const { nodes, labels = {}, taints = {}, flavors = { h100: {} }, queues, running = [], waiting = [] } = given;
  const jobs = running.map((job) => runningJob(job));
  const state: Partial<ClusterState> = {
    nodes: Object.entries(nodes).map(([name, physicalGpus]) =>
      gpuNode(name, physicalGpus, {
        labels: { ...gfdLabels(physicalGpus), ...labels[name] },
        taints: taints[name] ?? [],
      }),
    ),
    pods: [...jobs.flatMap(({ pods }) => pods), ...(given.addedPods ?? [])],
    owners: jobs.map(({ object }) => object),
    telemetry: pagesOf(
      nodes,
      jobs.flatMap(({ pods }) => pods),
    ),
    podDisruptionBudgets: given.podDisruptionBudgets ?? [],
    queues: {
      ...noQueueObjects,
      kueueClusterQueues: queues.map((queue) =>
        clusterQueue(queue.name, { cohort: "all", quotas: quotasOf(queue), ...queue.parts }),
      ),
      kueueLocalQueues: queues.map(({ name }) => localQueue("main", name, { namespace: name })),
      kueueResourceFlavors: Object.entries(flavors).map(([name, nodeLabels]) => flavor(name, { nodeLabels })),
      kueueWorkloads: [...jobs.map(({ workload }) => workload), ...waiting.map(waitingWorkload)],
    },
    ...given.more,
  };
  return {
    analysis: analysed(snapshotOf(state)),
    settings: { ...defaultConfig.advice, ...given.settings },
    usage: given.usage ?? nothingWatched,
  };
}

function quotasOf({ nominal, quota = {}, quotas }: TestQueue): readonly KueueQuota[] {
  const place = (at: number) => ({ group: 0, flavor: at, resource: 0 });
  if (quotas === undefined) return [gpuQuota(nominal, { place: place(0), ...quota })];
  return Object.entries(quotas).map(([of, amount], at) => {
    const parts = typeof amount === "number" ? { nominal: amount } : amount;
    return gpuQuota(0, { flavor: of, place: place(at), ...parts });
  });
}

function runningJob({ name, queue, nodes, gpusPerPod, hours = 2, priority = 0, ...parts }: RunningJob) {
  const since = now - hours * hour;
  const limits = { backoffLimit: 6, failed: 0, onDisruption: "Count", isSuspended: false } as const;
  const object = owner("Job", name, null, {
    apiVersion: "batch/v1",
    namespace: queue,
    uid: `uid-job-${queue}-${name}`,
    createdAt: since,
    job: limits,
    ...parts.owner,
  });
  const labels = { "kueue.x-k8s.io/cluster-queue-name": queue };
  const pods = nodes.map((node, i) =>
    gpuPod(`${name}-${i}`, node, gpusPerPod, {
      namespace: queue,
      labels,
      priority,
      owner: ownerRef(object),
      createdAt: since,
      scheduledAt: since,
      annotations: { "kueue.x-k8s.io/workload": `job-${name}` },
      ...parts.pod,
    }),
  );
  const workload = kueueWorkload(`job-${name}`, {
    namespace: queue,
    uid: `uid-workload-${queue}-${name}`,
    createdAt: since,
    priority,
    owner: ownerRef(object),
    jobUid: object.uid,
    podSets: [kueuePodSet("main", nodes.length, { "nvidia.com/gpu": gpusPerPod })],
    ...admission(queue, parts.flavor ?? "h100", nodes.length, gpusPerPod),
  });
  return { object, pods, workload };
}

function waitingWorkload(
  { name, queue, pods, gpusPerPod, priority = 0, nodeSelector = {} }: WaitingJob,
  place: number,
): KueueWorkload {
  const main = kueuePodSet("main", pods, { "nvidia.com/gpu": gpusPerPod });
  return kueueWorkload(name, {
    namespace: queue,
    uid: `uid-workload-${queue}-${name}`,
    createdAt: now - 1800 + place,
    priority,
    podSets: [{ ...main, pod: { ...main.pod, nodeSelector } }],
  });
}

/** GPUs are given out in the order of the pods. */
function pagesOf(nodes: KueueCase["nodes"], pods: readonly Pod[]) {
  return Object.entries(nodes).map(([node, physicalGpus]) => {
    const holders = pods
      .filter(({ nodeName }) => nodeName === node)
      .flatMap((pod) => Array.from({ length: pod.gpu.resources["nvidia.com/gpu"] ?? 0 }, () => pod));
    const devices = Array.from({ length: physicalGpus }, (_, i): DeviceReading => {
      const holder = holders[i];
      return bareReading(`GPU-${node}-${i}`, {
        smActive: holder === undefined ? 0 : 0.8,
        claimants: holder === undefined ? [] : [claimant(holder.name, { namespace: holder.namespace })],
      });
    });
    return page(node, devices);
  });
}

/** What a kind of advice finds at a moment. */
export function foundBy(find: FindAdvice | FindInPieces, moment: AdviceMoment): Found {
  const found = find(moment, createTrial(moment));
  return "next" in found ? allPieces(found) : found;
}

/** The only candidate; the test fails with what was withheld. */
export function onlyCandidate({ candidates, withheld }: Found): Candidate {
  const [first, ...others] = candidates;
  if (first === undefined || others.length > 0)
    throw new Error(
      `${candidates.length} candidates: ${JSON.stringify([candidates.map(({ title }) => title), withheld])}`,
    );
  return first;
}

/** What its beneficiary gains under each placement rule. */
export function gainsOf(
  moment: AdviceMoment,
  { plan, gainedGpus }: Candidate,
): Readonly<Record<PlacementRule, number>> {
  const trial = createTrial(moment);
  const [mostAllocated = 0, leastAllocated = 0] = placementRules.map((rule) => gainedGpus(trial.outcome(plan, rule)));
  return { mostAllocated, leastAllocated };
}
