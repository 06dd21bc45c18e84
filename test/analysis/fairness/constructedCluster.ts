import type { Analysis } from "../../../exporter/analysis/analysis.ts";
import type { ClusterState } from "../../../exporter/model/cluster.ts";
import type { ClusterNode } from "../../../exporter/model/node.ts";
import type { Pod } from "../../../exporter/model/pod.ts";
import type { KueueClusterQueue, KueueQuota, KueueWorkload } from "../../../exporter/model/queues/kueue.ts";
import type { PodNeeds } from "../../../exporter/model/queues/podNeeds.ts";
import { noQueueObjects, type QueueObjects } from "../../../exporter/model/queues/queueObjects.ts";
import { gfdLabels, gpuNode, gpuPod, now } from "../../join/clusterBuilder.ts";
import { analysed, snapshotOf } from "../../join/outcomes.ts";
import { admission, clusterQueue, flavor, localQueue, podSet, quota, workload } from "../../queues/kueueRows.ts";

const products = { H100: "NVIDIA-H100-80GB-HBM3", A100: "NVIDIA-A100-SXM4-80GB" } as const;

/** Names of the pools that the models are in. */
export const pools = { H100: "H100-80GB-HBM3", A100: "A100-80GB-SXM4" } as const;

/** A node of one model; its labels say its flavor. */
export function modelNode(
  name: string,
  gpus: number,
  model: keyof typeof products,
  labels: Readonly<Record<string, string>> = {},
  parts: Partial<ClusterNode> = {},
): ClusterNode {
  const own = { ...gfdLabels(gpus), "nvidia.com/gpu.product": products[model], ...labels };
  return gpuNode(name, gpus, { ...parts, labels: own });
}

/** A ClusterQueue with its nominal quota by flavor, in the order in which Kueue tries them. */
export interface KueueQueue {
  readonly quotas: Readonly<Record<string, number | Partial<KueueQuota>>>;
  /** Default `all`; `null`: none. */
  readonly cohort?: string | null;
  /** `reclaimWithinCohort`; default `Any`. */
  readonly reclaim?: string;
  readonly parts?: Partial<KueueClusterQueue>;
}

/** Work that holds GPUs of one node. */
export interface Running {
  readonly name: string;
  readonly queue: string;
  readonly flavor: string;
  readonly node: string;
  readonly gpus: number;
  readonly priority?: number;
}

/** Work that waits: pods of so many GPUs. */
export interface Waiting {
  readonly name: string;
  readonly queue: string;
  readonly gpus: number;
  readonly pods?: number;
  readonly priority?: number;
  readonly needs?: Partial<PodNeeds>;
  readonly parts?: Partial<KueueWorkload>;
}

/** A cluster of Kueue. */
export interface KueueCluster {
  readonly nodes: readonly ClusterNode[];
  /** Node labels by flavor. */
  readonly flavors: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly queues: Readonly<Record<string, KueueQueue>>;
  readonly running?: readonly Running[];
  readonly waiting?: readonly Waiting[];
  /** Pods that no queue knows. */
  readonly outside?: readonly Pod[];
  readonly more?: Partial<QueueObjects>;
}

/** What Fairlead says about it. */
export function analysedKueue(given: KueueCluster): Analysis {
  const { nodes, flavors, queues, running = [], waiting = [], outside = [], more = {} } = given;
  const pods = running.map(({ name, queue, node, gpus, priority = 0 }) =>
    gpuPod(name, node, gpus, {
      namespace: queue,
      priority,
      labels: { "kueue.x-k8s.io/cluster-queue-name": queue },
      annotations: { "kueue.x-k8s.io/workload": name },
    }),
  );
  const state: Partial<ClusterState> = {
    nodes,
    pods: [...pods, ...outside],
    queues: {
      ...noQueueObjects,
      kueueResourceFlavors: Object.entries(flavors).map(([name, labels]) => flavor(name, labels)),
      kueueClusterQueues: Object.entries(queues).map(
        ([name, { quotas, cohort = "all", reclaim = "Any", parts = {} }]) =>
          clusterQueue(
            name,
            Object.entries(quotas).map(([of, amount]) =>
              typeof amount === "number" ? quota(of, amount) : quota(of, amount.nominal ?? 0, amount),
            ),
            {
              cohort,
              preemption: { reclaimWithinCohort: reclaim, withinClusterQueue: "Never", borrowWithinCohort: "Never" },
              ...parts,
            },
          ),
      ),
      kueueLocalQueues: Object.keys(queues).map((name) => localQueue("main", name, { namespace: name })),
      kueueWorkloads: [
        ...running.map(({ name, queue, flavor: of, gpus, priority = 0 }) =>
          workload(name, [podSet(1, gpus)], {
            ...{ namespace: queue, localQueue: "main", priority },
            ...admission(queue, of, 1, gpus),
          }),
        ),
        ...waiting.map(({ name, queue, gpus, pods: count = 1, priority = 0, needs = {}, parts = {} }) =>
          workload(name, [podSet(count, gpus, needs)], {
            ...{ namespace: queue, localQueue: "main", priority, createdAt: now - 6 * 3600 },
            ...parts,
          }),
        ),
      ],
      ...more,
    },
  };
  return analysed(snapshotOf(state));
}

/** Everybody who is paired, as `starved < borrower: GPUs`. */
export function pairsOf({ fairness, snapshot }: Analysis): readonly string[] {
  const { queues } = snapshot.queueing;
  return fairness.domains
    .flatMap((domain) => domain?.pairs ?? [])
    .map(({ starved, borrower, gpus }) => `${queues[starved]?.name} < ${queues[borrower]?.name}: ${gpus}`);
}

/** What is reported about the leaf queues of a name, added up over the domains in which they have records. */
export function reportedOf({ fairness, snapshot }: Analysis, name: string) {
  const sum = {
    allocated: 0,
    entitled: 0,
    deviation: 0,
    shortfall: 0,
    borrowers: 0,
    idle: 0,
    absent: 0,
    indivisible: 0,
  };
  for (const [index, queue] of snapshot.queueing.queues.entries()) {
    const reported = fairness.queues[index] ?? null;
    if (queue.name !== name || reported === null) continue;
    sum.allocated += queue.allocated;
    sum.entitled += reported.entitled;
    sum.deviation += reported.deviation;
    sum.shortfall += reported.shortfall;
    sum.borrowers += reported.shortfallByBorrowers;
    sum.idle += reported.shortfallByIdleGap;
    sum.absent += reported.shortfallByAbsentCapacity.reduce((all, { gpus }) => all + gpus, 0);
    sum.indivisible += reported.shortfallByIndivisible;
  }
  return sum;
}

/** Whose it is that guarantees of a queue have no nodes. */
export function ownersOf({ fairness, snapshot }: Analysis, name: string): Readonly<Record<string, number>> {
  const found: Record<string, number> = {};
  for (const [index, queue] of snapshot.queueing.queues.entries())
    if (queue.name === name)
      for (const { owner, gpus } of fairness.queues[index]?.shortfallByAbsentCapacity ?? [])
        found[owner] = (found[owner] ?? 0) + gpus;
  return found;
}
