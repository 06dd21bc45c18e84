import type { ClusterState, ObjectKind } from "../../model/cluster.ts";
import type { Problem } from "../../model/problem.ts";

/** What queues, and who holds and waits in them, are read from. Priority classes change nobody's entitlement. */
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
 * Why nothing can be said of queues: kinds that they are read from may be there, and cannot be read. `null`: all are read, or
 * are not in this cluster. Half of a queue system would make its work look as if it were in no queue at all.
 */
export function queuesUnknownBecause({ unreadable }: Pick<ClusterState, "unreadable">): string | null {
  const [first, ...others] = queueKinds.filter((kind) => unreadable?.has(kind) === true);
  if (first === undefined) return null;
  return `${[first, ...others].join(", ")} cannot be read from the Kubernetes API`;
}

/** The line that says so. */
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
