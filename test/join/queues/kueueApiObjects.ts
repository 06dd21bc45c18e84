import { readDump } from "../../../cli/inspect/readDump.ts";
import type { Analysis } from "../../../exporter/analysis/analysis.ts";
import { defaultConfig } from "../../../exporter/config/defaults.ts";
import { analysed, joined } from "../outcomes.ts";

/** Objects as the API server of a cluster with Kueue v0.19 gives them (`kueue.x-k8s.io/v1beta2`). */
export const gpu = "nvidia.com/gpu";
export const at = Date.parse("2026-11-20T12:00:00Z") / 1000;
export const before = (seconds: number): string => new Date((at - seconds) * 1000).toISOString();

const kueue = "kueue.x-k8s.io/v1beta2";
export const meta = (name: string, more: object = {}) => ({
  name,
  uid: `uid-${name}`,
  creationTimestamp: before(21_600),
  ...more,
});
const inNamespace = (name: string, more: object = {}) => meta(name, { namespace: "research", ...more });

export const gpuNodeObject = (name: string, gpus: number) => ({
  apiVersion: "v1",
  kind: "Node",
  metadata: meta(name, {
    labels: { "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3", "nvidia.com/gpu.count": String(gpus) },
  }),
  status: {
    capacity: { [gpu]: String(gpus), cpu: "128", memory: "1Ti", pods: "110" },
    allocatable: { [gpu]: String(gpus), cpu: "128", memory: "1Ti", pods: "110" },
    conditions: [{ type: "Ready", status: "True", lastTransitionTime: before(86_400) }],
  },
});

/** A ResourceFlavor, a ClusterQueue `cq` of so many GPUs, and the LocalQueue `q` of namespace `research`. */
export const queueObjects = (nominal: number, nodeLabels: object = {}): readonly object[] => [
  { apiVersion: kueue, kind: "ResourceFlavor", metadata: meta("h100"), spec: { nodeLabels } },
  {
    apiVersion: kueue,
    kind: "ClusterQueue",
    metadata: meta("cq"),
    spec: {
      namespaceSelector: {},
      resourceGroups: [
        {
          coveredResources: [gpu],
          flavors: [{ name: "h100", resources: [{ name: gpu, nominalQuota: String(nominal) }] }],
        },
      ],
    },
  },
  { apiVersion: kueue, kind: "LocalQueue", metadata: inNamespace("q"), spec: { clusterQueue: "cq" } },
];

export const container = (gpus: number, name = "main") => ({
  name,
  resources: gpus === 0 ? {} : { requests: { [gpu]: String(gpus) }, limits: { [gpu]: String(gpus) } },
});

export interface JobParts {
  readonly count: number;
  readonly minCount?: number;
  readonly containers: readonly object[];
  readonly job?: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly spec?: object;
  /** Quota is reserved in flavor `h100`, for so many pods. */
  readonly reserved?: number;
  readonly conditions?: readonly object[];
  readonly status?: object;
}

export const conditionObject = (
  type: string,
  status: "True" | "False",
  reason: string,
  message = "",
  seconds = 10_800,
) => ({
  type,
  status,
  reason,
  message,
  lastTransitionTime: before(seconds),
});

/** A Workload of a Job in queue `q`. */
export function workloadObject(name: string, parts: JobParts): object {
  const { count, minCount, containers, job = name, annotations = {}, reserved, conditions = [], status = {} } = parts;
  const ofContainers = containers as readonly { resources: { requests?: Record<string, string> } }[];
  const each = ofContainers.reduce((sum, { resources }) => sum + Number(resources.requests?.[gpu] ?? 0), 0);
  return {
    apiVersion: kueue,
    kind: "Workload",
    metadata: inNamespace(name, {
      annotations,
      labels: { "kueue.x-k8s.io/job-uid": `uid-job-${job}` },
      ownerReferences: [{ apiVersion: "batch/v1", kind: "Job", name: job, uid: `uid-job-${job}`, controller: true }],
    }),
    spec: {
      queueName: "q",
      active: true,
      podSets: [
        { name: "main", count, ...(minCount === undefined ? {} : { minCount }), template: { spec: { containers } } },
      ],
      ...parts.spec,
    },
    status: {
      ...(reserved === undefined
        ? {}
        : {
            admission: {
              clusterQueue: "cq",
              podSetAssignments: [
                {
                  name: "main",
                  count: reserved,
                  flavors: { [gpu]: "h100" },
                  resourceUsage: { [gpu]: String(reserved * each) },
                },
              ],
            },
          }),
      conditions:
        reserved === undefined
          ? [conditionObject("QuotaReserved", "False", "WaitingForQuota", "couldn't assign flavors"), ...conditions]
          : [conditionObject("QuotaReserved", "True", "QuotaReserved"), ...conditions],
      ...status,
    },
  };
}

export const jobObject = (name: string, parallelism: number) => ({
  apiVersion: "batch/v1",
  kind: "Job",
  metadata: inNamespace(name, { uid: `uid-job-${name}` }),
  spec: { parallelism, completions: parallelism },
});

/** A pod of a Job: bound to a node, or, with a node of `null`, kept by a scheduling gate. */
export function podObject(
  job: string,
  index: number,
  node: string | null,
  gate = "kueue.x-k8s.io/elastic-job",
): object {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: inNamespace(`${job}-${index}`, {
      labels: { "kueue.x-k8s.io/local-queue-name": "q", "batch.kubernetes.io/job-name": job },
      ownerReferences: [{ apiVersion: "batch/v1", kind: "Job", name: job, uid: `uid-job-${job}`, controller: true }],
    }),
    spec: {
      containers: [container(1)],
      ...(node === null ? { schedulingGates: [{ name: gate }] } : { nodeName: node }),
    },
    status: node === null ? { phase: "Pending" } : { phase: "Running", startTime: before(3600) },
  };
}

export const admissionCheckObject = (name: string, controllerName: string) => ({
  apiVersion: kueue,
  kind: "AdmissionCheck",
  metadata: meta(name),
  spec: { controllerName },
});

export const limitRangeObject = (name: string, limits: readonly object[], namespace = "research") => ({
  apiVersion: "v1",
  kind: "LimitRange",
  metadata: meta(name, { namespace }),
  spec: { limits },
});

/** What `inspect` makes of these objects. */
export function analysisOf(objects: readonly object[]): Analysis {
  const bytes = Buffer.from(JSON.stringify({ kind: "List", apiVersion: "v1", items: objects }));
  const file = { path: "dump.json", stem: "dump", kind: "objects" as const, bytes, modifiedAt: at };
  const { state } = readDump({ files: [file], problems: [] }, defaultConfig, at);
  const malformed = state.problems.filter(({ code }) => code === "malformed-object");
  if (malformed.length > 0) throw new Error(malformed.map(({ message }) => message).join("\n"));
  return analysed(joined(state, undefined, undefined, at).snapshot);
}
