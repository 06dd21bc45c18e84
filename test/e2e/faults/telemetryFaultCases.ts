import type { Fault } from "../../../simulator/faults.ts";
import type { ExpectedProblem, FaultCase, FaultPhase } from "../faultCases.ts";

const node = "h100-01";
const target = { node } as const;

const fresh = { 'fairlead_targets{state="fresh"}': 24, 'fairlead_targets{state="stale"}': 0 };
const oneStale = { 'fairlead_targets{state="fresh"}': 23, 'fairlead_targets{state="stale"}': 1 };
const stillUp = { 'fairlead_source_up{source="dcgm"}': 1, 'fairlead_source_up{source="kubernetes"}': 1 } as const;

const young = "its page of 30 s ago is still used";
const unknown = "the activity of its GPUs is unknown";

/** An exporter whose page does not come: the last one is used until it is too old. */
function lostPage(name: string, fault: Fault, problem: Omit<ExpectedProblem, "subjects">): FaultCase {
  const named = { ...problem, subjects: [node] };
  return {
    name,
    faults: [fault],
    early: {
      steps: 1,
      problems: [named, { ...named, says: young }],
      series: { ...fresh, ...stillUp, 'fairlead_source_age_seconds{source="dcgm"}': 30 },
      truth: "all",
    },
    late: {
      steps: 4,
      problems: [named, { ...named, says: unknown }],
      states: [{ node, state: "unobserved", gpus: 8 }],
      series: { ...oneStale, ...stillUp, 'fairlead_source_age_seconds{source="dcgm"}': 0 },
      truth: "all",
    },
    does: "uses the last good page for 90 s, then counts what is allocated on the node as `unobserved`",
  };
}

/** A page that is there and lies: the same at once and later. */
function oddPage(name: string, fault: Fault, phase: Omit<FaultPhase, "steps">, steps: number, does: string): FaultCase {
  const reported = { ...phase, series: { ...fresh, ...stillUp, ...phase.series } };
  return { name, faults: [fault], early: { ...reported, steps: 1 }, late: { ...reported, steps }, does };
}

const tooMany: ExpectedProblem = {
  code: "too-many-devices",
  subjects: [node],
  says: "the page speaks for more than 64 GPUs",
  next: "A node has no such number of GPUs: look at what answers at this address",
};
const conflict: ExpectedProblem = {
  code: "gpu-count-conflict",
  subjects: [node],
  says: "telemetry and pods name 64 GPUs, the API counts 8",
  next: "Check that the exporter on this node sees only this node's GPUs",
};
const severalHosts: ExpectedProblem = {
  code: "several-hosts",
  subjects: [node],
  says: "all rows are taken as this node's",
  next: "List a page that holds many nodes (federation) without a node",
};

