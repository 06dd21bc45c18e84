import type { TextMap } from "../../model/node.ts";
import type { Condition } from "../../model/queues/condition.ts";
import type { KueueClusterQueue, KueueQuota, KueueWorkload } from "../../model/queues/kueue.ts";
import { meets } from "../../model/queues/nodeMatch.ts";
import type { KueueGangInput } from "./kueueGangs.ts";
import { type KueueNamespace, localQueuesIn } from "./kueueNamespaces.ts";
import type { NeverReason } from "./queueing.ts";

/** The queue of a Workload, and whether it takes it. */
export interface WorkloadQueue {
  /** Name of the ClusterQueue; `null` if the LocalQueue of the Workload does not exist. */
  readonly clusterQueue: string | null;
  readonly quotas: readonly KueueQuota[];
  /** Whether both queues exist, are running and in no cycle of cohorts, and accept its namespace. */
  readonly takesIt: boolean;
}

/** Finds the queue of Workloads of one namespace: the ClusterQueue that admitted them (`null`: none), else that of their LocalQueue. */
export type WorkloadQueueFinder = (
  from: KueueNamespace,
  namespace: string,
  localQueue: string,
  admitted: string | null,
) => WorkloadQueue;

/** Finds the queues of Workloads. `quotasOf`: the quotas of each ClusterQueue. */
export function queuesOfWorkloads(
  input: Pick<KueueGangInput, "objects" | "namespaces" | "nodes">,
  quotasOf: ReadonlyMap<string, readonly KueueQuota[]>,
): WorkloadQueueFinder {
  const { objects, namespaces, nodes } = input;
  const clusterQueues = new Map(objects.kueueClusterQueues.map((queue) => [queue.name, queue] as const));
  const inCycles = new Set(
    nodes.flatMap(({ clusterQueue, isInCycle }) => (clusterQueue !== null && isInCycle ? [clusterQueue.name] : [])),
  );
  return (from, namespace, localQueue, admitted) => {
    const local = localQueuesIn(from).get(localQueue);
    const name = admitted ?? local?.clusterQueue ?? null;
    const queue = name === null ? undefined : clusterQueues.get(name);
    const labels = namespaces === null ? null : (namespaces.get(namespace)?.labels ?? {});
    const takesIt =
      local !== undefined &&
      queue !== undefined &&
      local.stopPolicy === running &&
      isRunning(queue) &&
      !inCycles.has(queue.name) &&
      (labels === null || selectsNamespace(queue, labels));
    return { clusterQueue: name, quotas: (name === null ? undefined : quotasOf.get(name)) ?? noQuotas, takesIt };
  };
}

const noQuotas: readonly KueueQuota[] = [];

/** The `stopPolicy` of a queue that is not stopped. */
const running = "None";

function isRunning({ stopPolicy, active }: KueueClusterQueue): boolean {
  return stopPolicy === running && (active === null || active.isTrue);
}

function selectsNamespace({ namespaceSelector }: KueueClusterQueue, labels: TextMap): boolean {
  if (namespaceSelector === null) return false;
  const { matchLabels, matchExpressions } = namespaceSelector;
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every((one) => meets(labels, one))
  );
}

/**
 * Reasons of `QuotaReserved` being false that do not pass by themselves (kueue apis/kueue/v1beta2/workload_types.go). Without
 * the feature gate UnadmittedWorkloadsObservability, and before v0.19, `Inadmissible` is used for all that concern queues.
 */
const neverByReason: Readonly<Record<string, NeverReason>> = {
  ExceedsMaxQuota: "above-limit",
  NoMatchingFlavor: "no-node",
  Misconfigured: "no-queue",
  Inadmissible: "no-queue",
  Suspended: "paused",
  AdmissionGated: "paused",
  OnHold: "paused",
};

/** Why a Workload without quota cannot get any now; `null`: it waits. `isRefused`: a LimitRange forbids its pods. */
export function kueueNever(
  workload: KueueWorkload,
  quotaReserved: Condition | undefined,
  { takesIt }: WorkloadQueue,
  isRefused: boolean,
): NeverReason | null {
  if (!workload.active) return "paused";
  if (!takesIt) return "no-queue";
  // Kueue calls it `Misconfigured` as well (v0.19 pkg/workload/resources.go, ValidateAdmissibility).
  if (isRefused) return "limit-range";
  const reason = quotaReserved?.reason ?? "";
  return Object.hasOwn(neverByReason, reason) ? (neverByReason[reason] ?? null) : null;
}
