import type { Queueing, QueueView } from "../../join/queues/queueing.ts";
import type { Snapshot } from "../../join/snapshot.ts";
import { gpuTolerance } from "../../model/gpuTolerance.ts";
import type { QueueScheduler } from "../../model/queues/eviction.ts";
import type { Finding } from "./finding.ts";

const mostNamed = 3;

/**
 * Domains in which pods of no queue hold GPUs that are guaranteed to queues. The schedulers of the queues do not count these
 * pods, and so admit work that then finds no node. There is no finding if both fit.
 */
export function pastQueues(snapshot: Snapshot): readonly Finding[] {
  const { queueing } = snapshot;
  const past = queueing.queues.flatMap((queue, index) =>
    queue.kind === "Unqueued" && queue.allocated > gpuTolerance ? [{ queue, index }] : [],
  );
  if (past.length === 0) return [];
  const byNamespace = namespacesOf(snapshot, new Set(past.map(({ index }) => index)));
  return past.flatMap(({ queue, index }) => findingOf(queueing, queue, byNamespace.get(index) ?? new Map()));
}

function findingOf(
  queueing: Queueing,
  { domain: index, allocated }: QueueView,
  names: Map<string, number>,
): readonly Finding[] {
  const domain = queueing.domains[index];
  const roots = queueing.queues
    .filter((queue) => queue.kind === "Scheduler" && queue.domain === index)
    .sort((a, b) => b.guaranteed - a.guaranteed || (a.scheduler < b.scheduler ? -1 : 1));
  const [first] = roots;
  if (domain === undefined || first === undefined || domain.unknownBecause !== null) return [];
  const promised = roots.reduce((sum, { guaranteed }) => sum + guaranteed, 0);
  const taken = Math.min(allocated, promised + allocated - domain.capacity);
  if (taken <= gpuTolerance) return [];
  return [
    {
      code: "pods-past-queues",
      scheduler: first.scheduler,
      kind: "QuotaDomain",
      name: domain.name,
      reason: `Pods of no queue hold ${rounded(allocated)} GPUs, and queues are promised ${rounded(promised)} of the ${rounded(domain.capacity)} that can be given out: ${rounded(taken)} of these no queue can have, though its scheduler may admit work for them. ${largest(names)}`,
      change: `${through[first.scheduler]}, or lower guarantees by ${rounded(taken)} GPUs in all, so that there is room for it.`,
    },
  ];
}

/** What pods of each of these leaves hold, by namespace. */
function namespacesOf(
  { devices, pods, queueing: { queueOfPod } }: Snapshot,
  leaves: ReadonlySet<number>,
): ReadonlyMap<number, Map<string, number>> {
  const found = new Map<number, Map<string, number>>([...leaves].map((leaf) => [leaf, new Map()] as const));
  for (const { holders } of devices)
    for (const { pod, share } of holders) {
      const names = found.get(queueOfPod[pod] ?? -1);
      const namespace = pods[pod]?.namespace;
      if (names !== undefined && namespace !== undefined) names.set(namespace, (names.get(namespace) ?? 0) + share);
    }
  return found;
}

function largest(names: ReadonlyMap<string, number>): string {
  const sorted = [...names].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));
  const named = sorted.slice(0, mostNamed).map(([name, gpus]) => `${name} (${rounded(gpus)})`);
  const more = sorted.length > mostNamed ? ` and ${sorted.length - mostNamed} more` : "";
  return named.length === 0
    ? "Their namespaces are not known."
    : `They are in ${sorted.length === 1 ? "namespace" : "namespaces"} ${named.join(", ")}${more}.`;
}

const through: Readonly<Record<QueueScheduler, string>> = {
  kueue: "Send this work through a LocalQueue (label kueue.x-k8s.io/queue-name)",
  kai: "Send this work through a Queue (schedulerName kai-scheduler, label kai.scheduler/queue)",
  volcano: "Send this work through a Queue (schedulerName volcano, annotation scheduling.volcano.sh/queue-name)",
  none: "Let the rules of teams cover this work",
};

const rounded = (gpus: number): number => Math.round(gpus * 1000) / 1000;
