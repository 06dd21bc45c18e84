import type { Fault } from "../../../simulator/faults.ts";
import type { ExpectedProblem, FaultCase } from "../faultCases.ts";
import { queuesUnknown } from "./queueFaultCases.ts";

/** Only a list brings the next state. */
const relist = [{ kind: "api-gone" }, { kind: "api-watch-cut" }] as const satisfies readonly Fault[];

const up = { 'fairlead_source_up{source="kubernetes"}': 1, 'fairlead_source_up{source="dcgm"}': 1 };
const down = { 'fairlead_source_up{source="kubernetes"}': 0, 'fairlead_source_up{source="dcgm"}': 1 };
const uncovered = 'fairlead_uncovered_seconds_total{reason="stale-objects"}';
const restarts = (reason: string): string => `fairlead_kubernetes_restarts_total{reason="${reason}"}`;

const kinds = [
  "nodes",
  "pods",
  "namespaces",
  "persistentvolumeclaims",
  "persistentvolumes",
  "priorityclasses.scheduling.k8s.io",
  "poddisruptionbudgets.policy",
  "horizontalpodautoscalers.autoscaling",
  "resourceclaims.resource.k8s.io",
  "resourceslices.resource.k8s.io",
  "clusterqueues.kueue.x-k8s.io",
  "localqueues.kueue.x-k8s.io",
  "cohorts.kueue.x-k8s.io",
  "resourceflavors.kueue.x-k8s.io",
  "workloads.kueue.x-k8s.io",
  "workloadpriorityclasses.kueue.x-k8s.io",
  "admissionchecks.kueue.x-k8s.io",
  "topologies.kueue.x-k8s.io",
  "queues.scheduling.run.ai",
  "podgroups.scheduling.run.ai",
  "schedulingshards.kai.scheduler",
  "resourcequotas",
  "limitranges",
  "nodepools.karpenter.sh",
] as const;

/** `undefined`: each kind with more than one page; how many Workloads there are is the demo's own affair. */
function failing(subjects: readonly string[] | undefined, says: string): ExpectedProblem {
  return {
    code: "kind-failing",
    ...(subjects === undefined ? {} : { subjects }),
    says,
    next: "Check that the API server can be reached from Fairlead's pod and that its credentials are valid",
  };
}

function missing(subject: string, says: string): ExpectedProblem {
  return { code: "objects-missing", subjects: [subject], says, next: `Let Fairlead list ${subject.toLowerCase()}` };
}

const noPods = "pod labels on telemetry pages are taken as the holdings";
const noNodes = "the devices on telemetry pages are taken as the GPUs";

