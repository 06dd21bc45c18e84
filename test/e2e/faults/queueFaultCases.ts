import type { Fault } from "../../../simulator/faults.ts";
import type { ExpectedProblem, FaultCase } from "../faultCases.ts";

/** Only a list brings the next state. */
const relist = [{ kind: "api-gone" }, { kind: "api-watch-cut" }] as const satisfies readonly Fault[];

const up = { 'fairlead_source_up{source="kubernetes"}': 1, 'fairlead_source_up{source="dcgm"}': 1 };
const entitled = { 'fairlead_queue_entitled_gpus{scheduler="kueue",queue="search"}': 32 };
/** Numbers of queues, and what is counted of queues, are absent; counters do not rise. */
const noQueues = {
  fairlead_queue_entitled_gpus: null,
  fairlead_queue_allocated_gpus: null,
  fairlead_queue_pending_gpus: null,
  fairlead_fairness_deviation_gpus: null,
  fairlead_fairness_misallocated_ratio: null,
};

/** What the join says where a kind that queues are read from is too old. */
export function queuesUnknown(says: string): ExpectedProblem {
  return { code: "queues-unknown", subjects: [null], says, next: "Solve the problems of these kinds" };
}

function unreadKind(name: string, resource: string, kind: string, fault: Fault, problem: ExpectedProblem): FaultCase {
  return {
    name,
    faults: [fault, ...relist],
    early: { steps: 2, problems: [problem], series: { ...up, ...entitled }, truth: "all" },
    late: {
      steps: 5,
      problems: [problem, queuesUnknown(`${kind} cannot be read`)],
      series: { ...up, ...noQueues },
      truth: "holders",
    },
    does: `uses the last good list of ${resource} for \`kubernetes.maxAgeSeconds\`; then says nothing of queues, of any system, until it can be read again: no team takes the place of a queue, and the time is not counted to any`,
  };
}

function forbidden(name: string, resource: string, group: string, kind: string): FaultCase {
  const subject = `${resource}.${group}`;
  return unreadKind(
    name,
    resource,
    kind,
    { kind: "api-forbidden", resource },
    {
      code: "forbidden",
      subjects: [subject],
      says: `Fairlead may not list and watch ${subject}`,
      next: `Grant list and watch on ${subject}`,
    },
  );
}

/** Faults of reading what queue systems put into the API. The demo has Kueue and KAI. */
export const queueFaultCases: readonly FaultCase[] = [
  forbidden("Kueue's ClusterQueues are forbidden", "clusterqueues", "kueue.x-k8s.io", "kueueClusterQueues"),
  forbidden("Kueue's Workloads are forbidden", "workloads", "kueue.x-k8s.io", "kueueWorkloads"),
  forbidden("KAI's PodGroups are forbidden", "podgroups", "scheduling.run.ai", "kaiPodGroups"),
  unreadKind(
    "Kueue's ResourceFlavors cannot be listed",
    "resourceflavors",
    "kueueResourceFlavors",
    { kind: "api-list-error", resource: "resourceflavors" },
    {
      code: "kind-failing",
      subjects: ["resourceflavors.kueue.x-k8s.io"],
      says: "HTTP 500: Internal error occurred",
      next: "Check that the API server can be reached from Fairlead's pod and that its credentials are valid",
    },
  ),
];
