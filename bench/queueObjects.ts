import type { Pod } from "../exporter/model/pod.ts";
import type {
  KueueClusterQueue,
  KueueCohort,
  KueueLocalQueue,
  KueueQuota,
  KueueWorkload,
} from "../exporter/model/queues/kueue.ts";
import { noQueueObjects, type QueueObjects } from "../exporter/model/queues/queueObjects.ts";
import { nodeLabels, podLabels } from "../exporter/model/wellKnown.ts";

/** Queues of a large organisation, and the work that waits in them. */
export interface QueueFleet {
  objects(): QueueObjects;
  /** Goes on by one cycle: one workload in a hundred is replaced, and the queues of these workloads report other numbers. */
  step(): void;
}

const gpu = "nvidia.com/gpu";
/** The number of pods on each node of the generated fleet; all of them belong to one Job. */
export const podsPerNode = 10;
const capacityTypeLabel = "karpenter.sh/capacity-type";
const start = 1_760_000_000;
/** The number of children of the cohorts on the levels above the ClusterQueues: 4 x 5 x 10 x 10 leaves. */
const branches = [4, 5, 10] as const;
const fullQueues = 2_000;

const quota = (flavor: string, nominal: number): KueueQuota => ({
  flavor,
  resource: gpu,
  nominal,
  borrowingLimit: null,
  lendingLimit: null,
  place: null,
});

/** The size of the queues and of the waiting work. */
export interface QueueFleetSize {
  /** The approximate number of ClusterQueues; with ten below each cohort of the last level, there are 2,000. */
  readonly queues: number;
  readonly waiting: number;
  /** Guarantee of each queue in each flavor, in GPUs. */
  readonly nominal: number;
}

/** Each model has two flavors: on-demand and spot nodes are different node classes. */
const capacityTypes = ["on-demand", "spot"] as const;

const flavorName = (product: string, capacityType: string): string => `${product}-${capacityType}`;

/** The names of the flavors of some GPU models. */
export const flavorsOf = (products: readonly string[]): readonly string[] =>
  products.flatMap((product) => capacityTypes.map((type) => flavorName(product, type)));

/**
 * Makes ClusterQueues below four levels of cohorts, over flavors that each select the on-demand or the spot nodes of one GPU
 * model whose GPUs are not shared, and `waiting` Workloads, two thirds of which may go to either kind of nodes. Nodes with
 * shared GPUs are in no quota, because a unit of them is another part of a GPU.
 */
export function createQueueFleet(
  products: readonly string[],
  { queues: wanted, waiting, nominal }: QueueFleetSize,
): QueueFleet {
  const leaves = Math.max(1, Math.round((10 * wanted) / fullQueues));
  const cohorts: KueueCohort[] = [{ name: "org", parent: null, quotas: [], weight: 1, weightedShare: null }];
  let level = ["org"];
  for (const count of branches) {
    level = level.flatMap((parent) => Array.from({ length: count }, (_, i) => `${parent}-${i}`));
    for (const name of level) {
      cohorts.push({ name, parent: name.slice(0, name.lastIndexOf("-")), quotas: [], weight: 1, weightedShare: null });
    }
  }
  let queues = level.flatMap((cohort) =>
    Array.from({ length: leaves }, (_, i) => clusterQueue(`${cohort}-q${i}`, cohort, products, nominal)),
  );
  const names = queues.map(({ name }) => name);
  let made = 0;
  let steps = 0;
  const next = (): KueueWorkload => {
    made += 1;
    return workload(made, names[made % names.length] ?? "", products[made % products.length] ?? "");
  };
  let workloads = Array.from({ length: waiting }, next);
  const fixed: QueueObjects = {
    ...noQueueObjects,
    kueueCohorts: cohorts,
    kueueLocalQueues: names.map((name) => localQueue(name, "main", name)),
    kueueResourceFlavors: products.flatMap((product) =>
      capacityTypes.map((type) => ({
        name: flavorName(product, type),
        nodeLabels: { [nodeLabels.gpuProduct]: product, [nodeLabels.gpuReplicas]: "1", [capacityTypeLabel]: type },
        nodeTaints: [],
        tolerations: [],
        topologyName: null,
      })),
    ),
  };
  return {
    objects: () => ({ ...fixed, kueueClusterQueues: queues, kueueWorkloads: workloads }),
    step: () => {
      steps += 1;
      const changed = new Set<string>();
      workloads = workloads.map((old, i) => {
        if (i % 100 !== steps % 100) return old;
        const made = next();
        changed.add(old.namespace).add(made.namespace);
        return made;
      });
      queues = queues.map((queue) =>
        changed.has(queue.name) ? { ...structuredClone(queue), pendingWorkloads: steps } : queue,
      );
    },
  };
}

