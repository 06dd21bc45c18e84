import type { ClusterState } from "../../exporter/model/cluster.ts";
import { noQueueObjects, type QueueObjects } from "../../exporter/model/queues/queueObjects.ts";
import { gpuNode, gpuPod } from "../join/clusterBuilder.ts";
import * as kueueRows from "../queues/kueueRows.ts";
import { cohort, flavor, gpuQuota, kaiQueue, volcanoQueue } from "./queueObjectBuilder.ts";

export type ChainShape = "chain" | "circle";

/** Name of the queue (or cohort) of a chain at a place, 0 at the top. */
export const chainName = (place: number): string => `q-${place}`;

/** Names with their parents: each below the one before; in a circle the first is below the last. */
export function chainOf(
  shape: ChainShape,
  length: number,
): readonly { readonly name: string; readonly parent: string | null }[] {
  return Array.from({ length }, (_, i) => ({
    name: chainName(i),
    parent: i > 0 ? chainName(i - 1) : shape === "circle" ? chainName(length - 1) : null,
  }));
}

/**
 * Cohorts one below the other; at the top quota of 2 GPUs, at the end the ClusterQueue `team` with 2, which holds 4. Beside
 * them the ClusterQueue `healthy`, sure of the 4 that it holds, in a cohort of its own.
 */
export function kueueChain(shape: ChainShape, length: number): Partial<ClusterState> {
  const queue = (name: string, cohortName: string, nominal: number) =>
    kueueRows.clusterQueue(name, [gpuQuota(nominal)], { cohort: cohortName });
  const running = (name: string) => kueueRows.workload(`of-${name}`, [], kueueRows.admission(name, "h100", 1, 4));
  const queues: QueueObjects = {
    ...noQueueObjects,
    kueueCohorts: chainOf(shape, length).map(({ name, parent }, i) =>
      cohort(name, { parent, quotas: i === 0 ? [gpuQuota(2)] : [] }),
    ),
    kueueResourceFlavors: [flavor("h100")],
    kueueClusterQueues: [queue("team", chainName(length - 1), 2), queue("healthy", "small", 4)],
    kueueLocalQueues: ["team", "healthy"].map((name) => kueueRows.localQueue(name, name)),
    kueueWorkloads: [running("team"), running("healthy")],
  };
  const label = "kueue.x-k8s.io/cluster-queue-name";
  return { ...allocatedBy(label, "default-scheduler", "team", "healthy"), queues };
}

/** Queues of KAI one below the other, each with a quota of 4; the last holds 4. Beside them `healthy`, alike, at the top. */
export function kaiChain(shape: ChainShape, length: number): Partial<ClusterState> {
  const gpu = { quota: 4, overQuotaWeight: 1, limit: -1 };
  const kaiQueues = [...chainOf(shape, length), { name: "healthy", parent: null }].map(({ name, parent }) =>
    kaiQueue(name, { parent, gpu }),
  );
  return {
    ...allocatedBy("kai.scheduler/queue", "kai-scheduler", chainName(length - 1), "healthy"),
    queues: { ...noQueueObjects, kaiQueues },
  };
}

/** The same of Volcano, each queue deserving 4; read with the plugin `capacity`. */
export function volcanoChain(shape: ChainShape, length: number): Partial<ClusterState> {
  const deserved = { "nvidia.com/gpu": 4 };
  const volcanoQueues = [...chainOf(shape, length), { name: "healthy", parent: null }].map(({ name, parent }) =>
    volcanoQueue(name, { parent, deserved }),
  );
  return {
    ...allocatedBy("volcano.sh/queue-name", "volcano", chainName(length - 1), "healthy"),
    queues: { ...noQueueObjects, volcanoQueues },
    schedulerSettings: { kueue: null, volcano: { plugin: "capacity" } },
  };
}

/** A node of 8 GPUs; each of two queues holds 4 of them. */
function allocatedBy(
  label: string,
  schedulerName: string,
  ...queues: readonly string[]
): Pick<ClusterState, "nodes" | "pods"> {
  return {
    nodes: [gpuNode("n", 8)],
    pods: queues.map((queue) => gpuPod(`pod-of-${queue}`, "n", 4, { schedulerName, labels: { [label]: queue } })),
  };
}
