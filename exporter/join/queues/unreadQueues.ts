import type { ClusterState, ObjectKind } from "../../model/cluster.ts";
import type { Problem } from "../../model/problem.ts";

/** The kinds from which queues and their holders and waiting work are read. Priority classes change nobody's entitlement. */
const queueKinds = [
  "nodes",
  "pods",
  "kueueClusterQueues",
  "kueueLocalQueues",
  "kueueCohorts",
  "kueueResourceFlavors",
  "kueueWorkloads",
  "kaiQueues",
  "kaiPodGroups",
  "kaiSchedulingShards",
  "volcanoQueues",
  "volcanoPodGroups",
] as const satisfies readonly ObjectKind[];

/**
 * Why nothing is known about queues: kinds from which they are read may exist, and cannot be read. `null`: all are read, or
 * are not in this cluster. With half of a queue system its work would seem to be in no queue at all.
 */
export function queuesUnknownBecause({ unreadable }: Pick<ClusterState, "unreadable">): string | null {
  const [first, ...others] = queueKinds.filter((kind) => unreadable?.has(kind) === true);
  if (first === undefined) return null;
  return `${[first, ...others].join(", ")} cannot be read from the Kubernetes API`;
}

/** The problem that reports it. */
export function queuesUnknown(because: string): Problem {
  return {
    source: "join",
    code: "queues-unknown",
    severity: "warning",
    subject: null,
    message: `${because}: who is in which queue, what waits there, and who is entitled to what is not known`,
    nextStep:
      "Solve the problems of these kinds, which are reported beside this one; who holds which GPU is not concerned.",
  };
}