const localQueue = (namespace: string, name: string, clusterQueue: string): KueueLocalQueue => ({
  namespace,
  name,
  clusterQueue,
  weight: 1,
  stopPolicy: "None",
  consumed: null,
  consumedAt: null,
  reservation: [],
  usage: [],
});

/** The LocalQueues through which pods came to the ClusterQueues that their labels name: a label alone does not count. */
export function localQueuesOf(pods: readonly Pod[]): readonly KueueLocalQueue[] {
  const found = new Map<string, KueueLocalQueue>();
  for (const { namespace, labels } of pods) {
    const queue = labels[podLabels.kueueClusterQueue] ?? "";
    found.set(`${namespace}/${queue}`, localQueue(namespace, `to-${queue}`, queue));
  }
  return [...found.values()];
}

/** The same pods; those of a node are in one of the queues. */
export function inQueues(pods: readonly Pod[], queues: readonly string[], known: WeakMap<Pod, Pod>): readonly Pod[] {
  return pods.map((pod, i) => {
    const found = known.get(pod);
    if (found !== undefined) return found;
    const queue = queues[Math.floor(i / podsPerNode) % queues.length] ?? "";
    const labels = { ...pod.labels, [podLabels.kueueClusterQueue]: queue };
    const queued = { ...pod, labels };
    known.set(pod, queued);
    return queued;
  });
}

function clusterQueue(name: string, cohort: string, products: readonly string[], nominal: number): KueueClusterQueue {
  return {
    name,
    cohort,
    quotas: flavorsOf(products).map((name) => quota(name, nominal / capacityTypes.length)),
    queueingStrategy: "BestEffortFIFO",
    weight: 1 + (name.length % 3),
    namespaceSelector: { matchLabels: {}, matchExpressions: [] },
    preemption: { reclaimWithinCohort: "Any", withinClusterQueue: "LowerPriority", borrowWithinCohort: "Never" },
    stopPolicy: "None",
    admissionMode: null,
    createdAt: start,
    reservation: [],
    usage: [],
    pendingWorkloads: null,
    reservingWorkloads: null,
    admittedWorkloads: null,
    weightedShare: null,
    active: null,
  };
}

/** Some Workloads report why they wait; for others, this must be found out. */
const reasons = ["WaitingForQuota", "Pending", "Pending"] as const;

function workload(serial: number, queue: string, product: string): KueueWorkload {
  const count = 1 + (serial % 4);
  const pod = {
    requests: { [gpu]: 1 << (serial % 4), cpu: 4 + (serial % 16), memory: 2 ** 36 },
    nodeSelector: {
      [nodeLabels.gpuProduct]: product,
      [nodeLabels.gpuReplicas]: "1",
      ...(serial % 3 === 0 ? { [capacityTypeLabel]: capacityTypes[serial % 2] ?? "spot" } : {}),
    },
    nodeAffinity: [],
    tolerations: [{ key: gpu, operator: "Exists", value: "", effect: "NoSchedule" }],
  } as const;
  return {
    namespace: queue,
    name: `job-${serial}`,
    uid: `workload-${serial}`,
    createdAt: start - (serial % 100_000),
    localQueue: "main",
    priority: serial % 5,
    priorityClass: `class-${serial % 5}`,
    active: true,
    owner: { apiVersion: "batch/v1", kind: "Job", name: `job-${serial}`, uid: `job-${serial}` },
    jobUid: `job-${serial}`,
    podSets: [{ name: "main", count, minCount: null, pod }],
    admission: null,
    conditions: [
      {
        type: "QuotaReserved",
        isTrue: false,
        reason: reasons[serial % reasons.length] ?? "",
        message: "",
        changedAt: start,
      },
    ],
    reclaimable: [],
    requeueAt: null,
    evictions: [],
    checkpointedAt: null,
  };
}