/** Faults of the exporters and of what they answer. */
export const telemetryFaultCases: readonly FaultCase[] = [
  {
    ...lostPage(
      "an exporter's page comes too slowly",
      { kind: "exporter-slow", target, delayMs: 3000 },
      {
        code: "target-timeout",
        says: "no complete answer within 1 s",
        next: "Look at the exporter's load (dense MIG nodes need long), at network policies, or raise dcgm.timeoutSeconds",
      },
    ),
    isSlow: true,
  },
  lostPage(
    "an exporter answers with an error",
    { kind: "exporter-error", target },
    { code: "target-status", says: "HTTP 500: the server failed", next: "Read the exporter's log" },
  ),
  lostPage(
    "an exporter's page is empty",
    { kind: "exporter-empty", target },
    {
      code: "target-empty-page",
      says: "the page is empty; that is no data, not an idle node",
      next: "Wait one interval (dcgm-exporter answers so while it reloads)",
    },
  ),
  lostPage(
    "something else answers at an exporter's address",
    { kind: "exporter-garbage", target },
    {
      code: "target-not-an-exporter-page",
      says: "the page has no line of a known GPU exporter",
      next: "Check URL, port and path: is this dcgm-exporter's /metrics, or a login page?",
    },
  ),
  lostPage(
    "an exporter breaks the connection off",
    { kind: "exporter-reset", target },
    {
      code: "target-reset",
      says: "the connection was cut before the answer was complete",
      next: "Ask the same URL by hand (curl) from Fairlead's pod",
    },
  ),
  {
    name: "no exporter answers any more",
    faults: [{ kind: "exporter-error", target: "all" }],
    early: {
      steps: 1,
      problems: [
        { code: "target-status", says: "HTTP 500: the server failed", next: "Read the exporter's log" },
        {
          code: "targets-failing",
          subjects: [null],
          says: "24 of 24 GPU telemetry targets fail",
          next: "Solve the listed ones first",
        },
      ],
      series: { ...fresh, 'fairlead_source_age_seconds{source="dcgm"}': 30 },
      truth: "all",
    },
    late: {
      steps: 4,
      problems: [
        { code: "target-status", says: unknown, next: "Read the exporter's log" },
        {
          code: "targets-failing",
          subjects: [null],
          says: "24 of 24 GPU telemetry targets fail",
          next: "Solve the listed ones first",
        },
        {
          code: "no-telemetry",
          subjects: [null],
          says: "every GPU is unobserved",
          next: "Check that dcgm-exporter runs and is found",
        },
      ],
      states: [{ node, state: "unobserved", gpus: 8 }],
      series: {
        'fairlead_targets{state="stale"}': 24,
        'fairlead_source_up{source="dcgm"}': 0,
        'fairlead_source_age_seconds{source="dcgm"}': null,
        'fairlead_source_up{source="kubernetes"}': 1,
        fairlead_team_gpu_utilization_ratio: null,
        fairlead_pool_gpu_activity_ratio: null,
        fairlead_pool_power_watts: null,
      },
      // How each GPU is cut is only on pages: instances of a node then carry their mean.
      truth: "layouts",
    },
    does: "goes on with objects of the API alone: who holds what is known, what they do with it is `unobserved`, and series of use are absent",
  },
  oddPage(
    "a page speaks for other nodes' GPUs",
    { kind: "exporter-hostile", target, content: "foreign-devices" },
    {
      problems: [
        tooMany,
        conflict,
        severalHosts,
        {
          code: "uuid-on-two-nodes",
          subjects: [node],
          says: "each is believed for its own node only",
          next: "Check what the exporter on h100-01 reads (a remote host engine?)",
        },
      ],
      truth: "all",
    },
    4,
    "believes a page for its own node only; no other node's numbers change, and the API's count of GPUs is",
  ),
  oddPage(
    "labels on a page try to break formats",
    { kind: "exporter-hostile", target, content: "label-injection" },
    {
      problems: [
        {
          code: "malformed-lines",
          subjects: [node],
          says: "are neither comment nor sample",
          next: "Before dcgm-exporter 4.8.3, pod labels with quotes or line breaks spoil lines: upgrade",
        },
        severalHosts,
      ],
      states: [{ node, state: "unobserved", gpus: 7 }],
      truth: "all",
    },
    4,
    "skips lines that are no samples and escapes whatever it repeats, on the page of metrics, in HTML and in the log",
  ),
  oddPage(
    "a page does not end",
    { kind: "exporter-hostile", target, content: "huge", megabytes: 4 },
    { problems: [tooMany, conflict], truth: "all" },
    1,
    "reads as many GPUs as a node can have (`dcgm.maxGpusPerPage`) and as many bytes as allowed (`dcgm.maxPageBytes`), no more",
  ),
  {
    name: "an exporter has lost its host engine: the page comes, its values do not change",
    faults: [{ kind: "exporter-frozen", target }],
    early: { steps: 2, problems: [], series: { ...fresh, ...stillUp }, truth: "all" },
    late: {
      steps: 6,
      problems: [
        {
          code: "exporter-frozen",
          subjects: [node],
          says: "that is no data, not idle GPUs",
          next: "Restart the exporter's pod",
        },
      ],
      states: [{ node, state: "unobserved", gpus: 8 }],
      series: { ...oneStale, ...stillUp },
      truth: "all",
    },
    does: "takes the values for a steady load until the energy counters have not moved for 180 s, then counts `unobserved`",
  },
  oddPage(
    "profiling counters are at 0 while GPU_UTIL goes on",
    { kind: "profiling-stuck", target: "all" },
    {
      problems: [
        {
          code: "profiling-broken",
          says: "GPU_UTIL is used for them",
          next: "Look for another profiler that locks the counters (Nsight, dcgmi profile --pause)",
        },
      ],
      truth: "all",
    },
    4,
    "uses GPU_UTIL for these GPUs",
  ),
];