/** Faults of the Kubernetes API. */
export const apiFaultCases: readonly FaultCase[] = [
  {
    name: "watches are cut",
    faults: [{ kind: "api-watch-cut" }],
    early: { steps: 1, problems: [], grown: [restarts("broken"), "fairlead_kubernetes_watches_total"], truth: "all" },
    late: { steps: 1, problems: [], series: up, truth: "all" },
    does: "opens them again from the last version, after a back-off with jitter",
  },
  {
    name: "resource versions are gone (410)",
    faults: relist,
    early: { steps: 2, problems: [], grown: [restarts("expired"), "fairlead_kubernetes_lists_total"], truth: "all" },
    late: { steps: 1, problems: [], series: up, truth: "all" },
    does: "lists everything again and goes on watching",
  },
  {
    name: "continue tokens expire while a list is read",
    faults: [{ kind: "api-continue-expired" }, ...relist],
    early: {
      steps: 2,
      problems: [failing(undefined, "HTTP 410: The provided continue parameter is too old")],
      grown: [restarts("token-expired")],
      series: up,
      truth: "physicalGpus",
    },
    late: {
      steps: 5,
      problems: [
        failing(undefined, "HTTP 410: The provided continue parameter is too old"),
        missing("nodes", noNodes),
        missing("pods", noPods),
        queuesUnknown("nodes, pods"),
      ],
      series: { ...down, fairlead_team_pending_gpus: null },
      grown: [uncovered],
      truth: "physicalGpus",
    },
    does: "begins the list again, four times in a row, then after a back-off; the last good state is used for `kubernetes.maxAgeSeconds`",
  },
  {
    name: "the API answers slowly",
    isSlow: true,
    faults: [{ kind: "api-slow", delayMs: 2000 }, { kind: "api-watch-cut" }],
    early: {
      steps: 1,
      problems: [
        {
          code: "api-slow",
          subjects: [null],
          says: "The Kubernetes API takes",
          next: "Look at the API server's load and its priority and fairness queues",
        },
      ],
      series: up,
      truth: "all",
    },
    late: {
      steps: 1,
      problems: [
        {
          code: "api-slow",
          subjects: [null],
          says: "The Kubernetes API takes",
          next: "Look at the API server's load and its priority and fairness queues",
        },
      ],
      series: up,
      truth: "all",
    },
    does: "waits, up to 30 s for an answer; an answer that took more than 5 s, without the time in which Fairlead itself computed, is reported for two minutes",
  },
  {
    name: "pods cannot be listed",
    faults: [{ kind: "api-list-error", resource: "pods" }, ...relist],
    early: {
      steps: 2,
      problems: [failing(["pods"], "HTTP 500: Internal error occurred")],
      series: up,
      truth: "physicalGpus",
    },
    late: {
      steps: 5,
      problems: [
        failing(["pods"], "HTTP 500: Internal error occurred"),
        missing("pods", noPods),
        queuesUnknown("pods cannot be read"),
      ],
      series: { ...down, fairlead_team_pending_gpus: null },
      grown: [uncovered],
      truth: "physicalGpus",
    },
    does: "uses the last good list for `kubernetes.maxAgeSeconds`; then accounts nothing, and shows who holds by the pages' own pod labels",
  },
  {
    name: "nothing can be listed",
    faults: [{ kind: "api-list-error" }, ...relist],
    early: {
      steps: 2,
      problems: [failing(kinds, "HTTP 500: Internal error occurred")],
      series: up,
      truth: "physicalGpus",
    },
    late: {
      steps: 5,
      problems: [
        failing(kinds, "HTTP 500: Internal error occurred"),
        missing("nodes", noNodes),
        missing("pods", noPods),
        missing("namespaces", "team rules that read namespaces do not match"),
        queuesUnknown("kueueClusterQueues"),
      ],
      series: {
        ...down,
        'fairlead_source_age_seconds{source="kubernetes"}': null,
        fairlead_team_pending_gpus: null,
      },
      grown: [uncovered],
      truth: "physicalGpus",
    },
    does: "uses the last good lists for `kubernetes.maxAgeSeconds`; then goes on with telemetry of the exporters it knew, and accounts nothing",
  },
  {
    name: "pods are forbidden",
    faults: [{ kind: "api-forbidden", resource: "pods" }, ...relist],
    early: {
      steps: 2,
      problems: [
        {
          code: "forbidden",
          subjects: ["pods"],
          says: "Fairlead may not list and watch pods",
          next: "Grant list and watch on pods",
        },
      ],
      series: up,
      truth: "physicalGpus",
    },
    late: {
      steps: 5,
      problems: [
        {
          code: "forbidden",
          subjects: ["pods"],
          says: "Fairlead may not list and watch pods",
          next: "Grant list and watch on pods",
        },
        missing("pods", noPods),
        queuesUnknown("pods cannot be read"),
      ],
      series: down,
      grown: [uncovered],
      truth: "physicalGpus",
    },
    does: "uses the last good list for `kubernetes.maxAgeSeconds`, then accounts nothing; what is forbidden is tried again each minute",
  },
  {
    name: "resource slices are forbidden",
    faults: [{ kind: "api-forbidden", resource: "resourceslices" }, ...relist],
    early: {
      steps: 2,
      problems: [
        {
          code: "forbidden",
          subjects: ["resourceslices.resource.k8s.io"],
          says: "Fairlead may not list and watch resourceslices.resource.k8s.io",
          next: "Grant list and watch on resourceslices.resource.k8s.io",
        },
      ],
      series: up,
      truth: "all",
    },
    late: {
      steps: 5,
      problems: [
        {
          code: "forbidden",
          subjects: ["resourceslices.resource.k8s.io"],
          says: "Fairlead may not list and watch resourceslices.resource.k8s.io",
          next: "Grant list and watch on resourceslices.resource.k8s.io",
        },
        missing("resourceSlices", "what claims hold is not known"),
        {
          code: "claim-device-unknown",
          says: "which no ResourceSlice describes",
          next: "Check that Fairlead may list resourceslices",
        },
      ],
      series: up,
      truth: "all",
    },
    does: "estimates the GPU of what claims hold; everything else stays exact",
  },
];
